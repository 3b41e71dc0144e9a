#include "graph/promote.h"
#include "graph/shape.h"

static bool check_shapes(const struct lb_tensor *q, const struct lb_tensor *k, const struct lb_tensor *v)
{
	char tq[LB_SHAPE_TEXT], tk[LB_SHAPE_TEXT], tv[LB_SHAPE_TEXT];
	const char *wrong = NULL;
	if (q->rank != 4 || k->rank != 4 || v->rank != 4)
		wrong = "each must have four axes: (batch, heads, positions, features)";
	else if (q->shape[0] != k->shape[0] || q->shape[0] != v->shape[0])
		wrong = "the batches (axis 0) must be the same";
	else if (k->shape[1] != v->shape[1] || k->shape[2] != v->shape[2])
		wrong = "k and v must have the same heads and positions (axes 1 and 2)";
	else if (q->shape[3] != k->shape[3])
		wrong = "q and k must have the same features (axis 3)";
	else if (k->shape[1] == 0 ? q->shape[1] != 0 : q->shape[1] % k->shape[1] != 0)
		wrong = "the heads of q must be a multiple of those of k and v (axis 1)";
	if (!wrong)
		return true;
	return lb_fail("attention: q %s, k %s, v %s: %s", lb_shape_text(q->rank, q->shape, tq),
		       lb_shape_text(k->rank, k->shape, tk), lb_shape_text(v->rank, v->shape, tv), wrong);
}

static bool check_mask(const struct lb_tensor *mask, const int64_t *scores)
{
	bool fits = mask->rank <= 4;
	for (int i = 1; i <= mask->rank && fits; i++) {
		int64_t n = mask->shape[mask->rank - i];
		fits = n == 1 || n == scores[4 - i];
	}
	char tm[LB_SHAPE_TEXT], ts[LB_SHAPE_TEXT];
	if (!fits)
		return lb_fail("attention: mask %s does not broadcast to the scores' shape %s (batch, heads, "
			       "queries, keys)", lb_shape_text(mask->rank, mask->shape, tm),
			       lb_shape_text(4, scores, ts));
	return true;
}

/* params: 0 scale, 1 causal */
lb_tensor *lb_attention(lb_tensor *q, lb_tensor *k, lb_tensor *v, double scale, bool causal, lb_tensor *mask)
{
	LB_ENTER();
	if (!q || !k || !v || !check_shapes(q, k, v))
		return NULL;
	struct lb_tensor *xs[4] = { q, k, v, mask };
	enum lb_dtype dtype;
	if (mask && !check_mask(mask, (int64_t[]){ q->shape[0], q->shape[1], q->shape[2], k->shape[2] }))
		return NULL;
	if (!lb_common_dtype("attention", 3, xs, &dtype))
		return NULL;
	if (!lb_dtype_is_float(dtype)) {
		lb_fail("attention: not defined for %s; cast with lb_astype() to a floating dtype",
			lb_dtypes[dtype].name);
		return NULL;
	}
	if (mask && mask->dtype != LB_BOOL && !lb_dtype_is_float(mask->dtype)) {
		lb_fail("attention: a mask is bool (true: may be seen) or floating (added to the scores), not %s",
			lb_dtypes[mask->dtype].name);
		return NULL;
	}
	for (int i = 0; i < 3 + (mask && mask->dtype != LB_BOOL); i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		if (!xs[i])
			return NULL;
	}
	int64_t shape[4] = { q->shape[0], q->shape[1], q->shape[2], v->shape[3] };
	struct lb_tensor *t = lb_tensor_begin(LB_OP_ATTENTION, dtype, 4, shape, mask ? 4 : 3, xs, site);
	if (t) {
		lb_param_set_double(t, 0, scale);
		t->params[1] = causal;
	}
	return lb_tensor_publish(t);
}
