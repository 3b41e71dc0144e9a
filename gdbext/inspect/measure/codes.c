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
typedef double doubles __attribute__((vector_size(LANES * 8), aligned(8)));
typedef double half_doubles __attribute__((vector_size(LANES * 4), aligned(8)));
typedef int8_t few_codes __attribute__((vector_size(LANES), aligned(1)));

#define SELECT(mask, a, b) ((floats)(((mask) & (ints)(a)) | (~(mask) & (ints)(b))))

/* Groups that are not there, up to whole vectors, are as the last one, but for their codes. */
INLINE void prepare(struct lbx_code_groups *g, struct lbx_code_bounds *ret)
{
	const floats infinite = (floats){ 0 } + INFINITY;
	floats low = infinite, high = -infinite;
	ints odd = { 0 }, flat = { 0 };

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
	}
	*ret = (struct lbx_code_bounds){ low[0], high[0], false, false };
	for (int i = 0; i < LANES; i++) {
		ret->low = low[i] < ret->low ? low[i] : ret->low;
		ret->high = high[i] > ret->high ? high[i] : ret->high;
		ret->is_odd |= odd[i] != 0;
		ret->is_flat |= flat[i] != 0;
	}
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
INLINE void narrow_some(struct lbx_code_groups *g, int group, float low, float high)
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

INLINE void narrow(struct lbx_code_groups *g, float low, float high)
{
	switch (g->group) {
	case LBX_SMALL_GROUP: narrow_some(g, LBX_SMALL_GROUP, low, high); break;
	case LBX_LARGE_GROUP: narrow_some(g, LBX_LARGE_GROUP, low, high); break;
	default: narrow_some(g, g->group, low, high);
	}
}

/* An accumulator is no wider than registers of most machines: gcc would keep it in memory. */
INLINE void add_halves(half_doubles *to, const doubles *x)
{
	to[0] += (half_doubles){ (*x)[0], (*x)[1], (*x)[2], (*x)[3] };
	to[1] += (half_doubles){ (*x)[4], (*x)[5], (*x)[6], (*x)[7] };
}

