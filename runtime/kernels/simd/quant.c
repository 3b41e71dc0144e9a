/* Quantised rows: codes to floats, and their products with vectors without a stop in memory.
 *
 * With AVX-512 sixteen codes are shifted into the lanes of a vector, with AVX2 eight; then
 * they are looked up (a table of a group's sixteen values, in one permutation) or
 * converted. AVX-512 finds 4-bit codes fastest in another order than theirs: lane 2t
 * holds code t, lane 2t + 1 code 8 + t. `arrange` puts x into that order once, so the
 * products need not. Loads never go beyond a group's own bytes. */
#include "kernels/codes.h"
#include "kernels/simd/tiles.h"
#if defined __AVX512BW__ || (defined __AVX2__ && defined __FMA__)
#include <immintrin.h>
#define VECTORS 1
#endif

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))

static inline uint64_t load_bytes(const uint8_t *from, int n)
{
	uint64_t word = 0;
	memcpy(&word, from, (size_t)n);
	return word;
}

#if defined __AVX512BW__

enum { LANES = 16 };
typedef __m512 vector;
/* What a group needs: its table of values, or its scale and bias. */
struct prepared {
	vector a, b;
};

#define zero_vector _mm512_setzero_ps
#define load_vector _mm512_loadu_ps
#define store_vector _mm512_storeu_ps
#define multiply_add _mm512_fmadd_ps
#define sum_vector _mm512_reduce_add_ps
#define broadcast _mm512_set1_ps

INLINE bool by_table(int kind)
{
	return kind == LB_CODES_2 || kind == LB_CODES_3 || kind == LB_CODES_4 || kind == LB_CODES_E2M1;
}

INLINE __m512i lane_numbers(void)
{
	return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* The value of each index's low four bits, before scale and bias. */
INLINE vector table_of(int kind)
{
	static const float e2m1[16] = LB_E2M1_VALUES;
	if (kind == LB_CODES_E2M1)
		return _mm512_loadu_ps(e2m1);
	return _mm512_cvtepi32_ps(_mm512_and_si512(lane_numbers(), _mm512_set1_epi32((1 << lb_codes_bits(kind)) - 1)));
}

INLINE struct prepared prepare(int kind, float scale, float bias)
{
	struct prepared p = { _mm512_set1_ps(scale), _mm512_set1_ps(bias) };
	if (kind == LB_CODES_E2M1)
		p.a = _mm512_mul_ps(table_of(kind), p.a);
	else if (by_table(kind))
		p.a = _mm512_fmadd_ps(table_of(kind), p.a, p.b);
	return p;
}

/* Bytes i * bits / 8 and the next one, for the codes of each lane. */
#define WINDOW(bits, i) (int)(0x80800000u | (unsigned)((i) * (bits) / 8) | (unsigned)((i) * (bits) / 8 + 1) << 8)
#define WINDOWS(bits) \
	{ WINDOW(bits, 0),  WINDOW(bits, 1),  WINDOW(bits, 2),  WINDOW(bits, 3), WINDOW(bits, 4),  WINDOW(bits, 5), \
	  WINDOW(bits, 6),  WINDOW(bits, 7),  WINDOW(bits, 8),  WINDOW(bits, 9), WINDOW(bits, 10), WINDOW(bits, 11), \
	  WINDOW(bits, 12), WINDOW(bits, 13), WINDOW(bits, 14), WINDOW(bits, 15) }
static const int windows_3[16] = WINDOWS(3), windows_5[16] = WINDOWS(5), windows_6[16] = WINDOWS(6);

/* Codes in the lanes' low bits; above them lies what follows. */
INLINE __m512i indices(int kind, const uint8_t *words)
{
	switch (kind) {
	case LB_CODES_2:
		return _mm512_srlv_epi32(_mm512_set1_epi32((int)load_bytes(words, 4)),
					 _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
	case LB_CODES_4:
	case LB_CODES_E2M1:
		return _mm512_srlv_epi32(_mm512_set1_epi64((long long)load_bytes(words, 8)),
					 _mm512_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20, 20, 24, 24, 28, 28));
	case LB_CODES_8: return _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)words));
	case LB_CODES_E4M3: /* the sign up to bit 31 */
		return _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)words));
	}
	int bits = lb_codes_bits(kind);
	__m512i bytes = _mm512_broadcast_i32x4(_mm_maskz_loadu_epi8((__mmask16)((1u << 2 * bits) - 1), words));
	__m512i windows = _mm512_loadu_si512(kind == LB_CODES_3   ? windows_3
					     : kind == LB_CODES_5 ? windows_5
								  : windows_6);
	__m512i shifts =
	    _mm512_and_si512(_mm512_mullo_epi32(lane_numbers(), _mm512_set1_epi32(bits)), _mm512_set1_epi32(7));
	return _mm512_srlv_epi32(_mm512_shuffle_epi8(bytes, windows), shifts);
}

