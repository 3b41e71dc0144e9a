/* Compares elements with expected ones. Shares no code with the runtime. */
#ifndef TEST_COMPARE_H
#define TEST_COMPARE_H

#include "lazybones.h"

struct tolerance {
	enum {
		TOLERANCE_EXACT, /* the same value and sign of zero; any NaN is NaN */
		TOLERANCE_VALUE, /* the same value */
		TOLERANCE_ULP,   /* within a units in the last place, or b */
		TOLERANCE_CLOSE, /* within a * |expected| + b */
	} kind;
	double a, b;
};

struct comparison {
	int64_t differing;    /* elements that are beyond the tolerance */
	int64_t first;        /* index of the first of them */
	int64_t worst;        /* index of the one that is farthest off */
	double worst_error;   /* its distance, in ulps for TOLERANCE_ULP, else absolute */
};

/* exact, value, ulp:A:B, close:A:B */
bool tolerance_parse(const char *text, struct tolerance *ret);
/* True if all n elements are within the tolerance. */
bool compare_elements(const void *got, const void *expected, lb_dtype dtype, int64_t n,
		      const struct tolerance *tolerance, struct comparison *ret);
/* Writes element i as text. */
void element_text(const void *data, lb_dtype dtype, int64_t i, char *to, size_t size);

#endif
