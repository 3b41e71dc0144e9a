/* Scans along an axis. The gradients of two are sums that numbers beyond a dtype's range must not spoil, and so are
 * written as what is linear in the cotangent in truth alone, not in each operation. These sums therefore have a rule of
 * their own: by the cotangent they lead on to their transposes, which are of the same kind. */
#include <math.h>
#include <stdint.h>

#include "grad/rule.h"

/* What is there for a result that has this element in it, at its place: g, or, where it had not, that of the next one. */
static struct lb_tensor *moved_on(struct lb_tensor *g, int axis, bool reverse, bool inclusive)
{
	int64_t low[LB_MAX_RANK] = { 0 }, high[LB_MAX_RANK] = { 0 };
	lb_index index[LB_MAX_RANK];
	if (inclusive)
		return g;
	for (int i = 0; i < axis; i++)
		index[i] = LB_ALL;
	index[axis] = reverse ? LB_TO(-1) : LB_FROM(1);
	*(reverse ? &low[axis] : &high[axis]) = 1;
	return lb_pad(lb_slice_n(g, axis + 1, index), (lb_list){ g->rank, low }, (lb_list){ g->rank, high }, 0);
}

/* Each result is one of the elements: of equal ones the last on the way. */
static struct lb_tensor *of_extremes(struct lb_tensor *x, struct lb_tensor *g, lb_scan_kind kind, int axis,
				     bool reverse, bool inclusive)
{
	int64_t shape[LB_MAX_RANK], n = x->shape[axis];
	struct lb_tensor *zeros = lb_zeros_of(x);
	if (x->size == 0)
		return zeros;
	for (int i = 0; i < x->rank; i++)
		shape[i] = i == axis ? n : 1;
	struct lb_tensor *top = lb_scan(x, kind, axis, reverse, true);
	struct lb_tensor *place = lb_reshape(lb_arange(0, (double)n, 1, LB_I64), (lb_list){ x->rank, shape });
	struct lb_tensor *is_top = lb_logical_or(lb_equal(x, top), lb_logical_and(lb_isnan(x), lb_isnan(top)));
	place = lb_where(is_top, place, lb_scalar_int(reverse ? n - 1 : 0));
	place = lb_scan(place, reverse ? LB_SCAN_MIN : LB_SCAN_MAX, axis, reverse, true);
	return lb_put_along_axis(zeros, place, moved_on(g, axis, reverse, inclusive), axis, LB_PUT_ADD);
}

/* ---- linear maps of v, which x and the scan's result t give; backwards, of complex numbers their conjugates ---- */

struct map {
	lb_scan_kind kind;
	int axis;
	bool reverse, inclusive; /* of the scan */
	bool onwards; /* the derivative by x itself, not its transpose */
};

/* A map as the context of a function, which outlives the rule. */
static void *packed(struct map m)
{
	return (void *)(uintptr_t)((unsigned)m.kind | (unsigned)m.axis << 4 | (unsigned)m.reverse << 8 |
				   (unsigned)m.inclusive << 9 | (unsigned)m.onwards << 10);
}

static struct map unpacked(const void *context)
{
	unsigned bits = (unsigned)(uintptr_t)context;
	return (struct map){ (lb_scan_kind)(bits & 15), bits >> 4 & 15, bits >> 8 & 1, bits >> 9 & 1, bits >> 10 & 1 };
}

/* The transpose sums over the results with x in them, the other way round. */
static bool goes_back(const struct map *m)
{
	return m->reverse == m->onwards;
}

static struct lb_tensor *summed(const struct map *m, struct lb_tensor *x)
{
	return lb_cumsum(x, m->axis, goes_back(m), m->inclusive);
}

/* The sum of v exp(x - t) over the v > 0: in logarithms, since exp(-t) may be too large. */
static struct lb_tensor *of_positive(const struct map *m, struct lb_tensor *v, struct lb_tensor *x, struct lb_tensor *t)
{
	struct lb_tensor *none = lb_scalar(-INFINITY), *one = lb_scalar(1), *zero = lb_scalar(0);
	struct lb_tensor *less = lb_where(lb_equal(t, none), none, lb_negative(t));
	struct lb_tensor *from = m->onwards ? x : less, *to = m->onwards ? less : x, *counts = lb_greater(v, zero);
	struct lb_tensor *y = lb_add(lb_log(lb_where(counts, v, one)), from);
	y = lb_scan(lb_where(counts, y, none), LB_SCAN_LOGADDEXP, m->axis, goes_back(m), m->inclusive);
	return lb_exp(lb_add(to, y));
}

