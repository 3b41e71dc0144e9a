/* Tensors that are shown wherever the program stops.
 *
 * gdb's own `display` evaluates an expression and prints its value: no command, and of a text it prints the quotes. And
 * behind what gdb tells of a stop nothing can run: a `hookpost-next` does so in a script, but at the prompt `next`
 * has ended, for gdb, when the program runs. So the lines come from the hook-stop, just before gdb tells of the
 * place; at a catch, behind what it tells. Where the breakpoint has commands of the user's, a response would make gdb run
 * those inside the hook (lines.c): there nothing is shown, unless the commands say `tensor display`. */
#include "plugin/commands/display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/answer.h"
#include "inspect/operand/by_name.h"
#include "inspect/show/glance.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/hooks.h"
#include "plugin/command.h"

enum { DISPLAYS = 64 };

struct display {
	int number;
	bool peek;
	char text[LBX_TEXT_MAX];
};

static struct {
	struct display v[DISPLAYS];
	int n, last; /* the number of the last one that was made */
} displays;

static bool show(struct lbx_context *context, const struct display *d)
{
	struct lbx_out *out = context->out;

	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "%pF: ", LBX_INT("number", d->number));
	LBX_KEY(out, "peek", json_boolean(d->peek));
	bool ok = true;
	if (context->target) {
		ok = lbx_glance(context, &(struct lbx_glance){ .text = d->text, .peek = d->peek });
	} else {
		LBX_KEY(out, "expression", lbx_json_string(d->text));
		lbx_styled(out, LBX_NAME, "%s", d->text);
		lbx_printf(out, ": no program\n");
	}
	lbx_end(out);
	return ok;
}

/* All that may be asked is asked at once. What scripts are told of the last command stays as it is. */
static bool show_list(struct lbx_context *context, const struct display *list, int n)
{
	void (*set_tensor)(struct lbx_out *, const struct lbx_tensor *) = context->out->set_tensor;
	bool all = true;

	context->out->set_tensor = NULL;
	for (int i = 0; i < n && lb_error_cause() != LB_INTERRUPTED; i++) {
		if (show(context, &list[i]))
			continue;
		all = false;
		if (lb_error_cause() != LB_INTERRUPTED)
			lb_clear_error();
	}
	context->out->set_tensor = set_tensor;
	return all;
}

bool lbx_displays_show(struct lbx_context *context)
{
	return !displays.n || lbx_front_end_speaks_mi() || !context->target ||
	       show_list(context, displays.v, displays.n);
}

static bool run_list(struct lbx_context *context)
{
	if (displays.n == 0)
		lbx_printf(context->out, "Nothing is displayed: `tensor display T` shows T at each stop.\n");
	lbx_begin_list(context->out, NULL);
	bool ok = show_list(context, displays.v, displays.n);
	lbx_end(context->out);
	return ok;
}

/* Where they will not be seen. */
static void tell_lack(struct lbx_out *out)
{
	lbx_wrap(out, 0, 4);
	if (lbx_front_end_speaks_mi())
		lbx_printf(out, "At stops a front end that speaks MI shows its own watches, and none of these; "
				"`tensor display` shows them.\n");
	else if (!lbx_hooks_reach_stops())
		lbx_printf(out, "gdb has one hook-stop, and yours is there already: add the line `_tensor_stopped` to "
				"it; until then `tensor display` alone shows them.\n");
}

/* What begins with one, as *p, is another display. */
static bool ends_in_operator(const char *word)
{
	return *word && strchr("+-*/%@=!<>&|^~", word[strlen(word) - 1]);
}

static bool is_operator(const char *word)
{
	return *word && !word[strspn(word, "+-*/%@=!<>&|^~")];
}

/* The next T of the words, in which operators may stand between blanks: `ref * 2` is one. */
static bool take_text(const struct lbx_args *args, int *i, char ret[LBX_TEXT_MAX])
{
	size_t n = 0;
	bool goes_on = true;

	if (!*args->v[*i])
		return lb_fail("display: no tensor given");
	for (; *i < args->n && (goes_on || is_operator(args->v[*i])); ++*i) {
		const char *word = args->v[*i];
		if (n + strlen(word) + 2 > LBX_TEXT_MAX)
			return lb_fail("display: the expression is too long");
		n += (size_t)sprintf(ret + n, "%s%s", n ? " " : "", word);
		goes_on = ends_in_operator(word);
	}
	return true;
}

