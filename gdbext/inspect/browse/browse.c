#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/browse/screen.h"
#include "inspect/browse/viewer.h"
#include "inspect/command.h"
#include "inspect/operand/value.h"
#include "inspect/texts.h"

/* ---- what keys do ---- */

static void tell_error(struct lbx_viewer *v)
{
	snprintf(v->message, sizeof v->message, "%s", lb_error_message());
	lb_clear_error();
}

/* Long work: how far it is, and whether the user has had enough of it. */
static bool progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	char text[LBX_MESSAGE_MAX];

	(void)out;
	if (done) {
		snprintf(text, sizeof text, "%s ... %d%% (Ctrl-C ends it)", what,
			 (int)(100.0 * (double)done / (double)total));
		lbx_viewer_say(text);
	}
	return !lbx_screen_interrupted();
}

static void sort(struct lbx_viewer *v)
{
	struct lbx_window *w = &v->window;
	bool is_key = w->order && w->sorted_by == lbx_window_column(w);

	if (is_key && w->descends)
		lbx_window_unsort(w);
	else if (!lbx_window_sort(w, &v->sides[0].array, is_key, &v->out))
		tell_error(v);
	else
		snprintf(v->message, sizeof v->message, "sorted by column %lld, %s%s", (long long)w->sorted_by,
			 w->descends ? "descending" : "ascending",
			 w->n_order < lbx_window_rows(w) ? ": of the first 1048576 rows" : "");
}

static void find(struct lbx_viewer *v)
{
	int64_t at[LBX_ARRAY_RANK];

	if (!v->has_condition) {
		snprintf(v->message, sizeof v->message, "find what? / asks for it");
		return;
	}
	enum lbx_found found = lbx_window_find(&v->window, &v->sides[0].array, v->n > 1 ? &v->sides[1].array : NULL,
					       &v->condition, LBX_FIND_MAX, &v->out, at);
	if (found == LBX_FOUND || found == LBX_FOUND_BEFORE)
		lbx_window_go(&v->window, at);
	if (found == LBX_FIND_FAILED)
		tell_error(v);
	else
		snprintf(v->message, sizeof v->message, "%s",
			 found == LBX_FOUND          ? ""
			 : found == LBX_FOUND_BEFORE ? "found from the first element on"
			 : found == LBX_FOUND_NONE   ? "there is none"
						     : "none in 268435456 elements from here on");
}

static bool take_condition(struct lbx_viewer *v)
{
	v->has_condition = lbx_wanted_parse(v->typed, &v->condition);
	if (v->has_condition)
		find(v);
	return v->has_condition;
}

static bool take_place(struct lbx_viewer *v)
{
	return lbx_window_jump(&v->window, v->typed);
}

static bool take_axis(struct lbx_viewer *v, bool (*set)(struct lbx_window *, int))
{
	char *end;
	long axis = strtol(v->typed, &end, 10);

	if (end == v->typed || *end || axis < -1 || axis > LBX_ARRAY_RANK)
		return lb_fail("'%s' is not the number of an axis", v->typed);
	return set(&v->window, (int)axis);
}

static bool take_rows(struct lbx_viewer *v)
{
	return take_axis(v, lbx_window_set_rows);
}

static bool take_columns(struct lbx_viewer *v)
{
	return take_axis(v, lbx_window_set_columns);
}

/* Asks for a line at the foot; false: the viewer is to end. */
static bool ask(struct lbx_viewer *v, const char *what, bool (*take)(struct lbx_viewer *))
{
	size_t n = 0;
	int key;

	v->asks = what;
	v->typed[0] = '\0';
	do {
		lbx_viewer_draw(v);
		key = lbx_screen_key(-1);
		if (key == LBX_KEY_BACKSPACE && n)
			v->typed[--n] = '\0';
		else if (key == LBX_KEY_ERASE)
			v->typed[n = 0] = '\0';
		else if (key >= ' ' && key < 127 && n + 1 < sizeof v->typed)
			v->typed[n++] = (char)key, v->typed[n] = '\0';
	} while (key != LBX_KEY_ENTER && key != LBX_KEY_ESCAPE && key != LBX_KEY_INTERRUPT && key != LBX_KEY_GONE);
	v->asks = NULL;
	if (key == LBX_KEY_ENTER && n && !take(v))
		tell_error(v);
	return key != LBX_KEY_GONE;
}

