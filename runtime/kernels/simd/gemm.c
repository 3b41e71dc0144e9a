/* The matrix product that needs no library: for small products, attention, a debugger's
 * evaluation, and where there is no BLAS. Panels of b (DEPTH by COLUMNS) are packed on the stack,
 * a is read where it is; the innermost loop keeps ROWS by COLUMNS sums in registers.
 *
 * Each element is summed over k in ascending order, DEPTH products at a time, fused where the
 * machine can: its bits do not depend on the place in a block. */
#include "kernels/simd/tiles.h"

#if defined __AVX512F__
#include <immintrin.h>
enum { VECTOR = 64, ROWS = 8 };
#define gemm_f32_fused(x, y, sum) _mm512_fmadd_ps(_mm512_set1_ps(x), y, sum)
#define gemm_f64_fused(x, y, sum) _mm512_fmadd_pd(_mm512_set1_pd(x), y, sum)
#elif defined __AVX2__ && defined __FMA__
#include <immintrin.h>
enum { VECTOR = 32, ROWS = 4 };
#define gemm_f32_fused(x, y, sum) _mm256_fmadd_ps(_mm256_set1_ps(x), y, sum)
#define gemm_f64_fused(x, y, sum) _mm256_fmadd_pd(_mm256_set1_pd(x), y, sum)
#else
enum { VECTOR = 16, ROWS = 4 };
#define gemm_f32_fused(x, y, sum) ((x) * (y) + (sum))
#define gemm_f64_fused gemm_f32_fused
#endif
enum { DEPTH = 128, QUAD = 4 };

