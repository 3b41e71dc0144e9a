#include "grad/rule.h"

/* Of complex numbers the conjugate, too. */
static struct lb_tensor *transposed(struct lb_tensor *x)
{
	int64_t axes[LB_MAX_RANK];
	for (int i = 0; i < x->rank; i++)
		axes[i] = i < x->rank - 2 ? i : 2 * x->rank - 3 - i;
	x = lb_conjugated(x);
	return x ? lb_transpose(x, (lb_list){ x->rank, axes }) : NULL;
}

/* A vector as the row or column that it stands for. */
static struct lb_tensor *matrix(struct lb_tensor *x, bool is_right)
{
	return x->rank > 1 ? x : lb_expand_dims(x, LB_AXES(is_right ? 1 : 0));
}

/* All axes but the last as one. */
static struct lb_tensor *rows(struct lb_tensor *x)
{
	return lb_flatten(x, 0, -2);
}

/* For x @ b with x given as a vector the gradient has an axis too many. */
static struct lb_tensor *without_axis(struct lb_tensor *d, const struct lb_tensor *x, bool is_right)
{
	if (!d || x->rank > 1)
		return d;
	/* batch axes go first: lb_vjp_give() would take them for broadcast ones */
	if (d->rank > 2) {
		int64_t axes[LB_MAX_RANK];
		for (int i = 0; i < d->rank - 2; i++)
			axes[i] = i;
		d = lb_sum(d, (lb_list){ d->rank - 2, axes }, false);
	}
	return d ? lb_squeeze(d, LB_AXES(is_right ? 1 : 0)) : NULL;
}

/* t = alpha a @ b (+ beta c): alpha g b^H and alpha a^H g. */
bool lb_rule_product(const struct lb_vjp *v)
{
	struct lb_tensor *a = lb_vjp_input(v, 0), *b = lb_vjp_input(v, 1), *g = v->g;
	bool with_c = v->t->op == LB_OP_ADDMM;
	if (with_c && lb_vjp_wants(v, 2) && !lb_vjp_give(v, 2, lb_scaled(g, lb_param_double(v->t, 1))))
		return false;
	if (!lb_vjp_wants(v, 0) && !lb_vjp_wants(v, 1))
		return true;
	struct lb_tensor *ma = matrix(a, false), *mb = matrix(b, true);
	if (b->rank == 1)
		g = lb_expand_dims(g, LB_AXES(-1));
	if (a->rank == 1 && g)
		g = lb_expand_dims(g, LB_AXES(-2));
	g = with_c ? lb_scaled(g, lb_param_double(v->t, 0)) : g;
	if (!ma || !mb || !g)
		return false;
	if (lb_vjp_wants(v, 0) && !lb_vjp_give(v, 0, without_axis(lb_matmul(g, transposed(mb)), a, false)))
		return false;
	if (!lb_vjp_wants(v, 1))
		return true;
	if (mb->rank == 2 && ma->rank > 2) { /* one product in place of a sum over the batch */
		ma = rows(ma);
		g = rows(g);
	}
	return ma && g && lb_vjp_give(v, 1, without_axis(lb_matmul(transposed(ma), g), b, true));
}

/* A rotation back. */
bool lb_rule_rope(const struct lb_vjp *v)
{
	const struct lb_tensor *t = v->t;
	int64_t dims = t->params[0];
	return lb_vjp_give(v, 0,
			   lb_rope(v->g, dims < 0 ? -dims : dims, dims < 0, lb_param_double(t, 1),
				   -lb_param_double(t, 2), t->params[3]));
}

static struct lb_tensor *across(struct lb_tensor *mask)
{
	return lb_swapaxes(mask, -1, -2);
}

/* The same products of the blocks that are left: g b^H where a's mask keeps it, a^H g where b's does. */
bool lb_rule_block_masked_mm(const struct lb_vjp *v)
{
	struct lb_tensor *a = lb_vjp_input(v, 0), *b = lb_vjp_input(v, 1), *out = lb_vjp_input(v, 2);
	struct lb_tensor *of_a = lb_vjp_input(v, 3), *of_b = lb_vjp_input(v, 4);
	int64_t block = v->t->params[0];
	if (lb_vjp_wants(v, 0) &&
	    !lb_vjp_give(v, 0, lb_block_masked_mm(v->g, transposed(b), block, of_a, out, across(of_b))))
		return false;
	return !lb_vjp_wants(v, 1) ||
	       lb_vjp_give(v, 1, lb_block_masked_mm(transposed(a), v->g, block, of_b, across(of_a), out));
}

/* d (segments, …), summed over the segments that have the place along k, which is the last axis or the one before it. */
static struct lb_tensor *where_inside(const struct lb_vjp *v, struct lb_tensor *d, int64_t k, bool is_row)
{
	struct lb_tensor *ranges = lb_reshape(lb_astype(lb_vjp_input(v, 2), LB_I64), LB_SHAPE(-1, 2, 1));
	struct lb_tensor *places = lb_arange(0, (double)k, 1, LB_I64);
	struct lb_tensor *inside = lb_logical_and(lb_greater_equal(places, lb_slice(ranges, LB_ALL, LB_RANGE(0, 1))),
						  lb_less(places, lb_slice(ranges, LB_ALL, LB_RANGE(1, 2))));
	inside = inside && is_row ? lb_swapaxes(inside, -1, -2) : inside;
	return inside ? lb_sum(lb_where(inside, d, lb_scalar(0)), LB_AXES(0), false) : NULL;
}

/* Of each segment as of a product. */
bool lb_rule_segmented_mm(const struct lb_vjp *v)
{
	struct lb_tensor *a = lb_vjp_input(v, 0), *b = lb_vjp_input(v, 1);
	if (lb_vjp_input(v, 2)->size == 0)
		return lb_vjp_give(v, 0, lb_zeros_of(a)) && lb_vjp_give(v, 1, lb_zeros_of(b));
	int64_t n = lb_vjp_input(v, 2)->size / 2, k = a->shape[1];
	struct lb_tensor *g = lb_reshape(v->g, LB_SHAPE(n, a->shape[0], b->shape[1]));
	if (!g || (lb_vjp_wants(v, 0) && !lb_vjp_give(v, 0, where_inside(v, lb_matmul(g, transposed(b)), k, false))))
		return false;
	return !lb_vjp_wants(v, 1) || lb_vjp_give(v, 1, where_inside(v, lb_matmul(transposed(a), g), k, true));
}