/* Sums of x - shift and of its square. `plain`: there are no least values, and no shift. */
INLINE void moments(const struct lbx_code_groups *g, bool plain, double shift, double *ret_sum, double *ret_squares)
{
	half_doubles sums[2] = { { 0 } }, squares[2] = { { 0 } };
	double n = g->group;
	int whole = g->n / LANES * LANES;

	for (int i = 0; i < whole; i += LANES) {
		doubles step = __builtin_convertvector(*(const floats *)(g->steps + i), doubles);
		doubles s = __builtin_convertvector(*(const ints *)(g->sums + i), doubles) * step;
		doubles q = __builtin_convertvector(*(const ints *)(g->squares + i), doubles) * step * step;
		if (!plain) {
			doubles least = __builtin_convertvector(*(const floats *)(g->leasts + i), doubles) + shift;
			q += least * (n * least - 2 * s);
			s -= n * least;
		}
		add_halves(sums, &s);
		add_halves(squares, &q);
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

/* Where the step is 0 all elements are one. If there is no least value, codes of 0 have been counted there; if there is,
 * none has. */
INLINE int64_t zeros_of_flat(const struct lbx_code_groups *g)
{
	int32_t groups = 0, counted = 0;

	for (int i = 0; i < g->n; i++)
		groups += (g->steps[i] == 0) & (g->leasts[i] == 0);
	for (int i = 0; !g->has_least && !g->has_sums && i < g->n; i++)
		for (int k = 0; g->steps[i] == 0 && k < g->group; k++)
			counted += g->codes[i * g->group + k] == 0;
	return (int64_t)groups * g->group - counted;
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

/* Of a group of `parts` times 32, in eight lanes each; and in bytes, one more where a code stands for 0. */
LBX_ISA_V3 INLINE void add_up_large(const struct lbx_code_groups *g, int parts, int i, __m256i *ret_sum,
				    __m256i *ret_square, __m256i *none)
{
	const int8_t *codes = g->codes + i * parts * LBX_LARGE_GROUP;
	const __m256i ones = _mm256_set1_epi16(1), zero = _mm256_set1_epi8(g->zero[i]);

	*ret_sum = *ret_square = _mm256_setzero_si256();
	for (int part = 0; part < parts; part++, codes += LBX_LARGE_GROUP) {
		__m256i all = _mm256_loadu_si256((const void *)codes);
		__m256i a = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(all));
		__m256i b = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(all, 1));
		__m256i squares = _mm256_add_epi32(_mm256_madd_epi16(a, a), _mm256_madd_epi16(b, b));
		*ret_square = _mm256_add_epi32(*ret_square, squares);
		*ret_sum = _mm256_add_epi32(*ret_sum, _mm256_madd_epi16(_mm256_add_epi16(a, b), ones));
		*none = _mm256_sub_epi8(*none, _mm256_cmpeq_epi8(all, zero));
	}
}

LBX_ISA_V3 INLINE void add_up_eight_large(struct lbx_code_groups *g, int parts, int first, __m256i *none)
{
	__m256i sums[4], squares[4];

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		__m256i sum[2], square[2];
		add_up_large(g, parts, first + 2 * i, &sum[0], &square[0], none);
		add_up_large(g, parts, first + 2 * i + 1, &sum[1], &square[1], none);
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

/* Of two small groups, in two 64-bit lanes each: how far the sum of eight codes is above that of the lowest bytes, and, in
 * the upper half, the sum of their squares. The codes are so small that the squares of two add up in 16 bits. */
LBX_ISA_V3 INLINE __m256i add_up_two_small(__m256i all)
{
	__m256i size = _mm256_abs_epi8(all), biased = _mm256_xor_si256(all, _mm256_set1_epi8(INT8_MIN));
	__m256i squares = _mm256_madd_epi16(_mm256_maddubs_epi16(size, size), _mm256_set1_epi16(1));
	__m256i sums = _mm256_sad_epu8(biased, _mm256_setzero_si256());

	return _mm256_blend_epi32(sums, _mm256_add_epi32(squares, _mm256_slli_epi64(squares, 32)), 0xaa);
}

LBX_ISA_V3 INLINE __m256i add_pairs(__m256i a, __m256i b)
{
	return _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

LBX_ISA_V3 INLINE void add_up_eight_small(struct lbx_code_groups *g, bool any_zero, int first, __m256i *none)
{
	const __m256i bias = _mm256_set1_epi32(INT8_MIN * LBX_SMALL_GROUP);
	__m256i both[4];

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		int k = first + 2 * i;
		__m256i all = _mm256_loadu_si256((const void *)(g->codes + k * LBX_SMALL_GROUP));
		both[i] = add_up_two_small(all);
		if (!any_zero)
			continue;
		__m256i zero = _mm256_setzero_si256();
		if (g->has_least)
			zero = _mm256_set_m128i(_mm_set1_epi8(g->zero[k + 1]), _mm_set1_epi8(g->zero[k]));
		*none = _mm256_sub_epi8(*none, _mm256_cmpeq_epi8(all, zero));
	}
	__m256 a = _mm256_castsi256_ps(add_pairs(both[0], both[1]));
	__m256 b = _mm256_castsi256_ps(add_pairs(both[2], both[3]));
	__m256i sums = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
	store_in_order(_mm256_add_epi32(sums, bias), g->sums + first);
	store_in_order(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), g->squares + first);
}

/* Whether codes of these groups may stand for 0. */
INLINE bool any_zero(const struct lbx_code_groups *g, int first)
{
	uint64_t codes;

	memcpy(&codes, g->zero + first, sizeof codes);
	return codes != 0x0101010101010101 * LBX_NO_CODE;
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
		switch (g->group) {
		case LBX_SMALL_GROUP: add_up_eight_small(g, any_zero(g, i), i, &none); break;
		case LBX_LARGE_GROUP: add_up_eight_large(g, 1, i, &none); break;
		default: add_up_eight_large(g, g->group / LBX_LARGE_GROUP, i, &none);
		}
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
	attribute static int64_t add_up_##isa(struct lbx_code_groups *g, bool is_flat) \
	{ \
		return (g->has_sums ? 0 : adds_up(g)) + (is_flat ? zeros_of_flat(g) : 0); \
	} \
	attribute static void narrow_##isa(struct lbx_code_groups *g, float low, float high) \
	{ \
		narrow(g, low, high); \
	} \
	attribute static void moments_##isa(const struct lbx_code_groups *g, double shift, double *ret_sum, \
					    double *ret_squares) \
	{ \
		if (g->has_least || shift != 0) \
			moments(g, false, shift, ret_sum, ret_squares); \
		else \
			moments(g, true, 0, ret_sum, ret_squares); \
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
