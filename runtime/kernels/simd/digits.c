/* Products of a vector in digits of base 256 (cut.c) with codes of four bits: products of bytes, whose sums are exact.
 *
 * Codes 2i and 2i + 1 of a row share byte i, so a plane of digits has x's even elements first, then its odd ones, and the
 * codes of many bytes are multiplied where they lie. A lane of 32 bits sums the products of 8 elements that follow one
 * another. These are of one group of codes and have one step. e2m1 codes become LB_E2M1_BYTES; `sums` takes off again what
 * was added. */
#include "kernels/quant_rows.h"
#include "kernels/simd/tiles.h"
#if defined __AVX2__ && defined __FMA__
#include <immintrin.h>
#define VECTORS 1
#endif

enum { LANE = 8, AHEAD = 1024 /* bytes that are fetched before they are needed */ };

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#ifdef __AVX512BW__
void lb_tile_dot_cut_v3(const struct lb_codes *codes, int64_t groups, int m, const struct lb_cut *x, int64_t first,
			float *sums);
void lb_tile_multiply_row_cut_v3(const struct lb_quant_matrix *w, int64_t first, int64_t n, int64_t groups,
				 const struct lb_cut *x, float *to);
#endif

/* A row of codes, from some group on; scales and biases are of a dtype that goes with it, and biases NULL for e2m1. */
struct row {
	const uint8_t *words;
	const char *scales, *biases;
};

#ifdef VECTORS
#ifdef __AVX512BW__

enum { BYTES = 64, LANES = 16 };
typedef __m512i bytes;
typedef __m512 vector;
#define zero_bytes _mm512_setzero_si512
#define load_bytes _mm512_loadu_si512
#define both _mm512_and_si512
#define every_byte _mm512_set1_epi8
#define down_4(x) _mm512_srli_epi16(x, 4)
#define up_8(x) _mm512_slli_epi32(x, 8)
#define looked_up _mm512_shuffle_epi8
#define to_floats _mm512_cvtepi32_ps
#define zero_vector _mm512_setzero_ps
#define load_vector _mm512_loadu_ps
#define multiply _mm512_mul_ps
#define multiply_add _mm512_fmadd_ps
#define broadcast _mm512_set1_ps
#define add _mm512_add_ps
#define low_pairs _mm512_unpacklo_ps
#define high_pairs _mm512_unpackhi_ps
#define sum_vector _mm512_reduce_add_ps
#define spread_out(x, lanes) _mm512_permutexvar_ps(lanes, x)

INLINE __m128 sum_quarters(vector x)
{
	__m256 half = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
	return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

INLINE bytes e2m1_bytes(void)
{
	return _mm512_broadcast_i32x4(_mm_setr_epi8(LB_E2M1_BYTES));
}

INLINE vector load_some(const float *from, int n)
{
	if (__builtin_constant_p(n) && n == 4)
		return _mm512_zextps128_ps512(_mm_loadu_ps(from));
	return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from);
}

INLINE vector widen(const int dtype, __m256i halves)
{
	return dtype == LB_F16 ? _mm512_cvtph_ps(halves)
			       : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

INLINE vector widen_few(const int dtype, __m128i halves)
{
	return _mm512_zextps128_ps512(dtype == LB_F16
					  ? _mm_cvtph_ps(halves)
					  : _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(halves), 16)));
}

INLINE __m256i load_halves(const char *from, int n)
{
	return _mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), from);
}

/* lane * LANE / group */
INLINE bytes lanes_of(int group)
{
	bytes lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	return _mm512_srlv_epi32(lanes, _mm512_set1_epi32(__builtin_ctz((unsigned)group / LANE)));
}

/* In assembler, since the rest is for processors without this instruction. */
INLINE bytes products(bytes sums, bytes low, bytes even, bytes high, bytes odd)
{
	__asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(low), "v"(even));
	__asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(high), "v"(odd));
	return sums;
}

#else

enum { BYTES = 32, LANES = 8 };
typedef __m256i bytes;
typedef __m256 vector;
#define zero_bytes _mm256_setzero_si256
#define load_bytes(from) _mm256_loadu_si256((const void *)(from))
#define both _mm256_and_si256
#define every_byte _mm256_set1_epi8
#define down_4(x) _mm256_srli_epi16(x, 4)
#define up_8(x) _mm256_slli_epi32(x, 8)
#define looked_up _mm256_shuffle_epi8
#define to_floats _mm256_cvtepi32_ps
#define zero_vector _mm256_setzero_ps
#define load_vector _mm256_loadu_ps
#define multiply _mm256_mul_ps
#define multiply_add _mm256_fmadd_ps
#define broadcast _mm256_set1_ps
#define add _mm256_add_ps
#define low_pairs _mm256_unpacklo_ps
#define high_pairs _mm256_unpackhi_ps
#define spread_out(x, lanes) _mm256_permutevar8x32_ps(x, lanes)

