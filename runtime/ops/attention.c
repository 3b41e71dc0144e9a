#include "graph/promote.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/operation.h"
#include "ops/view.h"

static bool check_shapes(const char *op, const struct lb_tensor *q, const struct lb_tensor *k,
			 const struct lb_tensor *v)
{
	char tq[LB_SHAPE_TEXT], tk[LB_SHAPE_TEXT], tv[LB_SHAPE_TEXT];
	const char *wrong = NULL;
	if (q->rank == 3 && k->rank == 3 && v->rank == 3)
		wrong = "the batch axis is missing, of (batch, heads, positions, features): "
			"lb_expand_dims(x, LB_AXES(0)) adds one";
	else if (q->rank != 4 || k->rank != 4 || v->rank != 4)
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
	return lb_fail("%s: q %s, k %s, v %s: %s", op, lb_shape_text(q->rank, q->shape, tq),
		       lb_shape_text(k->rank, k->shape, tk), lb_shape_text(v->rank, v->shape, tv), wrong);
}

static bool check_mask(const char *op, const struct lb_tensor *mask, const int64_t *scores)
{
	bool fits = mask->rank <= 4;
	for (int i = 1; i <= mask->rank && fits; i++) {
		int64_t n = mask->shape[mask->rank - i];
		fits = n == 1 || n == scores[4 - i];
	}
	char tm[LB_SHAPE_TEXT], ts[LB_SHAPE_TEXT];
	if (!fits)
		return lb_fail("%s: mask %s does not broadcast to the scores' shape %s (batch, heads, "
			       "queries, keys)",
			       op, lb_shape_text(mask->rank, mask->shape, tm), lb_shape_text(4, scores, ts));
	return true;
}

/* q, k and v, and what comes after them up to n, in one floating dtype. A floating mask keeps its own,
 * up to the one that scores are computed in. */
static bool unite(const char *op, int n, struct lb_tensor **xs, struct lb_tensor **mask, enum lb_dtype *dtype,
		  const void *site)
{
	struct lb_tensor *q = xs[0], *k = xs[1];
	if (*mask && !check_mask(op, *mask, (int64_t[]){ q->shape[0], q->shape[1], q->shape[2], k->shape[2] }))
		return false;
	if (!lb_common_float(op, n, xs, dtype, site))
		return false;
	if (!*mask || (*mask)->dtype == LB_BOOL)
		return true;
	if (!lb_dtype_is_float((*mask)->dtype))
		return lb_fail("%s: a mask is bool (true: may be seen) or floating (added to the scores), not %s", op,
			       lb_dtypes[(*mask)->dtype].name);
	enum lb_dtype stage = *dtype == LB_F64 ? LB_F64 : LB_F32;
	if (stage == LB_F64 || (*mask)->dtype == LB_F64)
		*mask = lb_as(*mask, stage, site);
	return *mask != NULL;
}

