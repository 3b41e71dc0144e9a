/* to = alpha * a @ b + beta * c, over broadcast batch axes.
 *
 * f32, f64 and c64 go to BLAS (or the own kernel) where they lie: a matrix that is
 * contiguous along either axis needs no copy. When b is one matrix for the whole batch
 * and the rows of a are evenly apart, the batch is one product. f16 and bf16 are
 * converted block by block into float panels, summed in float over all of k, and
 * rounded once at the end; so scratch memory is bounded, whatever the sizes. Where the
 * processor multiplies bf16 itself, the blocks are packed for that instead (amx.c, pairs.c). A
 * vector times a large matrix goes its own way (gemv.c). */
#include <limits.h>

#include "kernels/amx.h"
#include "kernels/blas.h"
#include "kernels/gemv.h"
#include "kernels/pairs.h"
#include "kernels/row.h"

enum {
	BLOCK = 1024, /* rows and columns */
	BLOCK_PACKED = 2048, /* for AMX or pairs: each matrix is packed less often */
	PANEL_AMX = 1 << 23, /* bf16 that are packed at once, with all of k */
	BLAS_LEAST = 8192,
	SMALL = 8192,
	PAIRS_LEAST = 256,
	GRAIN = 1 << 16,
	GEMV_LEAST = 1 << 14,
};

/* One matrix: strides in elements. */
struct matrix {
	const char *data;
	int64_t row, column;
};

