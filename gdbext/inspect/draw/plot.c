/* Lines and histograms of a tensor's values, in text.
 *
 * A plot is a canvas of braille characters, 2 x 4 dots each. A column of dots stands for one
 * element, or for several: then it reaches from their smallest to their largest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/measure/quantile.h"
#include "inspect/operand/value.h"
#include "inspect/texts.h"

enum {
	PIECE = 1 << 15,
	LABEL = 12,
	ROWS = 12,
	MAX_COLUMNS = 1000,
	MAX_ROWS = 200,
	MAX_BINS = 200,
	FEW = 40,
	SAMPLES = 1024, /* of a column, where a view repeats too much to read it all */
};
static const int64_t all_of = 1 << 28; /* elements that are read in any case */

struct column {
	double low, high; /* of the finite elements; low > high: there is none */
	int64_t bad;      /* NaN and Inf */
};

struct plot {
	int64_t size, sampled; /* elements; those that were read */
	int n; /* elements, or as many columns as they are drawn in */
	int each; /* columns of dots for one of these: few are drawn wide */
	struct column *columns;
	enum lb_dtype dtype;
};

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct plot *p = context;
	int64_t bytes = lbx_dtype_bytes(p->dtype);

	for (int64_t i = 0; i < n; i++) {
		struct column *c = &p->columns[(int)((__int128)(first + i) * p->n / p->size)];
		double value = lbx_element_magnitude((const char *)elements + i * bytes, p->dtype);
		if (!isfinite(value)) {
			c->bad++;
			continue;
		}
		c->low = fmin(c->low, value);
		c->high = fmax(c->high, value);
	}
	return true;
}

/* One of each step, scattered: evenly they would meet the same element of each repetition. */
static bool add_some(struct lbx_out *out, const struct lbx_array *array, struct plot *p)
{
	struct lbx_array a = *array;
	int64_t at[LBX_ARRAY_RANK], n = (int64_t)p->n * SAMPLES, step = p->size / n;
	lb_auto_free char *own = NULL;
	char element[8];
	bool ok = lbx_array_fetch(&a, out, "plotting", &own);

	for (int64_t i = 0; ok && i < n; i++) {
		int64_t place = i * step + (int64_t)(((uint64_t)i * 0x9e3779b97f4a7c15ULL >> 11) % (uint64_t)step);
		lbx_array_coordinates(&a, place, at);
		ok = (i % PIECE || lbx_progress(out, "plotting", i, n)) && lbx_array_get(&a, at, element) &&
		     add_piece(p, element, 1, place);
	}
	p->sampled = n;
	return ok;
}

static void print_title(struct lbx_out *out, const struct lbx_selection *s, const struct lbx_sight *sight)
{
	lbx_print_heading(out, s, &sight->array);
	lbx_tell_part(out, sight->array.dtype);
	lbx_printf(out, "%s%s\n", sight->note[0] ? ", " : "", sight->note);
}

/* Bits of the braille patterns: U+2800 plus one for each dot, by column and row. */
static const unsigned char dots[2][4] = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } };

/* Lowest dot row is 0. */
static int dot_row(double value, double low, double high, int rows)
{
	double part = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
	return (int)(part * (rows - 1) + 0.5);
}

