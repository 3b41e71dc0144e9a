/* x @ w, w quantised, in one of five ways; none ever holds w's floats as a whole:
 *   - one row of x, or any that are rounded to 8 bits, w transposed, of 4-bit codes: these are
 *     multiplied with x's digits (simd/digits.c), a few rows of w at a time;
 *   - more rows of x, w likewise, where the processor is fast at it: the same, w's codes unpacked
 *     once for all rows (quant_panels.c);
 *   - few rows of x, w transposed: a row of w at a time is decoded in registers and
 *     multiplied with all of x (simd/quant.c), so w is read once, as codes;
 *   - few rows of x, w as it is: two rows of w at a time are decoded likewise, and added to
 *     the sums of a strip of columns, that stay in the nearest cache;
 *   - many rows: a tile of w at a time is decoded into the nearest cache and multiplied as an
 *     ordinary f32 matrix.
 * Sums are kept in float over all of k and rounded once. */
#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/quant_panels.h"
#include "kernels/share.h"

enum {
	FEW = 24,         /* rows of x for which decoding w again for each 8 is still faster */
	FEW_PLAIN = 16,   /* the same, w not transposed */
	PANELS_LEAST = 3, /* rows of x for which codes are unpacked first */
	PANELS_LEAST_ROUNDED = 5,
	AMX_LEAST = 16,   /* rows of x from which on tiles are worth it */
	AMX_LEAST_SMALL = 128, /* the same, in groups of 16, which fill a quarter of a tile */
	PAIRS_LEAST = 8,  /* rows of bfloat16, where they are multiplied as they are without tiles */
	AT_ONCE = 8,      /* rows of x that share one decoding */
	STRIP = 512,      /* columns, a multiple of every group */
	TILE_LINES = 128,
	TILE_DEPTH = 256, /* multiples of every group */
	BLOCK = 512,      /* rows of x beside a tile */
	CUT_AT_ONCE = LB_QUANT_PANELS_ROWS, /* rows of x in digits, beside a panel */
	CACHED = 3 << 19,     /* bytes of rows in parts, at once */
	FEWEST_IN_PARTS = 64,
	GRAIN = 1 << 16,
	CUT_GRAIN = 1 << 13, /* elements that are cut, or put in order */
};

struct product {
	struct lb_exec *exec;
	const struct lb_tiles *tiles;
	bool transpose, rounded;
	enum lb_panels_by by; /* many rows */
	int parts; /* of an element of x, as AMX has them; 0: x is in digits */
	int dtype;
	int64_t m, n, k, x_row; /* x_row: from one row of `rows` to the next */
	/* rows of x: axes other than the last, joined */
	int row_axes;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], column;
	const char *x;
	struct lb_quant_matrix w;
	char *to;
	float *rows, *sums; /* scratch; rows NULL: x can be read where it is */
	struct lb_cut *cuts; /* scratch; NULL where x is not cut */
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
	float *sums, *rows; /* of floats, from or to which they are copied */
};

/* To 8 bits, but for LB_CUT_TOGETHER elements of which one is not finite. */
static void round_row(const struct product *p, float *x)
{
	enum { GROUP = 16 };
	int8_t digits[128];
	float steps[LB_CUT_TOGETHER / 8], sums[LB_CUT_TOGETHER / GROUP];
	int32_t wholes[LB_CUT_TOGETHER / GROUP];
	struct lb_cut cut = { 1, 64, digits, steps, sums, wholes };
	for (int64_t at = 0; at < p->k; at += LB_CUT_TOGETHER) {
		int64_t n = least(p->k - at, LB_CUT_TOGETHER);
		if (p->tiles->cut(n, x + at, GROUP, &cut))
			for (int64_t i = 0; i < n; i++)
				x[at + i] = (float)digits[i % 2 * cut.half + i / 2] * steps[0];
	}
}

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
		float *to = copy->rows + i * p->x_row;
		if (p->x_row > p->k)
			to[p->k] = 0;
		if (p->column == 1)
			convert(p->k, to, from, NULL, NULL);
		for (int64_t j = 0; p->column != 1 && j < p->k; j += LINE) {
			int64_t n = least(p->k - j, LINE);
			lb_gather_row(line, from + j * p->column * bytes, n, p->column, bytes);
			convert(n, to + j, line, NULL, NULL);
		}
		if (p->rounded && !p->cuts)
			round_row(p, to);
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