static void set_precision(struct lbx_viewer *v, int by)
{
	int precision = v->precision + by;

	v->precision = precision < 0 ? 0 : precision > LBX_PRECISION_MAX ? LBX_PRECISION_MAX : precision;
	snprintf(v->message, sizeof v->message, "at most %d digit%s after the point", v->precision,
		 v->precision == 1 ? "" : "s");
}

/* False: the key means nothing here. */
static bool move(struct lbx_viewer *v, int key)
{
	struct lbx_window *w = &v->window;

	switch (key) {
	case 'k':
	case LBX_KEY_UP: lbx_window_move(w, -1, 0); break;
	case 'j':
	case LBX_KEY_DOWN: lbx_window_move(w, 1, 0); break;
	case 'h':
	case LBX_KEY_LEFT: lbx_window_move(w, 0, -1); break;
	case 'l':
	case LBX_KEY_RIGHT: lbx_window_move(w, 0, 1); break;
	case 'b':
	case LBX_KEY_PAGE_UP: lbx_window_page(w, -1, 0); break;
	case ' ':
	case LBX_KEY_PAGE_DOWN: lbx_window_page(w, 1, 0); break;
	case '{': lbx_window_page(w, 0, -1); break;
	case '}': lbx_window_page(w, 0, 1); break;
	case LBX_KEY_HOME: lbx_window_move(w, 0, INT64_MIN); break;
	case LBX_KEY_END: lbx_window_move(w, 0, INT64_MAX); break;
	case '<': lbx_window_move(w, INT64_MIN, 0); break;
	case '>': lbx_window_move(w, INT64_MAX, 0); break;
	case '[': lbx_window_step(w, -1); break;
	case ']': lbx_window_step(w, 1); break;
	case '\t': lbx_window_next_other(w); break;
	case 'r': lbx_window_next_rows(w); break;
	case 'c': lbx_window_next_columns(w); break;
	case 't': lbx_window_transpose(w); break;
	default: return false;
	}
	return true;
}

/* False: it ends. */
static bool obey(struct lbx_viewer *v, int key)
{
	v->message[0] = '\0';
	if (v->helps) {
		v->helps = key == LBX_KEY_RESIZED;
		return key != LBX_KEY_GONE;
	}
	if (move(v, key))
		return true;
	switch (key) {
	case 'q':
	case 'Q':
	case LBX_KEY_GONE: return false;
	case LBX_KEY_INTERRUPT: snprintf(v->message, sizeof v->message, "q quits"); break;
	case LBX_KEY_REDRAW: lbx_screen_redraw(); break;
	case ':':
	case 'g': return ask(v, "go to: ", take_place);
	case '/': return ask(v, v->n > 1 ? "find a difference: " : "find: ", take_condition);
	case 'R': return ask(v, "rows are axis: ", take_rows);
	case 'C': return ask(v, "columns are axis: ", take_columns);
	case 'n': find(v); break;
	case 's': sort(v); break;
	case 'm':
		v->heat = !v->heat;
		if (!lbx_screen_heat())
			snprintf(v->message, sizeof v->message, "this terminal has no colours");
		break;
	case '+':
	case '=': set_precision(v, 1); break;
	case '-': set_precision(v, -1); break;
	case 'd':
		if (v->n > 1)
			v->shows_difference = !v->shows_difference;
		else
			snprintf(v->message, sizeof v->message, "there is one tensor: `browse T U` compares two");
		break;
	case '?': v->helps = true; break;
	default: break;
	}
	return true;
}

/* ---- the command ---- */

static void close_screen(bool *open)
{
	(void)open;
	lbx_screen_close();
}

static bool show(struct lbx_viewer *v, bool colour)
{
	/* cleanup: gdb may throw through us when a read fails badly */
	bool open __attribute__((cleanup(close_screen))) = lbx_screen_open(colour);

	if (!open)
		return false;
	do
		lbx_viewer_draw(v);
	while (obey(v, lbx_screen_key(-1)));
	return true;
}

