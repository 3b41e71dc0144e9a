/* A few vectors times a matrix, whose rows are f32, f64, or halves that are widened on the way. A vector's results are the
 * same bits whichever others are with it. */
#include "kernels/simd/vectors.h"

enum { LANES = 16, COLUMNS = 1024, TOGETHER = 4 };

#define ADD_LANES(sums, x, y) LB_EACH(l, LANES)(sums)[l] += (x)[l] * (y)[l]

/* What is taken of a row at once: LANES elements, or, of bfloat16, LANES pairs. Both elements of a pair go to one lane: first the
 * even ones, which a shift of the pairs makes floats, then the odd ones, which are what is left without the others. */
enum { BLOCK_f64 = LANES, BLOCK_f32 = LANES, BLOCK_f16 = LANES, BLOCK_bf16 = 2 * LANES };

/* A block of x in the order of add_block(): as it is, or arranged in `room`. */
static inline const double *block_f64(double *room, const double *x)
{
	(void)room;
	return x;
}

static inline void add_block_f64(double *sums, const double *x, const double *row)
{
	ADD_LANES(sums, x, row);
}

/* sums[r] = x . row r, in lanes. Sums of its own let the compiler keep them in registers. */
#define PLAIN(x) (x)
#define DOTS(type, T, STORED, LOAD) \
	static __attribute__((noinline)) void add_##type(int64_t n, T sums[TOGETHER][LANES], const T *x, \
							 const STORED *const rows[TOGETHER]) \
	{ \
		T a[LANES] = { 0 }, b[LANES] = { 0 }, c[LANES] = { 0 }, d[LANES] = { 0 }, room[BLOCK_##type]; \
		const STORED *p = rows[0], *q = rows[1], *r = rows[2], *s = rows[3]; \
		int64_t i = 0; \
		for (; i + BLOCK_##type <= n; i += BLOCK_##type) { \
			const T *some = block_##type(room, x + i); \
			add_block_##type(a, some, p + i); \
			add_block_##type(b, some, q + i); \
			add_block_##type(c, some, r + i); \
			add_block_##type(d, some, s + i); \
		} \
		for (int64_t k = 0; i + k < n; k++) { \
			int64_t l = k * LANES / BLOCK_##type; \
			a[l] += x[i + k] * LOAD(p[i + k]); \
			b[l] += x[i + k] * LOAD(q[i + k]); \
			c[l] += x[i + k] * LOAD(r[i + k]); \
			d[l] += x[i + k] * LOAD(s[i + k]); \
		} \
		memcpy(sums[0], a, sizeof a); \
		memcpy(sums[1], b, sizeof b); \
		memcpy(sums[2], c, sizeof c); \
		memcpy(sums[3], d, sizeof d); \
	} \
	/* Rows far from each other, which are as many streams: a single one does not keep memory busy. */ \
	static void dots_##type(int64_t n, int64_t k, T *to, const T *x, const STORED *rows, int64_t stride) \
	{ \
		int64_t apart = (n + TOGETHER - 1) / TOGETHER; \
		for (int64_t j = 0; j < apart; j++) { \
			T sums[TOGETHER][LANES]; \
			const STORED *at[TOGETHER]; \
			for (int64_t r = 0; r < TOGETHER; r++) \
				at[r] = rows + (j + r * apart < n ? j + r * apart : n - 1) * stride; \
			add_##type(k, sums, x, at); \
			for (int64_t r = 0; r < TOGETHER && j + r * apart < n; r++) { \
				T *sum = sums[r]; \
				LB_EACH(l, 8) sum[l] += sum[l + 8]; \
				LB_EACH(l, 4) sum[l] += sum[l + 4]; \
				to[j + r * apart] = (sum[0] + sum[2]) + (sum[1] + sum[3]); \
			} \
		} \
	}
DOTS(f64, double, double, PLAIN)

#define COMBINE(name, T, STORED, LOAD) \
	static void combine_##name(int64_t n, T *sums, int64_t m, const T *x, const STORED *rows, int64_t stride) \
	{ \
		for (; m >= TOGETHER; m -= TOGETHER, x += TOGETHER, rows += TOGETHER * stride) { \
			const STORED *a = rows, *b = a + stride, *c = b + stride, *d = c + stride; \
			T p = x[0], q = x[1], r = x[2], s = x[3]; \
			LB_EACH(i, n) sums[i] += p * LOAD(a[i]) + q * LOAD(b[i]) + (r * LOAD(c[i]) + s * LOAD(d[i])); \
		} \
		for (; m > 0; m--, x++, rows += stride) { \
			T p = *x; \
			LB_EACH(i, n) sums[i] += p * LOAD(rows[i]); \
		} \
	}
COMBINE(f64, double, double, PLAIN)

#if defined __AVX512F__

#define INSIDE static inline __attribute__((always_inline))

/* Columns of 16 that combine takes at once: sums and products of two vectors stay in registers. */
enum { WIDE = 4 };

/* Rows that one vector or two are multiplied by at once, far from each other: TOGETHER, but STREAMS of float16, which takes longer
 * to widen than to read, so that fewer do not keep every memory busy. They are asked for AHEAD bytes before they are needed: of float
 * two lines a STRETCH, so that the processor, which stops where a page ends, goes on by itself; of halves every line. */
enum { STREAMS = 8, AHEAD = 4096, STRETCH = 1024, LINE = 64 /* bytes */ };
INSIDE int streams_of(int dtype)
{
	return dtype == LB_F16 ? STREAMS : TOGETHER;
}

/* LANES of the n elements that are left from a line on, as floats, with 0 for what is beyond them: of bfloat16 the even or the odd
 * ones of the line, else those from part * LANES on. */
INSIDE __m512 part_of(const int dtype, const int part, const char *line, int64_t n)
{
	if (dtype != LB_BF16)
		return lb_widened(dtype, line, part * LANES, lb_some_of(n, part * LANES));
	__m512i pairs =
	    n < BLOCK_bf16 ? _mm512_maskz_loadu_epi16((__mmask32)((1u << n) - 1), line) : _mm512_loadu_si512(line);
	return (__m512)(part ? _mm512_and_si512(pairs, _mm512_set1_epi32((int)0xffff0000))
			     : _mm512_slli_epi32(pairs, 16));
}

/* Those of x that go with them. */
INSIDE __m512 factors_of(const int dtype, const int part, const float *x, int64_t n)
{
	if (dtype != LB_BF16)
		return part_of(LB_F32, part, (const char *)x, n);
	__m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	return _mm512_permutex2var_ps(part_of(LB_F32, 0, (const char *)x, n),
				      part ? _mm512_or_si512(evens, _mm512_set1_epi32(1)) : evens,
				      part_of(LB_F32, 1, (const char *)x, n));
}

/* A line of each row, from element `at` on. */
INSIDE void add_line(const int dtype, const int vectors, int64_t at, int64_t n, const float *const x[2],
		     const char *const rows[STREAMS], int64_t ahead, __m512 lanes[2][STREAMS])
{
	const int width = dtype == LB_F32 ? 4 : 2, streams = streams_of(dtype);
	if (dtype != LB_F32 || at * width % STRETCH == 0) {
		LB_UNROLL
		for (int r = 0; r < streams; r++)
			lb_prefetch(rows[r] + at * width + ahead, dtype == LB_F32 ? 2 * LINE : LINE);
	}
	LB_UNROLL
	for (int part = 0; part < LINE / width / LANES; part++) {
		__m512 factors[2];
		for (int v = 0; v < vectors; v++)
			factors[v] = factors_of(dtype, part, x[v] + at, n);
		LB_UNROLL
		for (int r = 0; r < streams; r++) {
			__m512 row = part_of(dtype, part, rows[r] + at * width, n);
			for (int v = 0; v < vectors; v++)
				lanes[v][r] += factors[v] * row;
		}
	}
}

/* What DOTS makes of four rows' lanes. */
INSIDE __m128 fold(const __m512 lanes[TOGETHER])
{
	__m128 quarters[TOGETHER];
	LB_UNROLL
	for (int r = 0; r < TOGETHER; r++) {
		__m256 half = _mm512_castps512_ps256(lanes[r]) + _mm512_extractf32x8_ps(lanes[r], 1);
		quarters[r] = _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
	}
	__m128 a = _mm_unpacklo_ps(quarters[0], quarters[1]) + _mm_unpackhi_ps(quarters[0], quarters[1]);
	__m128 b = _mm_unpacklo_ps(quarters[2], quarters[3]) + _mm_unpackhi_ps(quarters[2], quarters[3]);
	return _mm_movelh_ps(a, b) + _mm_movehl_ps(b, a);
}

/* Each line of a row is read once for both vectors. */
INSIDE void dots_of(const int dtype, const int vectors, int64_t k, const float *const x[2],
		    const char *const rows[STREAMS], int64_t ahead, float sums[2][STREAMS])
{
	const int line = dtype == LB_F32 ? LINE / 4 : LINE / 2, streams = streams_of(dtype);
	__m512 lanes[2][STREAMS];
	for (int v = 0; v < vectors; v++) {
		LB_UNROLL
		for (int r = 0; r < streams; r++)
			lanes[v][r] = _mm512_setzero_ps();
	}
	int64_t at = 0;
	for (; at + line <= k; at += line)
		add_line(dtype, vectors, at, line, x, rows, ahead, lanes);
	if (at < k)
		add_line(dtype, vectors, at, k - at, x, rows, ahead, lanes);
	for (int v = 0; v < vectors; v++) {
		LB_UNROLL
		for (int r = 0; r < streams; r += TOGETHER)
			_mm_storeu_ps(sums[v] + r, fold(lanes[v] + r));
	}
}

INSIDE void dots_few(const int dtype, const struct lb_vectors *c, int64_t n, int64_t k)
{
	int64_t width = dtype == LB_F32 ? 4 : 2, streams = streams_of(dtype), apart = (n + streams - 1) / streams;
	int64_t bytes = k * width, ahead = bytes < AHEAD ? (AHEAD / (bytes + 1) + 1) * c->stride * width : AHEAD;
	for (int64_t j = 0; j < apart; j++) {
		const char *rows[STREAMS];
		for (int64_t r = 0; r < streams; r++)
			rows[r] =
			    (const char *)c->rows + (j + r * apart < n ? j + r * apart : n - 1) * c->stride * width;
		for (int64_t v = 0; v < c->n; v += 2) {
			const float *x[2] = { (const float *)c->x + v * c->x_row,
					      (const float *)c->x + (v + 1) * c->x_row };
			int64_t vectors = c->n - v < 2 ? 1 : 2;
			float sums[2][STREAMS];
			if (vectors == 2)
				dots_of(dtype, 2, k, x, rows, ahead, sums);
			else
				dots_of(dtype, 1, k, x, rows, ahead, sums);
			for (int64_t i = 0; i < vectors; i++)
				for (int64_t r = 0; r < streams && j + r * apart < n; r++)
					((float *)c->to)[(v + i) * c->to_row + j + r * apart] = sums[i][r];
		}
	}
}

/* Four rows, or a single one, in the order of memory. */
INSIDE void combine_of(const int dtype, const int vectors, const int rows, int64_t n, const float *const x[2],
		       const char *row, int64_t bytes, float *const sums[2])
{
	for (int64_t i = 0; i < n; i += WIDE * LANES) {
		__m512 parts[2][2][WIDE];
		__mmask16 some[WIDE];
		LB_UNROLL
		for (int k = 0; k < WIDE; k++)
			some[k] = lb_some_of(n, i + k * LANES);
		LB_UNROLL
		for (int r = 0; r < rows; r++) {
			LB_UNROLL
			for (int k = 0; k < WIDE; k++) {
				__m512 y = lb_widened(dtype, row + r * bytes, i + k * LANES, some[k]);
				for (int v = 0; v < vectors; v++) {
					__m512 product = _mm512_set1_ps(x[v][r]) * y;
					if (r % 2)
						parts[v][r / 2][k] += product;
					else
						parts[v][r / 2][k] = product;
				}
			}
		}
		for (int v = 0; v < vectors; v++) {
			LB_UNROLL
			for (int k = 0; k < WIDE; k++) {
				float *to = sums[v] + i + k * LANES;
				__m512 sum = parts[v][0][k];
				if (rows > 1)
					sum += parts[v][1][k];
				_mm512_mask_storeu_ps(to, some[k], _mm512_maskz_loadu_ps(some[k], to) + sum);
			}
		}
	}
}

/* As COMBINE adds them: four by four, what is left one by one. */
INSIDE void combine_few(const int dtype, const struct lb_vectors *c, int64_t n, int64_t m)
{
	int64_t bytes = c->stride * (dtype == LB_F32 ? 4 : 2);
	for (int64_t at = 0, rows; at < m; at += rows) {
		const char *row = (const char *)c->rows + at * bytes;
		rows = m - at < TOGETHER ? 1 : TOGETHER;
		for (int64_t v = 0; v < c->n; v += 2) {
			const float *x[2] = { (const float *)c->x + v * c->x_row + at,
					      (const float *)c->x + (v + 1) * c->x_row + at };
			float *sums[2] = { (float *)c->to + v * c->to_row, (float *)c->to + (v + 1) * c->to_row };
			if (c->n - v >= 2 && rows > 1)
				combine_of(dtype, 2, TOGETHER, n, x, row, bytes, sums);
			else if (c->n - v >= 2)
				combine_of(dtype, 2, 1, n, x, row, bytes, sums);
			else if (rows > 1)
				combine_of(dtype, 1, TOGETHER, n, x, row, bytes, sums);
			else
				combine_of(dtype, 1, 1, n, x, row, bytes, sums);
		}
	}
}

#define FEW(name, dtype) \
	static void dots_##name##_few(const struct lb_vectors *c, int64_t n, int64_t k) \
	{ \
		dots_few(dtype, c, n, k); \
	} \
	static void combine_##name##_few(const struct lb_vectors *c, int64_t n, int64_t m) \
	{ \
		combine_few(dtype, c, n, m); \
	}
FEW(f32, LB_F32)
FEW(f16, LB_F16)
FEW(bf16, LB_BF16)

#else

static inline const float *block_f32(float *room, const float *x)
{
	(void)room;
	return x;
}

static inline const float *block_f16(float *room, const float *x)
{
	return block_f32(room, x);
}

static inline const float *block_bf16(float *room, const float *x)
{
#if defined __AVX2__
	for (int l = 0; l < LANES; l += 8) {
		__m256 a = _mm256_loadu_ps(x + 2 * l), b = _mm256_loadu_ps(x + 2 * l + 8);
		__m256d even = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)); /* of a and b in turn */
		__m256d odd = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
		_mm256_storeu_pd((void *)(room + l), _mm256_permute4x64_pd(even, 0xd8));
		_mm256_storeu_pd((void *)(room + LANES + l), _mm256_permute4x64_pd(odd, 0xd8));
	}