#define GEMM(name, T) \
	typedef T name##_vector __attribute__((vector_size(VECTOR))); \
	typedef T name##_quad __attribute__((vector_size(QUAD * sizeof(T)))); \
	enum { name##_LANES = VECTOR / sizeof(T), name##_COLUMNS = 2 * name##_LANES }; \
\
	/* Four lines of b that run along the depth. */ \
	static inline void name##_turn(T *panel, const T *from, int64_t across) \
	{ \
		name##_quad a, b, c, d, ab, cd; \
		memcpy(&a, from, sizeof a); \
		memcpy(&b, from + across, sizeof a); \
		memcpy(&c, from + 2 * across, sizeof a); \
		memcpy(&d, from + 3 * across, sizeof a); \
		ab = __builtin_shufflevector(a, b, 0, 4, 1, 5); \
		cd = __builtin_shufflevector(c, d, 0, 4, 1, 5); \
		a = __builtin_shufflevector(a, b, 2, 6, 3, 7); \
		c = __builtin_shufflevector(c, d, 2, 6, 3, 7); \
		b = __builtin_shufflevector(ab, cd, 0, 1, 4, 5); \
		d = __builtin_shufflevector(ab, cd, 2, 3, 6, 7); \
		ab = __builtin_shufflevector(a, c, 0, 1, 4, 5); \
		cd = __builtin_shufflevector(a, c, 2, 3, 6, 7); \
		memcpy(panel, &b, sizeof b); \
		memcpy(panel + name##_COLUMNS, &d, sizeof d); \
		memcpy(panel + 2 * name##_COLUMNS, &ab, sizeof ab); \
		memcpy(panel + 3 * name##_COLUMNS, &cd, sizeof cd); \
	} \
	static void name##_pack(T *panel, const T *from, int64_t depth, int64_t columns, int64_t along, \
				int64_t across) \
	{ \
		int64_t p = 0; \
		if (along == 1 && columns == name##_COLUMNS) \
			for (; p + QUAD <= depth; p += QUAD) \
				for (int64_t i = 0; i < columns; i += QUAD) \
					name##_turn(panel + p * name##_COLUMNS + i, from + p + i * across, across); \
		for (; p < depth; p++) { \
			T *to = panel + p * name##_COLUMNS; \
			const T *line = from + p * along; \
			if (across == 1) \
				memcpy(to, line, (size_t)columns * sizeof *to); \
			else \
				for (int64_t i = 0; i < columns; i++) \
					to[i] = line[i * across]; \
			for (int64_t i = columns; i < name##_COLUMNS; i++) \
				to[i] = 0; \
		} \
	} \
	static inline __attribute__((always_inline)) void name##_rows(const int rows, const struct lb_gemm *g, \
								      const T *a, const T *b, int64_t depth, \
								      int64_t columns, T *to) \
	{ \
		name##_vector sums[ROWS][2] = { { { 0 } } }, y, z; \
		for (int64_t p = 0; p < depth; p++, a += g->a_column, b += name##_COLUMNS) { \
			memcpy(&y, b, sizeof y); \
			memcpy(&z, b + name##_LANES, sizeof z); \
			LB_UNROLL \
			for (int i = 0; i < rows; i++) { \
				T x = a[i * g->a_row]; \
				sums[i][0] = name##_fused(x, y, sums[i][0]); \
				sums[i][1] = name##_fused(x, z, sums[i][1]); \
			} \
		} \
		LB_UNROLL \
		for (int i = 0; i < rows; i++, to += g->to_row) { \
			if (columns == name##_COLUMNS) { \
				memcpy(&y, to, sizeof y); \
				memcpy(&z, to + name##_LANES, sizeof z); \
				y += sums[i][0]; \
				z += sums[i][1]; \
				memcpy(to, &y, sizeof y); \
				memcpy(to + name##_LANES, &z, sizeof z); \
			} else { \
				T line[name##_COLUMNS]; \
				memcpy(line, sums[i], sizeof line); \
				for (int64_t j = 0; j < columns; j++) \
					to[j] += line[j]; \
			} \
		} \
	} \
	static void name##_small(const struct lb_gemm *g) \
	{ \
		const T *a = (const T *)(const void *)g->a, *b = (const T *)(const void *)g->b; \
		T *to = (T *)(void *)g->to; \
		for (int64_t i = 0; i < g->m; i++) \
			for (int64_t p = 0; p < g->k; p++) { \
				T x = a[i * g->a_row + p * g->a_column]; \
				const T *row = b + p * g->b_row; \
				LB_EACH(j, g->n) \
				to[i * g->to_row + j] += x * row[j * g->b_column]; \
			} \
	} \
	static void name(const struct lb_gemm *g) \
	{ \
		T panel[DEPTH * name##_COLUMNS] __attribute__((aligned(64))); \
		const T *b = (const T *)(const void *)g->b; \
		for (int64_t j = 0; j < g->n; j += name##_COLUMNS) { \
			int64_t left = g->n - j, n = left < name##_COLUMNS ? left : name##_COLUMNS; \
			for (int64_t p = 0; p < g->k; p += DEPTH) { \
				const T *a = (const T *)(const void *)g->a + p * g->a_column; \
				T *to = (T *)(void *)g->to + j; \
				int64_t depth = g->k - p < DEPTH ? g->k - p : DEPTH, i = 0; \
				name##_pack(panel, b + p * g->b_row + j * g->b_column, depth, n, g->b_row, \
					    g->b_column); \
				for (; i + ROWS <= g->m; i += ROWS) \
					name##_rows(ROWS, g, a + i * g->a_row, panel, depth, n, to + i * g->to_row); \
				for (; i + 2 <= g->m; i += 2) \
					name##_rows(2, g, a + i * g->a_row, panel, depth, n, to + i * g->to_row); \
				if (i < g->m) \
					name##_rows(1, g, a + i * g->a_row, panel, depth, n, to + i * g->to_row); \
			} \
		} \
	}
GEMM(gemm_f32, float)
GEMM(gemm_f64, double)

/* Complex numbers are rare here: a plain loop, row by row of b. */
static void gemm_c64(const struct lb_gemm *g)
{
	const struct lb_c64 *a = (const void *)g->a, *b = (const void *)g->b;
	struct lb_c64 *to = (void *)g->to;
	for (int64_t i = 0; i < g->m; i++)
		for (int64_t p = 0; p < g->k; p++) {
			struct lb_c64 x = a[i * g->a_row + p * g->a_column];
			for (int64_t j = 0; j < g->n; j++) {
				struct lb_c64 y = b[p * g->b_row + j * g->b_column];
				struct lb_c64 *sum = &to[i * g->to_row + j];
				struct lb_c64 xy = lb_times_c64(x, y);
				sum->re += xy.re;
				sum->im += xy.im;
			}
		}
}

void LB_ISA_NAME(lb_tile_gemm)(const struct lb_gemm *g)
{
	if (g->dtype == LB_C64)
		gemm_c64(g);
	else if (g->dtype == LB_F64)
		(g->small ? gemm_f64_small : gemm_f64)(g);
	else
		(g->small ? gemm_f32_small : gemm_f32)(g);
}