INLINE vector value(int kind, const uint8_t *words, const struct prepared *p)
{
	__m512i codes = indices(kind, words);
	if (by_table(kind))
		return _mm512_permutexvar_ps(codes, p->a);
	if (kind == LB_CODES_E4M3) {
		__m512i bits = _mm512_and_si512(_mm512_slli_epi32(codes, 20), _mm512_set1_epi32((int)0x87f00000));
		vector x = _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0x1p120f));
		__m512i all = _mm512_set1_epi32(LB_E4M3_NAN);
		__mmask16 nan = _mm512_cmpeq_epi32_mask(_mm512_and_si512(codes, all), all);
		return _mm512_mul_ps(_mm512_mask_blend_ps(nan, x, _mm512_set1_ps(NAN)), p->a);
	}
	__m512i mask = _mm512_set1_epi32((1 << lb_codes_bits(kind)) - 1);
	if (kind != LB_CODES_8)
		codes = _mm512_and_si512(codes, mask);
	return _mm512_fmadd_ps(_mm512_cvtepi32_ps(codes), p->a, p->b);
}

/* From the lanes' order to that of the codes, and back. */
INLINE vector ordered(int kind, vector x)
{
	if (lb_codes_bits(kind) != 4)
		return x;
	return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15), x);
}

void LB_ISA_NAME(lb_tile_arrange)(int kind, int64_t n, float *x)
{
	__m512i order = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
	for (int64_t i = 0; i < n && lb_codes_bits(kind) == 4; i += LANES)
		_mm512_storeu_ps(x + i, _mm512_permutexvar_ps(order, _mm512_loadu_ps(x + i)));
}

#elif defined VECTORS

enum { LANES = 8 };
typedef __m256 vector;
struct prepared {
	vector a, b;
};

#define zero_vector _mm256_setzero_ps
#define load_vector _mm256_loadu_ps
#define store_vector _mm256_storeu_ps
#define multiply_add _mm256_fmadd_ps
#define broadcast _mm256_set1_ps

INLINE float sum_vector(vector x)
{
	__m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
	__m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
	return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

INLINE struct prepared prepare(int kind, float scale, float bias)
{
	(void)kind;
	return (struct prepared){ _mm256_set1_ps(scale), _mm256_set1_ps(bias) };
}

/* Codes of up to four bits lie in one 32-bit word; those of five and six in two. */
INLINE __m256i indices(int kind, const uint8_t *words)
{
	int bits = lb_codes_bits(kind);
	if (bits == 8)
		return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)words));
	uint64_t word = load_bytes(words, bits);
	__m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	if (bits <= 4)
		return _mm256_srlv_epi32(_mm256_set1_epi32((int)word),
					 _mm256_mullo_epi32(lanes, _mm256_set1_epi32(bits)));
	__m256i low = _mm256_set1_epi32((int)word), high = _mm256_set1_epi32((int)(word >> 4 * bits));
	__m256i four = _mm256_blend_epi32(low, high, 0xf0);
	lanes = _mm256_and_si256(lanes, _mm256_set1_epi32(3));
	return _mm256_srlv_epi32(four, _mm256_mullo_epi32(lanes, _mm256_set1_epi32(bits)));
}

