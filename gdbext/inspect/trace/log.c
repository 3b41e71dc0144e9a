/* Logs of values: what a run computed, beside what is expected of it, or beside another run. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/command.h"
#include "inspect/tensor/name.h"
#include "inspect/trace/log_switch.h"
#include "inspect/trace/value_log.h"
#include "target/columns.h"
#include "target/printable.h"

enum { NAMES = 50, SHOWN = 20, RANGE_LINE = 1024 };

static const double alike = 1e-5; /* figures of two runs that add in another order */

/* ---- what is expected ---- */

struct range {
	char glob[256];
	double low, high;
	size_t beyond; /* times that a value was */
	const struct lbx_logged *first;
};

struct ranges {
	size_t n, room;
	struct range *list;
};

/* "GLOB LOW HIGH"; # begins a comment. */
static bool add_range(struct ranges *r, const char *path, int number, char *line)
{
	struct range one = { .beyond = 0 };
	int used = 0;

	line[strcspn(line, "#\n")] = '\0';
	if (!line[strspn(line, " \t\r")])
		return true;
	if (sscanf(line, "%255s %lf %lf %n", one.glob, &one.low, &one.high, &used) != 3 || line[used] ||
	    !(one.low <= one.high))
		return lb_fail(
		    "%s, line %d: not a name or pattern and its least and largest value, as in: layers.*.out -10 10",
		    path, number);
	if (!lb_reserve(r->list, r->room, r->n + 1))
		return lb_fail("out of memory");
	r->list[r->n++] = one;
	return true;
}

static bool read_ranges(const char *path, struct ranges *ret)
{
	char line[RANGE_LINE];
	FILE *f = fopen(path, "re");
	bool done = true;

	if (!f)
		return lb_fail("%s: %s", path, strerror(errno));
	for (int number = 1; done && fgets(line, sizeof line, f); number++)
		done = add_range(ret, path, number, line);
	fclose(f);
	return done;
}

static bool is_beyond(const struct lbx_logged *e, const struct range *range)
{
	return e->nan || e->inf || e->figures[LBX_LOGGED_MIN] < range->low || e->figures[LBX_LOGGED_MAX] > range->high;
}

static void compare_with_ranges(const struct lbx_value_log *log, struct ranges *r)
{
	for (size_t i = 0; i < log->n; i++) {
		const struct lbx_logged *e = &log->list[i];
		for (size_t k = 0; k < r->n; k++) {
			struct range *range = &r->list[k];
			if (!is_beyond(e, range) || !lbx_name_matches(range->glob, log->names[e->name]->name))
				continue;
			range->first = range->beyond++ ? range->first : e;
		}
	}
}

/* "layers.3.out, its 4th time (line 37)" */
static void describe(const struct lbx_value_log *log, const struct lbx_logged *e, char *ret, size_t size)
{
	snprintf(ret, size, "%s, time %u (line %" PRIu64 ", evaluation %" PRIu64 ")", log->names[e->name]->name, e->nth,
		 e->step, e->eval);
	lbx_make_printable(ret);
}

static json_t *json_figure(double figure)
{
	return isnan(figure) ? json_null() : lbx_json_double(figure);
}

static void key_entry(struct lbx_out *out, const struct lbx_value_log *log, const struct lbx_logged *e)
{
	LBX_KEY(out, "name", lbx_json_string(log->names[e->name]->name));
	LBX_KEY(out, "op", lbx_json_text(log->ops[e->op]));
	LBX_KEY(out, "time", json_integer(e->nth));
	LBX_KEY(out, "step", json_integer((json_int_t)e->step));
	LBX_KEY(out, "eval", json_integer((json_int_t)e->eval));
	LBX_KEY(out, "nan", json_integer(e->nan));
	LBX_KEY(out, "inf", json_integer(e->inf));
	for (int i = 0; i < LBX_LOGGED_FIGURES; i++)
		LBX_KEY(out, lbx_logged_figures[i], json_figure(e->figures[i]));
}