static void load_product(const struct product *p, int64_t first, int64_t m)
{
	lb_parallel(p->exec, m, GRAIN / (p->k + 1) + 1, load_rows,
		    &(struct copy){ .p = p, .first = first, .rows = p->rows });
}

static void store(const struct product *p, int64_t first, int64_t m, int64_t column, int64_t n)
{
	lb_parallel(p->exec, m, GRAIN / (n + 1) + 1, store_rows,
		    &(struct copy){ p, first, column, n, .sums = p->sums });
}

/* ---- few rows ---- */

struct few {
	const struct product *p;
	int m, padded; /* rows of x; the next number that `dot` has */
	int rows, lines; /* of w at a time; of which scales are converted at once */
	float *x, *sums;
	const struct lb_cut *cuts; /* NULL: x as floats */
};

static void dot_rows(void *arg, int64_t begin, int64_t end)
{
	const struct few *few = arg;
	const struct product *p = few->p;
	int64_t groups = p->k / p->w.group;
	int rows = few->rows, lines = few->lines;
	for (int64_t j = begin * lines; j < end * lines; j += lines) {
		float sums[LB_QUANT_LINES * AT_ONCE];
		int some = (int)least(p->n - j, lines);
		memset(sums, 0, (size_t)(lines * few->padded) * sizeof *sums);
		for (int64_t g = 0; g < groups; g += LB_QUANT_CHUNK) {
			struct lb_quant_scales store;
			struct lb_codes codes[LB_QUANT_LINES];
			int64_t n = least(groups - g, LB_QUANT_CHUNK);
			lb_quant_codes(&p->w, j, some, g, n, &store, codes);
			for (int r = some; r % rows; r++)
				codes[r] = codes[0];
			for (int r = 0; r < some; r += rows) {
				float *to = sums + r * few->padded;
				if (few->cuts)
					p->tiles->dot_cut(codes + r, n, few->padded, few->cuts, g, to);
				else
					p->tiles->dot(codes + r, n, few->padded, few->x + g * p->w.group, p->x_row, to);
			}
		}
		for (int r = 0; r < some; r++)
			for (int i = 0; i < few->m; i++)
				few->sums[i * p->n + j + r] = sums[r * few->padded + i];
	}
}

/* One row of x, in digits. */
static void cut_rows(void *arg, int64_t begin, int64_t end)
{
	const struct few *few = arg;
	const struct product *p = few->p;
	int64_t first = begin * few->lines, n = least(end * few->lines, p->n) - first;
	p->tiles->multiply_row_cut(&p->w, first, n, p->k / p->w.group, few->cuts, few->sums + first);
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
			struct lb_quant_scales store;
			struct lb_codes codes[2];
			int rows = i + 1 < p->k ? 2 : 1;
			lb_quant_codes(&p->w, i, rows, j / p->w.group, groups, &store, codes);
			if (rows == 1) { /* an odd last row has a row of zeros beside it */
				codes[1] = codes[0];
				codes[1].scales = codes[1].biases = zeros;
			}
			p->tiles->spread(codes, groups, few->padded, p->rows + i, p->x_row, sums[0], STRIP);
		}
		for (int r = 0; r < few->m; r++) {
			p->tiles->restore(p->w.kind, n, sums[r]);
			memcpy(few->sums + r * p->n + j, sums[r], (size_t)n * sizeof(float));
		}
	}
}