INLINE vector value(int kind, const uint8_t *words, const struct prepared *p)
{
	__m256i codes = indices(kind, words);
	vector x;
	if (kind == LB_CODES_E2M1) {
		vector table = _mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6);
		__m256i sign = _mm256_slli_epi32(_mm256_srli_epi32(codes, 3), 31);
		x = _mm256_or_ps(_mm256_permutevar8x32_ps(table, codes), _mm256_castsi256_ps(sign));
		return _mm256_mul_ps(x, p->a);
	} else if (kind == LB_CODES_E4M3) {
		__m256i rest = _mm256_and_si256(codes, _mm256_set1_epi32(0x7f));
		__m256i bits =
		    _mm256_or_si256(_mm256_slli_epi32(rest, 20), _mm256_slli_epi32(_mm256_srli_epi32(codes, 7), 31));
		__m256i nan = _mm256_cmpeq_epi32(rest, _mm256_set1_epi32(LB_E4M3_NAN));
		x = _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p120f));
		return _mm256_mul_ps(_mm256_or_ps(x, _mm256_castsi256_ps(nan)), p->a);
	} else {
		__m256i mask = _mm256_set1_epi32((1 << lb_codes_bits(kind)) - 1);
		x = _mm256_cvtepi32_ps(kind == LB_CODES_8 ? codes : _mm256_and_si256(codes, mask));
	}
	return _mm256_fmadd_ps(x, p->a, p->b);
}

INLINE vector ordered(int kind, vector x)
{
	(void)kind;
	return x;
}

void LB_ISA_NAME(lb_tile_arrange)(int kind, int64_t n, float *x)
{
	(void)kind, (void)n, (void)x;
}

#endif

#ifdef VECTORS

INLINE struct prepared prepare_group(int kind, const struct lb_codes *codes, int64_t g)
{
	bool affine = kind != LB_CODES_E2M1 && kind != LB_CODES_E4M3;
	return prepare(kind, codes->scales[g], affine ? codes->biases[g] : 0);
}

INLINE void dequantize(int kind, const struct lb_codes *codes, int64_t groups, float *to)
{
	const uint8_t *words = codes->words;
	int chunks = codes->group / LANES;
	for (int64_t g = 0; g < groups; g++) {
		struct prepared p = prepare_group(kind, codes, g);
		for (int i = 0; i < chunks; i++) {
			store_vector(to, ordered(kind, value(kind, words, &p)));
			words += LANES * lb_codes_bits(kind) / 8;
			to += LANES;
		}
	}
}

INLINE void dot(int kind, int rows, int m, const struct lb_codes *codes, int64_t groups, const float *x, int64_t x_row,
		float *sums)
{
	vector acc[8];
	const uint8_t *words[2] = { codes[0].words, codes[rows - 1].words };
	int chunks = codes->group / LANES;
	UNROLL
	for (int i = 0; i < rows * m; i++)
		acc[i] = zero_vector();
	for (int64_t g = 0; g < groups; g++) {
		struct prepared p[2];
		for (int r = 0; r < rows; r++)
			p[r] = prepare_group(kind, &codes[r], g);
		for (int i = 0; i < chunks; i++, x += LANES)
			UNROLL
		for (int r = 0; r < rows; r++) {
			vector w = value(kind, words[r], &p[r]);
			words[r] += LANES * lb_codes_bits(kind) / 8;
			UNROLL
			for (int k = 0; k < m; k++)
				acc[r * m + k] = multiply_add(w, load_vector(x + k * x_row), acc[r * m + k]);
		}
	}
	UNROLL
	for (int i = 0; i < rows * m; i++)
		sums[i] += sum_vector(acc[i]);
}

