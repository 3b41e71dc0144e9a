/* x @ w, w quantised, in one of three ways; none ever holds w's floats as a whole:
 *   - few rows of x, w transposed: a row of w at a time is decoded in registers and
 *     multiplied with all of x (simd/quant.c), so w is read once, as codes;
 *   - few rows of x, w as it is: two rows of w at a time are decoded likewise, and added to
 *     the sums of a strip of columns, that stay in the nearest cache;
 *   - many rows: a tile of w at a time is decoded into the nearest cache and multiplied as an
 *     ordinary f32 matrix.
 * Sums are kept in float over all of k and rounded once. */
#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/quant_rows.h"
#include "kernels/share.h"

enum {
	FEW = 24,         /* rows of x for which decoding w again for each 8 is still faster */
	FEW_PLAIN = 16,   /* the same, w not transposed */
	AT_ONCE = 8,      /* rows of x that share one decoding */
	STRIP = 512,      /* columns, a multiple of every group */
	TILE_LINES = 128,
	TILE_DEPTH = 256, /* multiples of every group */
	BLOCK = 512,      /* rows of x beside a tile */
	GRAIN = 1 << 16,
};

struct product {
	struct lb_exec *exec;
	const struct lb_tiles *tiles;
	bool transpose;
	int dtype;
	int64_t m, n, k, x_row; /* x_row: from one row of `rows` to the next */
	/* rows of x: axes other than the last, joined */
	int row_axes;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], column;
	const char *x;
	struct lb_quant_matrix w;
	char *to;
	float *rows, *sums; /* scratch; rows NULL: x can be read where it is */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- rows of x to float, and sums to the result ---- */

struct copy {
	const struct product *p;
	int64_t first;      /* row of x */
	int64_t column, n;  /* of the result */
	float *sums;
};

static void load_rows(void *arg, int64_t begin, int64_t end)
{
	enum { LINE = 512 };
	const struct copy *copy = arg;
	const struct product *p = copy->p;
	int64_t bytes = lb_width_of(p->dtype);
	lb_tile_fn *convert = p->tiles->convert(LB_F32, p->dtype);
	char line[LINE * 4] __attribute__((aligned(64)));
	for (int64_t i = begin; i < end; i++) {
		int64_t index[LB_MAX_RANK];
		lb_index_of(p->row_axes, p->shape, copy->first + i, index);
		const char *from = p->x + lb_offset_of(p->row_axes, index, p->strides) * bytes;
		float *to = p->rows + i * p->x_row;
		if (p->x_row > p->k)
			to[p->k] = 0;
		if (p->column == 1) {
			convert(p->k, to, from, NULL, NULL);
			continue;
		}
		for (int64_t j = 0; j < p->k; j += LINE) {
			int64_t n = least(p->k - j, LINE);
			lb_gather_row(line, from + j * p->column * bytes, n, p->column, bytes);
			convert(n, to + j, line, NULL, NULL);
		}
	}
}

static void store_rows(void *arg, int64_t begin, int64_t end)
{
	const struct copy *copy = arg;
	const struct product *p = copy->p;
	int64_t bytes = lb_width_of(p->dtype);
	for (int64_t i = begin; i < end; i++)
		p->tiles->convert(p->dtype, LB_F32)(copy->n, p->to + ((copy->first + i) * p->n + copy->column) * bytes,
						    copy->sums + i * copy->n, NULL, NULL);
}

static void load(const struct product *p, int64_t first, int64_t m)
{
	lb_parallel(p->exec, m, GRAIN / (p->k + 1) + 1, load_rows, &(struct copy){ .p = p, .first = first });
}

static void store(const struct product *p, int64_t first, int64_t m, int64_t column, int64_t n)
{
	lb_parallel(p->exec, m, GRAIN / (n + 1) + 1, store_rows, &(struct copy){ p, first, column, n, p->sums });
}

/* ---- few rows ---- */

struct few {
	const struct product *p;
	int m, padded; /* rows of x; the next number that `dot` has */
};

/* Pairs of w's rows, the second perhaps missing, when there is one row of x; else single ones. */
static void dot_rows(void *arg, int64_t begin, int64_t end)
{
	const struct few *few = arg;
	const struct product *p = few->p;
	int64_t groups = p->k / p->w.group;
	int rows = few->padded == 1 ? 2 : 1;
	for (int64_t j = begin * rows; j < end * rows; j += rows) {
		float sums[AT_ONCE] = { 0 };
		bool odd = rows == 2 && j + 1 == p->n;
		for (int64_t g = 0; g < groups; g += LB_QUANT_CHUNK) {
			struct lb_quant_scales stores[2];
			struct lb_codes codes[2];
			int64_t n = least(groups - g, LB_QUANT_CHUNK);
			codes[0] = lb_quant_codes(&p->w, j, g, n, &stores[0]);
			if (rows == 2)
				codes[1] = odd ? codes[0] : lb_quant_codes(&p->w, j + 1, g, n, &stores[1]);
			p->tiles->dot(codes, n, few->padded, p->rows + g * p->w.group, p->x_row, sums);
		}
		if (rows == 2) {
			p->sums[j] = sums[0];
			if (!odd)
				p->sums[j + 1] = sums[1];
			continue;
		}
		for (int i = 0; i < few->m; i++)
			p->sums[i * p->n + j] = sums[i];
	}
}

