#include "kernels/quant_panels.h"

#include "kernels/layout.h"
#include "kernels/share.h"

enum {
	DEPTH = 512,  /* elements of a panel, a multiple of every group: its codes stay in the nearest cache */
	DEPTH_PARTS = 128, /* in parts, they and their codes stay there */
	GROUPS = 128, /* whose scales are there at once; DEPTH or a multiple of it, whatever the group */
	GRAIN = 1 << 20,
	FEWEST_ROWS = 64, /* for which codes are unpacked anew, so that a core stays with rows of its own */
};
_Static_assert(2 * DEPTH_PARTS <= DEPTH, "room for pairs");

struct room {
	uint8_t codes[LB_PANEL_COLUMNS * DEPTH];
	float scales[LB_PANEL_COLUMNS * GROUPS], biases[LB_PANEL_COLUMNS * GROUPS];
	float decoded[LB_STRIP * GROUPS]; /* scales of a strip, before they are turned */
	float sums[];
};

bool lb_has_quant_panels(void)
{
#ifdef __x86_64__
	return lb_isa_level() >= LB_ISA_V4 && __builtin_cpu_supports("avx512vnni");
#else
	return false;
#endif
}

bool lb_has_quant_pairs(void)
{
	return lb_has_quant_panels() && lb_isa_level() == LB_ISA_BF16;
}

int64_t lb_quant_panels_step(enum lb_panels_by by)
{
	return by == LB_BY_PAIRS ? LB_PAIRS_PANEL_ROWS : LB_CUT_ROWS / 2;
}

static int64_t together_of(int64_t k)
{
	return (k + LB_CUT_TOGETHER - 1) / LB_CUT_TOGETHER;
}

/* Spans of elements of LB_CUT_ROWS rows, at most. */
static int64_t spans_of(int group, int64_t k)
{
	return together_of(k) * (group < LB_CUT_TOGETHER ? LB_CUT_TOGETHER / group : 1) * LB_CUT_ROWS;
}

/* Of the elements of LB_CUT_ROWS rows. */
static int64_t element_bytes(int parts, int64_t k)
{
	return together_of(k) * (parts ? 2 * parts : 1) * LB_CUT_ROWS * LB_CUT_TOGETHER;
}

static int64_t block_bytes(int parts, int group, int64_t k)
{
	return element_bytes(parts, k) + 3 * 4 * spans_of(group, k);
}

int64_t lb_quant_panels_room(int parts, int group, int64_t m, int64_t k)
{
	return (m + LB_CUT_ROWS - 1) / LB_CUT_ROWS * block_bytes(parts, group, k);
}

