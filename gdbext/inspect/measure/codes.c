#include "inspect/measure/codes.h"

#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "inspect/measure/isa.h"

enum { LANES = 8 };

/* The smallest step whose multiples are all normal numbers, with room; the largest float16; and how many steps a least
 * value may be for elements to be rounded by less than a thousandth of a step. */
#define SMALL_STEP 0x1p-100f
#define LARGE 65504.f
#define MANY_STEPS 0x1p14f

typedef float floats __attribute__((vector_size(LANES * 4), aligned(4)));
typedef int32_t ints __attribute__((vector_size(LANES * 4), aligned(4)));
typedef float half_floats __attribute__((vector_size(LANES * 2), aligned(4)));
typedef int32_t half_ints __attribute__((vector_size(LANES * 2), aligned(4)));
typedef double doubles __attribute__((vector_size(LANES * 4), aligned(8)));
typedef int8_t few_codes __attribute__((vector_size(LANES), aligned(1)));

#define SELECT(mask, a, b) ((floats)(((mask) & (ints)(a)) | (~(mask) & (ints)(b))))

/* Groups that are not there, up to whole vectors, are as the last one, but for their codes. */
INLINE void prepare(struct lbx_code_groups *g, struct lbx_code_bounds *ret)
{
	const floats infinite = (floats){ 0 } + INFINITY;
	floats low = infinite, high = -infinite;
	ints odd = { 0 }, flat = { 0 }, zeros = { 0 };

	for (int i = g->n; i % LANES; i++) {
		g->steps[i] = g->steps[g->n - 1];
		g->leasts[i] = g->leasts[g->n - 1];
	}
	for (int i = 0; i < g->n; i += LANES) {
		floats step = *(floats *)(g->steps + i), least = *(floats *)(g->leasts + i);
		floats a = step * g->lowest - least, b = step * g->highest - least;
		floats size = (floats)((ints)step & INT32_MAX), from_zero = (floats)((ints)least & INT32_MAX);
		ints order = a < b;
		floats least_of_all = SELECT(order, a, b), most = SELECT(order, b, a);
		*(floats *)(g->low + i) = least_of_all;
		*(floats *)(g->high + i) = most;
		low = SELECT(least_of_all < low, least_of_all, low);
		high = SELECT(most > high, most, high);
		odd |= ~((least_of_all >= -LARGE) & (most <= LARGE));
		odd |= (size > 0) & ((size < SMALL_STEP) | (from_zero > size * MANY_STEPS));
		flat |= size == 0;
		zeros -= (size == 0) & (least == 0);
	}
	*ret = (struct lbx_code_bounds){ low[0], high[0], false, false, 0 };
	for (int i = 0; i < LANES; i++) {
		ret->low = low[i] < ret->low ? low[i] : ret->low;
		ret->high = high[i] > ret->high ? high[i] : ret->high;
		ret->is_odd |= odd[i] != 0;
		ret->is_flat |= flat[i] != 0;
		ret->flat_zeros += zeros[i];
	}
	/* the last one was taken for those that are not there, too */
	if (g->steps[g->n - 1] == 0 && g->leasts[g->n - 1] == 0)
		ret->flat_zeros -= (LANES - g->n % LANES) % LANES;
}

/* Which codes stand for 0. */
INLINE void find_zeros(struct lbx_code_groups *g)
{
	for (int i = 0; i < g->n; i += LANES) {
		floats step = *(floats *)(g->steps + i), least = *(floats *)(g->leasts + i), code = least / step;
		/* of a step of 0 it is none, or no number */
		code = SELECT((code >= g->lowest) & (code <= g->highest), code, (floats){ 0 } + LBX_NO_CODE);
		ints whole = __builtin_convertvector(code, ints);
		ints is_one = __builtin_convertvector(whole, floats) * step == least;
		whole = (whole & is_one) | (LBX_NO_CODE & ~is_one);
		*(few_codes *)(g->zero + i) = __builtin_convertvector(whole, few_codes);
	}
}

/* Of groups that may be beyond these, how far they are indeed. */
INLINE void narrow_some(struct lbx_code_groups *g, int group, double low, double high)
{
	for (int i = 0; i < g->n; i++) {
		const int8_t *codes = g->codes + i * group;
		int8_t lowest = INT8_MAX, highest = INT8_MIN;
		if (!(g->low[i] < low) && !(g->high[i] > high))
			continue;
		for (int k = 0; k < group; k++) {
			lowest = codes[k] < lowest ? codes[k] : lowest;
			highest = codes[k] > highest ? codes[k] : highest;
		}
		float a = lowest * g->steps[i] - g->leasts[i], b = highest * g->steps[i] - g->leasts[i];
		g->low[i] = a < b ? a : b;
		g->high[i] = a < b ? b : a;
	}
}