INLINE __m128 sum_quarters(vector x)
{
	return _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
}

INLINE float sum_vector(vector x)
{
	__m128 four = sum_quarters(x);
	__m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
	return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

INLINE bytes e2m1_bytes(void)
{
	return _mm256_broadcastsi128_si256(_mm_setr_epi8(LB_E2M1_BYTES));
}

INLINE bytes first_lanes(void)
{
	return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

INLINE vector load_some(const float *from, int n)
{
	return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), first_lanes()));
}

INLINE vector widen(const int dtype, __m128i halves)
{
	return dtype == LB_F16 ? _mm256_cvtph_ps(halves)
			       : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

INLINE vector widen_few(const int dtype, __m128i halves)
{
	return widen(dtype, halves);
}

INLINE __m128i load_halves(const char *from, int n)
{
	uint16_t room[LANES] = { 0 };
	if (n == LANES)
		return _mm_loadu_si128((const void *)from);
	memcpy(room, from, (size_t)n * sizeof *room);
	return _mm_loadu_si128((const void *)room);
}

INLINE bytes lanes_of(int group)
{
	return _mm256_srlv_epi32(first_lanes(), _mm256_set1_epi32(__builtin_ctz((unsigned)group / LANE)));
}

/* Four products of at most 24 * 128 fit 16 bits. */
INLINE bytes products(bytes sums, bytes low, bytes even, bytes high, bytes odd)
{
	bytes pairs = _mm256_add_epi16(_mm256_maddubs_epi16(low, even), _mm256_maddubs_epi16(high, odd));
	return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

#endif

/* The sums of four vectors. */
INLINE __m128 sum_four(const vector *x)
{
	vector a = add(low_pairs(x[0], x[1]), high_pairs(x[0], x[1])),
	       b = add(low_pairs(x[2], x[3]), high_pairs(x[2], x[3]));
	__m128 even = sum_quarters(a), odd = sum_quarters(b);
	return _mm_add_ps(_mm_movelh_ps(even, odd), _mm_movehl_ps(odd, even));
}

/* n scales or biases, and zeros. */
INLINE vector load_scales(const int dtype, const char *from, int n)
{
	if (dtype == LB_F32)
		return load_some((const float *)(const void *)from, n);
	if (__builtin_constant_p(n) && n <= 4) {
		uint64_t bits = 0;
		memcpy(&bits, from, (size_t)n * 2);
		return widen_few(dtype, _mm_cvtsi64_si128((long long)bits));
	}
	return widen(dtype, load_halves(from, n));
}

/* A piece of BYTES bytes of codes and its groups' scales. */
struct piece {
	bytes low, high;
	vector scale;
};

INLINE struct piece piece_of(bool e2m1, bytes codes, vector scale)
{
	bytes mask = every_byte(15);
	struct piece piece = { both(codes, mask), both(down_4(codes), mask), scale };
	if (e2m1) {
		piece.low = looked_up(e2m1_bytes(), piece.low);
		piece.high = looked_up(e2m1_bytes(), piece.high);
	}
	return piece;
}

/* Adds the products of pieces with x's elements from byte `at` of its planes on. */
INLINE void add_pieces(int planes, int rows, const struct piece *pieces, const struct lb_cut *x, int64_t at,
		       vector steps, vector *acc, int apart)
{
	bytes even[LB_PLANES], odd[LB_PLANES], sums[LB_QUANT_ROWS];
	const int8_t *digits = x->digits + at;
	UNROLL
	for (int p = 0; p < planes; p++) {
		even[p] = load_bytes(digits + 2 * p * x->half);
		odd[p] = load_bytes(digits + (2 * p + 1) * x->half);
	}
	UNROLL
	for (int r = 0; r < rows; r++)
		sums[r] = zero_bytes();
	UNROLL
	for (int p = 0; p < planes; p++)
		UNROLL
	for (int r = 0; r < rows; r++)
		sums[r] = products(p ? up_8(sums[r]) : sums[r], pieces[r].low, even[p], pieces[r].high, odd[p]);
	UNROLL
	for (int r = 0; r < rows; r++)
		acc[r * apart] = multiply_add(multiply(to_floats(sums[r]), steps), pieces[r].scale, acc[r * apart]);
}

/* Adds the products of some rows with x, from its group `first` on. */
INLINE void dot(bool e2m1, int planes, int group, int dtype, int rows, int m, const struct row *w, int64_t groups,
		const struct lb_cut *x, int64_t first, float *sums)
{
	int shift = __builtin_ctz((unsigned)group / 2); /* from bytes to groups */
	int scales = BYTES >> shift > 0 ? BYTES >> shift : 1, wide = dtype == LB_F32 ? 4 : 2;
	int64_t n = groups << shift, at = 0, from = first << shift; /* bytes */
	bytes lanes = lanes_of(group);
	vector acc[8], shifts[8];
	struct piece pieces[LB_QUANT_ROWS];
	UNROLL
	for (int i = 0; i < rows * m; i++)
		acc[i] = zero_vector();
	for (; at + BYTES <= n; at += BYTES) {
		UNROLL
		for (int r = 0; r < rows; r++) {
			vector scale = load_scales(dtype, w[r].scales + (at >> shift) * wide, scales);
			pieces[r] = piece_of(e2m1, load_bytes(w[r].words + at), spread_out(scale, lanes));
			if (rows > 1)
				__builtin_prefetch((const void *)((uintptr_t)(w[r].words + at) + AHEAD));
		}
		UNROLL
		for (int k = 0; k < m; k++)
			add_pieces(planes, rows, pieces, &x[k], from + at,
				   load_vector(x[k].steps + 2 * (from + at) / LANE), acc + k, m);
	}
	if (at < n) { /* what is left of a row: no step, no scale beyond it */
		int left = (int)(n - at);
		UNROLL
		for (int r = 0; r < rows; r++) {
			uint8_t rest[BYTES] = { 0 };
			memcpy(rest, w[r].words + at, (size_t)left);
			vector scale = load_scales(dtype, w[r].scales + (at >> shift) * wide, left >> shift);
			pieces[r] = piece_of(e2m1, load_bytes(rest), spread_out(scale, lanes));
		}
		UNROLL
		for (int k = 0; k < m; k++)
			add_pieces(planes, rows, pieces, &x[k], from + at,
				   load_some(x[k].steps + 2 * (from + at) / LANE, 2 * left / LANE), acc + k, m);
	}
	UNROLL
	for (int i = 0; i < rows * m; i++)
		shifts[i] = zero_vector();
	for (int64_t g = 0; g < groups; g += LANES) {
		int some = groups - g < LANES ? (int)(groups - g) : LANES;
		UNROLL
		for (int r = 0; r < rows; r++) {
			vector by = load_scales(dtype, (e2m1 ? w[r].scales : w[r].biases) + g * wide, some);
			UNROLL
			for (int k = 0; k < m; k++)
				shifts[r * m + k] =
				    multiply_add(by, load_some(x[k].sums + first + g, some), shifts[r * m + k]);
		}
	}
	UNROLL
	for (int i = 0; i < rows * m; i++) {
		vector half = broadcast(0.5f), by = broadcast(-LB_E2M1_SHIFT / 2);
		acc[i] = e2m1 ? multiply_add(acc[i], half, multiply(shifts[i], by)) : add(acc[i], shifts[i]);
	}
	if (rows == LB_QUANT_ROWS)
		_mm_storeu_ps(sums, _mm_add_ps(_mm_loadu_ps(sums), sum_four(acc)));
	else
		for (int i = 0; i < rows * m; i++)
			sums[i] += sum_vector(acc[i]);
}

#else

/* The products of n bytes of codes with x's digits there. */
INLINE int64_t piece(bool e2m1, int planes, int n, const uint8_t *words, const int8_t *digits, int64_t half)
{
	static const uint8_t values[16] = { LB_E2M1_BYTES };
	int16_t low[LB_CUT_TOGETHER / 2], high[LB_CUT_TOGETHER / 2];
	int64_t whole = 0;
	for (int i = 0; i < n; i++) {
		low[i] = e2m1 ? values[words[i] & 15] : words[i] & 15;
		high[i] = e2m1 ? values[words[i] >> 4] : words[i] >> 4;
	}
	for (int p = 0; p < planes; p++) {
		const int8_t *even = digits + 2 * p * half, *odd = even + half;
		int32_t sum = 0;
		_Pragma("omp simd reduction(+:sum)") for (int i = 0; i < n; i++) sum +=
		    low[i] * even[i] + high[i] * odd[i];
		whole = whole * 256 + sum;
	}
	return whole;
}

static float scale_at(int dtype, const char *from, int64_t i)
{
	const uint16_t *halves = (const uint16_t *)(const void *)from;
	return dtype == LB_F32   ? ((const float *)(const void *)from)[i]
	       : dtype == LB_F16 ? lb_f16_to_float(halves[i])
				 : lb_bf16_to_float(halves[i]);
}

static void dot(bool e2m1, int planes, int group, int dtype, int rows, int m, const struct row *w, int64_t groups,
		const struct lb_cut *x, int64_t first, float *sums)
{
	enum { WHOLE = LB_CUT_TOGETHER / 2, HALF = WHOLE / 2 };
	int bytes = group / 2;
	for (int r = 0; r < rows; r++)
		for (int k = 0; k < m; k++) {
			float total = 0, shift = 0;
			for (int64_t g = 0; g < groups; g++) {
				float sum = 0, scale = scale_at(dtype, w[r].scales, g);
				for (int64_t at = g * bytes; at < (g + 1) * bytes; at += WHOLE) {
					int64_t from = first * bytes + at;
					const uint8_t *words = w[r].words + at;
					const int8_t *digits = x[k].digits + from;
					int64_t whole = bytes == HALF
							    ? piece(e2m1, planes, HALF, words, digits, x[k].half)
							    : piece(e2m1, planes, WHOLE, words, digits, x[k].half);
					sum += (float)whole * x[k].steps[2 * from / LANE];
				}
				total += sum * scale;
				shift += (e2m1 ? scale : scale_at(dtype, w[r].biases, g)) * x[k].sums[first + g];
			}
			sums[r * m + k] += e2m1 ? total * 0.5f - LB_E2M1_SHIFT / 2 * shift : total + shift;
		}
}

#endif

/* Several vectors: each kind, number of planes and of vectors, compiled by itself. */
#define DOT(kind, e2m1, planes, m) \
	static void dot_##kind##_##planes##_##m(const struct lb_codes *codes, int64_t groups, const struct lb_cut *x, \
						int64_t first, float *sums) \
	{ \
		const struct row row = { codes->words, (const char *)codes->scales, (const char *)codes->biases }; \
		dot(e2m1, planes, codes->group, LB_F32, 1, m, &row, groups, x, first, sums); \
	}
#define DOTS(kind, e2m1, planes) DOT(kind, e2m1, planes, 2) DOT(kind, e2m1, planes, 4) DOT(kind, e2m1, planes, 8)
_Static_assert(LB_PLANES == 3, "the number of planes");
DOTS(affine, false, 1)
DOTS(affine, false, 3)
DOTS(e2m1, true, 1)
DOTS(e2m1, true, 3)

void LB_ISA_NAME(lb_tile_dot_cut)(const struct lb_codes *codes, int64_t groups, int m, const struct lb_cut *x,
				  int64_t first, float *sums)
{
	typedef void function(const struct lb_codes *, int64_t, const struct lb_cut *, int64_t, float *);
#define ENTRY(kind, planes) \
	{ \
		dot_##kind##_##planes##_2, dot_##kind##_##planes##_4, dot_##kind##_##planes##_8 \
	}
	static function *const functions[2][2][3] = { { ENTRY(affine, 1), ENTRY(affine, 3) },
						      { ENTRY(e2m1, 1), ENTRY(e2m1, 3) } };
#undef ENTRY
#ifdef __AVX512BW__
	if (!__builtin_cpu_supports("avx512vnni")) {
		lb_tile_dot_cut_v3(codes, groups, m, x, first, sums);
		return;
	}
#endif
	functions[codes->kind == LB_CODES_E2M1][x->planes > 1][m / 4](codes, groups, x, first, sums);
}

/* to[i] = x @ row `first` + i of w. Those that are taken together are far from each other, which are as many streams that a
 * processor foresees. */
INLINE void multiply_row(bool e2m1, int planes, int group, int dtype, const struct lb_quant_matrix *w, int64_t first,
			 int64_t n, int64_t groups, const struct lb_cut *x, float *to)
{
	int64_t apart = (n + LB_QUANT_ROWS - 1) / LB_QUANT_ROWS;
	for (int64_t j = 0; j < apart; j++) {
		struct row rows[LB_QUANT_ROWS];
		float sums[LB_QUANT_ROWS] = { 0 }, floats[LB_QUANT_ROWS][LB_QUANT_CHUNK];
		for (int r = 0; r < LB_QUANT_ROWS; r++) {
			int64_t i = first + (j + r * apart < n ? j + r * apart : n - 1);
			rows[r].words = (const uint8_t *)w->words + i * w->words_row;
			rows[r].scales = w->scales + i * w->scales_row;
			rows[r].biases = e2m1 ? NULL : w->biases + i * w->biases_row;
		}
		if (!e2m1)
			dot(e2m1, planes, group, dtype, LB_QUANT_ROWS, 1, rows, groups, x, 0, sums);
		for (int64_t g = 0; e2m1 && g < groups; g += LB_QUANT_CHUNK) {
			struct row some[LB_QUANT_ROWS];
			int64_t more = groups - g < LB_QUANT_CHUNK ? groups - g : LB_QUANT_CHUNK;
			for (int r = 0; r < LB_QUANT_ROWS; r++) {
				const uint8_t *small = (const uint8_t *)rows[r].scales + g;
				if (w->e8m0)
					LB_ISA_NAME(lb_tile_e8m0)(more, floats[r], small);
				else
					LB_ISA_NAME(lb_tile_e4m3)(more, floats[r], small, w->e4m3);
				some[r] =
				    (struct row){ rows[r].words + g * (group / 2), (const char *)floats[r], NULL };
			}
			dot(e2m1, planes, group, LB_F32, LB_QUANT_ROWS, 1, some, more, x, g, sums);
		}
		for (int r = 0; r < LB_QUANT_ROWS && j + r * apart < n; r++)
			to[j + r * apart] = sums[r];
	}
}

/* Each kind, group, dtype of scales and number of planes, compiled by itself. */
typedef void row_fn(const struct lb_quant_matrix *, int64_t, int64_t, int64_t, const struct lb_cut *, float *);
#define ROW(name, e2m1, planes, group, dtype) \
	static void name##_##planes(const struct lb_quant_matrix *w, int64_t first, int64_t n, int64_t groups, \
				    const struct lb_cut *x, float *to) \
	{ \
		multiply_row(e2m1, planes, group, dtype, w, first, n, groups, x, to); \
	}
