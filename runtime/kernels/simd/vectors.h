/* Vectors of floats of the instruction set's own width, for what a compiler does not find by itself. */
#ifndef LB_KERNELS_SIMD_VECTORS_H
#define LB_KERNELS_SIMD_VECTORS_H

#include "kernels/simd/tiles.h"

#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

#if defined __AVX512F__
enum { LB_VECTOR_BYTES = 64 };
#elif defined __AVX2__
enum { LB_VECTOR_BYTES = 32 };
#else
enum { LB_VECTOR_BYTES = 16 };
#endif
enum { LB_FLOATS = LB_VECTOR_BYTES / 4 };

/* Rows are summed in float for LB_ROW_STRETCH elements, which is 8 for each of LB_ROW_LANES, and then in double. */
enum { LB_ROW_VECTORS = LB_ROW_LANES / LB_FLOATS, LB_ROW_STRETCH = 8 * LB_ROW_LANES };

typedef float lb_floats __attribute__((vector_size(LB_VECTOR_BYTES)));
typedef int32_t lb_ints __attribute__((vector_size(LB_VECTOR_BYTES)));

/* Of each element: yes or no. */
#if defined __AVX512F__
typedef __mmask16 lb_mask;
#else
typedef lb_ints lb_mask;
#endif

static inline lb_floats lb_load(const float *from)
{
	lb_floats x;
	memcpy(&x, from, sizeof x);
	return x;
}

static inline void lb_store(float *to, lb_floats x)
{
	memcpy(to, &x, sizeof x);
}

static inline void lb_add_to_lanes(double lanes[LB_ROW_LANES], const lb_floats sums[LB_ROW_VECTORS])
{
	float some[LB_ROW_LANES] __attribute__((aligned(64)));
	for (int k = 0; k < LB_ROW_VECTORS; k++)
		lb_store(some + k * LB_FLOATS, sums[k]);
	LB_EACH(i, LB_ROW_LANES) lanes[i] += (double)some[i];
}

#if defined __AVX512F__

/* Of 16 elements from `at` on, those that n have. */
static inline lb_mask lb_some_of(int64_t n, int64_t at)
{
	return n - at >= LB_FLOATS ? (lb_mask)~0u : n > at ? (lb_mask)((1u << (n - at)) - 1) : 0;
}

/* 16 elements of a row of f32, or of halves, which are widened, from `at` on; the others, which are not read, are 0. */
static inline __attribute__((always_inline)) __m512 lb_widened(const int dtype, const void *row, int64_t at,
							       lb_mask some)
{
	if (dtype == LB_F32)
		return _mm512_maskz_loadu_ps(some, (const float *)row + at);
	__m256i halves = _mm256_maskz_loadu_epi16(some, (const uint16_t *)row + at);
	return dtype == LB_F16 ? _mm512_cvtph_ps(halves)
			       : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

#endif

static inline lb_floats lb_every(float x)
{
	return (lb_floats){ 0 } + x;
}

/* a * b + c, rounded once where the instruction set has that. */
static inline lb_floats lb_multiply_add(lb_floats a, lb_floats b, lb_floats c)
{
#if defined __AVX512F__
	return (lb_floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined __AVX2__
	return (lb_floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	return a * b + c;
#endif
}

/* The larger; b where either is NaN. */
static inline lb_floats lb_larger(lb_floats a, lb_floats b)
{
#if defined __AVX512F__
	return (lb_floats)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined __AVX2__
	return (lb_floats)_mm256_max_ps((__m256)a, (__m256)b);
#else
	lb_ints above = a > b;
	return (lb_floats)((above & (lb_ints)a) | (~above & (lb_ints)b));
#endif
}

static inline lb_floats lb_smaller(lb_floats a, lb_floats b)
{
#if defined __AVX512F__
	return (lb_floats)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined __AVX2__
	return (lb_floats)_mm256_min_ps((__m256)a, (__m256)b);
#else
	lb_ints below = a < b;
	return (lb_floats)((below & (lb_ints)a) | (~below & (lb_ints)b));
#endif
}

static inline lb_mask lb_where_equal(lb_floats a, lb_floats b)
{
#if defined __AVX512F__
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ);
#else
	return a == b;
#endif
}

/* Where either is NaN. */
static inline lb_mask lb_where_nan(lb_floats a, lb_floats b)
{
#if defined __AVX512F__
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q);
#elif defined __AVX2__
	return (lb_ints)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q);
#else
	return (a != a) | (b != b);
#endif
}

static inline bool lb_anywhere(lb_mask mask)
{
#if defined __AVX512F__
	return mask != 0;
#elif defined __AVX2__
	return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
	int64_t halves[2];
	memcpy(halves, &mask, sizeof halves);
	return (halves[0] | halves[1]) != 0;
#endif
}

/* e^x of x <= 0, within 1.1 units of the last place: x = n log(2) + r, and the polynomial of Cephes' expf (Moshier) for r.
 * 0 for n below -126: a product with subnormal numbers takes a hundred cycles, and beside the power of the largest x, 1, they
 * are nothing. NaN stays NaN. */
static inline lb_floats lb_exp_below(lb_floats x)
{
	const float magic = 0x1.8p23f; /* added, it leaves a whole number in the lowest bits */
	x = lb_larger(lb_every(-88), x);
	lb_floats shifted = lb_multiply_add(x, lb_every(1.44269504f), lb_every(magic)), n = shifted - magic;
	lb_floats r = lb_multiply_add(n, lb_every(-0.693359375f), x);
	r = lb_multiply_add(n, lb_every(2.12194440e-4f), r);
	lb_floats y = lb_multiply_add(lb_every(1.9875691500e-4f), r, lb_every(1.3981999507e-3f));
	y = lb_multiply_add(y, r, lb_every(8.3334519073e-3f));
	y = lb_multiply_add(y, r, lb_every(4.1665795894e-2f));
	y = lb_multiply_add(y, r, lb_every(1.6666665459e-1f));
	y = lb_multiply_add(y, r, lb_every(5.0000001201e-1f));
	y = lb_multiply_add(y, r * r, r) + 1;
	/* 2^n: n is -127 at least, of which the bits are those of 0; of NaN any do */
	return y * (lb_floats)(((lb_ints)shifted << 23) + 0x3f800000);
}

#endif
