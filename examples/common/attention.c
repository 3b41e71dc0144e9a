#include "common/attention.h"

#include <math.h>

/* How many tokens each query is behind each key: (queries, keys). */
static lb_tensor *distances(int64_t queries, int64_t keys)
{
	lb_tensor *rows = lb_arange((double)(keys - queries), (double)keys, 1, LB_I64);

	return lb_subtract(lb_expand_dims(rows, LB_AXES(1)),
			   lb_arange(0, (double)keys, 1, LB_I64));
}

/* Scores that are capped are held as a whole. */
static lb_tensor *capped(lb_tensor *q, lb_tensor *k, lb_tensor *v, double cap, lb_tensor *seen)
{
	int64_t kv_heads = lb_dim(k, 1);

	q = lb_unflatten(lb_multiply(q, lb_scalar(1 / cap)), 1, LB_SHAPE(kv_heads, -1));
	k = lb_swapaxes(lb_expand_dims(k, LB_AXES(2)), 3, 4);
	lb_tensor *scores = lb_multiply(lb_tanh(lb_matmul(q, k)), lb_scalar(cap));
	scores = lb_where(seen, scores, lb_scalar(-INFINITY));
	lb_tensor *heads = lb_matmul(lb_softmax(scores, LB_AXES(-1)),
				     lb_expand_dims(v, LB_AXES(2)));
	return lb_flatten(heads, 1, 2);
}

lb_tensor *attention(const struct attention *how, lb_tensor *q, lb_tensor *k, lb_tensor *v)
{
	int64_t queries = lb_dim(q, 2), keys = lb_dim(k, 2);
	int64_t unseen = how->window ? keys - queries - how->window + 1 : 0;
	double scale = how->scale != 0 ? how->scale : 1 / sqrt((double)lb_dim(q, 3));
	lb_tensor *seen = NULL;

	if (unseen > 0) { /* by any query */
		k = lb_slice(k, LB_ALL, LB_ALL, LB_FROM(unseen));
		v = lb_slice(v, LB_ALL, LB_ALL, LB_FROM(unseen));
		keys -= unseen;
	}
	if (how->window && queries > 1 && keys > how->window)
		seen = lb_less(distances(queries, keys), lb_scalar_int(how->window));
	if (how->cap == 0)
		return lb_attention(q, k, v, scale, true, seen);
	lb_tensor *past = lb_greater_equal(distances(queries, keys), lb_scalar_int(0));
	seen = seen ? lb_logical_and(seen, past) : past;
	return capped(lb_multiply(q, lb_scalar(scale)), k, v, how->cap, seen);
}