static size_t tell_ranges(struct lbx_out *out, const struct lbx_value_log *log, const struct ranges *r)
{
	char what[LBX_LINE_MAX];
	size_t beyond = 0;

	lbx_begin_list(out, "beyond");
	for (size_t k = 0; k < r->n; k++) {
		const struct range *range = &r->list[k];
		if (!range->beyond)
			continue;
		const struct lbx_logged *e = range->first;
		beyond++;
		describe(log, e, what, sizeof what);
		lbx_begin(out, NULL);
		LBX_KEY(out, "expected", lbx_json_string(range->glob));
		LBX_KEY(out, "times", json_integer((json_int_t)range->beyond));
		key_entry(out, log, e);
		lbx_wrap(out, 0, 2);
		lbx_styled(out, LBX_WARNING, "%s", range->glob);
		lbx_printf(out, ": %zu time%s beyond %g to %g, first %s: ", range->beyond, LB_S(range->beyond),
			   range->low, range->high, what);
		if (e->nan || e->inf)
			lbx_printf(out, "%" PRId64 " NaN, %" PRId64 " Inf, ", e->nan, e->inf);
		if (isnan(e->figures[LBX_LOGGED_MIN]))
			lbx_printf(out, "none is finite\n");
		else
			lbx_printf(out, "%.6g to %.6g\n", e->figures[LBX_LOGGED_MIN], e->figures[LBX_LOGGED_MAX]);
		lbx_end(out);
	}
	lbx_end(out);
	if (!beyond)
		lbx_printf(out, "all values are within what is expected\n");
	return beyond;
}

/* ---- one log ---- */

/* A number of four digits has ten columns at most, and mostly nine. */
static int figure_width(const struct lbx_out *out)
{
	return out->whole_lines || out->width >= 72 ? 10 : 9;
}

/* "-" where no element is finite, and there is none. */
static void tell_figure(struct lbx_out *out, double figure)
{
	int width = figure_width(out);

	if (isnan(figure))
		lbx_printf(out, "  %*s", width, "-");
	else
		lbx_printf(out, "  %*.4g", width, figure);
}

/* On one line. */
static const char *shown_name(const struct lbx_logged_name *name, char ret[LBX_LINE_MAX])
{
	snprintf(ret, LBX_LINE_MAX, "%s", name->name);
	lbx_make_printable(ret);
	return ret;
}

static void tell_name(struct lbx_out *out, const struct lbx_value_log *log, const struct lbx_logged_name *name,
		      int width)
{
	char shown[LBX_LINE_MAX];
	double low = NAN, high = NAN;
	int64_t nan = 0, inf = 0;
	const struct lbx_logged *first = &log->list[name->entries[0]], *last = &log->list[name->entries[name->n - 1]];

	for (size_t i = 0; i < name->n; i++) {
		const struct lbx_logged *e = &log->list[name->entries[i]];
		low = fmin(e->figures[LBX_LOGGED_MIN], low);
		high = fmax(e->figures[LBX_LOGGED_MAX], high);
		nan += e->nan;
		inf += e->inf;
	}
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:o,s:I,s:o,s:o,s:I,s:I,s:o,s:o}", "name", lbx_json_string(name->name), "times",
				(json_int_t)name->n, "min", json_figure(low), "max", json_figure(high), "nan",
				(json_int_t)nan, "inf", (json_int_t)inf, "first_std",
				json_figure(first->figures[LBX_LOGGED_STD]), "last_std",
				json_figure(last->figures[LBX_LOGGED_STD])));
	if (!out->json) {
		lbx_printf(out, "  ");
		lbx_cell(out, LBX_NAME, width, shown_name(name, shown));
		lbx_printf(out, "  %6zu", name->n);
		tell_figure(out, low);
		tell_figure(out, high);
		tell_figure(out, first->figures[LBX_LOGGED_STD]);
		tell_figure(out, last->figures[LBX_LOGGED_STD]);
		if (nan || inf)
			lbx_styled(out, LBX_WARNING, "  %" PRId64 " NaN, %" PRId64 " Inf", nan, inf);
		lbx_printf(out, "\n");
	}
	lbx_end(out);
}