struct lb_amx_rows lb_quant_panels_rows(const struct lb_quant_panels *p, int64_t row)
{
	int64_t spans = spans_of(p->w->group, p->k);
	char *elements = (char *)p->ordered + row / LB_CUT_ROWS * block_bytes(p->parts, p->w->group, p->k);
	float *sums = (float *)(void *)(elements + element_bytes(p->parts, p->k));
	return (struct lb_amx_rows){ elements, sums, sums + spans, (int32_t *)sums + 2 * spans };
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Where n scales of each of some rows begin, as floats or halves that lie as they do in the matrix, or decoded. */
static const char *find_scales(const struct lb_quant_matrix *w, int64_t line, int64_t lines, int64_t begin, int64_t n,
			       float decoded[LB_STRIP * GROUPS], int64_t *row, int *dtype)
{
	*row = w->scales_row;
	*dtype = w->scale_dtype;
	if (w->scale_dtype != LB_U8)
		return w->scales + line * w->scales_row + begin * lb_width_of(w->scale_dtype);
	for (int64_t i = 0; i < lines; i += LB_QUANT_ROWS) {
		struct lb_quant_scales store;
		struct lb_codes codes[LB_QUANT_ROWS];
		int rows = (int)least(lines - i, LB_QUANT_ROWS);
		lb_quant_codes(w, line + i, rows, begin, n, &store, codes);
		for (int r = 0; r < rows; r++)
			memcpy(decoded + (i + r) * GROUPS, codes[r].scales, (size_t)n * sizeof *decoded);
	}
	*row = GROUPS * (int64_t)sizeof *decoded;
	*dtype = LB_F32;
	return (const char *)decoded;
}

/* n groups of the rows from `line` on, and 0 beyond the last row. */
static void turn_scales(const struct lb_quant_panels *p, int64_t line, int64_t begin, int64_t n, struct room *room)
{
	const struct lb_quant_matrix *w = p->w;
	for (int64_t strip = 0; strip < LB_PANEL_COLUMNS && line + strip < p->n; strip += LB_STRIP) {
		int64_t row, lines = least(p->n - line - strip, LB_STRIP);
		int dtype;
		const char *scales = find_scales(w, line + strip, lines, begin, n, room->decoded, &row, &dtype);
		const char *biases = w->biases ? w->biases + (line + strip) * w->biases_row : NULL;
		int64_t width = lb_width_of(dtype);
		for (int64_t g = 0; g < n; g += LB_STRIP) {
			int64_t at = strip * GROUPS + g * LB_STRIP;
			w->tiles->turn_floats(room->scales + at, scales + g * width, row, dtype, lines, n - g);
			if (biases)
				w->tiles->turn_floats(room->biases + at, biases + (begin + g) * width, w->biases_row,
						      dtype, lines, n - g);
		}
	}
}

/* Those of zeros among them. */
static int64_t rows_of(const struct lb_quant_panels *p)
{
	return p->n_ordered > p->m ? p->n_ordered : p->m;
}

/* The product of some rows; `first` is a multiple of LB_CUT_ROWS. */
static struct lb_quant_panels rows_from(const struct lb_quant_panels *p, int64_t first, int64_t n)
{
	struct lb_quant_panels some = *p;
	bool is_beyond = first >= p->n_ordered;
	some.m = least(p->m - first, n);
	some.n_ordered = is_beyond ? 0 : least(p->n_ordered - first, n);
	some.ordered = is_beyond ? NULL : lb_quant_panels_rows(p, first).elements;
	some.x = is_beyond ? p->x + (first - p->n_ordered) : p->x;
	some.to = p->to + first * p->n * lb_width_of(p->dtype);
	return some;
}

/* All columns of some rows are followed by those of the next. */
struct tasks {
	const struct lb_quant_panels *all;
	int64_t columns, rows; /* tasks of so many rows */
};

/* LB_PANEL_COLUMNS columns of the result. */
static void multiply_columns(void *arg, void *scratch, int64_t task)
{
	const struct tasks *tasks = arg;
	const struct lb_quant_panels some = rows_from(tasks->all, task / tasks->columns * tasks->rows, tasks->rows);
	const struct lb_quant_panels *p = &some;
	const struct lb_tiles *tiles = p->w->tiles;
	struct room *room = scratch;
	struct lb_panel panel = { .e2m1 = p->w->kind == LB_CODES_E2M1,
				  .group = p->w->group,
				  .codes = room->codes,
				  .codes_apart = LB_STRIP * DEPTH,
				  .scales_apart = LB_STRIP * GROUPS };
	struct lb_amx_rows blocks[LB_QUANT_PANELS_ROWS / LB_CUT_ROWS];
	for (int64_t i = 0; i < p->n_ordered; i += LB_CUT_ROWS)
		blocks[i / LB_CUT_ROWS] = lb_quant_panels_rows(p, i);
	int64_t line = task % tasks->columns * LB_PANEL_COLUMNS, lines = least(p->n - line, LB_PANEL_COLUMNS);
	/* where the result is one of floats, and has room for all that AMX makes of it */
	bool in_place = p->dtype == LB_F32 && lines == LB_PANEL_COLUMNS && p->n_ordered <= p->m && p->k > 0;
	int64_t plain = p->k > 0 ? p->n_ordered : 0; /* the first row of those that begin with 0 */
	memset(room->sums + plain * LB_PANEL_COLUMNS, 0,
	       (size_t)((rows_of(p) - plain) * LB_PANEL_COLUMNS) * sizeof *room->sums);
	for (int64_t at = 0; at < p->k; at += panel.depth) {
		int64_t group = at / panel.group, from = group % GROUPS;
		if (from == 0)
			turn_scales(p, line, group, least(p->k / panel.group - group, GROUPS), room);
		panel.scales = room->scales + from * LB_STRIP;
		panel.biases = room->biases + from * LB_STRIP;
		panel.depth = least(p->k - at, p->parts ? DEPTH_PARTS : DEPTH);
		for (int64_t i = 0; i < LB_PANEL_COLUMNS; i += LB_STRIP)
			(p->parts ? tiles->pack_strip_pairs : tiles->pack_strip)(
			    panel.e2m1, (const uint8_t *)p->w->words + (line + i) * p->w->words_row + at / 2,
			    p->w->words_row, lines - i, panel.depth, room->codes + i / LB_STRIP * panel.codes_apart);
		struct lb_panel_sums sums = { at ? room->sums : NULL, room->sums, LB_PANEL_COLUMNS, LB_PANEL_COLUMNS };
		if (in_place && at + panel.depth == p->k) {
			sums.to = (float *)(void *)p->to + line;
			sums.to_row = p->n;
		}
		if (p->n_ordered && p->by == LB_BY_PAIRS)
			tiles->multiply_panel_pairs(&panel, p->n_ordered, blocks, at, sums);
		else if (p->n_ordered)
			(p->by == LB_BY_TILES
			     ? tiles->multiply_panel_amx
			     : tiles->multiply_panel_parts)(&panel, p->n_ordered, blocks, p->parts, at, sums);
		if (p->n_ordered < p->m)
			tiles->multiply_panel(&panel, p->m - p->n_ordered, p->x, at,
					      room->sums + p->n_ordered * LB_PANEL_COLUMNS, LB_PANEL_COLUMNS);
	}
	for (int64_t i = in_place ? p->n_ordered : 0; i < p->m; i++)
		tiles->convert(p->dtype, LB_F32)(lines, p->to + (i * p->n + line) * lb_width_of(p->dtype),
						 room->sums + i * LB_PANEL_COLUMNS, NULL, NULL);
}

/* Rows of each of as many lots as there are cores for. */
static int64_t rows_at_once(const struct lb_exec *exec, int64_t m)
{
	int64_t cores = exec->threads ? lb_parallel_width() : 1, lots = least(cores, m / FEWEST_ROWS);
	int64_t rows = lots > 1 ? (m + lots - 1) / lots : m;
	return (rows + LB_CUT_ROWS - 1) / LB_CUT_ROWS * LB_CUT_ROWS;
}

bool lb_multiply_quant_panels(struct lb_exec *exec, const struct lb_quant_panels *panels)
{
	int64_t all = rows_of(panels), rows = rows_at_once(exec, all);
	struct tasks tasks = { panels, (panels->n + LB_PANEL_COLUMNS - 1) / LB_PANEL_COLUMNS, rows };
	int64_t nbytes = (int64_t)sizeof(struct room) + rows * LB_PANEL_COLUMNS * (int64_t)sizeof(float);
	return lb_share(exec, (all + rows - 1) / rows * tasks.columns,
			GRAIN / (rows * panels->k * LB_PANEL_COLUMNS + 1) + 1, nbytes, multiply_columns, &tasks);
}
