/* A vector in digits of base 256, which digits.c and the panels multiply: a step for each LB_CUT_TOGETHER elements, by which they
 * are whole numbers, and of these the digits, in planes. */
#include "kernels/simd/tiles.h"
#ifdef __AVX512BW__
#include <immintrin.h>
#endif

enum { TOGETHER = LB_CUT_TOGETHER, LANE = 8 };

/* The step of numbers up to `top`, the bits of a finite float, and one over it; both 0 where all are next to nothing. */
static float step_of(int planes, uint32_t top, float *inverse)
{
	if (top < 0x0d800000) { /* 2^-100 */
		*inverse = 0;
		return 0;
	}
	if (planes == 1) {
		*inverse = 127 / lb_bits_to_float(top);
		return lb_bits_to_float(top) / 127;
	}
	uint32_t exponent = top >> 23; /* so that the largest number is below 2^22 steps */
	*inverse = lb_bits_to_float((275 - exponent) << 23);
	return lb_bits_to_float((exponent - 21) << 23);
}

#ifdef __AVX512BW__

/* The low bytes of two vectors of whole numbers: the even ones of both, then the odd ones. */
static inline void store_digits(int8_t *even, int64_t half, __m512i low, __m512i high)
{
	__m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	__m512i odds = _mm512_or_si512(evens, _mm512_set1_epi32(1));
	_mm_storeu_si128((void *)even, _mm512_cvtepi32_epi8(_mm512_permutex2var_epi32(low, evens, high)));
	_mm_storeu_si128((void *)(even + half), _mm512_cvtepi32_epi8(_mm512_permutex2var_epi32(low, odds, high)));
}

bool LB_ISA_NAME(lb_tile_cut)(int64_t n, const float *x, int group, const struct lb_cut *to)
{
	memset(to->sums, 0, (size_t)(n / group) * sizeof *to->sums);
	for (int64_t at = 0; at < n; at += TOGETHER) {
		__mmask16 more = n - at >= TOGETHER ? (__mmask16)~0u : 0; /* groups are of 16 at least */
		__m512 low = _mm512_loadu_ps(x + at), high = _mm512_maskz_loadu_ps(more, x + at + 16);
		__m512i size = _mm512_set1_epi32(0x7fffffff), whole[2];
		__m512i top = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(low), size),
					       _mm512_and_si512(_mm512_castps_si512(high), size));
		uint32_t most = _mm512_reduce_max_epu32(top);
		if (most >= 0x7f800000)
			return false;
		float inverse, step = step_of(to->planes, most, &inverse);
		whole[0] = _mm512_cvtps_epi32(_mm512_mul_ps(low, _mm512_set1_ps(inverse)));
		whole[1] = _mm512_cvtps_epi32(_mm512_mul_ps(high, _mm512_set1_ps(inverse)));
		_mm_storeu_ps(to->steps + at / LANE, _mm_set1_ps(step));
		for (int i = 0; i < 2; i++) {
			int32_t sum = _mm512_reduce_add_epi32(whole[i]);
			to->wholes[at / 16 + i] = sum;
			if (i == 0 || more)
				to->sums[(at + i * 16) / group] += (float)sum * step;
		}
		for (int p = to->planes; p-- > 0;) {
			store_digits(to->digits + 2 * p * to->half + at / 2, to->half, whole[0], whole[1]);
			for (int i = 0; i < 2; i++)
				whole[i] = _mm512_srai_epi32(_mm512_add_epi32(whole[i], _mm512_set1_epi32(128)), 8);
		}
	}
	return true;
}

#else

bool LB_ISA_NAME(lb_tile_cut)(int64_t n, const float *x, int group, const struct lb_cut *to)
{
	memset(to->sums, 0, (size_t)(n / group) * sizeof *to->sums);
	for (int64_t at = 0; at < n; at += TOGETHER) {
		float line[TOGETHER] = { 0 }, inverse;
		uint32_t bits[TOGETHER], top = 0;
		int32_t whole[TOGETHER], sums[2] = { 0, 0 };
		int64_t some = n - at < TOGETHER ? n - at : TOGETHER;
		memcpy(line, x + at, (size_t)some * sizeof *line);
		memcpy(bits, line, sizeof bits);
		_Pragma("omp simd reduction(max : top)") for (int i = 0; i < TOGETHER; i++)
		{
			uint32_t size = bits[i] & 0x7fffffff;
			top = size > top ? size : top;
		}
		if (top >= 0x7f800000)
			return false;
		float step = step_of(to->planes, top, &inverse);
		/* 1.5 * 2^23 more makes the low bits of a float a whole number, rounded half to even */
		LB_EACH(i, TOGETHER) line[i] = line[i] * inverse + 0x1.8p23f;
		memcpy(whole, line, sizeof whole);
		LB_EACH(i, TOGETHER) whole[i] -= 0x4b400000;
		for (int i = 0; i < TOGETHER / LANE; i++)
			to->steps[at / LANE + i] = step;
		for (int i = 0; i < TOGETHER; i++)
			sums[i / 16] += whole[i];
		memcpy(to->wholes + at / 16, sums, sizeof sums);
		for (int i = 0; i < 2 && i * 16 < some; i++)
			to->sums[(at + i * 16) / group] += (float)sums[i] * step;
		for (int p = to->planes; p-- > 0;) {
			int8_t digits[TOGETHER], *even = to->digits + 2 * p * to->half + at / 2;
			LB_EACH(i, TOGETHER) digits[i] = (int8_t)whole[i];
			LB_EACH(i, TOGETHER) whole[i] = (whole[i] - digits[i]) >> 8;
			LB_EACH(i, TOGETHER / 2) even[i] = digits[2 * i];
			LB_EACH(i, TOGETHER / 2) even[to->half + i] = digits[2 * i + 1];
		}
	}
	return true;
}

#endif