#else
	LB_EACH(l, LANES) room[l] = x[2 * l];
	LB_EACH(l, LANES) room[LANES + l] = x[2 * l + 1];
#endif
	return room;
}

static inline void add_block_f32(float *sums, const float *x, const float *row)
{
	ADD_LANES(sums, x, row);
}

static inline void add_block_f16(float *sums, const float *x, const uint16_t *row)
{
	float wide[LANES];
#if defined __F16C__
	for (int l = 0; l < LANES; l += 8)
		_mm256_storeu_ps(wide + l, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(row + l))));
#else
	LB_EACH(l, LANES) wide[l] = lb_f16_to_float(row[l]);
#endif
	ADD_LANES(sums, x, wide);
}

static inline void add_block_bf16(float *sums, const float *x, const uint16_t *row)
{
	float even[LANES], odd[LANES];
#if defined __AVX2__
	for (int l = 0; l < LANES; l += 8) {
		__m256i pairs = _mm256_loadu_si256((const void *)(row + 2 * l));
		__m256i high = _mm256_and_si256(pairs, _mm256_set1_epi32((int)0xffff0000));
		_mm256_storeu_si256((void *)(even + l), _mm256_slli_epi32(pairs, 16));
		_mm256_storeu_si256((void *)(odd + l), high);
	}
#else
	uint32_t pairs[LANES], low[LANES], high[LANES];
	memcpy(pairs, row, sizeof pairs);
	LB_EACH(l, LANES) low[l] = pairs[l] << 16;
	LB_EACH(l, LANES) high[l] = pairs[l] & 0xffff0000;
	memcpy(even, low, sizeof even);
	memcpy(odd, high, sizeof odd);
#endif
	ADD_LANES(sums, x, even);
	ADD_LANES(sums, x + LANES, odd);
}