/* params: 0 scale, 1 causal. t may be NULL. */
static struct lb_tensor *publish(struct lb_tensor *t, double scale, bool causal)
{
	if (t) {
		lb_param_set_double(t, 0, scale);
		t->params[1] = causal;
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_attention(lb_tensor *q, lb_tensor *k, lb_tensor *v, double scale, bool causal, lb_tensor *mask)
{
	LB_ENTER();
	struct lb_tensor *xs[4] = { q, k, v, mask };
	enum lb_dtype dtype;
	if (!LB_GIVEN("attention", q) || !LB_GIVEN("attention", k) || !LB_GIVEN("attention", v) ||
	    !check_shapes("attention", q, k, v) || !unite("attention", 3, xs, &xs[3], &dtype, site))
		return NULL;
	int64_t shape[4] = { q->shape[0], q->shape[1], q->shape[2], v->shape[3] };
	return publish(lb_tensor_begin(LB_OP_ATTENTION, dtype, 4, shape, mask ? 4 : 3, xs, site), scale, causal);
}

/* One node computes all three, as they share most of the work; they are views of it. */
lb_attention_grads lb_attention_grad(lb_tensor *q, lb_tensor *k, lb_tensor *v, double scale, bool causal,
				     lb_tensor *mask, lb_tensor *grad)
{
	LB_ENTER();
	lb_attention_grads grads = { 0 };
	struct lb_tensor *xs[5] = { q, k, v, grad, mask };
	enum lb_dtype dtype;
	if (!LB_GIVEN("attention_grad", q) || !LB_GIVEN("attention_grad", k) || !LB_GIVEN("attention_grad", v) ||
	    !LB_GIVEN("attention_grad", grad) || !check_shapes("attention_grad", q, k, v))
		return grads;
	int64_t shape[4] = { q->shape[0], q->shape[1], q->shape[2], v->shape[3] }, size, offset = 0;
	if (!lb_same_shape(4, shape, grad->rank, grad->shape)) {
		char tg[LB_SHAPE_TEXT], ts[LB_SHAPE_TEXT];
		lb_fail("attention_grad: grad %s must have the shape of the result, %s",
			lb_shape_text(grad->rank, grad->shape, tg), lb_shape_text(4, shape, ts));
		return grads;
	}
	if (!unite("attention_grad", 4, xs, &xs[4], &dtype, site))
		return grads;
	if (!lb_sum_of(q->size, k->size, &size) || !lb_sum_of(size, v->size, &size)) {
		lb_fail("attention_grad: the gradients have more elements than 63 bits can count");
		return grads;
	}
	struct lb_tensor *all =
	    publish(lb_tensor_begin(LB_OP_ATTENTION_GRAD, dtype, 1, &size, mask ? 5 : 4, xs, site), scale, causal);
	if (!all)
		return grads;
	lb_tensor *dq = lb_view_part(all, q->rank, q->shape, &offset, site);
	lb_tensor *dk = lb_view_part(all, k->rank, k->shape, &offset, site);
	lb_tensor *dv = lb_view_part(all, v->rank, v->shape, &offset, site);
	if (dq && dk && dv)
		grads = (lb_attention_grads){ dq, dk, dv };
	return grads;
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_attention(const struct lb_recipe *r)
{
	return lb_attention(r->x[0], r->x[1], r->x[2], lb_recipe_double(r, 0), r->params[1] != 0,
			    lb_recipe_input(r, 3));
}

/* The parts are views of the node itself. */
struct lb_tensor *lb_remake_attention_grad(const struct lb_recipe *r)
{
	lb_attention_grads grads = lb_attention_grad(r->x[0], r->x[1], r->x[2], lb_recipe_double(r, 0),
						     r->params[1] != 0, lb_recipe_input(r, 4), r->x[3]);
	return grads.q ? lb_tensor_input(grads.q, 0) : NULL;
}

/* The mask comes last, after the gradient if there is one. */
bool lb_compute_attention(struct lb_exec *exec, struct lb_tensor *t)
{
	uint32_t n = t->op == LB_OP_ATTENTION_GRAD ? 4 : 3;
	struct lb_attention a = {
		.q = lb_view_of_input(t, 0),
		.k = lb_view_of_input(t, 1),
		.v = lb_view_of_input(t, 2),
		.masked = t->n_inputs > n,
		.causal = t->params[1] != 0,
		.scale = lb_param_double(t, 0),
	};
	if (a.masked) {
		const struct lb_tensor *mask = lb_tensor_input(t, n);
		int64_t scores[4] = { a.q.shape[0], a.q.shape[1], a.q.shape[2], a.k.shape[2] };
		a.mask = lb_view_of(mask);
		lb_broadcast_strides(mask->rank, mask->shape, mask->strides, 4, scores, a.mask.strides);
	}
	if (n == 3)
		return lb_kernel_attention(exec, &a, lb_tensor_data(t));
	struct lb_view grad = lb_view_of_input(t, 3);
	return lb_kernel_attention_grad(exec, &a, &grad, lb_tensor_data(t));
}
