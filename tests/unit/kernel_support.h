/* Shared by the kernels' tests: views over guarded memory, values with their special
 * cases, and elements read by formulas of their own. */
#ifndef KERNEL_SUPPORT_H
#define KERNEL_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/op.h"
#include "kernels/half.h"
#include "kernels/kernels.h"
#include "kernels/tile.h"
#include "lazybones.h"

enum { KEPT_MOST = 4096 };

static void *kept[KEPT_MOST];
static int n_kept;

static inline void *keep(int64_t nbytes)
{
	assert_true(n_kept < KEPT_MOST);
	return kept[n_kept++] = calloc(1, (size_t)(nbytes > 0 ? nbytes : 1));
}

static inline void free_kept(void)
{
	while (n_kept > 0)
		free(kept[--n_kept]);
}

static inline void *scratch(struct lb_exec *exec, int64_t nbytes)
{
	(void)exec;
	assert_true(n_kept < KEPT_MOST);
	return kept[n_kept++] = aligned_alloc(64, (size_t)((nbytes > 0 ? nbytes : 1) + 63) / 64 * 64);
}

static struct lb_exec exec_all
    __attribute__((unused)) = { .threads = true, .blas = true, .amx = true, .scratch = scratch };
static struct lb_exec exec_alone
    __attribute__((unused)) = { .threads = false, .blas = false, .amx = true, .scratch = scratch };

static uint64_t seed = 88172645463325252u;

static inline uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static inline int64_t width(int dtype)
{
	return lb_dtypes[dtype].bytes;
}

/* An element by its definition: part 0 real, 1 imaginary. */
static inline double real_of(const void *at, int dtype, int part)
{
	switch (dtype) {
	case LB_BOOL: return *(const uint8_t *)at != 0;
	case LB_U8: return *(const uint8_t *)at;
	case LB_U16: return *(const uint16_t *)at;
	case LB_U32: return *(const uint32_t *)at;
	case LB_U64: return (double)*(const uint64_t *)at;
	case LB_I8: return *(const int8_t *)at;
	case LB_I16: return *(const int16_t *)at;
	case LB_I32: return *(const int32_t *)at;
	case LB_I64: return (double)*(const int64_t *)at;
	case LB_F16: return (double)lb_f16_to_float(*(const uint16_t *)at);
	case LB_BF16: return (double)lb_bf16_to_float(*(const uint16_t *)at);
	case LB_F32: return (double)*(const float *)at;
	case LB_F64: return *(const double *)at;
	default: return (double)((const float *)at)[part];
	}
}

/* An integer of any dtype, sign-extended. */
static inline int64_t int_of(const void *at, int dtype)
{
	uint64_t raw = 0;
	memcpy(&raw, at, (size_t)width(dtype));
	int64_t shift = 64 - 8 * width(dtype);
	return lb_dtype_is_signed_int(dtype) ? (int64_t)(raw << shift) >> shift : (int64_t)raw;
}

/* A float of the dtype nearest to x. */
static inline void put_real(void *at, int dtype, double x)
{
	switch (dtype) {
	case LB_F16: *(uint16_t *)at = lb_float_to_f16((float)x); break;
	case LB_BF16: *(uint16_t *)at = lb_float_to_bf16((float)x); break;
	case LB_F32: *(float *)at = (float)x; break;
	case LB_F64: *(double *)at = x; break;
	case LB_C64:
		((float *)at)[0] = (float)x;
		((float *)at)[1] = (float)(x / 3 - 1);
		break;
	}
}

/* Any value, one in eight of them special. */
static inline void put_any(void *at, int dtype)
{
	static const double special[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0.5, 1e-40, -1e-40, 1e30, -1e30 };
	uint64_t bits = draw();
	if (dtype == LB_BOOL) {
		*(uint8_t *)at = bits & 1;
	} else if (!lb_dtype_is_inexact(dtype)) {
		if (bits >> 60 < 8) /* small ones are more interesting */
			bits = (uint64_t)((int64_t)(bits & 15) - 5 * (dtype >= LB_I8));
		memcpy(at, &bits, (size_t)width(dtype));
	} else if (bits % 8 == 0) {
		put_real(at, dtype, special[bits / 8 % 12]);
	} else {
		put_real(at, dtype, (double)(int64_t)(bits >> 20) * 0x1p-40 - 8);
	}
}