static struct lb_tensor *of_exponents(const struct map *m, struct lb_tensor *v, struct lb_tensor *x,
				      struct lb_tensor *t)
{
	return lb_subtract(of_positive(m, v, x, t), of_positive(m, lb_negative(v), x, t));
}

/* The sum of v t / x over the results with x in them; at the first zero that of the products without it; and 0 behind that,
 * since it is in all of them. Onwards, the sum of v t / x over the x in a result; with one zero among them, the first, v
 * there times the product of the others. */
static struct lb_tensor *of_factors(const struct map *m, struct lb_tensor *v, struct lb_tensor *x, struct lb_tensor *t)
{
	struct lb_tensor *one = lb_scalar(1), *none = lb_scalar(0), *is_zero = lb_equal(x, none);
	struct lb_tensor *as_int = lb_astype(is_zero, LB_I64), *no = lb_scalar_int(0);
	struct lb_tensor *zeros = lb_cumsum(as_int, m->axis, m->reverse, true);
	struct lb_tensor *is_first = lb_logical_and(is_zero, lb_equal(zeros, lb_scalar_int(1)));
	struct lb_tensor *rest = lb_scan(lb_where(is_first, one, x), LB_SCAN_PROD, m->axis, m->reverse, m->inclusive);
	struct lb_tensor *safe = lb_where(is_zero, one, x);
	if (m->onwards) {
		struct lb_tensor *all = lb_multiply(t, summed(m, lb_divide(v, safe)));
		struct lb_tensor *others = lb_multiply(rest, summed(m, lb_where(is_first, v, none)));
		struct lb_tensor *among = lb_cumsum(as_int, m->axis, m->reverse, m->inclusive);
		return lb_where(lb_equal(among, no), all, others);
	}
	struct lb_tensor *is_used = lb_not_equal(v, none); /* else a product beyond the dtype's range would count */
	struct lb_tensor *all = summed(m, lb_where(is_used, lb_multiply(v, t), none));
	struct lb_tensor *others = summed(m, lb_where(is_used, lb_multiply(v, rest), none));
	return lb_where(is_first, others, lb_where(lb_greater(zeros, no), none, lb_divide(all, safe)));
}

/* in: v, x, t */
static bool scan_of(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	struct map m = unpacked(context);
	(void)n, (void)n_out;
	out[0] = (m.kind == LB_SCAN_PROD ? of_factors : of_exponents)(&m, in[0], in[1], in[2]);
	return out[0] != NULL;
}

static bool linear_vjp(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor *const *out,
		       lb_tensor *const *cotangents, lb_tensor **grads)
{
	struct map other = unpacked(context);
	lb_tensor *value, *transposed[3] = { cotangents[0], lb_conjugated(in[1]), lb_conjugated(in[2]) };
	(void)out;
	if (!lb_vjp(scan_of, context, n, in, n_out, cotangents, &value, grads))
		return false;
	other.onwards = !other.onwards;
	return lb_custom_vjp(scan_of, linear_vjp, packed(other), 3, transposed, 1, &grads[0]);
}

bool lb_rule_scan(const struct lb_vjp *v)
{
	const int64_t *p = v->t->params;
	struct map m = { .kind = (lb_scan_kind)p[3], .axis = (int)p[0], .reverse = p[1] != 0, .inclusive = p[2] != 0 };
	struct lb_tensor *x = lb_vjp_input(v, 0), *g = v->g, *in[3] = { g, lb_conjugated(x), lb_conjugated(v->t) }, *d;
	switch (m.kind) {
	case LB_SCAN_SUM: return lb_vjp_give(v, 0, lb_scan(g, LB_SCAN_SUM, m.axis, !m.reverse, m.inclusive));
	case LB_SCAN_MAX:
	case LB_SCAN_MIN: return lb_vjp_give(v, 0, of_extremes(x, g, m.kind, m.axis, m.reverse, m.inclusive));
	default: return lb_custom_vjp(scan_of, linear_vjp, packed(m), 3, in, 1, &d) && lb_vjp_give(v, 0, d);
	}
}