struct product {
	struct lb_exec *exec;
	const struct lb_tiles *tiles;
	const struct lb_blas *blas; /* NULL: the own kernel */
	int dtype;
	int64_t bytes, m, n, k;
	double alpha, beta;
	bool gemv, pairs, amx;
	bool whole; /* blocks of AMX have all of k, and are rounded as they are done */
	char *panels[3];            /* scratch: of a, b and the result; for gemv.c x, sums, result */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool fits_int(int64_t x)
{
	return x <= INT_MAX;
}

/* How BLAS would read a matrix of rows by columns; false if it cannot. */
static bool blas_layout(const struct matrix *x, int64_t rows, int64_t columns, int *trans, int *ld)
{
	int64_t step;
	if ((x->column == 1 || columns == 1) && (rows == 1 || x->row >= columns)) {
		*trans = LB_BLAS_PLAIN;
		step = rows == 1 ? columns : x->row;
	} else if ((x->row == 1 || rows == 1) && (columns == 1 || x->column >= rows)) {
		*trans = LB_BLAS_TRANSPOSED;
		step = columns == 1 ? rows : x->column;
	} else {
		return false;
	}
	*ld = (int)step;
	return fits_int(step);
}

struct own {
	struct lb_gemm gemm;
	const struct lb_tiles *tiles;
	int64_t bytes;
	bool by_columns, add;
};

static void run_own(void *arg, int64_t begin, int64_t end)
{
	const struct own *own = arg;
	struct lb_gemm part = own->gemm;
	if (own->by_columns) {
		part.n = end - begin;
		part.b += begin * part.b_column * own->bytes;
		part.to += begin * own->bytes;
	} else {
		part.m = end - begin;
		part.a += begin * part.a_row * own->bytes;
		part.to += begin * part.to_row * own->bytes;
	}
	for (int64_t i = 0; i < part.m && !own->add; i++)
		memset(part.to + i * part.to_row * own->bytes, 0, (size_t)(part.n * own->bytes));
	own->tiles->gemm(&part);
}

/* a @ b in a dtype; the sizes and `to` are the caller's. */
static struct lb_gemm gemm_of(int dtype, const struct matrix *a, const struct matrix *b)
{
	return (struct lb_gemm){ .dtype = dtype,
				 .a = a->data,
				 .b = b->data,
				 .a_row = a->row,
				 .a_column = a->column,
				 .b_row = b->row,
				 .b_column = b->column };
}

/* to = or += a @ b by the own kernel. */
static void multiply_own(const struct product *p, const struct lb_gemm *g, bool add)
{
	struct own own = {
		.gemm = *g, .tiles = p->tiles, .bytes = lb_width_of(g->dtype), .by_columns = g->n > g->m, .add = add
	};
	int64_t lines = own.by_columns ? g->n : g->m, work = (own.by_columns ? g->m : g->n) * (g->k + 1);
	own.gemm.small = g->n < 8 || g->m < 4 || (double)g->m * (double)g->n * (double)g->k < SMALL;
	lb_parallel(p->exec, lines, 32 + GRAIN / (work + 1), run_own, &own);
}

/* A product that BLAS takes, cut into rectangles of the result: so many high, and wide. */
struct for_blas {
	const struct lb_blas *blas;
	struct lb_gemm gemm;
	int64_t bytes;
	int trans_a, trans_b, lda, ldb;
	double alpha, beta;
	int64_t high, wide;
};

enum { UNIT = 64 /* lines */, GRAIN_BLAS = 1 << 19 };

static int64_t units_of(int64_t lines)
{
	return (lines + UNIT - 1) / UNIT;
}

/* Where the i-th of so many even parts of lines begins, in whole units. */
static int64_t part_begin(int64_t lines, int64_t parts, int64_t i)
{
	return i == parts ? lines : units_of(lines) * i / parts * UNIT;
}

static void run_blas(void *arg, int64_t begin, int64_t end)
{
	const struct for_blas *f = arg;
	const struct lb_gemm *g = &f->gemm;
	float alpha[2] = { (float)f->alpha, 0 }, beta[2] = { (float)f->beta, 0 };
	int k = (int)g->k, to_row = (int)g->to_row;

	for (int64_t i = begin; i < end; i++) {
		int64_t row = part_begin(g->m, f->high, i / f->wide), column = part_begin(g->n, f->wide, i % f->wide);
		int m = (int)(part_begin(g->m, f->high, i / f->wide + 1) - row);
		int n = (int)(part_begin(g->n, f->wide, i % f->wide + 1) - column);
		const void *a = g->a + row * g->a_row * f->bytes, *b = g->b + column * g->b_column * f->bytes;
		void *to = g->to + (row * g->to_row + column) * f->bytes;
		if (g->dtype == LB_F32)
			f->blas->sgemm(LB_BLAS_ROW_MAJOR, f->trans_a, f->trans_b, m, n, k, alpha[0], a, f->lda, b,
				       f->ldb, beta[0], to, to_row);
		else if (g->dtype == LB_F64)
			f->blas->dgemm(LB_BLAS_ROW_MAJOR, f->trans_a, f->trans_b, m, n, k, f->alpha, a, f->lda, b,
				       f->ldb, f->beta, to, to_row);
		else
			f->blas->cgemm(LB_BLAS_ROW_MAJOR, f->trans_a, f->trans_b, m, n, k, alpha, a, f->lda, b, f->ldb,
				       beta, to, to_row);
	}
}

/* As many rectangles as there are cores, along the longer side first: each packs anew what lies along the other. */
static void cut_for_blas(struct for_blas *f)
{
	const struct lb_gemm *g = &f->gemm;
	int64_t width = lb_parallel_width(), m = units_of(g->m), n = units_of(g->n), longer = m > n ? m : n;
	int64_t along = longer < width ? longer : width, across = (width + along - 1) / along;

	f->wide = n <= m ? across : along;
	f->high = n <= m ? along : across;
	f->wide = f->wide < n ? f->wide : n;
	f->high = f->high < m ? f->high : m;
}

/* to = alpha * a @ b + beta * to by BLAS; false if it cannot take these. */
static bool multiply_blas(const struct product *p, const struct lb_gemm *g, double alpha, double beta)
{
	const struct matrix a = { g->a, g->a_row, g->a_column }, b = { g->b, g->b_row, g->b_column };
	struct for_blas f = { .blas = p->blas,
			      .gemm = *g,
			      .bytes = lb_width_of(g->dtype),
			      .alpha = alpha,
			      .beta = beta,
			      .high = 1,
			      .wide = 1 };
	if (!p->blas || !fits_int(g->m) || !fits_int(g->n) || !fits_int(g->k) || !fits_int(g->to_row) ||
	    !blas_layout(&a, g->m, g->k, &f.trans_a, &f.lda) || !blas_layout(&b, g->k, g->n, &f.trans_b, &f.ldb))
		return false;
	if (!p->blas->threads)
		cut_for_blas(&f);
	double work = (double)g->m * (double)g->n * (double)g->k / (double)(f.high * f.wide);
	lb_parallel(p->exec, f.high * f.wide, (int64_t)(GRAIN_BLAS / work) + 1, run_blas, &f);
	return true;
}

/* to (rows apart by to_row) = alpha * from + beta * c, from and `to` perhaps the same. */
struct finish {
	const struct product *p;
	int from_dtype, dtype;
	const char *from;
	int64_t from_row, n;
	struct matrix c;
	char *to;
	int64_t to_row;
};

static void finish_rows(void *arg, int64_t begin, int64_t end)
{
	enum { CHUNK = 512 };
	const struct finish *f = arg;
	const struct lb_tiles *tiles = f->p->tiles;
	int stage = f->dtype == LB_F64 || f->dtype == LB_C64 ? f->dtype : LB_F32;
	int64_t parts = stage == LB_C64 ? 2 : 1, bytes = lb_width_of(f->dtype);
	float alpha = (float)f->p->alpha, beta = (float)f->p->beta;
	_Alignas(64) char raw[CHUNK * 8], c[CHUNK * 8], x[CHUNK * 8];
	float *x32 = (float *)(void *)x, *c32 = (float *)(void *)c;
	double *x64 = (double *)(void *)x, *c64 = (double *)(void *)c;
	for (int64_t i = begin; i < end; i++)
		for (int64_t j = 0; j < f->n; j += CHUNK) {
			int64_t n = f->n - j < CHUNK ? f->n - j : CHUNK;
			const char *from = f->from + (i * f->from_row + j) * lb_width_of(f->from_dtype);
			char *to = f->to + (i * f->to_row + j) * bytes;
			if (f->p->alpha == 1 && !f->c.data) {
				tiles->convert(f->dtype, stage)(n, to, from, NULL, NULL);
				continue;
			}
			memcpy(x, from, (size_t)(n * lb_width_of(f->from_dtype)));
			if (f->c.data) {
				int64_t at = i * f->c.row + j * f->c.column;
				lb_gather_row(raw, f->c.data + at * bytes, n, f->c.column, bytes);
				tiles->convert(stage, f->dtype)(n, c, raw, NULL, NULL);
			}
			if (stage == LB_F64)
				for (int64_t e = 0; e < n; e++)
					x64[e] = f->p->alpha * x64[e] + (f->c.data ? f->p->beta * c64[e] : 0);
			else
				for (int64_t e = 0; e < n * parts; e++)
					x32[e] = alpha * x32[e] + (f->c.data ? beta * c32[e] : 0);
			tiles->convert(f->dtype, stage)(n, to, x, NULL, NULL);
		}
}

static void finish_result(const struct finish *f, int64_t m)
{
	struct finish copy = *f;
	lb_parallel(f->p->exec, m, GRAIN / (f->n + 1) + 1, finish_rows, &copy);
}

/* A block of a half matrix as a float panel, contiguous along the axis the matrix is. */
struct panel {
	const struct product *p;
	const char *from;
	int64_t outer, inner, n; /* strides, and elements along inner */
	float *to;
};

static void widen_lines(void *arg, int64_t begin, int64_t end)
{
	const struct panel *panel = arg;
	lb_tile_fn *convert = panel->p->tiles->convert(LB_F32, panel->p->dtype);
	uint16_t line[BLOCK_PACKED]; /* f16, too, where AMX has no parts for it */
	for (int64_t i = begin; i < end; i++) {
		const char *from = panel->from + i * panel->outer * 2;
		if (panel->inner != 1) {
			lb_gather_row(line, from, panel->n, panel->inner, 2);
			from = (const char *)line;
		}
		convert(panel->n, panel->to + i * panel->n, from, NULL, NULL);
	}
}

static struct matrix widen(const struct product *p, const struct matrix *x, int64_t rows, int64_t columns, char *to)
{
	bool flip = x->column != 1 && x->row == 1;
	struct panel panel = { .p = p,
			       .from = x->data,
			       .to = (float *)(void *)to,
			       .outer = flip ? x->column : x->row,
			       .inner = flip ? x->row : x->column,
			       .n = flip ? rows : columns };
	lb_parallel(p->exec, flip ? columns : rows, GRAIN / panel.n + 1, widen_lines, &panel);
	return flip ? (struct matrix){ to, 1, rows } : (struct matrix){ to, columns, 1 };
}

/* From an element on. */
static struct matrix part_of(const struct product *p, const struct matrix *x, int64_t row, int64_t column)
{
	return (struct matrix){ x->data + (row * x->row + column * x->column) * p->bytes, x->row, x->column };
}

/* Of the rows of a block's sums. Packed ones' are a line of the cache longer: rows of 4 KiB would meet in one set of it. */
static int64_t sums_row(const struct product *p, int64_t n)
{
	_Static_assert((int)LB_AMX_STRIP == (int)LB_PAIRS_COLUMNS, "one width of strips");
	int64_t strips = (n + LB_PAIRS_COLUMNS - 1) / LB_PAIRS_COLUMNS * LB_PAIRS_COLUMNS;
	return p->amx || p->pairs ? strips + 16 : n;
}

/* sums = or += a @ b */
static void multiply_block(const struct product *p, const struct lb_gemm *block, bool add)
{
	struct lb_gemm g = *block;
	if (p->amx && lb_multiply_amx(p->exec, &g, add, p->panels[0], p->panels[1]))
		return;
	if (p->pairs) {
		lb_multiply_pairs(p->exec, &g, add, p->panels[0], p->panels[1]);
		return;
	}
	struct matrix a = { g.a, g.a_row, g.a_column }, b = { g.b, g.b_row, g.b_column };
	a = widen(p, &a, g.m, g.k, p->panels[0]);
	b = widen(p, &b, g.k, g.n, p->panels[1]);
	g = gemm_of(LB_F32, &a, &b);
	g.m = block->m, g.n = block->n, g.k = block->k, g.to = block->to, g.to_row = block->to_row;
	if (!multiply_blas(p, &g, 1, add))
		multiply_own(p, &g, add);
}

/* Rows or columns that are packed at once by AMX with all of k. */
static int64_t whole_lines(const struct product *p)
{
	int64_t parts = p->dtype == LB_F16 ? 2 : 1, lines = p->k > 0 ? PANEL_AMX / parts / p->k : 0;
	return least(lines / 256 * 256, BLOCK_PACKED);
}

static int64_t block_of(const struct product *p)
{
	return p->whole ? whole_lines(p) : p->amx || p->pairs ? BLOCK_PACKED : BLOCK;
}

static void multiply_halves(const struct product *p, const struct matrix *a, const struct matrix *b,
			    const struct matrix *c, char *to)
{
	int64_t block = block_of(p);
	float *sums = (float *)(void *)p->panels[2];
	for (int64_t j = 0; j < p->n; j += block) {
		bool packed = false; /* b's columns */
		for (int64_t i = 0; i < p->m; i += block) {
			int64_t n = p->n - j < block ? p->n - j : block;
			int64_t m = p->m - i < block ? p->m - i : block;
			if (p->whole) {
				struct matrix x = part_of(p, a, i, 0), y = part_of(p, b, 0, j);
				struct lb_gemm g = gemm_of(p->dtype, &x, &y);
				g.m = m, g.n = n, g.k = p->k, g.to = to + (i * p->n + j) * 2, g.to_row = p->n;
				packed = lb_multiply_amx_rounded(p->exec, &g, packed, p->panels[0], p->panels[1], sums);
				if (packed)
					continue;
			}
			if (p->k == 0)
				memset(sums, 0, (size_t)(m * sums_row(p, n)) * sizeof *sums);
			for (int64_t q = 0; q < p->k; q += BLOCK) {
				struct matrix x = part_of(p, a, i, q), y = part_of(p, b, q, j);
				struct lb_gemm g = gemm_of(p->dtype, &x, &y);
				g.m = m, g.n = n, g.k = p->k - q < BLOCK ? p->k - q : BLOCK;
				g.to = (char *)sums, g.to_row = sums_row(p, n);
				multiply_block(p, &g, q > 0);
			}
			struct finish f = { .p = p,
					    .from_dtype = LB_F32,
					    .dtype = p->dtype,
					    .from = (char *)sums,
					    .from_row = sums_row(p, n),
					    .n = n,
					    .to = to + (i * p->n + j) * 2,
					    .to_row = p->n };
			if (c->data)
				f.c = (struct matrix){ c->data + (i * c->row + j * c->column) * 2, c->row, c->column };
			finish_result(&f, m);
		}
	}
}

static void copy_matrix(const struct product *p, struct matrix *x, int64_t rows, int64_t columns, char *to)
{
	struct lb_view from = { .data = (void *)x->data,
				.dtype = (enum lb_dtype)p->dtype,
				.rank = 2,
				.shape = { rows, columns },
				.strides = { x->row, x->column } };
	struct lb_view dense = from;
	dense.data = to;
	dense.strides[0] = columns;
	dense.strides[1] = 1;
	lb_kernel_copy(p->exec, &dense, &from);
	*x = (struct matrix){ to, columns, 1 };
}

static struct matrix turned(struct matrix x)
{
	return (struct matrix){ x.data, x.column, x.row };
}

static struct lb_gemv gemv_of(const struct product *p, const struct matrix *b)
{
	bool rows = b->column == 1; /* of b are contiguous */
	return (struct lb_gemv){ .dtype = p->dtype,
				 .n = p->m * p->n,
				 .k = p->k,
				 .w = b->data,
				 .turned = !rows,
				 .stride = rows ? b->row : b->column,
				 .x = p->panels[0],
				 .sums = p->panels[1] };
}

/* One of m and n is 1. */
static void multiply_vector(const struct product *p, struct matrix a, struct matrix b, struct matrix c, char *to)
{
	if (p->n == 1 && p->m > 1) {
		struct matrix vector = turned(b);
		b = turned(a);
		a = vector;
		c = turned(c);
	}
	struct lb_gemv g = gemv_of(p, &b);
	int stage = lb_stage_of(p->dtype);
	g.x = lb_row_in(p->tiles, p->dtype, a.data, p->k, a.column, p->panels[0]);
	g.to = stage == p->dtype ? to : p->panels[2];
	lb_gemv(p->exec, &g);
	if (stage != p->dtype || p->alpha != 1 || c.data)
		finish_result(&(struct finish){ .p = p,
						.from_dtype = stage,
						.dtype = p->dtype,
						.from = g.to,
						.from_row = g.n,
						.n = g.n,
						.c = c,
						.to = to,
						.to_row = g.n },
			      1);
}

static void multiply(const struct product *p, struct matrix a, struct matrix b, const struct matrix *c, char *to)
{
	if (p->gemv) {
		multiply_vector(p, a, b, *c, to);
		return;
	}
	if (p->bytes == 2) {
		multiply_halves(p, &a, &b, c, to);
		return;
	}
	if (p->blas && p->panels[0])
		copy_matrix(p, &a, p->m, p->k, p->panels[0]);
	if (p->blas && p->panels[1])
		copy_matrix(p, &b, p->k, p->n, p->panels[1]);
	if (c->data && p->blas) {
		struct matrix copied = *c;
		copy_matrix(p, &copied, p->m, p->n, to);
	}
	struct lb_gemm g = gemm_of(p->dtype, &a, &b);
	g.m = p->m, g.n = p->n, g.k = p->k, g.to = to, g.to_row = p->n;
	if (multiply_blas(p, &g, p->alpha, c->data ? p->beta : 0))
		return;
	multiply_own(p, &g, false);
	if (p->alpha == 1 && !c->data)
		return;
	finish_result(&(struct finish){ .p = p,
					.from_dtype = p->dtype,
					.dtype = p->dtype,
					.from = to,
					.from_row = p->n,
					.n = p->n,
					.c = *c,
					.to = to,
					.to_row = p->n },
		      p->m);
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Scratch, once for all the batch. */
static bool take_panels(struct product *p, const struct matrix *a, const struct matrix *b)
{
	int trans, ld;
	if (p->gemv) {
		int stage = lb_stage_of(p->dtype);
		struct matrix w = p->n == 1 && p->m > 1 ? turned(*a) : *b;
		struct lb_gemv g = gemv_of(p, &w);
		p->panels[0] = p->exec->scratch(p->exec, p->k * lb_width_of(stage));
		p->panels[1] = p->exec->scratch(p->exec, lb_gemv_scratch(&g) + 1);
		p->panels[2] = p->exec->scratch(p->exec, g.n * lb_width_of(stage));
		return p->panels[0] && p->panels[1] && p->panels[2];
	}
	if (p->bytes == 2) {
		int64_t block = block_of(p), m = least(p->m, block), n = least(p->n, block), k = least(p->k, BLOCK);
		int64_t high = p->amx ? (m + LB_AMX_STRIP - 1) / LB_AMX_STRIP * LB_AMX_STRIP : m + p->pairs;
		int64_t left = p->pairs ? lb_pairs_scratch_left(m, k) : (m * k + 1) * 4;
		int64_t right = p->pairs ? lb_pairs_scratch_right(n, k) : (k * n + 1) * 4;
		if (p->amx) {
			int64_t depth = p->whole ? p->k : k;
			left = most(left, lb_amx_scratch(p->dtype, m, depth));
			right = most(right, lb_amx_scratch(p->dtype, n, depth));
		}
		p->panels[0] = p->exec->scratch(p->exec, left);
		p->panels[1] = p->exec->scratch(p->exec, right);
		int64_t sums = high * sums_row(p, n) * 4;
		p->panels[2] = p->exec->scratch(p->exec, p->amx ? most(sums, lb_amx_sums(m, n)) : sums);
		return p->panels[0] && p->panels[1] && p->panels[2];
	}
	int64_t bytes;
	if (p->blas && !blas_layout(a, p->m, p->k, &trans, &ld)) {
		if (!lb_mul(p->m * p->k, p->bytes, &bytes))
			return lb_fail("matmul: the first matrix is too large to copy");
		p->panels[0] = p->exec->scratch(p->exec, bytes);
		if (!p->panels[0])
			return false;
	}
	if (p->blas && !blas_layout(b, p->k, p->n, &trans, &ld)) {
		if (!lb_mul(p->k * p->n, p->bytes, &bytes))
			return lb_fail("matmul: the second matrix is too large to copy");
		p->panels[1] = p->exec->scratch(p->exec, bytes);
		if (!p->panels[1])
			return false;
	}
	return true;
}

static struct matrix matrix_of(const struct lb_view *x)
{
	if (!x)
		return (struct matrix){ NULL, 0, 0 };
	return (struct matrix){ x->data, x->strides[x->rank - 2], x->strides[x->rank - 1] };
}

/* Joins the batch to the rows when b is the same for all and the rows of a (and c) run on
 * evenly; returns the batch axes that are left. */
static int join_batch(struct product *p, int batch, struct matrix *a, struct matrix *c, const struct lb_view *views[3])
{
	int64_t shape[LB_MAX_RANK], strides[2][LB_MAX_RANK] = { { 0 } };
	for (int i = 0; i < batch; i++)
		if (views[0]->shape[i] != 1 && views[1]->strides[i] != 0)
			return batch;
	memcpy(shape, views[0]->shape, sizeof shape);
	memcpy(strides[0], views[0]->strides, sizeof strides[0]);
	if (c->data)
		memcpy(strides[1], views[2]->strides, sizeof strides[1]);
	int rank = lb_join_axes(batch + 1, shape, c->data ? 2 : 1, strides);
	if (rank > 1)
		return batch;
	p->m = rank ? shape[0] : 1;
	a->row = rank ? strides[0][0] : a->row;
	c->row = rank ? strides[1][0] : c->row;
	return 0;
}

/* The matrix beside the vector can be read along its rows. */
static bool is_gemv(const struct product *p, const struct matrix *a, const struct matrix *b)
{
	const struct matrix *w = p->m == 1 ? b : a;
	return p->dtype != LB_C64 && (p->m == 1 || p->n == 1) && p->m * p->n >= 32 && p->k >= 32 &&
	       (double)p->m * (double)p->n * (double)p->k >= GEMV_LEAST && (w->column == 1 || w->row == 1);
}

struct batch {
	const struct product *p;
	int rank;
	const int64_t *shape;
	struct matrix matrices[3];
	int64_t strides[3][LB_MAX_RANK];
	char *to;
};

static void run_batch(void *arg, int64_t begin, int64_t end)
{
	const struct batch *batch = arg;
	const struct product *p = batch->p;
	for (int64_t i = begin; i < end; i++) {
		int64_t index[LB_MAX_RANK];
		struct matrix x[3];
		lb_index_of(batch->rank, batch->shape, i, index);
		for (int k = 0; k < 3; k++) {
			x[k] = batch->matrices[k];
			if (x[k].data)
				x[k].data += lb_offset_of(batch->rank, index, batch->strides[k]) * p->bytes;
		}
		multiply(p, x[0], x[1], &x[2], batch->to + i * p->m * p->n * p->bytes);
	}
}

bool lb_kernel_matmul(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b, const struct lb_view *c,
		      double alpha, double beta, void *to)
{
	const struct lb_view *views[3] = { a, b, c };
	int rank = a->rank, axes = rank - 2;
	if (rank < 2 || rank > LB_MAX_RANK || b->rank != rank || (c && c->rank != rank) ||
	    a->shape[rank - 1] != b->shape[rank - 2])
		return lb_fail("matmul: shapes of the matrices do not match");
	if (!lb_dtype_is_inexact(a->dtype) || a->dtype != b->dtype || (c && c->dtype != a->dtype))
		return lb_fail("matmul: not defined for %s and %s", lb_dtypes[a->dtype].name, lb_dtypes[b->dtype].name);
	struct product p = { .exec = exec,
			     .tiles = lb_tiles(),
			     .dtype = a->dtype,
			     .bytes = lb_width_of(a->dtype),
			     .m = a->shape[rank - 2],
			     .n = b->shape[rank - 1],
			     .k = a->shape[rank - 1],
			     .alpha = alpha,
			     .beta = beta };
	struct batch batch = { .p = &p, .shape = a->shape, .to = to };
	int64_t count = lb_shape_size(axes, a->shape);
	if (count == 0 || p.m == 0 || p.n == 0)
		return true;
	for (int k = 0; k < 3; k++) {
		batch.matrices[k] = matrix_of(views[k]);
		for (int i = 0; views[k] && i < axes; i++)
			batch.strides[k][i] = views[k]->strides[i];
	}
	batch.rank = join_batch(&p, axes, &batch.matrices[0], &batch.matrices[2], views);
	if (batch.rank == 0)
		count = 1;
	bool large = (double)p.m * (double)p.n * (double)p.k >= BLAS_LEAST;
	p.gemv = is_gemv(&p, &batch.matrices[0], &batch.matrices[1]);
	bool packed = p.bytes == 2 && !p.gemv && p.m * p.n >= PAIRS_LEAST;
	p.pairs = packed && p.dtype == LB_BF16 && lb_has_pairs();
	p.amx = packed && exec->amx && lb_may_use_amx();
	p.whole = p.amx && alpha == 1 && !c && whole_lines(&p) >= BLOCK;
	if (large && exec->blas && exec->threads && p.k > 0 && !p.gemv && !p.pairs && !p.amx)
		p.blas = lb_blas_enter();
	bool ok = take_panels(&p, &batch.matrices[0], &batch.matrices[1]);
	/* small products side by side; large ones, and those with panels, one by one */
	if (ok && !large && !p.panels[0] && !p.panels[1] && !p.panels[2])
		lb_parallel(exec, count, GRAIN / (p.m * p.n * (p.k + 1)) + 1, run_batch, &batch);
	else if (ok)
		run_batch(&batch, 0, count);
	if (p.blas)
		lb_blas_leave();
	return ok;
}
