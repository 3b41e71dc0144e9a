/* The matrix product that needs no library: for small products, for a debugger's
 * evaluation, and where there is no BLAS. Panels of b (DEPTH by COLUMNS) and of a (DEPTH
 * by ROWS) are packed on the stack; the innermost loops keep ROWS by COLUMNS sums. */
#include "kernels/simd/tiles.h"

enum { ROWS = 4, DEPTH = 128 };

#define GEMM(name, T, COLUMNS)                                                                   \
	static void name##_pack(T *panel, const T *from, int64_t depth, int64_t count,           \
				int64_t along_depth, int64_t across, int64_t width)              \
	{                                                                                        \
		for (int64_t p = 0; p < depth; p++, panel += width, from += along_depth) {       \
			for (int64_t i = 0; i < count; i++)                                      \
				panel[i] = from[i * across];                                     \
			for (int64_t i = count; i < width; i++)                                  \
				panel[i] = 0;                                                    \
		}                                                                                \
	}                                                                                        \
	static void name##_block(const T *a, const T *b, int64_t depth, int64_t rows,            \
				 int64_t columns, T *to, int64_t to_row)                         \
	{                                                                                        \
		T sums[ROWS][COLUMNS] = { { 0 } };                                               \
		for (int64_t p = 0; p < depth; p++, a += ROWS, b += COLUMNS)                     \
			for (int i = 0; i < ROWS; i++) {                                         \
				T x = a[i];                                                      \
				LB_EACH(j, COLUMNS) sums[i][j] += x * b[j];                      \
			}                                                                        \
		for (int64_t i = 0; i < rows; i++)                                               \
			for (int64_t j = 0; j < columns; j++)                                    \
				to[i * to_row + j] += sums[i][j];                                \
	}                                                                                        \
	static void name##_small(const struct lb_gemm *g)                                        \
	{                                                                                        \
		const T *a = (const T *)(const void *)g->a, *b = (const T *)(const void *)g->b;  \
		T *to = (T *)(void *)g->to;                                                      \
		for (int64_t i = 0; i < g->m; i++)                                               \
			for (int64_t p = 0; p < g->k; p++) {                                     \
				T x = a[i * g->a_row + p * g->a_column];                         \
				const T *row = b + p * g->b_row;                                 \
				LB_EACH(j, g->n)                                                 \
					to[i * g->to_row + j] += x * row[j * g->b_column];       \
			}                                                                        \
	}                                                                                        \
	static void name(const struct lb_gemm *g)                                                \
	{                                                                                        \
		T a_panel[DEPTH * ROWS] __attribute__((aligned(64)));                            \
		T b_panel[DEPTH * COLUMNS] __attribute__((aligned(64)));                         \
		const T *a = (const T *)(const void *)g->a, *b = (const T *)(const void *)g->b;  \
		T *to = (T *)(void *)g->to;                                                      \
		for (int64_t j = 0; j < g->n; j += COLUMNS) {                                    \
			int64_t columns = g->n - j < COLUMNS ? g->n - j : COLUMNS;               \
			for (int64_t p = 0; p < g->k; p += DEPTH) {                              \
				int64_t depth = g->k - p < DEPTH ? g->k - p : DEPTH;             \
				name##_pack(b_panel, b + p * g->b_row + j * g->b_column, depth,  \
					    columns, g->b_row, g->b_column, COLUMNS);            \
				for (int64_t i = 0; i < g->m; i += ROWS) {                       \
					int64_t rows = g->m - i < ROWS ? g->m - i : ROWS;        \
					name##_pack(a_panel,                                     \
						    a + i * g->a_row + p * g->a_column, depth,   \
						    rows, g->a_column, g->a_row, ROWS);          \
					name##_block(a_panel, b_panel, depth, rows, columns,     \
						     to + i * g->to_row + j, g->to_row);         \
				}                                                                \
			}                                                                        \
		}                                                                                \
	}
GEMM(gemm_f32, float, 32)
GEMM(gemm_f64, double, 16)

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
