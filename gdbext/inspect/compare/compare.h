/* Two arrays, element by element, at memory speed: as float64, complex ones by the distance, and
 * integers beyond 2^53 are told apart exactly. NaN equals NaN here: what differs is NaN in one
 * alone. */
#ifndef LBX_COMPARE_H
#define LBX_COMPARE_H

#include "inspect/tensor/array.h"

struct lbx_tolerance {
	double level;      /* errors from here on are counted */
	double rtol, atol; /* as numpy.allclose(a, b, rtol, atol, equal_nan=True) */
};

/* Called, from several threads, for blocks that differ somewhere: of n elements from the first-th on the errors, and
 * the sizes of the second's. */
struct lbx_observer {
	void (*see)(void *context, const double *errors, const double *sizes, int n, int64_t first);
	void *context;
};

struct lbx_comparison {
	struct lbx_tolerance tolerance;
	const struct lbx_observer *observer; /* or NULL */
	enum lb_dtype a, b;
	int64_t count, different, beyond /* the level */, far /* not close */, nan_in_one, nan_in_both;
	/* row-major indices, -1 while there is none */
	int64_t first, first_far, first_nan, worst, worst_relative;
	double max, max_relative; /* of |a - b|, and of |a - b| / |b| where b is not 0 */
	long double sum, squares; /* of |a - b| and of its square, where both are numbers */
};

/* Where both are numbers. */
int64_t lbx_compared(const struct lbx_comparison *comparison);
/* Of two arrays of as many elements; `observer` may be NULL. */
bool lbx_compare(const struct lbx_array *a, const struct lbx_array *b, const struct lbx_tolerance *tolerance,
		 const struct lbx_observer *observer, struct lbx_out *out, struct lbx_comparison *ret);

/* |a - b| of n elements (at most LBX_PAIRS), and |b|. The error is 0 where they are equal, also where both
 * are NaN, and NaN where one alone is. */
void lbx_errors(enum lb_dtype a, const void *x, enum lb_dtype b, const void *y, int n, double *error, double *size);
/* A few roundings of a dtype, relative to a number; 0 of integers. */
double lbx_rounding_of(enum lb_dtype dtype);

#endif
