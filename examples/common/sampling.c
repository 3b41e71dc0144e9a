#include "common/sampling.h"

#include <math.h>

/* -Inf for what is less than the threshold (batch, 1, 1). */
static lb_tensor *at_least(lb_tensor *logits, lb_tensor *threshold)
{
	return lb_where(lb_less(logits, threshold), lb_scalar(-INFINITY), logits);
}

static lb_tensor *keep_k(lb_tensor *logits, int64_t k)
{
	if (k <= 0 || k >= lb_dim(logits, -1))
		return logits;
	return at_least(logits, lb_slice(lb_topk(logits, k, -1), LB_REST, LB_FROM(-1)));
}

/* A token stays while those likelier than it have less than p together: the likeliest always. */
static lb_tensor *keep_p(lb_tensor *logits, double p)
{
	if (p >= 1)
		return logits;
	lb_tensor *sorted = lb_topk(logits, lb_dim(logits, -1), -1);
	lb_tensor *before = lb_cumsum(lb_softmax(sorted, LB_AXES(-1)), -1, false, false);
	lb_tensor *kept = lb_where(lb_less(before, lb_scalar(fmax(p, 1e-30))), sorted,
				   lb_scalar(INFINITY));
	return at_least(logits, lb_min(kept, LB_AXES(-1), true));
}

lb_tensor *sample(const struct sampling *how, lb_tensor *logits, uint64_t step)
{
	lb_tensor *token;

	if (how->temperature <= 0) {
		token = lb_argmax(logits, LB_AXES(-1), false);
	} else {
		logits = lb_multiply(logits, lb_scalar(1 / how->temperature));
		logits = keep_p(keep_k(logits, how->top_k), how->top_p);
		token = lb_categorical(logits, -1, lb_key_split(lb_key(how->seed), step));
	}
	return lb_named("token", token);
}