static void sum_strips(void *arg, int64_t begin, int64_t end)
{
	const struct few *few = arg;
	const struct product *p = few->p;
	static const float zeros[STRIP / 16];
	float sums[AT_ONCE][STRIP] __attribute__((aligned(64)));
	for (int64_t s = begin; s < end; s++) {
		int64_t j = s * STRIP, n = least(p->n - j, STRIP), groups = n / p->w.group;
		memset(sums, 0, sizeof sums);
		for (int64_t i = 0; i < p->k; i += 2) {
			struct lb_quant_scales stores[2];
			struct lb_codes codes[2];
			codes[0] = lb_quant_codes(&p->w, i, j / p->w.group, groups, &stores[0]);
			codes[1] = codes[0];
			if (i + 1 < p->k)
				codes[1] = lb_quant_codes(&p->w, i + 1, j / p->w.group, groups, &stores[1]);
			else /* an odd last row has a row of zeros beside it */
				codes[1].scales = codes[1].biases = zeros;
			p->tiles->spread(codes, groups, few->padded, p->rows + i, p->x_row, sums[0], STRIP);
		}
		for (int r = 0; r < few->m; r++) {
			p->tiles->restore(p->w.kind, n, sums[r]);
			memcpy(p->sums + r * p->n + j, sums[r], (size_t)n * sizeof(float));
		}
	}
}

static void multiply_few(const struct product *p)
{
	for (int64_t first = 0; first < p->m; first += AT_ONCE) {
		struct few few = { .p = p, .m = (int)least(p->m - first, AT_ONCE) };
		few.padded = few.m <= 2 ? few.m : few.m <= 4 ? 4 : 8;
		load(p, first, few.m);
		memset(p->rows + few.m * p->x_row, 0, (size_t)((few.padded - few.m) * p->x_row) * sizeof *p->rows);
		if (p->transpose) {
			p->tiles->arrange(p->w.kind, few.padded * p->k, p->rows);
			int64_t lines = few.padded == 1 ? (p->n + 1) / 2 : p->n;
			lb_parallel(p->exec, lines, GRAIN / (p->k + 1) + 1, dot_rows, &few);
		} else {
			lb_parallel(p->exec, (p->n + STRIP - 1) / STRIP, GRAIN / (p->k * STRIP + 1) + 1, sum_strips,
				    &few);
		}
		store(p, first, few.m, 0, p->n);
	}
}

/* ---- many rows ---- */

struct many {
	const struct product *p;
	int64_t first, m; /* rows of x */
	const float *x;
	int64_t x_row;
};

/* The floats of w from (line, place along k) on; a line of the tile is one of w. */
static void decode_tile(const struct product *p, int64_t line, int64_t lines, int64_t at, int64_t depth, float *tile)
{
	int group = p->w.group;
	if (p->transpose)
		for (int64_t i = 0; i < lines; i++)
			lb_quant_row(&p->w, line + i, at / group, depth / group, tile + i * TILE_DEPTH);
	else
		for (int64_t i = 0; i < depth; i++)
			lb_quant_row(&p->w, at + i, line / group, lines / group, tile + i * TILE_LINES);
}

/* TILE_LINES columns of the result. */
static void multiply_lines(void *arg, void *scratch, int64_t task)
{
	const struct many *many = arg;
	const struct product *p = many->p;
	float *tile = scratch, *sums = tile + TILE_LINES * TILE_DEPTH;
	int64_t line = task * TILE_LINES, lines = least(p->n - line, TILE_LINES);
	int64_t bytes = lb_width_of(p->dtype);
	memset(sums, 0, (size_t)(many->m * TILE_LINES) * sizeof *sums);
	for (int64_t at = 0; at < p->k; at += TILE_DEPTH) {
		int64_t depth = least(p->k - at, TILE_DEPTH);
		decode_tile(p, line, lines, at, depth, tile);
		p->tiles->gemm(&(struct lb_gemm){ .dtype = LB_F32,
						  .m = many->m,
						  .n = lines,
						  .k = depth,
						  .a = (const char *)(many->x + at),
						  .a_row = many->x_row,
						  .a_column = 1,
						  .b = (const char *)tile,
						  .b_row = p->transpose ? 1 : TILE_LINES,
						  .b_column = p->transpose ? TILE_DEPTH : 1,
						  .to = (char *)sums,
						  .to_row = TILE_LINES });
	}
	for (int64_t i = 0; i < many->m; i++)
		p->tiles->convert(p->dtype, LB_F32)(lines, p->to + ((many->first + i) * p->n + line) * bytes,
						    sums + i * TILE_LINES, NULL, NULL);
}

