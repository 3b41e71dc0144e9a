#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tolerance_parse(const char *text, struct tolerance *ret)
{
	*ret = (struct tolerance){ .kind = TOLERANCE_EXACT };
	if (strcmp(text, "exact") == 0)
		return true;
	if (strcmp(text, "value") == 0) {
		ret->kind = TOLERANCE_VALUE;
		return true;
	}
	ret->kind = text[0] == 'u' ? TOLERANCE_ULP : TOLERANCE_CLOSE;
	return sscanf(text, "ulp:%lf:%lf", &ret->a, &ret->b) == 2 ||
	       sscanf(text, "close:%lf:%lf", &ret->a, &ret->b) == 2;
}

/* A binary format narrower than float: sign, exponent bits, fraction bits. */
static double decode(uint16_t bits, int fraction_bits, int exponent_bits)
{
	int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
	int fraction = bits & ((1 << fraction_bits) - 1), bias = (1 << (exponent_bits - 1)) - 1;
	double value;
	if (exponent == (1 << exponent_bits) - 1)
		value = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		value = ldexp(fraction, 1 - bias - fraction_bits);
	else
		value = ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
	return bits & 0x8000 ? -value : value;
}

/* Component `part` of element i; integers are compared as bytes and never come here. */
static double load(const void *data, lb_dtype dtype, int64_t i, int part)
{
	const char *at = (const char *)data + i * lb_dtype_bytes(dtype);
	uint16_t half;
	float f[2];
	double d;
	switch (dtype) {
	case LB_F16: memcpy(&half, at, sizeof half); return decode(half, 10, 5);
	case LB_BF16: memcpy(&half, at, sizeof half); return decode(half, 7, 8);
	case LB_F32: memcpy(f, at, sizeof *f); return (double)f[0];
	case LB_C64: memcpy(f, at, sizeof f); return (double)f[part];
	default: memcpy(&d, at, sizeof d); return d;
	}
}

static int fraction_bits(lb_dtype dtype)
{
	return dtype == LB_F16 ? 10 : dtype == LB_BF16 ? 7 : dtype == LB_F64 ? 52 : 23;
}

static int least_exponent(lb_dtype dtype)
{
	return dtype == LB_F16 ? -14 : dtype == LB_F64 ? -1022 : -126;
}

static int largest_exponent(lb_dtype dtype)
{
	return dtype == LB_F16 ? 15 : dtype == LB_F64 ? 1023 : 127;
}

/* Infinity counts as the number that would come after the largest one. */
static long double limited(double x, lb_dtype dtype)
{
	return isinf(x) ? copysignl(ldexpl(1, largest_exponent(dtype) + 1), x) : (long double)x;
}

static double ulps_apart(double got, double expected, lb_dtype dtype)
{
	int exponent = least_exponent(dtype);
	if (isfinite(expected) && expected != 0) {
		int at = ilogb(expected);
		exponent = at > exponent ? at : exponent;
	} else if (isinf(expected)) {
		exponent = largest_exponent(dtype);
	}
	long double unit = ldexpl(1, exponent - fraction_bits(dtype));
	return (double)(fabsl(limited(got, dtype) - limited(expected, dtype)) / unit);
}

/* The distance when it is beyond the tolerance, else 0. */
static double too_far(double got, double expected, double scale, lb_dtype dtype, const struct tolerance *tolerance)
{
	if (isnan(got) || isnan(expected))
		return isnan(got) && isnan(expected) ? 0 : INFINITY;
	if (got == expected) {
		bool same_sign = !signbit(got) == !signbit(expected);
		return tolerance->kind == TOLERANCE_EXACT && !same_sign ? 1 : 0;
	}
	double apart = (double)fabsl(limited(got, dtype) - limited(expected, dtype));
	if (tolerance->kind == TOLERANCE_ULP) {
		double ulps = ulps_apart(got, expected, dtype);
		return ulps <= tolerance->a || apart <= tolerance->b ? 0 : ulps;
	}
	if (tolerance->kind == TOLERANCE_CLOSE && isfinite(got) && isfinite(expected) &&
	    apart <= tolerance->a * scale + tolerance->b)
		return 0;
	return apart;
}

static double element_error(const void *got, const void *expected, lb_dtype dtype, int64_t i,
			    const struct tolerance *tolerance)
{
	size_t bytes = (size_t)lb_dtype_bytes(dtype);
	const char *a = (const char *)got + (size_t)i * bytes;
	const char *b = (const char *)expected + (size_t)i * bytes;
	if (dtype < LB_F16)
		return memcmp(a, b, bytes) ? INFINITY : 0;
	double x = load(expected, dtype, i, 0), worst;
	if (dtype != LB_C64)
		return too_far(load(got, dtype, i, 0), x, fabs(x), dtype, tolerance);
	double y = load(expected, dtype, i, 1), scale = hypot(x, y);
	worst = too_far(load(got, dtype, i, 0), x, scale, dtype, tolerance);
	return fmax(worst, too_far(load(got, dtype, i, 1), y, scale, dtype, tolerance));
}

bool compare_elements(const void *got, const void *expected, lb_dtype dtype, int64_t n,
		      const struct tolerance *tolerance, struct comparison *ret)
{
	*ret = (struct comparison){ 0 };
	for (int64_t i = 0; i < n; i++) {
		double error = element_error(got, expected, dtype, i, tolerance);
		if (error == 0)
			continue;
		if (!ret->differing++)
			ret->first = i;
		if (error > ret->worst_error) {
			ret->worst_error = error;
			ret->worst = i;
		}
	}
	return ret->differing == 0;
}

void element_text(const void *data, lb_dtype dtype, int64_t i, char *to, size_t size)
{
	const char *at = (const char *)data + i * lb_dtype_bytes(dtype);
	uint64_t u = 0;
	memcpy(&u, at, dtype == LB_C64 ? 0 : (size_t)lb_dtype_bytes(dtype));
	int unused = 64 - 8 * (int)lb_dtype_bytes(dtype);
	if (dtype == LB_C64)
		snprintf(to, size, "%.9g%+.9gi", load(data, dtype, i, 0), load(data, dtype, i, 1));
	else if (dtype >= LB_F16)
		snprintf(to, size, "%.17g", load(data, dtype, i, 0));
	else if (dtype >= LB_I8)
		snprintf(to, size, "%" PRId64, (int64_t)(u << unused) >> unused);
	else
		snprintf(to, size, "%" PRIu64, u);
}