#define ROWS(name, e2m1, group, dtype) ROW(name, e2m1, 1, group, dtype) ROW(name, e2m1, 3, group, dtype)
#define AFFINE_ROWS(name, dtype) \
	ROWS(name##_32, false, 32, dtype) ROWS(name##_64, false, 64, dtype) ROWS(name##_128, false, 128, dtype)
AFFINE_ROWS(row_f16, LB_F16)
AFFINE_ROWS(row_bf16, LB_BF16)
AFFINE_ROWS(row_f32, LB_F32)
ROWS(row_mxfp4, true, 32, LB_U8)
ROWS(row_nvfp4, true, 16, LB_U8)

static row_fn *row_function(const struct lb_quant_matrix *w, bool whole)
{
#define ENTRY(name) \
	{ \
		name##_1, name##_3 \
	}
	static row_fn *const affine[3][3][2] = { { ENTRY(row_f16_32), ENTRY(row_f16_64), ENTRY(row_f16_128) },
						 { ENTRY(row_bf16_32), ENTRY(row_bf16_64), ENTRY(row_bf16_128) },
						 { ENTRY(row_f32_32), ENTRY(row_f32_64), ENTRY(row_f32_128) } };
	static row_fn *const e2m1[2][2] = { ENTRY(row_mxfp4), ENTRY(row_nvfp4) };
#undef ENTRY
	if (w->kind == LB_CODES_E2M1)
		return e2m1[w->group == 16][whole];
	/* f16, bf16 and f32 follow one another; groups are of 32, 64 or 128 */
	return affine[w->scale_dtype - LB_F16][w->group / 64][whole];
}

void LB_ISA_NAME(lb_tile_multiply_row_cut)(const struct lb_quant_matrix *w, int64_t first, int64_t n, int64_t groups,
					   const struct lb_cut *x, float *to)
{
#ifdef __AVX512BW__
	if (!__builtin_cpu_supports("avx512vnni")) {
		lb_tile_multiply_row_cut_v3(w, first, n, groups, x, to);
		return;
	}
#endif
	row_function(w, x->planes > 1)(w, first, n, groups, x, to);
}