INLINE void spread(int kind, int m, const struct lb_codes *codes, int64_t groups, const float *x, int64_t x_row,
		   float *sums, int64_t sums_row)
{
	const uint8_t *words[2] = { codes[0].words, codes[1].words };
	int chunks = codes->group / LANES;
	for (int64_t g = 0; g < groups; g++) {
		struct prepared p[2] = { prepare_group(kind, &codes[0], g), prepare_group(kind, &codes[1], g) };
		for (int i = 0; i < chunks; i++, sums += LANES) {
			vector w[2];
			UNROLL
			for (int r = 0; r < 2; r++) {
				w[r] = value(kind, words[r], &p[r]);
				words[r] += LANES * lb_codes_bits(kind) / 8;
			}
			UNROLL
			for (int k = 0; k < m; k++) {
				vector sum = load_vector(sums + k * sums_row);
				sum = multiply_add(w[0], broadcast(x[k * x_row]), sum);
				sum = multiply_add(w[1], broadcast(x[k * x_row + 1]), sum);
				store_vector(sums + k * sums_row, sum);
			}
		}
	}
}

void LB_ISA_NAME(lb_tile_restore)(int kind, int64_t n, float *x)
{
	for (int64_t i = 0; i < n && lb_codes_bits(kind) == 4; i += LANES)
		store_vector(x + i, ordered(kind, load_vector(x + i)));
}

#else

/* Any number of bits: codes cut from a word of eight. */
static void dequantize(int kind, const struct lb_codes *codes, int64_t groups, float *to)
{
	static const float e2m1[16] = LB_E2M1_VALUES;
	int bits = lb_codes_bits(kind);
	const uint8_t *words = codes->words;
	uint64_t mask = (1u << bits) - 1;
	for (int64_t g = 0; g < groups; g++) {
		float scale = codes->scales[g];
		float bias = codes->biases ? codes->biases[g] : -0.f; /* adds nothing to any zero */
		for (int i = 0; i < codes->group; i += 8, words += bits, to += 8) {
			uint64_t word = load_bytes(words, bits);
			for (int k = 0; k < 8; k++, word >>= bits) {
				unsigned code = (unsigned)(word & mask);
				float x = kind == LB_CODES_E2M1   ? e2m1[code]
					  : kind == LB_CODES_E4M3 ? lb_e4m3_to_float((uint8_t)code)
								  : (float)code;
				to[k] = x * scale + bias;
			}
		}
	}
}

static void dot(int kind, int rows, int m, const struct lb_codes *codes, int64_t groups, const float *x, int64_t x_row,
		float *sums)
{
	float line[128];
	for (int r = 0; r < rows; r++) {
		struct lb_codes at = codes[r];
		for (int64_t g = 0; g < groups; g++) {
			dequantize(kind, &at, 1, line);
			at.words += at.group * lb_codes_bits(kind) / 8;
			at.scales++;
			at.biases += at.biases != NULL;
			for (int k = 0; k < m; k++) {
				const float *y = x + k * x_row + g * at.group;
				float sum = 0;
				_Pragma("omp simd reduction(+:sum)") for (int i = 0; i < at.group; i++) sum +=
				    line[i] * y[i];
				sums[r * m + k] += sum;
			}
		}
	}
}

static void spread(int kind, int m, const struct lb_codes *codes, int64_t groups, const float *x, int64_t x_row,
		   float *sums, int64_t sums_row)
{
	float line[128];
	for (int r = 0; r < 2; r++) {
		struct lb_codes at = codes[r];
		for (int64_t g = 0; g < groups; g++) {
			dequantize(kind, &at, 1, line);
			at.words += at.group * lb_codes_bits(kind) / 8;
			at.scales++;
			at.biases += at.biases != NULL;
			for (int k = 0; k < m; k++) {
				float *to = sums + k * sums_row + g * at.group, a = x[k * x_row + r];
				LB_EACH(i, at.group) to[i] += a * line[i];
			}
		}
	}
}

