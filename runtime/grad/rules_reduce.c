#include <math.h>

#include "grad/rule.h"
#include "graph/shape.h"

/* What the reduction gave, with the axes that it took as size 1. */
static struct lb_tensor *kept(const struct lb_vjp *v, struct lb_tensor *y)
{
	const struct lb_tensor *x = lb_vjp_input(v, 0);
	int rank;
	int64_t shape[LB_MAX_RANK];
	lb_reduced_shape(x->rank, x->shape, (uint32_t)v->t->params[0], true, &rank, shape);
	return lb_reshape(y, (lb_list){ rank, shape });
}

static lb_list axes_of(const struct lb_vjp *v, int64_t axes[LB_MAX_RANK])
{
	int n = 0;
	for (int i = 0; i < LB_MAX_RANK; i++) {
		if (v->t->params[0] & 1 << i)
			axes[n++] = i;
	}
	return (lb_list){ n, axes };
}

/* Elements that make one of the result. */
static double count_reduced(const struct lb_vjp *v)
{
	const struct lb_tensor *x = lb_vjp_input(v, 0);
	double n = 1;
	for (int i = 0; i < x->rank; i++)
		n *= v->t->params[0] & 1 << i ? (double)x->shape[i] : 1;
	return n;
}

/* lb_vjp_give() broadcasts. */
bool lb_rule_sum(const struct lb_vjp *v)
{
	struct lb_tensor *g = kept(v, v->g);
	return lb_vjp_give(v, 0, v->t->op == LB_OP_MEAN ? lb_scaled(g, 1 / count_reduced(v)) : g);
}

/* Ties share. */
bool lb_rule_extreme(const struct lb_vjp *v)
{
	int64_t axes[LB_MAX_RANK];
	struct lb_tensor *hit = lb_equal(lb_vjp_input(v, 0), kept(v, v->t));
	struct lb_tensor *n = lb_sum(hit, axes_of(v, axes), true);
	if (!n)
		return false;
	/* as floats: the number may be beyond what halves can tell */
	lb_dtype wide = v->t->dtype == LB_F64 || v->t->dtype == LB_C64 ? (lb_dtype)v->t->dtype : LB_F32;
	struct lb_tensor *share = lb_divide(lb_astype(kept(v, v->g), wide), lb_astype(n, wide));
	return share && lb_vjp_give(v, 0, lb_where(hit, lb_astype(share, (lb_dtype)v->t->dtype), lb_scalar(0)));
}

/* The product of all others: t / x, unless there is a 0. With one, only its own place has a
 * product that is not 0; with two there is none. (Second derivatives at zeros are those of the
 * pieces.) */
bool lb_rule_prod(const struct lb_vjp *v)
{
	int64_t axes[LB_MAX_RANK];
	lb_list along = axes_of(v, axes);
	struct lb_tensor *x = lb_vjp_input(v, 0), *g = kept(v, v->g);
	struct lb_tensor *zero = lb_equal(x, lb_scalar(0));
	struct lb_tensor *others = lb_where(zero, lb_scalar(1), x);
	struct lb_tensor *rest = lb_divide(lb_prod(others, along, true), others);
	struct lb_tensor *n = lb_sum(zero, along, true);
	struct lb_tensor *counts = lb_where(zero, lb_equal(n, lb_scalar_int(1)), lb_equal(n, lb_scalar_int(0)));
	return lb_vjp_give(v, 0, lb_multiply(g, lb_conjugated(lb_where(counts, rest, lb_scalar(0)))));
}

/* Where nothing is left to divide by, the variance is infinite or NaN, and has no derivative. */
bool lb_rule_var(const struct lb_vjp *v)
{
	int64_t axes[LB_MAX_RANK];
	struct lb_tensor *x = lb_vjp_input(v, 0);
	struct lb_tensor *from_mean = lb_subtract(x, lb_mean(x, axes_of(v, axes), true));
	double n = count_reduced(v) - (double)v->t->params[2];
	return lb_vjp_give(v, 0, lb_multiply(lb_scaled(kept(v, v->g), n > 0 ? 2 / n : NAN), from_mean));
}

bool lb_rule_logsumexp(const struct lb_vjp *v)
{
	struct lb_tensor *part = lb_exp(lb_subtract(lb_vjp_input(v, 0), kept(v, v->t)));
	return lb_vjp_give(v, 0, lb_multiply(kept(v, v->g), part));
}

bool lb_rule_softmax(const struct lb_vjp *v)
{
	int64_t axes[LB_MAX_RANK];
	struct lb_tensor *weighted = lb_multiply(v->g, v->t);
	struct lb_tensor *mean = lb_sum(weighted, axes_of(v, axes), true);
	return lb_vjp_give(v, 0, lb_subtract(weighted, lb_multiply(v->t, mean)));
}

bool lb_rule_cumsum(const struct lb_vjp *v)
{
	const int64_t *p = v->t->params;
	return lb_vjp_give(v, 0, lb_cumsum(v->g, (int)p[0], !p[1], p[2] != 0));
}

bool lb_rule_partition(const struct lb_vjp *v)
{
	return lb_vjp_fail(v, "a partition has no gradient here; lb_sort() and lb_topk() have");
}