/* The quickest way to read. An array that lies in this process needs none. */
static bool prepare_reads(struct lbx_array *a)
{
	struct lbx_target *direct = a->local || !a->target ? NULL : lbx_target_direct(a->target);
	char element[8];

	if (direct)
		a->target = direct;
	/* what a debugger has to find out first is asked now */
	return lbx_array_copy(a, 0, 1, element);
}

static bool open_sides(struct lbx_context *context, const struct lbx_args *args, struct lbx_viewer *v)
{
	struct lbx_selection s;

	if (!lbx_select_values(context, args->v[0], &s))
		return false;
	v->n = 1;
	if (!lbx_operand_selected(context, &s, &v->sides[0]))
		return false;
	if (s.tensor.state == LBX_READY)
		lbx_value_note(&s.tensor, v->note);
	if (args->n < 2)
		return true;
	v->n = 2;
	return lbx_operand_any(context, args->v[1], v->sides[0].name, &v->sides[1]);
}

static bool check_sides(const struct lbx_viewer *v)
{
	const struct lbx_array *a = &v->sides[0].array, *b = &v->sides[1].array;
	char shape[LBX_LIST_MAX], other[LBX_LIST_MAX];

	if (a->size == 0)
		return lb_fail("%s has no elements", v->sides[0].label);
	if (v->n == 1 || (a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0))
		return true;
	lbx_format_list(a->shape, a->rank, shape, sizeof shape);
	lbx_format_list(b->shape, b->rank, other, sizeof other);
	return lb_fail("%s is %s, %s is %s: beside each other two of one shape are seen", v->sides[0].label, shape,
		       v->sides[1].label, other);
}

static bool begin(struct lbx_context *context, const struct lbx_args *args, struct lbx_viewer *v)
{
	if (!open_sides(context, args, v) || !check_sides(v))
		return false;
	for (int i = 0; i < v->n; i++) {
		v->panes[i].label = v->sides[i].label;
		v->panes[i].dtype = v->sides[i].array.dtype;
		if (!prepare_reads(&v->sides[i].array))
			return false;
	}
	v->panes[2].dtype = LB_F64;
	lbx_window_begin(&v->window, v->sides[0].array.rank, v->sides[0].array.shape);
	/* what is not known yet comes with gdb's answers: the line runs again */
	return !context->target || !lbx_target_waits(context->target);
}

static bool run_browse(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_out *out = context->out;
	int64_t precision = context->settings->precision;
	struct lbx_viewer *v;

	if (!lbx_args_int(args, "precision", 0, LBX_PRECISION_MAX, &precision))
		return false;
	if (out->json || !out->takes_terminal)
		return lb_fail("a viewer is for a person at a terminal: `print` shows values anywhere");
	if (!out->takes_terminal(out))
		return lb_fail_within("a viewer needs the whole terminal"), false;
	v = calloc(1, sizeof *v);
	if (!v)
		return lb_fail("out of memory");
	v->precision = (int)precision;
	v->heat = !lbx_args_option(args, "plain");
	v->out = (struct lbx_out){ .width = out->width, .progress = out->progress };
	bool done = begin(context, args, v);
	v->out.progress = progress;
	done = done && show(v, out->colour);
	lbx_viewer_deinit(v);
	free(v);
	return done;
}

const struct lbx_command lbx_command_browse = {
	.name = "browse",
	.arguments = "T[slice] [U]",
	.summary = "look through a tensor's values on the whole terminal",
	.help = "Rows and columns are the last two axes, or any two; keys move over them and step\n"
		"through the others, go to an index, sort rows by a column, find the next value that\n"
		"is > 0.5, or NaN, and colour values as a heat map. ? shows the keys, q ends it. Only\n"
		"what is seen is read, so the largest opens at once; sorting and finding read more,\n"
		"within limits (1048576 rows, 268435456 elements), until Ctrl-C. A lazy tensor is\n"
		"replayed. U, of the same shape, is shown beside it: a tensor, FILE[:NAME], or\n"
		"CORE:T; what differs is marked, and d shows by how much.\n"
		LBX_SLICE_HELP "\n"
		"Example: browse q, browse layers.0.wq[0] --precision 3, browse q copy",
	.min_args = 1,
	.max_args = 2,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "precision", "N", "digits after the point, at most" },
		{ "plain", NULL, "begin without the heat map" },
	},
	.run = run_browse,
};