static void tell_names(struct lbx_out *out, const struct lbx_value_log *log, int64_t limit)
{
	size_t n = !out->json && (size_t)limit < log->n_names ? (size_t)limit : log->n_names;
	int width = 4, room = out->width > 80 ? out->width - 60 : out->width >= 72 ? 24 : out->width - 54;
	char titles[80];
	char shown[LBX_LINE_MAX];

	for (size_t i = 0; i < n; i++) {
		int own = lbx_columns(shown_name(log->names[i], shown));
		width = own > width ? own : width;
	}
	room = room < 4 ? 4 : room;
	width = width > room && !out->whole_lines ? room : width;
	int figure = figure_width(out);
	snprintf(titles, sizeof titles, "   times  %*s  %*s  %*s  %*s", figure, "min", figure, "max", figure,
		 "first std", figure, "last std");
	lbx_begin_list(out, "names");
	if (n && !out->json)
		lbx_titles(out, width, "name", titles);
	for (size_t i = 0; i < n; i++)
		tell_name(out, log, log->names[i], width);
	lbx_end(out);
	if (n < log->n_names)
		lbx_printf(out, "  … %zu more (--limit 0 shows all)\n", log->n_names - n);
}

/* Where one of them came up first; `before`: an entry that has been told, or NULL. */
static const struct lbx_logged *tell_first_odd(struct lbx_out *out, const struct lbx_value_log *log, const char *key,
					       const char *kind, const struct lbx_logged *before)
{
	char what[LBX_LINE_MAX], op[LBX_LINE_MAX];
	size_t i = 0;
	bool is_nan = strcmp(kind, "NaN") == 0;

	while (i < log->n && (is_nan ? log->list[i].nan : log->list[i].inf) == 0)
		i++;
	if (i == log->n) {
		LBX_KEY(out, key, json_null());
		return NULL;
	}
	const struct lbx_logged *e = &log->list[i];
	describe(log, e, what, sizeof what);
	snprintf(op, sizeof op, "%s", log->ops[e->op]);
	lbx_make_printable(op);
	lbx_begin(out, key);
	key_entry(out, log, e);
	lbx_wrap(out, 0, 2);
	if (e != before) {
		lbx_styled(out, LBX_WARNING, "the first %s that was logged: %s", kind, what);
		lbx_printf(out, "%s%s: %" PRId64 " NaN, %" PRId64 " Inf\n", *op ? ", made by " : "", op, e->nan,
			   e->inf);
	}
	lbx_end(out);
	return e;
}

static void tell_heading(struct lbx_out *out, const char *path, const struct lbx_value_log *log)
{
	lbx_tell(out, "%pF: %pF of %pF%s\n", LBX_STYLED(LBX_FILE, "log", path), LBX_COUNT("values", log->n, "value"),
		 LBX_COUNT("n_names", log->n_names, "name"), log->is_cut ? "; its last line is not whole" : "");
	LBX_KEY(out, "is_cut", json_boolean(log->is_cut));
}

/* ---- two of them ---- */

enum likeness { SAME, ALIKE, DIFFERENT, REORDERED, RESHAPED, ABSENT };
static const char *const likenesses[] = {
	[SAME] = "same",
	[ALIKE] = "alike",
	[DIFFERENT] = "different",
	[REORDERED] = "the same elements in another order",
	[RESHAPED] = "of another dtype or shape",
	[ABSENT] = "not there",
};

static bool is_near(double a, double b, double size)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= alike * size;
}

/* Figures, not elements: where they are alike elements may differ, but hardly much. */
static enum likeness judge(const struct lbx_logged *a, const struct lbx_logged *b)
{
	const double *x = a->figures, *y = b ? b->figures : NULL;