static void multiply_transposed(struct few *few)
{
	const struct product *p = few->p;
	few->rows = few->padded > 1 ? 1 : 2;
	int64_t groups = p->k > 0 ? least(p->k / p->w.group, LB_QUANT_CHUNK) : 1;
	few->lines = (int)least(LB_QUANT_LINES, LB_QUANT_AT_ONCE / groups / LB_QUANT_ROWS * LB_QUANT_ROWS);
	if (!few->cuts)
		p->tiles->arrange(p->w.kind, few->padded * p->k, few->x);
	lb_parallel(p->exec, (p->n + few->lines - 1) / few->lines, GRAIN / (p->k * few->lines + 1) + 1,
		    few->cuts && few->m == 1 ? cut_rows : dot_rows, few);
}

/* A row that is not finite, for which there are no digits. */
static void multiply_whole(const struct product *p, float *x, float *sums)
{
	if (p->rounded)
		round_row(p, x);
	multiply_transposed(&(struct few){ .p = p, .m = 1, .padded = 1, .x = x, .sums = sums });
}

/* x in digits, and then once more, as they are, the rows that are not finite; the first of all is `first` of x. */
static void multiply_cut(struct few *few, int64_t first)
{
	const struct product *p = few->p;
	bool finite[AT_ONCE];
	for (int i = 0; i < few->padded; i++)
		finite[i] = p->tiles->cut(p->k, few->x + i * p->x_row, p->w.group, &p->cuts[i]);
	few->cuts = p->cuts;
	multiply_transposed(few);
	for (int i = 0; i < few->m; i++)
		if (!finite[i]) {
			load_product(p, first + i, 1);
			multiply_whole(p, p->rows, few->sums + i * p->n);
		}
}

/* Where it can, from x and to the result as they are. */
static void multiply_few(const struct product *p)
{
	bool floats = p->dtype == LB_F32, in_place = floats && p->cuts && p->m == 1 && p->column == 1;
	for (int64_t first = 0; first < p->m; first += AT_ONCE) {
		struct few few = { .p = p,
				   .m = (int)least(p->m - first, AT_ONCE),
				   .x = in_place ? (float *)(uintptr_t)p->x : p->rows,
				   .sums = floats ? (float *)(void *)p->to + first * p->n : p->sums };
		few.padded = few.m <= 2 ? few.m : few.m <= 4 ? 4 : 8;
		if (!in_place)
			load_product(p, first, few.m);
		memset(p->rows + few.m * p->x_row, 0, (size_t)((few.padded - few.m) * p->x_row) * sizeof *p->rows);
		if (p->cuts)
			multiply_cut(&few, first);
		else if (p->transpose)
			multiply_transposed(&few);
		else
			lb_parallel(p->exec, (p->n + STRIP - 1) / STRIP, GRAIN / (p->k * STRIP + 1) + 1, sum_strips,
				    &few);
		if (!floats)
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
			load_product(p, first, m);
			many.x = p->rows;
			many.x_row = p->x_row;
		}
		int64_t nbytes = (TILE_DEPTH + m) * TILE_LINES * (int64_t)sizeof(float);
		if (!lb_share(p->exec, (p->n + TILE_LINES - 1) / TILE_LINES, 1, nbytes, multiply_lines, &many))
			return false;
	}
	return true;
}

/* ---- more rows, in digits ---- */

struct cutting {
	const struct product *p;
	const struct lb_quant_panels *panels;
	int64_t first, n; /* row of x; how many are cut, some of zeros among them */
	bool finite[CUT_AT_ONCE + LB_CUT_ROWS / 2];
};

static int64_t half_of(const struct product *p)
{
	return (p->k / 2 + 63) & ~(int64_t)63;
}

/* What a row needs in digits: floats. */
static int64_t cut_floats(const struct product *p)
{
	int64_t half = half_of(p);
	return (p->rounded ? 1 : LB_PLANES) * half / 2 + half / 4 + half / 4;
}

static struct lb_cut cut_at(const struct product *p, float *at)
{
	int planes = p->rounded ? 1 : LB_PLANES;
	int64_t half = half_of(p);
	float *steps = at + planes * half / 2, *sums = steps + half / 4;
	return (struct lb_cut){ planes, half, (int8_t *)at, steps, sums, (int32_t *)sums + half / 8 };
}