DOTS(f32, float, float, PLAIN)
DOTS(bf16, float, uint16_t, lb_bf16_to_float)
DOTS(f16, float, uint16_t, lb_f16_to_float)
COMBINE(f32, float, float, PLAIN)
COMBINE(bf16, float, uint16_t, lb_bf16_to_float)

static void combine_f16(int64_t n, float *sums, int64_t m, const float *x, const uint16_t *rows, int64_t stride)
{
	float wide[TOGETHER][COLUMNS];
	for (int64_t at = 0; at < n; at += COLUMNS) {
		int64_t part = n - at < COLUMNS ? n - at : COLUMNS;
		for (int64_t p = 0; p < m; p += TOGETHER) {
			int64_t together = m - p < TOGETHER ? m - p : TOGETHER;
			for (int64_t i = 0; i < together; i++)
				LB_ISA_NAME(lb_widen_f16)(part, wide[i], rows + (p + i) * stride + at);
			combine_f32(part, sums + at, together, x + p, wide[0], COLUMNS);
		}
	}
}

#endif

/* One after the other. */
#define EACH(name, T, STORED) \
	static void dots_##name##_few(const struct lb_vectors *c, int64_t n, int64_t k) \
	{ \
		for (int64_t v = 0; v < c->n; v++) \
			dots_##name(n, k, (T *)c->to + v * c->to_row, (const T *)c->x + v * c->x_row, \
				    (const STORED *)c->rows, c->stride); \
	} \
	static void combine_##name##_few(const struct lb_vectors *c, int64_t n, int64_t m) \
	{ \
		for (int64_t v = 0; v < c->n; v++) \
			combine_##name(n, (T *)c->to + v * c->to_row, m, (const T *)c->x + v * c->x_row, \
				       (const STORED *)c->rows, c->stride); \
	}
EACH(f64, double, double)
#ifndef __AVX512F__
EACH(f32, float, float)
EACH(f16, float, uint16_t)
EACH(bf16, float, uint16_t)
#endif

#define OF(what, c, ...) \
	((c)->dtype == LB_F32    ? what##_f32_few(c, __VA_ARGS__) \
	 : (c)->dtype == LB_F64  ? what##_f64_few(c, __VA_ARGS__) \
	 : (c)->dtype == LB_BF16 ? what##_bf16_few(c, __VA_ARGS__) \
				 : what##_f16_few(c, __VA_ARGS__))

void LB_ISA_NAME(lb_tile_dots)(const struct lb_vectors *c, int64_t n, int64_t k)
{
	OF(dots, c, n, k);
}

void LB_ISA_NAME(lb_tile_combine)(const struct lb_vectors *c, int64_t n, int64_t m)
{
	OF(combine, c, n, m);
}