static inline struct lb_view make_view(int dtype, int rank, const int64_t *shape)
{
	struct lb_view view = { .dtype = (enum lb_dtype)dtype, .rank = rank };
	int64_t n = 1;
	for (int i = rank - 1; i >= 0; i--) {
		view.shape[i] = shape[i];
		view.strides[i] = n;
		n *= shape[i];
	}
	view.data = keep(n * width(dtype));
	for (int64_t i = 0; i < n; i++)
		put_any((char *)view.data + i * width(dtype), dtype);
	return view;
}

/* A view of the same shape with other strides: permuted, padded, reversed, broadcast. */
static inline struct lb_view make_strided(int dtype, int rank, const int64_t *shape)
{
	int order[LB_MAX_RANK];
	int64_t strides[LB_MAX_RANK], step = 1, start = 0;
	for (int i = 0; i < rank; i++)
		order[i] = i;
	for (int i = rank - 1; i > 0; i--) {
		int k = (int)(draw() % (uint64_t)(i + 1)), kept_order = order[i];
		order[i] = order[k];
		order[k] = kept_order;
	}
	for (int i = rank - 1; i >= 0; i--) {
		int axis = order[i];
		int kind = (int)(draw() % 6);
		if (kind == 0) {
			strides[axis] = 0;
			continue;
		}
		step *= kind == 1 ? 2 : 1;
		strides[axis] = kind == 2 ? -step : step;
		start += kind == 2 && shape[axis] > 0 ? step * (shape[axis] - 1) : 0;
		step *= shape[axis];
	}
	struct lb_view view = make_view(dtype, 1, (int64_t[]){ step * 2 + 1 });
	view.data = (char *)view.data + start * width(dtype);
	view.rank = rank;
	for (int i = 0; i < rank; i++) {
		view.shape[i] = shape[i];
		view.strides[i] = strides[i];
	}
	return view;
}

static inline int64_t size_of(const struct lb_view *view)
{
	int64_t n = 1;
	for (int i = 0; i < view->rank; i++)
		n *= view->shape[i];
	return n;
}

/* Address of row-major element i. */
static inline char *element(const struct lb_view *view, int64_t i)
{
	int64_t offset = 0;
	for (int axis = view->rank - 1; axis >= 0; axis--) {
		offset += i % view->shape[axis] * view->strides[axis];
		i /= view->shape[axis];
	}
	return (char *)view->data + offset * width(view->dtype);
}

/* The same bits, of which those of a NaN are free. */
static inline void check_same_bits(const char *a, const char *b, int64_t n, int dtype)
{
	for (int64_t i = 0; i < n; i++, a += width(dtype), b += width(dtype))
		if (!isnan(real_of(a, dtype, 0)) || !isnan(real_of(b, dtype, 0)))
			assert_memory_equal(a, b, (size_t)width(dtype));
}

/* Equal as numbers (NaN equals NaN) within `ulps` of the dtype's precision. */
static inline bool near(double got, double wanted, int dtype, double ulps)
{
	if (isnan(wanted) || isnan(got))
		return isnan(wanted) && isnan(got);
	if (got == wanted)
		return true;
	int digits = dtype == LB_F16 ? 10 : dtype == LB_BF16 ? 7 : dtype == LB_F64 ? 52 : 23;
	double tiny = dtype == LB_F16 ? 0x1p-24 : dtype == LB_F64 ? 0x1p-1060 : 0x1p-133;
	double most = dtype == LB_F16 ? 65504 : 3.38e38;
	if (isinf(got) && dtype != LB_F64)
		return fabs(wanted) >= most && (got > 0) == (wanted > 0);
	return fabs(got - wanted) <= ulps * fmax(fabs(wanted) * ldexp(1, -digits), tiny);
}

static inline void check_near(double got, double wanted, int dtype, double ulps, const char *what, int64_t i)
{
	if (!near(got, wanted, dtype, ulps))
		fail_msg("%s of %s, element %lld: %.17g, should be %.17g", what, lb_dtypes[dtype].name, (long long)i,
			 got, wanted);
}

static inline void check_ok(bool ok)
{
	if (!ok)
		fail_msg("failed: %s", lb_error_message());
}

static inline int reset(void **state)
{
	(void)state;
	free_kept();
	lb_clear_error();
	return 0;
}

#endif
