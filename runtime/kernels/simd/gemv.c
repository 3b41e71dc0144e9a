/* A vector times a matrix, whose rows are f32, f64, or halves that are widened on the way. */
#include "kernels/simd/tiles.h"

enum { LANES = 16, CHUNK = 512, COLUMNS = 1024, TOGETHER = 4 };

/* sums[r] += x . row r, in lanes. Sums of its own let the compiler keep them in registers. */
#define PLAIN(x) (x)
#define ADD_DOTS(name, T, STORED, LOAD) \
	static void name(int64_t n, T sums[TOGETHER][LANES], const T *x, \
			 const STORED *const rows[TOGETHER]) \
	{ \
		T a[LANES], b[LANES], c[LANES], d[LANES]; \
		const STORED *p = rows[0], *q = rows[1], *r = rows[2], *s = rows[3]; \
		memcpy(a, sums[0], sizeof a); \
		memcpy(b, sums[1], sizeof b); \
		memcpy(c, sums[2], sizeof c); \
		memcpy(d, sums[3], sizeof d); \
		int64_t i = 0; \
		for (; i + LANES <= n; i += LANES) { \
			LB_EACH(l, LANES) a[l] += x[i + l] * LOAD(p[i + l]); \
			LB_EACH(l, LANES) b[l] += x[i + l] * LOAD(q[i + l]); \
			LB_EACH(l, LANES) c[l] += x[i + l] * LOAD(r[i + l]); \
			LB_EACH(l, LANES) d[l] += x[i + l] * LOAD(s[i + l]); \
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
	}
ADD_DOTS(add_dots_f32, float, float, PLAIN)
ADD_DOTS(add_dots_f64, double, double, PLAIN)
ADD_DOTS(add_dots_bf16, float, uint16_t, lb_bf16_to_float)

/* Rows j … j + TOGETHER, the last one again where there are fewer. */
#define DOTS(name, T, STORED, add) \
	static void name(int64_t n, int64_t k, T *to, const T *x, const STORED *rows, int64_t stride) \
	{ \
		for (int64_t j = 0; j < n; j += TOGETHER) { \
			T sums[TOGETHER][LANES] = { { 0 } }; \
			const STORED *at[TOGETHER]; \
			for (int64_t r = 0; r < TOGETHER; r++) \
				at[r] = rows + (j + r < n ? j + r : n - 1) * stride; \
			add(k, sums, x, at); \
			for (int64_t r = 0; r < TOGETHER && j + r < n; r++) { \
				T total = 0; \
				for (int l = 0; l < LANES; l++) \
					total += sums[r][l]; \
				to[j + r] = total; \
			} \
		} \
	}

static void add_dots_f16(int64_t k, float sums[TOGETHER][LANES], const float *x,
			 const uint16_t *const rows[TOGETHER])
{
	float wide[TOGETHER][CHUNK];
	const float *const at[TOGETHER] = { wide[0], wide[1], wide[2], wide[3] };
	for (int64_t first = 0; first < k; first += CHUNK) {
		int64_t n = k - first < CHUNK ? k - first : CHUNK;
		for (int r = 0; r < TOGETHER; r++)
			LB_ISA_NAME(lb_widen_f16)(n, wide[r], rows[r] + first);
		add_dots_f32(n, sums, x + first, at);
	}
}

DOTS(dots_f32, float, float, add_dots_f32)
DOTS(dots_f64, double, double, add_dots_f64)
DOTS(dots_bf16, float, uint16_t, add_dots_bf16)
DOTS(dots_f16, float, uint16_t, add_dots_f16)

void LB_ISA_NAME(lb_tile_dots)(int64_t n, int64_t k, void *to, const void *x, const void *rows,
			       int64_t stride, int dtype)
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
			LB_EACH(i, n) sums[i] += p * LOAD(a[i]) + q * LOAD(b[i]) + \
				(r * LOAD(c[i]) + s * LOAD(d[i])); \
		} \
		for (; m > 0; m--, x++, rows += stride) { \
			T p = *x; \
			LB_EACH(i, n) sums[i] += p * LOAD(rows[i]); \
		} \
	}
COMBINE(combine_f32, float, float, PLAIN)
COMBINE(combine_f64, double, double, PLAIN)
COMBINE(combine_bf16, float, uint16_t, lb_bf16_to_float)

static void combine_f16(int64_t n, float *sums, int64_t m, const float *x, const uint16_t *rows,
			int64_t stride)
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

void LB_ISA_NAME(lb_tile_combine)(int64_t n, void *sums, int64_t m, const void *x, const void *rows,
				  int64_t stride, int dtype)
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