static void cut_row(struct cutting *cutting, float *x, int64_t i)
{
	const struct lb_quant_panels *panels = cutting->panels;
	const struct product *p = cutting->p;
	if (i < panels->m)
		load_rows(&(struct copy){ .p = p, .first = cutting->first + i, .rows = x }, 0, 1);
	else
		memset(x, 0, (size_t)p->k * sizeof *x);
	bool ordered = i < panels->n_ordered;
	struct lb_amx_rows rows = ordered ? lb_quant_panels_rows(panels, i) : (struct lb_amx_rows){ 0 };
	int row = (int)(i % LB_CUT_ROWS);
	if (panels->parts) {
		cutting->finite[i] = p->tiles->order_parts(p->k, x, panels->parts, p->w.group, row, &rows);
		return;
	}
	struct lb_cut cut = ordered ? cut_at(p, x + half_of(p) * 2) : p->cuts[i - panels->n_ordered];
	cutting->finite[i] = p->tiles->cut(p->k, x, p->w.group, &cut);
	if (ordered)
		p->tiles->order_cut(&cut, p->w.kind == LB_CODES_E2M1, p->w.group, p->k, row, &rows);
}

/* Those that share cache lines. */
static void cut_block(void *arg, void *scratch, int64_t block)
{
	struct cutting *cutting = arg;
	for (int64_t i = block * LB_CUT_ROWS; i < least(cutting->n, (block + 1) * LB_CUT_ROWS); i++)
		cut_row(cutting, scratch, i);
}

/* In parts not more than stay in the second cache while they are multiplied with some columns after others, but so many that it
 * does not matter that the codes are unpacked anew for each lot. */
static int64_t rows_at_once(const struct product *p)
{
	int64_t rows = CUT_AT_ONCE;
	if (p->parts) {
		int64_t cached = CACHED / (p->k * 2 * p->parts) / LB_CUT_ROWS * LB_CUT_ROWS;
		rows = cached < FEWEST_IN_PARTS ? FEWEST_IN_PARTS : least(cached, rows);
	}
	return least(p->m, rows);
}

static bool multiply_panels(const struct product *p)
{
	int64_t bytes = p->n * lb_width_of(p->dtype), most = rows_at_once(p);
	void *ordered = NULL;
	if (p->by != LB_BY_DIGITS) {
		ordered = p->exec->scratch(p->exec, lb_quant_panels_room(p->parts, p->w.group, most, p->k));
		if (!ordered)
			return false;
	}
	for (int64_t first = 0; first < p->m; first += most) {
		int64_t m = least(p->m - first, most), step = lb_quant_panels_step(p->by);
		int64_t rows = p->parts ? (m + step - 1) / step * step : p->by == LB_BY_TILES ? m / step * step : 0;
		struct lb_quant_panels panels = { .w = &p->w,
						  .m = m,
						  .n = p->n,
						  .k = p->k,
						  .n_ordered = rows,
						  .ordered = ordered,
						  .parts = p->parts,
						  .by = p->by,
						  .x = p->cuts,
						  .dtype = p->dtype,
						  .to = p->to + first * bytes };
		struct cutting cutting = { .p = p, .panels = &panels, .first = first, .n = rows > m ? rows : m };
		int64_t blocks = (cutting.n + LB_CUT_ROWS - 1) / LB_CUT_ROWS;
		if (!lb_share(p->exec, blocks, CUT_GRAIN / (p->k * LB_CUT_ROWS + 1) + 1,
			      (half_of(p) * 2 + cut_floats(p)) * 4, cut_block, &cutting) ||
		    !lb_multiply_quant_panels(p->exec, &panels))
			return false;
		for (int64_t i = 0; i < m; i++) {
			if (cutting.finite[i])
				continue;
			load_product(p, first + i, 1);
			multiply_whole(p, p->rows, p->sums);
			store(p, first + i, 1, 0, p->n);
		}
	}
	return true;
}

/* ---- the whole ---- */

