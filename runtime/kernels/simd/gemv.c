/* A vector times a matrix, whose rows are f32, f64, or halves that are widened on the way. */
#include "kernels/simd/tiles.h"
#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

enum { LANES = 16, COLUMNS = 1024, TOGETHER = 4 };

/* The next LANES elements of a row: where they are, or widened into `room`. */
static inline const float *next_f32(float *room, const float *from)
{
	(void)room;
	return from;
}

static inline const double *next_f64(double *room, const double *from)
{
	(void)room;
	return from;
}

static inline const float *next_bf16(float *room, const uint16_t *from)
{
#if defined __AVX512F__
	__m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
	_mm512_storeu_si512(room, _mm512_slli_epi32(wide, 16));
#elif defined __AVX2__
	for (int l = 0; l < LANES; l += 8) {
		__m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(from + l)));
		_mm256_storeu_si256((void *)(room + l), _mm256_slli_epi32(wide, 16));
	}
#else
	LB_EACH(l, LANES) room[l] = lb_bf16_to_float(from[l]);
#endif
	return room;
}

static inline const float *next_f16(float *room, const uint16_t *from)
{
#if defined __AVX512F__
	_mm512_storeu_ps(room, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)from)));
#elif defined __F16C__
	for (int l = 0; l < LANES; l += 8)
		_mm256_storeu_ps(room + l, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + l))));
#else
	LB_EACH(l, LANES) room[l] = lb_f16_to_float(from[l]);
#endif
	return room;
}

/* sums[r] = x . row r, in lanes. Sums of its own let the compiler keep them in registers. */
#define PLAIN(x) (x)
#define ADD(type, sums, row) \
	do { \
		next = next_##type(room, row + i); \
		LB_EACH(l, LANES) sums[l] += x[i + l] * next[l]; \
	} while (0)
#define DOTS(type, T, STORED, LOAD) \
	static __attribute__((noinline)) void add_##type(int64_t n, T sums[TOGETHER][LANES], const T *x, \
							 const STORED *const rows[TOGETHER]) \
	{ \
		T a[LANES] = { 0 }, b[LANES] = { 0 }, c[LANES] = { 0 }, d[LANES] = { 0 }, room[LANES]; \
		const STORED *p = rows[0], *q = rows[1], *r = rows[2], *s = rows[3]; \
		const T *next; \
		int64_t i = 0; \
		for (; i + LANES <= n; i += LANES) { \
			ADD(type, a, p); \
			ADD(type, b, q); \
			ADD(type, c, r); \
			ADD(type, d, s); \
		} \
		for (int64_t l = 0; i + l < n; l++) { \
			a[l] += x[i + l] * LOAD(p[i + l]); \
			b[l] += x[i + l] * LOAD(q[i + l]); \
			c[l] += x[i + l] * LOAD(r[i + l]); \
			d[l] += x[i + l] * LOAD(s[i + l]); \
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
DOTS(f32, float, float, PLAIN)
DOTS(f64, double, double, PLAIN)
DOTS(bf16, float, uint16_t, lb_bf16_to_float)
DOTS(f16, float, uint16_t, lb_f16_to_float)

void LB_ISA_NAME(lb_tile_dots)(int64_t n, int64_t k, void *to, const void *x, const void *rows, int64_t stride,
			       int dtype)
{
	if (dtype == LB_F32)
		dots_f32(n, k, to, x, rows, stride);
	else if (dtype == LB_F64)
		dots_f64(n, k, to, x, rows, stride);
	else if (dtype == LB_BF16)
		dots_bf16(n, k, to, x, rows, stride);
	else
		dots_f16(n, k, to, x, rows, stride);
}

#define COMBINE(name, T, STORED, LOAD) \
	static void name(int64_t n, T *sums, int64_t m, const T *x, const STORED *rows, int64_t stride) \
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
COMBINE(combine_f32, float, float, PLAIN)
COMBINE(combine_f64, double, double, PLAIN)

#if defined __AVX512F__

#define INSIDE static inline __attribute__((always_inline))

INSIDE __m512 widened(const bool f16, const uint16_t *from, __mmask16 some)
{
	__m256i halves = _mm256_maskz_loadu_epi16(some, from);
	return f16 ? _mm512_cvtph_ps(halves) : (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}

/* As combine_f32 adds them: four by four, what is left one by one; several fours while the sums are in registers. */
INSIDE void combine_halves(const bool f16, int64_t n, float *sums, int64_t m, const float *x, const uint16_t *rows,
			   int64_t stride)
{
	enum { FOURS = 4 };
	for (int64_t at = 0, some; at < m; at += some) {
		some = m - at >= FOURS * TOGETHER ? FOURS * TOGETHER : m - at >= TOGETHER ? TOGETHER : 1;
		const uint16_t *first = rows + at * stride;
		for (int64_t i = 0; i < n; i += 16) {
			__mmask16 those = n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : (__mmask16)~0u;
			__m512 sum = _mm512_maskz_loadu_ps(those, sums + i);
			if (some == 1)
				sum += _mm512_set1_ps(x[at]) * widened(f16, first + i, those);
			for (int64_t r = 0; some > 1 && r < some; r += TOGETHER) {
				const uint16_t *row = first + r * stride + i;
				__m512 p = _mm512_set1_ps(x[at + r]) * widened(f16, row, those);
				__m512 q = _mm512_set1_ps(x[at + r + 1]) * widened(f16, row + stride, those);
				__m512 s = _mm512_set1_ps(x[at + r + 2]) * widened(f16, row + 2 * stride, those);
				__m512 t = _mm512_set1_ps(x[at + r + 3]) * widened(f16, row + 3 * stride, those);
				sum += p + q + (s + t);
			}
			_mm512_mask_storeu_ps(sums + i, those, sum);
		}
	}
}

static void combine_f16(int64_t n, float *sums, int64_t m, const float *x, const uint16_t *rows, int64_t stride)
{
	combine_halves(true, n, sums, m, x, rows, stride);
}

static void combine_bf16(int64_t n, float *sums, int64_t m, const float *x, const uint16_t *rows, int64_t stride)
{
	combine_halves(false, n, sums, m, x, rows, stride);
}

#else

COMBINE(combine_bf16, float, uint16_t, lb_bf16_to_float)

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

void LB_ISA_NAME(lb_tile_combine)(int64_t n, void *sums, int64_t m, const void *x, const void *rows, int64_t stride,
				  int dtype)
{
	if (dtype == LB_F32)
		combine_f32(n, sums, m, x, rows, stride);
	else if (dtype == LB_F64)
		combine_f64(n, sums, m, x, rows, stride);
	else if (dtype == LB_BF16)
		combine_bf16(n, sums, m, x, rows, stride);
	else
		combine_f16(n, sums, m, x, rows, stride);
}