static void draw(struct lbx_out *out, const struct plot *p, int cells, int rows, double low, double high)
{
	lb_auto_free unsigned char *canvas = calloc((size_t)cells * (size_t)rows, 1);
	int before_low = 0, before_high = -1; /* what the last column reached */

	if (!canvas) {
		lb_fail("out of memory for a plot");
		return;
	}
	for (int x = 0; x < p->n * p->each; x++) {
		const struct column *c = &p->columns[x / p->each];
		if (c->low > c->high) {
			before_high = -1;
			continue;
		}
		int from = dot_row(c->low, low, high, rows * 4), to = dot_row(c->high, low, high, rows * 4);
		int own_from = from, own_to = to;
		/* joined to its neighbour */
		if (before_high >= 0 && from > before_high)
			from = before_high + 1;
		if (before_high >= 0 && to < before_low)
			to = before_low - 1;
		for (int y = from; y <= to; y++) {
			int row = rows - 1 - y / 4;
			canvas[row * cells + x / 2] |= dots[x % 2][3 - y % 4];
		}
		before_low = own_from;
		before_high = own_to;
	}
	for (int row = 0; row < rows; row++) {
		if (row == 0 || row == rows - 1)
			lbx_printf(out, "%*.5g ", LABEL - 2, row ? low : high);
		else
			lbx_printf(out, "%*s ", LABEL - 2, "");
		lbx_styled(out, LBX_DIM, "│");
		for (int x = 0; x < cells; x++) {
			unsigned code = 0x2800 + canvas[row * cells + x];
			lbx_printf(out, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
		}
		lbx_printf(out, "\n");
	}
}

/* The first and the last index. */
static void print_axis(struct lbx_out *out, int64_t last, int cells)
{
	int least = snprintf(NULL, 0, " %lld", (long long)last);

	lbx_printf(out, "%*s0", LABEL, "");
	if (last)
		lbx_printf(out, "%*lld", cells - 1 > least ? cells - 1 : least, (long long)last);
	lbx_printf(out, "\n");
}

/* What each column reaches. */
static void key_columns(struct lbx_out *out, const struct plot *p, bool high)
{
	lbx_begin_list(out, high ? "high" : "low");
	for (int i = 0; i < p->n; i++) {
		const struct column *c = &p->columns[i];
		LBX_KEY(out, NULL, c->low > c->high ? json_null() : json_real(high ? c->high : c->low));
	}
	lbx_end(out);
}

static bool show_plot(struct lbx_context *context, const struct lbx_selection *s, const struct lbx_sight *sight,
		      const struct plot *p, int cells, int rows)
{
	struct lbx_out *out = context->out;
	double low = INFINITY, high = -INFINITY;
	int64_t bad = 0;

	for (int i = 0; i < p->n; i++) {
		low = fmin(low, p->columns[i].low);
		high = fmax(high, p->columns[i].high);
		bad += p->columns[i].bad;
	}
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:I,s:I,s:I,s:I}", "id", (json_int_t)s->tensor.id, "size", (json_int_t)p->size,
				"sampled", (json_int_t)p->sampled, "not_finite", (json_int_t)bad));
	key_columns(out, p, false);
	key_columns(out, p, true);
	print_title(out, s, sight);
	lbx_end(out);
	if (low > high) {
		lbx_printf(out, "no finite element\n");
		return true;
	}
	draw(out, p, cells, rows, low, high);
	print_axis(out, p->size - 1, cells);
	if (p->sampled < p->size)
		lbx_printf(out, "of a sample of %lld of %lld element%s\n", (long long)p->sampled, (long long)p->size,
			   LB_S(p->size));
	if (bad)
		lbx_styled(out, LBX_WARNING, "%lld NaN or Inf are left out\n", (long long)bad);
	return lb_ok();
}

static bool gather(struct lbx_context *context, const struct lbx_array *array, int n, struct plot *ret)
{
	struct lbx_array unique = *array;
	bool repeats = lbx_array_drop_repeats(&unique) > 1;

	*ret = (struct plot){ .size = array->size, .sampled = array->size, .n = n, .dtype = array->dtype };
	if (array->size == 0)
		return lb_fail("it has no elements to plot");
	if (n > array->size)
		ret->n = (int)array->size;
	ret->each = (n < FEW ? n : FEW) / ret->n;
	ret->each = ret->each < 1 ? 1 : ret->each;
	ret->columns = malloc((size_t)ret->n * sizeof *ret->columns);
	if (!ret->columns)
		return lb_fail("out of memory for a plot");
	for (int i = 0; i < ret->n; i++)
		ret->columns[i] = (struct column){ INFINITY, -INFINITY, 0 };
	return repeats && array->size > all_of ? add_some(context->out, array, ret)
					       : lbx_array_walk(array, context->out, "plotting", PIECE, add_piece, ret);
}

static bool run_plot(struct lbx_context *context, const struct lbx_args *args)
{
	int64_t width = context->out->width, rows = ROWS;
	struct lbx_selection s;
	struct lbx_sight sight;
	struct plot plot;

	if (!lbx_args_int(args, "width", LABEL + 2, MAX_COLUMNS, &width) ||
	    !lbx_args_int(args, "rows", 2, MAX_ROWS, &rows) || !lbx_select_values(context, args->v[0], &s) ||
	    !lbx_sight_begin(context, &s, &sight))
		return false;
	int cells = width > LABEL + 2 ? (int)width - LABEL : 2;
	bool ok = gather(context, &sight.array, cells * 2, &plot) &&
		  show_plot(context, &s, &sight, &plot, (plot.n * plot.each + 1) / 2, (int)rows);
	free(plot.columns);
	lbx_sight_end(&sight);
	return ok;
}

