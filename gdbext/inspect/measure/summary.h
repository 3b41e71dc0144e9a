/* Statistics of many elements, gathered piece by piece at memory speed. */
#ifndef LBX_SUMMARY_H
#define LBX_SUMMARY_H

#include "tensors/tensor.h"

/* Kinds of values that are counted, each with the row-major index of its first. */
enum lbx_special { LBX_NAN, LBX_POSITIVE_INF, LBX_NEGATIVE_INF, LBX_ZERO, LBX_DENORMAL, LBX_OVER_F16, LBX_SPECIALS };

struct lbx_summary {
	enum lb_dtype dtype;
	int64_t count, finite;
	int64_t special[LBX_SPECIALS], first[LBX_SPECIALS]; /* first is -1 while there is none */
	/* of what is not NaN; argmin and argmax are -1 when there is nothing else */
	double min, max;
	int64_t int_min, int_max; /* of integers, exactly (those of uint64 as its bits) */
	int64_t argmin, argmax;
	/* of the finite values */
	long double mean, m2; /* m2: sum of squared distances from the mean */
	long double sum;
};

void lbx_summary_init(struct lbx_summary *s, enum lb_dtype dtype);
/* Adds n dense elements, the first of which has the row-major index `first`. */
void lbx_summary_add(struct lbx_summary *s, const void *elements, int64_t n, int64_t first);
/* Adds what was gathered of elements that come later. */
void lbx_summary_merge(struct lbx_summary *s, const struct lbx_summary *after);
/* As if every element had come `times` times; the product of counts must fit. */
void lbx_summary_repeat(struct lbx_summary *s, int64_t times);
double lbx_summary_std(const struct lbx_summary *s); /* of the population */
double lbx_summary_l2(const struct lbx_summary *s);

#endif