INLINE void narrow(struct lbx_code_groups *g, double low, double high)
{
	if (g->group == LBX_LARGEST_GROUP)
		narrow_some(g, LBX_LARGEST_GROUP, low, high);
	else
		narrow_some(g, LBX_LEAST_GROUP, low, high);
}

/* Sums of x - shift and of its square. */
INLINE void moments(const struct lbx_code_groups *g, double shift, double *ret_sum, double *ret_squares)
{
	doubles sums[2] = { { 0 } }, squares[2] = { { 0 } };
	double n = g->group;
	int whole = g->n / LANES * LANES;

	for (int i = 0; i < whole; i += LANES / 2) {
		doubles step = __builtin_convertvector(*(const half_floats *)(g->steps + i), doubles);
		doubles least = __builtin_convertvector(*(const half_floats *)(g->leasts + i), doubles) + shift;
		doubles s = __builtin_convertvector(*(const half_ints *)(g->sums + i), doubles) * step;
		doubles q = __builtin_convertvector(*(const half_ints *)(g->squares + i), doubles) * step * step;
		sums[i / (LANES / 2) % 2] += s - n * least;
		squares[i / (LANES / 2) % 2] += q + least * (n * least - 2 * s);
	}
	*ret_sum = *ret_squares = 0;
	for (int i = 0; i < LANES / 2; i++) {
		*ret_sum += sums[0][i] + sums[1][i];
		*ret_squares += squares[0][i] + squares[1][i];
	}
	for (int i = whole; i < g->n; i++) {
		double step = g->steps[i], least = g->leasts[i] + shift, s = g->sums[i] * step;
		*ret_sum += s - n * least;
		*ret_squares += g->squares[i] * step * step + least * (n * least - 2 * s);
	}
}

INLINE int64_t add_up_plainly(struct lbx_code_groups *g)
{
	int64_t zeros = 0;

	for (int i = 0; i < g->n; i++) {
		const int8_t *codes = g->codes + i * g->group;
		int32_t sum = 0, squares = 0, none = 0;
		for (int k = 0; k < g->group; k++) {
			sum += codes[k];
			squares += codes[k] * codes[k];
			none += codes[k] == g->zero[i];
		}
		g->sums[i] = sum;
		g->squares[i] = squares;
		zeros += none;
	}
	return zeros;
}

#ifdef __x86_64__
/* The sums of the lanes of eight vectors, of which neighbours were added already. */
LBX_ISA_V3 INLINE __m256i sums_of_lanes(const __m256i *pairs)
{
	__m256i a = _mm256_hadd_epi32(pairs[0], pairs[1]), b = _mm256_hadd_epi32(pairs[2], pairs[3]);

	return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
}

/* Of a large group, in eight lanes each; and in bytes, one more where a code stands for 0. */
LBX_ISA_V3 INLINE void add_up_large(const struct lbx_code_groups *g, int i, __m256i *ret_sum, __m256i *ret_square,
				    __m256i *none)
{
	const int8_t *codes = g->codes + i * LBX_LARGEST_GROUP;
	__m256i all = _mm256_loadu_si256((const void *)codes);
	__m256i a = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(all));
	__m256i b = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(all, 1));

	*ret_square = _mm256_add_epi32(_mm256_madd_epi16(a, a), _mm256_madd_epi16(b, b));
	*ret_sum = _mm256_madd_epi16(_mm256_add_epi16(a, b), _mm256_set1_epi16(1));
	*none = _mm256_sub_epi8(*none, _mm256_cmpeq_epi8(all, _mm256_set1_epi8(g->zero[i])));
}

LBX_ISA_V3 INLINE void add_up_eight_large(struct lbx_code_groups *g, int first, __m256i *none)
{
	__m256i sums[4], squares[4];

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		__m256i sum[2], square[2];
		add_up_large(g, first + 2 * i, &sum[0], &square[0], none);
		add_up_large(g, first + 2 * i + 1, &sum[1], &square[1], none);
		sums[i] = _mm256_hadd_epi32(sum[0], sum[1]);
		squares[i] = _mm256_hadd_epi32(square[0], square[1]);
	}
	_mm256_storeu_si256((void *)(g->sums + first), sums_of_lanes(sums));
	_mm256_storeu_si256((void *)(g->squares + first), sums_of_lanes(squares));
}

