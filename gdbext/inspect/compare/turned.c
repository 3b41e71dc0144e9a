#include "inspect/compare/turned.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "inspect/measure/pairs.h"

enum { LEAST = 16 /* elements, by chance none of which go together */, MOST = 1 << 24 };

static const double near = 0.95, not_near = 0.8;

struct sums {
	enum lb_dtype a, b;
	int64_t n; /* where both are finite */
	long double x, y, xx, yy, xy;
};

static void add(void *part, const void *x, const void *y, int n, int64_t first)
{
	struct sums *s = part;
	const char *a = x, *b = y;
	int64_t v = lbx_dtype_bytes(s->a), w = lbx_dtype_bytes(s->b);

	(void)first;
	for (int i = 0; i < n; i++) {
		double p = lbx_element_double(a + i * v, s->a), q = lbx_element_double(b + i * w, s->b);
		if (!isfinite(p) || !isfinite(q))
			continue;
		s->n++;
		s->x += p;
		s->y += q;
		s->xx += (long double)p * p;
		s->yy += (long double)q * q;
		s->xy += (long double)p * q;
	}
}

static void join(void *total, const void *part)
{
	struct sums *s = total;
	const struct sums *p = part;

	s->n += p->n;
	s->x += p->x;
	s->y += p->y;
	s->xx += p->xx;
	s->yy += p->yy;
	s->xy += p->xy;
}

/* 0 where one of them is constant, or too few are numbers. */
static bool correlate(const struct lbx_array *a, const struct lbx_array *b, struct lbx_out *out, double *ret)
{
	struct sums s = { .a = a->dtype, .b = b->dtype };

	*ret = 0;
	if (!lbx_pairs_walk(&(struct lbx_pairs){ .a = a,
						 .b = b,
						 .doing = "comparing it transposed",
						 .total = &s,
						 .nbytes = sizeof s,
						 .add = add,
						 .join = join },
			    out))
		return false;
	if (s.n < LEAST || s.n < a->size - a->size / 10)
		return true;
	long double xx = s.xx - s.x * s.x / s.n, yy = s.yy - s.y * s.y / s.n, xy = s.xy - s.x * s.y / s.n;
	if (xx > 0 && yy > 0)
		*ret = (double)(xy / sqrtl(xx * yy));
	return true;
}

bool lbx_turns(const struct lbx_array *a, const struct lbx_array *b)
{
	int rank = a->rank, last = rank - 1;

	return rank >= 2 && b->rank == rank && a->shape[last] == b->shape[last - 1] &&
	       a->shape[last - 1] == b->shape[last] && a->shape[last] > 1 && a->shape[last - 1] > 1 &&
	       memcmp(a->shape, b->shape, (size_t)(rank - 2) * sizeof *a->shape) == 0;
}

static void exchange(int64_t *values, int one, int other)
{
	int64_t kept = values[one];

	values[one] = values[other];
	values[other] = kept;
}

static struct lbx_array turn(const struct lbx_array *array)
{
	struct lbx_array ret = *array;
	int last = array->rank - 1;

	exchange(ret.shape, last - 1, last);
	exchange(ret.strides, last - 1, last);
	if (ret.scaled.axis >= last - 1)
		ret.scaled.axis = ret.scaled.axis == last ? last - 1 : last;
	return ret;
}

bool lbx_find_turned(const struct lbx_array *a, const struct lbx_array *b, struct lbx_out *out, struct lbx_turned *ret)
{
	bool turns_a = b->encoding != NULL, is_square;

	*ret = (struct lbx_turned){ .is_near = false };
	if (!lbx_turns(a, b) || a->size > MOST || a->dtype == LB_C64 || b->dtype == LB_C64 ||
	    (a->encoding && b->encoding))
		return true;
	is_square = a->shape[a->rank - 1] == a->shape[a->rank - 2];
	struct lbx_array other = turn(turns_a ? a : b);
	if (!correlate(turns_a ? &other : a, turns_a ? b : &other, out, &ret->turned) ||
	    (is_square && !correlate(a, b, out, &ret->plain)))
		return false;
	ret->axes[0] = a->rank - 2;
	ret->axes[1] = a->rank - 1;
	ret->is_near = fabs(ret->turned) >= near && fabs(ret->plain) < not_near;
	return true;
}