void LB_ISA_NAME(lb_tile_arrange)(int kind, int64_t n, float *x)
{
	(void)kind, (void)n, (void)x;
}

void LB_ISA_NAME(lb_tile_restore)(int kind, int64_t n, float *x)
{
	(void)kind, (void)n, (void)x;
}

#endif

void LB_ISA_NAME(lb_tile_e8m0)(int64_t n, float *to, const uint8_t *from)
{
	LB_EACH(i, n) to[i] = lb_e8m0_to_float(from[i]);
}

void LB_ISA_NAME(lb_tile_e4m3)(int64_t n, float *to, const uint8_t *from, float by)
{
	LB_EACH(i, n) to[i] = lb_e4m3_to_float(from[i]) * by;
}

/* Each kind, and each number of vectors, compiled by itself. */
#define DOT(kind, rows, m) \
	static void dot_##kind##_##rows##_##m(const struct lb_codes *codes, int64_t groups, const float *x, \
					      int64_t x_row, float *sums) \
	{ \
		dot(LB_CODES_##kind, rows, m, codes, groups, x, x_row, sums); \
	}
#define SPREAD(kind, m) \
	static void spread_##kind##_##m(const struct lb_codes *codes, int64_t groups, const float *x, int64_t x_row, \
					float *sums, int64_t sums_row) \
	{ \
		spread(LB_CODES_##kind, m, codes, groups, x, x_row, sums, sums_row); \
	}
#define KIND(kind) \
	static void dequantize_##kind(const struct lb_codes *codes, int64_t groups, float *to) \
	{ \
		dequantize(LB_CODES_##kind, codes, groups, to); \
	} \
	DOT(kind, 2, 1) \
	DOT(kind, 1, 2) DOT(kind, 1, 4) DOT(kind, 1, 8) SPREAD(kind, 1) SPREAD(kind, 2) SPREAD(kind, 4) SPREAD(kind, 8)
#define KINDS(X) X(2) X(3) X(4) X(5) X(6) X(8) X(E2M1) X(E4M3)
KINDS(KIND)

void LB_ISA_NAME(lb_tile_dequantize)(const struct lb_codes *codes, int64_t groups, float *to)
{
	static void (*const functions[])(const struct lb_codes *, int64_t, float *) = {
#define ENTRY(kind) [LB_CODES_##kind] = dequantize_##kind,
		KINDS(ENTRY)
#undef ENTRY
	};
	functions[codes->kind](codes, groups, to);
}

void LB_ISA_NAME(lb_tile_dot)(const struct lb_codes *codes, int64_t groups, int m, const float *x, int64_t x_row,
			      float *sums)
{
	typedef void function(const struct lb_codes *, int64_t, const float *, int64_t, float *);
	static function *const functions[][4] = {
#define ENTRY(kind) [LB_CODES_##kind] = { dot_##kind##_2_1, dot_##kind##_1_2, dot_##kind##_1_4, dot_##kind##_1_8 },
		KINDS(ENTRY)
#undef ENTRY
	};
	functions[codes->kind][m == 1 ? 0 : m == 2 ? 1 : m == 4 ? 2 : 3](codes, groups, x, x_row, sums);
}

void LB_ISA_NAME(lb_tile_spread)(const struct lb_codes *codes, int64_t groups, int m, const float *x, int64_t x_row,
				 float *sums, int64_t sums_row)
{
	typedef void function(const struct lb_codes *, int64_t, const float *, int64_t, float *, int64_t);
	static function *const functions[][4] = {
#define ENTRY(kind) [LB_CODES_##kind] = { spread_##kind##_1, spread_##kind##_2, spread_##kind##_4, spread_##kind##_8 },
		KINDS(ENTRY)
#undef ENTRY
	};
	functions[codes->kind][m == 1 ? 0 : m == 2 ? 1 : m == 4 ? 2 : 3](codes, groups, x, x_row, sums, sums_row);
}