/* What eight 32-bit lanes hold of groups 0, 2, 4, 6, and then 1, 3, 5, 7, in the order of the groups. */
LBX_ISA_V3 INLINE void store_in_order(__m256i lanes, int32_t *to)
{
	__m128i even = _mm256_castsi256_si128(lanes), odd = _mm256_extracti128_si256(lanes, 1);

	_mm_storeu_si128((void *)to, _mm_unpacklo_epi32(even, odd));
	_mm_storeu_si128((void *)(to + 4), _mm_unpackhi_epi32(even, odd));
}

/* Small groups come two to a vector; their codes are so small that the squares of two add up in 16 bits. */
LBX_ISA_V3 INLINE void add_up_eight_small(struct lbx_code_groups *g, int first, __m256i *none)
{
	const __m256i ones = _mm256_set1_epi16(1), bytes = _mm256_set1_epi8(1);
	__m256i both[4]; /* two squares and two sums of the one, then of the other */

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		int k = first + 2 * i;
		__m256i all = _mm256_loadu_si256((const void *)(g->codes + k * LBX_LEAST_GROUP));
		__m256i size = _mm256_abs_epi8(all), zero = _mm256_setzero_si256();
		__m256i square = _mm256_madd_epi16(_mm256_maddubs_epi16(size, size), ones);
		__m256i sum = _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, all), ones);
		if (g->has_least)
			zero = _mm256_set_m128i(_mm_set1_epi8(g->zero[k + 1]), _mm_set1_epi8(g->zero[k]));
		both[i] = _mm256_hadd_epi32(square, sum);
		*none = _mm256_sub_epi8(*none, _mm256_cmpeq_epi8(all, zero));
	}
	__m256 a = _mm256_castsi256_ps(_mm256_hadd_epi32(both[0], both[1]));
	__m256 b = _mm256_castsi256_ps(_mm256_hadd_epi32(both[2], both[3]));
	store_in_order(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)), g->squares + first);
	store_in_order(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), g->sums + first);
}

/* Of groups that are not there codes are 1, or 0 where none stands for 0. */
LBX_ISA_V3 INLINE int64_t add_up_by_eight(struct lbx_code_groups *g)
{
	__m256i zeros = _mm256_setzero_si256();
	int64_t lanes[4];

	for (int i = g->n; i % LANES; i++) {
		memset(g->codes + i * g->group, g->has_least ? 0 : 1, (size_t)g->group);
		g->zero[i] = g->has_least ? LBX_NO_CODE : 0;
	}
	for (int i = 0; i < g->n; i += LANES) {
		__m256i none = _mm256_setzero_si256();
		if (g->group == LBX_LARGEST_GROUP)
			add_up_eight_large(g, i, &none);
		else
			add_up_eight_small(g, i, &none);
		zeros = _mm256_add_epi64(zeros, _mm256_sad_epu8(none, _mm256_setzero_si256()));
	}
	_mm256_storeu_si256((void *)lanes, zeros);
	return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#endif

#define LEVEL(isa, attribute, adds_up) \
	attribute static void prepare_##isa(struct lbx_code_groups *g, struct lbx_code_bounds *ret) \
	{ \
		prepare(g, ret); \
		if (g->has_least) \
			find_zeros(g); \
	} \
	attribute static int64_t add_up_##isa(struct lbx_code_groups *g) \
	{ \
		return adds_up(g); \
	} \
	attribute static void narrow_##isa(struct lbx_code_groups *g, double low, double high) \
	{ \
		narrow(g, low, high); \
	} \
	attribute static void moments_##isa(const struct lbx_code_groups *g, double shift, double *ret_sum, \
					    double *ret_squares) \
	{ \
		moments(g, shift, ret_sum, ret_squares); \
	} \
	static const struct lbx_code_passes passes_##isa = { prepare_##isa, add_up_##isa, narrow_##isa, moments_##isa };
LEVEL(base, , add_up_plainly)
#ifdef __x86_64__
LEVEL(v3, LBX_ISA_V3, add_up_by_eight)
LEVEL(v4, LBX_ISA_V4, add_up_by_eight)
#endif

const struct lbx_code_passes *lbx_code_passes(void)
{
	return LBX_ISA_CHOOSE(passes);
}