static bool run_display(struct lbx_context *context, const struct lbx_args *args)
{
	int n = displays.n, at = 0;
	bool peek = lbx_args_option(args, "peek");

	if (args->n == 0)
		return run_list(context);
	for (; at < args->n; n++) {
		if (n == DISPLAYS)
			return lb_fail("display: no more than %d: `tensor undisplay` some", DISPLAYS);
		displays.v[n] = (struct display){ .number = displays.last + n - displays.n + 1, .peek = peek };
		if (!take_text(args, &at, displays.v[n].text))
			return false;
	}
	bool known = lbx_hooks_ask();
	lbx_begin_list(context->out, NULL);
	if (!show_list(context, &displays.v[displays.n], n - displays.n) || !known || lbx_bridge_waits())
		return false;
	lbx_end(context->out);
	displays.last += n - displays.n;
	displays.n = n;
	tell_lack(context->out);
	lbx_hooks_define();
	lbx_hooks_use_stops(LBX_STOPS_DISPLAY, true);
	return true;
}

const struct lbx_command lbx_gdb_command_display = {
	.name = "display",
	.arguments = lbx_arguments_display,
	.max_args = LBX_ARGS_MAX,
	.needs = LBX_NEEDS_KIND,
	.summary = "show tensors wherever the program stops",
	.help = "One line for each: what T is, and its value; of more than 6 elements the range, the mean and\n"
		"the number of NaN, of the first 1048576 at most. A lazy tensor is told as lazy. T is a name,\n"
		"also one to come, or anything that `print` takes, evaluated in the frame where the program\n"
		"stops; where that cannot be, the line says so. The lines stand before gdb's own of that\n"
		"stop. At a breakpoint that has commands nothing is shown: say `tensor display` among\n"
		"them. Without T it shows them now; `undisplay` ends them.\n"
		"Example: display loss w[0] * 2 'abs(w.grad).max()'",
	.options = {
		{ "peek", NULL, "compute what is lazy, outside the program" },
	},
	.run = run_display,
};

/* The place of the display that a word means; -1: there is none. */
static int find(const char *word)
{
	char *end;
	long number = strtol(word, &end, 10);

	for (int i = 0; i < displays.n && end != word && !*end; i++)
		if (displays.v[i].number == number)
			return i;
	return -1;
}

static void remove_at(struct lbx_out *out, int i)
{
	LBX_KEY(out, NULL, json_integer(displays.v[i].number));
	lbx_printf(out, "%d: %s is shown no more.\n", displays.v[i].number, displays.v[i].text);
	displays.n--;
	memmove(&displays.v[i], &displays.v[i + 1], (size_t)(displays.n - i) * sizeof *displays.v);
}

static bool run_undisplay(struct lbx_context *context, const struct lbx_args *args)
{
	bool all = args->n == 0 || (args->n == 1 && strcmp(args->v[0], "all") == 0);
	struct lbx_out *out = context->out;

	for (int i = 0; i < args->n && !all; i++)
		if (find(args->v[i]) < 0)
			return lb_fail("undisplay: there is no display %s: `tensor display` lists them", args->v[i]);
	lbx_begin(out, NULL);
	lbx_begin_list(out, "undisplayed");
	if (all && displays.n == 0)
		lbx_printf(out, "Nothing is displayed.\n");
	while (all && displays.n)
		remove_at(out, 0);
	for (int i = 0; i < args->n && !all; i++)
		if (find(args->v[i]) >= 0) /* named twice */
			remove_at(out, find(args->v[i]));
	lbx_end(out);
	lbx_end(out);
	lbx_hooks_use_stops(LBX_STOPS_DISPLAY, displays.n > 0);
	return true;
}

const struct lbx_command lbx_gdb_command_undisplay = {
	.name = "undisplay",
	.arguments = lbx_arguments_undisplay,
	.max_args = LBX_ARGS_MAX,
	.summary = "end the displays of these numbers, or all of them",
	.help = "`tensor display` lists them with their numbers.",
	.run = run_undisplay,
};
