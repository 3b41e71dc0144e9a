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