static bool multiply_many(const struct product *p)
{
	for (int64_t first = 0; first < p->m; first += BLOCK) {
		int64_t m = least(p->m - first, BLOCK);
		struct many many = { p, first, m, (const float *)(const void *)p->x + first * p->strides[0],
				     p->strides[0] };
		if (p->rows) {
			load(p, first, m);
			many.x = p->rows;
			many.x_row = p->x_row;
		}
		int64_t nbytes = (TILE_DEPTH + m) * TILE_LINES * (int64_t)sizeof(float);
		if (!lb_share(p->exec, (p->n + TILE_LINES - 1) / TILE_LINES, 1, nbytes, multiply_lines, &many))
			return false;
	}
	return true;
}

/* ---- the whole ---- */

/* Scratch in one piece, which the arena keeps for the next product. */
static bool take(struct product *p, int64_t rows, int64_t sums)
{
	int64_t floats, bytes;
	rows = (rows + 15) & ~(int64_t)15; /* so that each begins a cache line */
	if (!lb_sum_of(rows, sums, &floats) || !lb_mul(floats, (int64_t)sizeof(float), &bytes))
		return lb_fail("quantized_matmul: rows of %lld elements are too long", (long long)p->k);
	float *at = p->exec->scratch(p->exec, bytes);
	p->rows = rows ? at : NULL;
	p->sums = at + rows;
	return at != NULL;
}

bool lb_kernel_quantized_matmul(struct lb_exec *exec, const struct lb_view *x, const struct lb_quant_view *q,
				bool transpose, void *to)
{
	int rank = x->rank, axes = rank - 2;
	const struct lb_view *w = &q->words, *scales = &q->scales;
	if (rank < 2 || w->rank != rank || scales->rank != rank)
		return lb_fail("quantized_matmul: shapes of the matrices do not match");
	int64_t inner = scales->shape[rank - 1] * q->format.group, outer = w->shape[rank - 2];
	struct product p = { .exec = exec,
			     .tiles = lb_tiles(),
			     .transpose = transpose,
			     .dtype = x->dtype,
			     .m = x->shape[rank - 2],
			     .n = transpose ? outer : inner,
			     .k = transpose ? inner : outer,
			     .row_axes = 1,
			     .column = x->strides[rank - 1],
			     .x = x->data,
			     .to = to };
	if (p.k != x->shape[rank - 1] || x->dtype < LB_F16 || x->dtype > LB_F32)
		return lb_fail("quantized_matmul: x has %lld column%s, w needs %lld", (long long)x->shape[rank - 1],
			       LB_S(x->shape[rank - 1]), (long long)p.k);
	int64_t count = lb_shape_size(axes, x->shape);
	if (count == 0 || p.m == 0 || p.n == 0)
		return true;
	bool shared = true;
	for (int i = 0; i < axes; i++)
		shared &= x->shape[i] == 1 || w->strides[i] == 0;
	p.shape[0] = p.m;
	p.strides[0] = x->strides[rank - 2];
	if (shared) { /* one w for all: the batch is more rows */
		p.m *= count;
		p.row_axes = rank - 1;
		memcpy(p.shape, x->shape, sizeof p.shape);
		memcpy(p.strides, x->strides, sizeof p.strides);
		count = 1;
	}
	p.row_axes = lb_join_axes(p.row_axes, p.shape, 1, &p.strides);
	lb_quant_matrix_of(q, &p.w);
	bool many = p.m > (transpose ? FEW : FEW_PLAIN) && p.k > 0;
	p.x_row = p.k + (!transpose && p.k % 2);
	int64_t rows = many ? least(p.m, BLOCK) : AT_ONCE;
	bool in_place = many && p.dtype == LB_F32 && p.column == 1 && p.row_axes == 1 && p.strides[0] >= p.k;
	if (!in_place && !take(&p, rows * p.x_row, many ? 0 : rows * p.n))
		return false;
	struct product part = p;
	for (int64_t i = 0; i < count; i++) {
		int64_t index[LB_MAX_RANK];
		if (!shared) {
			lb_index_of(axes, x->shape, i, index);
			part.x = p.x + lb_offset_of(axes, index, x->strides) * lb_width_of(x->dtype);
			part.w.words = p.w.words + lb_offset_of(axes, index, w->strides) * 4;
			part.w.scales =
			    p.w.scales + lb_offset_of(axes, index, scales->strides) * lb_width_of(scales->dtype);
			if (p.w.biases)
				part.w.biases = p.w.biases + lb_offset_of(axes, index, q->extra.strides) *
								 lb_width_of(q->extra.dtype);
			part.to = p.to + i * p.m * p.n * lb_width_of(p.dtype);
		}
		if (!many)
			multiply_few(&part);
		else if (!multiply_many(&part))
			return false;
	}
	return true;
}
