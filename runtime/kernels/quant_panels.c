#include "kernels/quant_panels.h"

#include "kernels/layout.h"
#include "kernels/share.h"

enum {
	DEPTH = 512,  /* elements of a panel, a multiple of every group: its codes stay in the nearest cache */
	GROUPS = 128, /* whose scales are there at once; DEPTH or a multiple of it, whatever the group */
	GRAIN = 1 << 20,
};

struct room {
	uint8_t codes[2 * LB_PANEL_COLUMNS * DEPTH];
	float scales[LB_PANEL_COLUMNS * GROUPS], biases[LB_PANEL_COLUMNS * GROUPS];
	float lines[2][LB_STRIP * GROUPS]; /* of a strip, before they are turned */
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

static int64_t together_of(int64_t k)
{
	return (k + LB_CUT_TOGETHER - 1) / LB_CUT_TOGETHER;
}

/* Spans of elements of LB_CUT_ROWS rows, at most. */
static int64_t spans_of(int group, int64_t k)
{
	return together_of(k) * (group < LB_CUT_TOGETHER ? LB_CUT_TOGETHER / group : 1) * LB_CUT_ROWS;
}

/* Of the digits of LB_CUT_ROWS rows: affine codes want two tiles of 64 bytes a row for three planes. */
static int64_t digit_bytes(int planes, int64_t k)
{
	return together_of(k) * (planes > 1 ? 4 : 1) * LB_CUT_ROWS * LB_CUT_TOGETHER;
}

static int64_t block_bytes(int planes, int group, int64_t k)
{
	return digit_bytes(planes, k) + 3 * 4 * spans_of(group, k);
}

int64_t lb_quant_panels_room(int planes, int group, int64_t m, int64_t k)
{
	return (m + LB_CUT_ROWS - 1) / LB_CUT_ROWS * block_bytes(planes, group, k);
}

static struct lb_cut_rows block_at(const struct lb_quant_panels *p, int64_t block)
{
	int planes = p->x->planes;
	int64_t spans = spans_of(p->w->group, p->k);
	int8_t *digits = (int8_t *)p->ordered + block * block_bytes(planes, p->w->group, p->k);
	float *steps = (float *)(void *)(digits + digit_bytes(planes, p->k));
	return (struct lb_cut_rows){ digits, steps, steps + spans, (int32_t *)steps + 2 * spans };
}

void lb_quant_panels_order(const struct lb_quant_panels *p, const struct lb_cut *x, int64_t row)
{
	struct lb_cut_rows to = block_at(p, row / LB_CUT_ROWS);
	p->w->tiles->order_cut(x, p->w->kind == LB_CODES_E2M1, p->w->group, p->k, (int)(row % LB_CUT_ROWS), &to);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* n groups of the rows from `line` on, and 0 beyond the last row. */
static void turn_scales(const struct lb_quant_panels *p, int64_t line, int64_t begin, int64_t n, struct room *room)
{
	int64_t lines = least(p->n - line, LB_PANEL_COLUMNS), bytes = n * (int64_t)sizeof(float);
	memset(room->lines, 0, sizeof room->lines);
	for (int64_t strip = 0; strip < lines; strip += LB_STRIP) {
		for (int64_t i = 0; i < LB_STRIP && strip + i < lines; i += LB_QUANT_ROWS) {
			struct lb_quant_scales store;
			struct lb_codes codes[LB_QUANT_ROWS];
			int rows = (int)least(lines - strip - i, LB_QUANT_ROWS);
			lb_quant_codes(p->w, line + strip + i, rows, begin, n, &store, codes);
			for (int r = 0; r < rows; r++) {
				memcpy(room->lines[0] + (i + r) * GROUPS, codes[r].scales, (size_t)bytes);
				if (p->w->biases)
					memcpy(room->lines[1] + (i + r) * GROUPS, codes[r].biases, (size_t)bytes);
			}
		}
		for (int64_t g = 0; g < n; g += LB_STRIP) {
			int64_t at = strip * GROUPS + g * LB_STRIP;
			p->w->tiles->turn(room->scales + at, LB_STRIP, room->lines[0] + g, GROUPS, false);
			if (p->w->biases)
				p->w->tiles->turn(room->biases + at, LB_STRIP, room->lines[1] + g, GROUPS, false);
		}
	}
}

/* LB_PANEL_COLUMNS columns of the result. */
static void multiply_columns(void *arg, void *scratch, int64_t task)
{
	const struct lb_quant_panels *p = arg;
	const struct lb_tiles *tiles = p->w->tiles;
	struct room *room = scratch;
	bool e2m1 = p->w->kind == LB_CODES_E2M1, twice = p->n_ordered && !e2m1 && p->x->planes > 1;
	struct lb_panel panel = { .e2m1 = e2m1,
				  .twice = twice,
				  .group = p->w->group,
				  .codes = room->codes,
				  .codes_apart = LB_STRIP * DEPTH * (twice ? 2 : 1),
				  .scales_apart = LB_STRIP * GROUPS };
	struct lb_cut_rows blocks[LB_QUANT_PANELS_ROWS / LB_CUT_ROWS];
	for (int64_t i = 0; i * LB_CUT_ROWS < p->n_ordered; i++)
		blocks[i] = block_at(p, i);
	int64_t line = task * LB_PANEL_COLUMNS, lines = least(p->n - line, LB_PANEL_COLUMNS);
	memset(room->sums, 0, (size_t)(p->m * LB_PANEL_COLUMNS) * sizeof *room->sums);
	for (int64_t at = 0; at < p->k; at += panel.depth) {
		int64_t group = at / panel.group, from = group % GROUPS;
		if (from == 0)
			turn_scales(p, line, group, least(p->k / panel.group - group, GROUPS), room);
		panel.scales = room->scales + from * LB_STRIP;
		panel.biases = room->biases + from * LB_STRIP;
		panel.depth = least(p->k - at, DEPTH);
		for (int64_t i = 0; i < LB_PANEL_COLUMNS; i += LB_STRIP)
			tiles->pack_strip(panel.e2m1, (const uint8_t *)p->w->words + (line + i) * p->w->words_row + at / 2,
					  p->w->words_row, lines - i, panel.depth, twice, room->codes + i / LB_STRIP * panel.codes_apart);
		if (p->n_ordered)
			tiles->multiply_panel_amx(&panel, p->n_ordered, blocks, p->x->planes, at, room->sums, LB_PANEL_COLUMNS);
		tiles->multiply_panel(&panel, p->m - p->n_ordered, p->x, at, room->sums + p->n_ordered * LB_PANEL_COLUMNS,
				      LB_PANEL_COLUMNS);
	}
	for (int64_t i = 0; i < p->m; i++)
		tiles->convert(p->dtype, LB_F32)(lines, p->to + (i * p->n + line) * lb_width_of(p->dtype),
						 room->sums + i * LB_PANEL_COLUMNS, NULL, NULL);
}

bool lb_multiply_quant_panels(struct lb_exec *exec, const struct lb_quant_panels *panels)
{
	struct lb_quant_panels p = *panels;
	int64_t nbytes = (int64_t)sizeof(struct room) + p.m * LB_PANEL_COLUMNS * (int64_t)sizeof(float);
	return lb_share(exec, (p.n + LB_PANEL_COLUMNS - 1) / LB_PANEL_COLUMNS,
			GRAIN / (p.m * p.k * LB_PANEL_COLUMNS + 1) + 1, nbytes, multiply_columns, &p);
}