/* Scratch in one piece, which the arena keeps for the next product: floats, and room for `cuts` rows of x in digits. */
static bool take(struct product *p, int64_t rows, int64_t sums, int64_t cuts)
{
	int64_t floats, bytes, each = cut_floats(p);
	int64_t table = (cuts * (int64_t)sizeof *p->cuts + 63) / 64 * 16;
	rows = (rows + 15) & ~(int64_t)15; /* so that each begins a cache line */
	if (!lb_sum_of(rows + table + cuts * each, sums, &floats) || !lb_mul(floats, (int64_t)sizeof(float), &bytes))
		return lb_fail("quantized_matmul: rows of %lld elements are too long", (long long)p->k);
	float *at = p->exec->scratch(p->exec, bytes);
	if (!at)
		return false;
	p->rows = rows ? at : NULL;
	at += rows;
	p->cuts = cuts ? (struct lb_cut *)(void *)at : NULL;
	at += table;
	for (int64_t i = 0; i < cuts; i++, at += each)
		p->cuts[i] = cut_at(p, at);
	p->sums = at;
	return true;
}

bool lb_kernel_quantized_matmul(struct lb_exec *exec, const struct lb_view *x, const struct lb_quant_view *q, int how,
				void *to)
{
	bool transpose = how & LB_QUANT_TRANSPOSED, rounded = how & LB_QUANT_ROUNDED;
	int rank = x->rank, axes = rank - 2;
	const struct lb_view *w = &q->words, *scales = &q->scales;
	if (rank < 2 || w->rank != rank || scales->rank != rank)
		return lb_fail("quantized_matmul: shapes of the matrices do not match");
	int64_t inner = scales->shape[rank - 1] * q->format.group, outer = w->shape[rank - 2];
	struct product p = { .exec = exec,
			     .tiles = lb_tiles(),
			     .transpose = transpose,
			     .rounded = rounded,
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
		shared &= x->shape[i] == 1 || (w->strides[i] == 0 && scales->strides[i] == 0 &&
					       (q->format.mode != LB_QUANT_AFFINE || q->extra.strides[i] == 0));
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
	bool codes = transpose && p.k > 0 && lb_codes_bits(p.w.kind) == 4;
	bool panels = codes && p.m >= (rounded ? PANELS_LEAST_ROUNDED : PANELS_LEAST) && lb_has_quant_panels();
	bool cut = codes && (rounded || p.m == 1 || panels);
	bool many = !cut && p.m > (transpose ? FEW : FEW_PLAIN) && p.k > 0;
	p.x_row = p.k + (!transpose && p.k % 2);
	int64_t rows = many ? least(p.m, BLOCK) : panels ? 1 : AT_ONCE;
	bool tiles = panels && p.m >= (p.w.group < LB_CUT_TOGETHER ? AMX_LEAST_SMALL : AMX_LEAST) && lb_may_use_amx();
	bool pairs = panels && !rounded && x->dtype == LB_BF16 && p.m >= PAIRS_LEAST && lb_has_quant_pairs();
	p.parts = !(tiles || pairs) || rounded ? 0 : x->dtype == LB_BF16 ? 1 : x->dtype == LB_F16 ? 2 : LB_PARTS;
	p.by = tiles && exec->amx ? LB_BY_TILES : tiles && p.parts ? LB_BY_HAND : pairs ? LB_BY_PAIRS : LB_BY_DIGITS;
	int64_t cuts = !cut || p.parts                 ? 0
		       : p.m == 1                      ? 1
		       : panels && p.by != LB_BY_TILES ? least(p.m, CUT_AT_ONCE)
						       : AT_ONCE;
	bool in_place =
	    many && !rounded && p.dtype == LB_F32 && p.column == 1 && p.row_axes == 1 && p.strides[0] >= p.k;
	if (!in_place && !take(&p, rows * p.x_row, many ? 0 : rows * p.n, cuts))
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
		if (!many && !panels)
			multiply_few(&part);
		else if (!(panels ? multiply_panels : multiply_many)(&part))
			return false;
	}
	return true;
}
