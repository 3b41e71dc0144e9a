/* Numbers as NumPy prints those of an array: one width and one precision for all, the
 * shortest digits that tell a number from its neighbours of the same dtype
 * (numpy/core/arrayprint.py, FloatingFormat). */
#ifndef LBX_NUMBER_H
#define LBX_NUMBER_H

#include <stddef.h>

#include "tensors/tensor.h"

enum { LBX_NUMBER_MAX = 128, LBX_PRECISION_MAX = 20 };

struct lbx_float_format {
	bool exponent, plus, has_finite;
	int precision;
	int left, right;  /* characters before and after the point */
	int exponent_digits;
};

struct lbx_number_format {
	enum lb_dtype dtype;
	int width; /* of integers and bools */
	struct lbx_float_format real, imaginary;
};

/* Chooses the format for n dense elements. */
void lbx_number_format(const void *elements, int64_t n, enum lb_dtype dtype, int precision,
		       struct lbx_number_format *ret);
/* Writes one element, padded; returns its length. */
int lbx_number_print(const struct lbx_number_format *format, const void *element, char ret[LBX_NUMBER_MAX]);
/* One element alone, as NumPy prints a scalar: 1.5, 1e-05, True, (1+2j). */
int lbx_number_scalar(const void *element, enum lb_dtype dtype, char ret[LBX_NUMBER_MAX]);

#endif