	if (!b)
		return ABSENT;
	if (a->type != b->type)
		return RESHAPED;
	if (a->hash == b->hash)
		return SAME;
	if (a->bag == b->bag && a->count > 1)
		return REORDERED;
	double size = fabs(y[LBX_LOGGED_MEAN]) + y[LBX_LOGGED_STD];
	double most = fmax(fabs(y[LBX_LOGGED_MIN]), fabs(y[LBX_LOGGED_MAX]));
	bool near =
	    a->nan == b->nan && a->inf == b->inf && is_near(x[LBX_LOGGED_L2], y[LBX_LOGGED_L2], y[LBX_LOGGED_L2]) &&
	    is_near(x[LBX_LOGGED_MEAN], y[LBX_LOGGED_MEAN], size) &&
	    is_near(x[LBX_LOGGED_STD], y[LBX_LOGGED_STD], size) &&
	    is_near(x[LBX_LOGGED_MIN], y[LBX_LOGGED_MIN], most) && is_near(x[LBX_LOGGED_MAX], y[LBX_LOGGED_MAX], most);
	return near ? ALIKE : DIFFERENT;
}

static void tell_figures(struct lbx_out *out, const struct lbx_logged *a, const struct lbx_logged *b)
{
	for (int i = 0; i < LBX_LOGGED_FIGURES; i++)
		if (!is_near(a->figures[i], b->figures[i], alike * fabs(b->figures[i])))
			lbx_printf(out, "    %-5s %.9g and %.9g\n", lbx_logged_figures[i], a->figures[i],
				   b->figures[i]);
	if (a->nan != b->nan || a->inf != b->inf)
		lbx_printf(out, "    %" PRId64 " NaN, %" PRId64 " Inf and %" PRId64 " NaN, %" PRId64 " Inf\n", a->nan,
			   a->inf, b->nan, b->inf);
}

static void tell_first(struct lbx_out *out, const struct lbx_value_log *log, const struct lbx_logged *a,
		       const struct lbx_logged *b, enum likeness likeness)
{
	char what[LBX_LINE_MAX];

	describe(log, a, what, sizeof what);
	lbx_begin(out, "first");
	LBX_KEY(out, "is", json_string(likenesses[likeness]));
	key_entry(out, log, a);
	lbx_wrap(out, 0, 2);
	lbx_styled(out, LBX_WARNING, "the first that differs: %s", what);
	lbx_printf(out, "%s%s\n", likeness == DIFFERENT ? "" : ": ", likeness == DIFFERENT ? "" : likenesses[likeness]);
	if (likeness == DIFFERENT)
		tell_figures(out, a, b);
	lbx_end(out);
}

static bool compare_logs(struct lbx_out *out, const struct lbx_value_log *a, const struct lbx_value_log *b,
			 const char *other)
{
	size_t counts[ABSENT + 1] = { 0 };
	const struct lbx_logged *first = NULL, *beside = NULL;
	enum likeness is = SAME;

	for (size_t i = 0; i < a->n; i++) {
		const struct lbx_logged *x = &a->list[i], *y = lbx_value_log_find(b, a->names[x->name]->name, x->nth);
		enum likeness likeness = judge(x, y);
		counts[likeness]++;
		if (likeness >= DIFFERENT && likeness < ABSENT && !first) {
			first = x;
			beside = y;
			is = likeness;
		}
	}
	lbx_wrap(out, 0, 2);
	lbx_tell(out, "beside %pF: %pF the same bit for bit, %pF alike in their figures, %pF different",
		 LBX_STYLED(LBX_FILE, "other", other), LBX_INT("same", counts[SAME]), LBX_INT("alike", counts[ALIKE]),
		 LBX_INT("different", counts[DIFFERENT] + counts[REORDERED] + counts[RESHAPED]));
	LBX_KEY(out, "not_there", json_integer((json_int_t)counts[ABSENT]));
	LBX_KEY(out, "only_there", json_integer((json_int_t)(b->n - (a->n - counts[ABSENT]))));
	if (counts[ABSENT])
		lbx_printf(out, ", %zu not there", counts[ABSENT]);
	if (b->n > a->n - counts[ABSENT])
		lbx_printf(out, ", %zu only there", b->n - (a->n - counts[ABSENT]));
	lbx_printf(out, "\n");
	if (first)
		tell_first(out, a, first, beside, is);
	return first != NULL;
}

