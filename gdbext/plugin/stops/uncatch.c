#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/command.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/guests.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/hits.h"

static void tell_removed(struct lbx_out *out, const struct lbx_catch *removed, int n)
{
	lbx_begin(out, NULL);
	lbx_begin_list(out, "uncaught");
	if (n == 0)
		lbx_printf(out, "Nothing is being caught.\n");
	for (int i = 0; i < n; i++) {
		LBX_KEY(out, NULL, json_integer(removed[i].number));
		lbx_printf(out, "Catch %d is off.\n", removed[i].number);
	}
	lbx_end(out);
	lbx_end(out);
}

/* Of those that the user has not deleted, but one that they need. */
static void tell_gone(struct lbx_out *out)
{
	const int *gone;
	int n = lbx_catches_gone(&gone);

	for (int i = 0; i < n; i++)
		if (lbx_guests_remain(gone[i]))
			lbx_printf(out, "Catch %d is off: a breakpoint that it needs has been deleted.\n", gone[i]);
}

/* The breakpoints that several catches have in common, and of those that the user has deleted what is left. */
static void release_shared(struct lbx_context *context)
{
	const int *gone;
	int n = lbx_catches_gone(&gone);

	for (int i = 0; i < n; i++) {
		lbx_breakpoint_delete(gone[i]);
		lbx_guests_disarm(gone[i]);
	}
	lbx_catches_forget_gone();

	if (!lbx_catches_are_set(true) && lbx_breakpoint_exists(LBX_BREAKPOINT_FAULT) &&
	    !lbx_watch_has_closed_guards(context))
		lbx_breakpoint_delete(LBX_BREAKPOINT_FAULT);
	if (!lbx_catches_are_set(false))
		lbx_breakpoint_release_start(LBX_START_FOR_CATCHES);
}

/* A catch of this number is there. */
static bool check_number(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return (end != text && !*end && number > 0 && number <= INT_MAX && lbx_catch_numbered((int)number)) ||
	       lb_fail("uncatch: there is no catch %s: `tensor status` lists them", text);
}

/* Whether one is among those that the user names, which are all without a name. */
static bool is_named(const struct lbx_args *args, const struct lbx_catch *c)
{
	for (int i = 0; i < args->n; i++)
		if (strcmp(args->v[i], "all") == 0 || c->number == strtol(args->v[i], NULL, 10))
			return true;
	return args->n == 0;
}

/* What the program was told of those that are not in the list any more is undone. */
static bool undo(struct lbx_context *context, const struct lbx_catch *left)
{
	const struct lbx_watch want = lbx_watch_wanted(left, LBX_CATCHES);
	struct lbx_watch_place place;

	return lbx_watch_find(context, &place) && lbx_guests_release(context, left, LBX_CATCHES) &&
	       lbx_watch_write(context, &place, &want);
}

static bool run_uncatch(struct lbx_context *context, const struct lbx_args *args)
{
	bool all = args->n == 0 || (args->n == 1 && strcmp(args->v[0], "all") == 0);
	struct lbx_catch left[LBX_CATCHES], removed[LBX_CATCHES];
	int n = 0, places;

	if (!lbx_catch_refresh())
		return false;
	for (int k = 0; k < args->n && !all; k++)
		if (!check_number(args->v[k]))
			return false;
	struct lbx_catch *catches = lbx_catches(&places);
	memcpy(left, catches, sizeof left);
	for (int i = 0; i < LBX_CATCHES; i++) {
		if (!left[i].number || !is_named(args, &left[i]))
			continue;
		removed[n++] = left[i];
		left[i].number = 0;
	}
	if (!undo(context, left))
		return false;
	memcpy(catches, left, sizeof left);
	tell_removed(context->out, removed, n);
	for (int i = 0; i < n; i++) {
		if (removed[i].kind->probe)
			lbx_breakpoint_delete(removed[i].number);
		lbx_guests_disarm(removed[i].number);
	}
	release_shared(context);
	return true;
}

bool lbx_catch_deleted(struct lbx_context *context, bool *changed)
{
	const int *gone;
	int n;

	*changed = false;
	if (!lbx_catch_refresh())
		return false;
	lbx_hits_settle();
	*changed = lbx_guests_mend(context);
	if (*changed)
		return true;
	const struct lbx_catch *catches = lbx_catches(&n);
	if (!lbx_guests_tidy(context, catches, n, changed))
		return false;
	if (lbx_catches_gone(&gone) == 0 || *changed)
		return true;
	if (!undo(context, catches))
		return false;
	*changed = true;
	tell_gone(context->out);
	release_shared(context);
	return true;
}

const struct lbx_command lbx_gdb_command_uncatch = {
	.name = "uncatch",
	.arguments = lbx_arguments_uncatch,
	.max_args = LBX_ARGS_MAX,
	.summary = "end the catches of these numbers, or all of them",
	.help = "`tensor status` lists the catches with their numbers.",
	.run = run_uncatch,
};