const struct lbx_command lbx_command_plot = {
	.name = "plot",
	.arguments = "T[slice]",
	.summary = "plot a tensor's elements as a line",
	.help = "Elements in row-major order. Where there are more of them than dots, each column\n"
		"reaches from its smallest element to its largest. Complex values count by magnitude. A\n"
		"lazy tensor is replayed.\n"
		LBX_SLICE_HELP "\n"
		"Example: plot losses",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "width", "N", "columns to use (default: the terminal's)" },
		{ "rows", "N", "lines to use (default 12)" },
	},
	.run = run_plot,
};

/* ---- histograms ---- */

static bool add_sample(void *context, const void *elements, int64_t n, int64_t first)
{
	lbx_sample_add(context, elements, n, first);
	return true;
}

static void print_bins(struct lbx_out *out, const int64_t *bins, int n, double low, double high)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int digits = lbx_histogram_digits(low, high, n), label = LABEL;
	int64_t most = 1;

	for (int i = 0; i <= n; i++) {
		int width = snprintf(NULL, 0, "%.*g", digits, lbx_histogram_edge(low, high, n, i));
		label = width > label ? width : label;
		most = i < n && bins[i] > most ? bins[i] : most;
	}
	int room = out->width - label - 12;
	room = room > 8 ? room : 8;
	for (int i = 0; i < n; i++) {
		int bar = (int)((double)bins[i] / (double)most * room * 8 + 0.5);
		if (bar == 0 && bins[i])
			bar = 1; /* something, however little */
		lbx_printf(out, "%*.*g ", label, digits, lbx_histogram_edge(low, high, n, i));
		for (int k = 0; k < bar / 8; k++)
			lbx_printf(out, "█");
		lbx_printf(out, "%s %lld\n", eighths[bar % 8], (long long)bins[i]);
	}
	if (low < high)
		lbx_printf(out, "%*.*g\n", label, digits, high);
}

static bool show_hist(struct lbx_context *context, const struct lbx_selection *s, const struct lbx_sight *sight,
		      const struct lbx_sample *sample, int64_t times, int n)
{
	struct lbx_out *out = context->out;
	int64_t bins[MAX_BINS];
	double low = 0, high = 0;
	int64_t sampled = sample->next * times, size = sample->size * times, counted = 0;

	n = lbx_sample_histogram(sample, n, bins, &low, &high);
	for (int i = 0; i < n; i++)
		counted += bins[i] *= times;
	int64_t not_finite = sampled - counted;
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:I,s:o,s:o,s:o,s:I,s:I,s:I}", "id", (json_int_t)s->tensor.id, "counts",
				lbx_json_list(bins, n), "low", n ? json_real(low) : json_null(), "high",
				n ? json_real(high) : json_null(), "sampled", (json_int_t)sampled, "size",
				(json_int_t)size, "not_finite", (json_int_t)not_finite));
	print_title(out, s, sight);
	lbx_end(out);
	if (n == 0) {
		lbx_printf(out, "no finite element\n");
		return true;
	}
	print_bins(out, bins, n, low, high);
	if (sample->step > 1)
		lbx_printf(out, "of a sample of %lld of %lld value%s\n", (long long)sampled, (long long)size,
			   LB_S(size));
	if (not_finite)
		lbx_styled(out, LBX_WARNING, "%lld NaN or Inf are left out\n", (long long)not_finite);
	return true;
}

static bool run_hist(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_sample sample;
	struct lbx_selection s;
	struct lbx_sight sight;
	int64_t bins = 20;

	if (!lbx_args_int(args, "bins", 1, MAX_BINS, &bins) || !lbx_select_values(context, args->v[0], &s) ||
	    !lbx_sight_begin(context, &s, &sight))
		return false;
	struct lbx_array unique = sight.array;
	int64_t times = lbx_array_drop_repeats(&unique);
	bool ok = lbx_sample_init(&sample, unique.dtype, unique.size);
	if (ok) {
		ok = lbx_array_walk(&unique, context->out, "counting", PIECE, add_sample, &sample) &&
		     lbx_sample_sort(&sample) && show_hist(context, &s, &sight, &sample, times, (int)bins);
		lbx_sample_deinit(&sample);
	}
	lbx_sight_end(&sight);
	return ok;
}

const struct lbx_command lbx_command_hist = {
	.name = "hist",
	.arguments = "T[slice]",
	.summary = "draw a histogram of a tensor's values",
	.help = "Counts the finite values, from the smallest to the largest. Complex values count by\n"
		"magnitude. A lazy tensor is replayed.\n" LBX_SLICE_HELP "\n"
		"Example: hist layers.0.weight --bins 40",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "bins", "N", "equal parts of the range (default 20)" },
	},
	.run = run_hist,
};