/* ---- the command ---- */

static bool tell(struct lbx_context *context, const struct lbx_args *args, const struct lbx_value_log *log,
		 const struct lbx_value_log *other, struct ranges *ranges, int64_t limit)
{
	struct lbx_out *out = context->out;
	bool found = false;

	lbx_begin(out, NULL);
	tell_heading(out, args->v[0], log);
	if (args->n > 1)
		found |= compare_logs(out, log, other, args->v[1]);
	if (lbx_args_option(args, "expect")) {
		compare_with_ranges(log, ranges);
		found |= tell_ranges(out, log, ranges) > 0;
	}
	if (args->n == 1)
		tell_first_odd(out, log, "first_inf", "Inf", tell_first_odd(out, log, "first_nan", "NaN", NULL));
	if (args->n == 1 && !lbx_args_option(args, "expect"))
		tell_names(out, log, limit);
	lbx_end(out);
	context->has_found = found;
	return lb_ok();
}

static bool run_log(struct lbx_context *context, const struct lbx_args *args)
{
	const char *expected = lbx_args_option(args, "expect"), *file = lbx_args_option(args, "out");
	struct lbx_value_log log = { .n = 0 }, other = { .n = 0 };
	struct ranges ranges = { .n = 0 };
	int64_t limit = NAMES;

	if (file || lbx_args_option(args, "off"))
		return lbx_log_switch(context, args, file);
	if (args->n < 1 || args->n > 2)
		return lbx_misuse("log: which log? log FILE [OTHER]; or, in gdb, log 'NAMES' --out FILE begins one");
	bool done = lbx_args_limit(args, &limit) && (!expected || read_ranges(expected, &ranges)) &&
		    lbx_value_log_read(args->v[0], context->out, &log) &&
		    (args->n < 2 || lbx_value_log_read(args->v[1], context->out, &other)) &&
		    tell(context, args, &log, &other, &ranges, limit);
	lbx_value_log_close(&other);
	lbx_value_log_close(&log);
	free(ranges.list);
	return done;
}

const struct lbx_command lbx_command_log = {
	.name = "log",
	.arguments = "FILE [OTHER]",
	.summary = "what a run computed, line by line, beside what is expected or another run",
	.help = "A program that runs with LAZYBONES_LOG=FILE writes a line of JSON each time a named value is\n"
		"computed, without stopping: min, max, mean, std, L2, NaN, Inf, and a hash of the elements.\n"
		"LAZYBONES_LOG_NAMES takes patterns, with commas between; without it all names are logged.\n"
		"In gdb, log 'NAMES' --out FILE begins that in the program that runs, and log --off ends it.\n"
		"This shows such a file: where NaN and Inf came up first, how often each name was computed, and\n"
		"within which range; with OTHER which values are the same, and the first that differs; with --expect, whose lines are\n"
		"`PATTERN LOW HIGH`, those that are beyond.\n"
		"Example: log run.jsonl, log run.jsonl before.jsonl, log run.jsonl --expect ranges.txt",
	.min_args = 0,
	.max_args = LBX_ARGS_MAX,
	.needs = LBX_NEEDS_NO_PROGRAM | LBX_NEEDS_KIND,
	.options = {
		{ "expect", "RANGES", "a file of what is expected: a pattern, the least and the largest value a line" },
		{ "limit", "N", "show N names at most (default 50); 0: all" },
		{ "out", "FILE", "in gdb: begin a log of the names or patterns before it; without any, of all" },
		{ "off", NULL, "in gdb: end it" },
	},
	.run = run_log,
};
