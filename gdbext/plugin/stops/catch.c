/* A catch is a breakpoint on a probe of the runtime (breakpoints.c). T is in its condition: as an id, or as a name
 * that gdb compares in the program's memory, eight bytes at a time, through the record's address. So a catch by name
 * holds across runs.
 *
 * gdb 13 loses an `if` after a probe, and disables a pending breakpoint that was given a
 * condition before it was found. And what the condition says depends on the program: where its records
 * have the name. So there is a breakpoint on the runtime's first probe, `start`, too, for as long as
 * anything is caught. No tensor exists there, all probes do, and the symbol table can be read. Its
 * commands give the other breakpoints their conditions, write the words that make the runtime look
 * (catch_watch.c, switches.c), and continue. In a process that is past that point a catch is complete at once.
 *
 * An access to a guarded copy is a signal, not a probe: `catch signal SIGSEGV`, one for all such
 * catches. Its commands tell guards by their address. They show any other SIGSEGV as gdb would; a
 * condition would keep gdb from stopping at it at all.
 *
 * A glob is compared by the runtime, with each name just before its probe: gdb has no function for
 * it without Python, and to let the commands of the breakpoint go on would make gdb forget a `next` or
 * `finish` under way, and take the stop from the user's own breakpoint there. The result is a bit of
 * the tensor's record; it is in the condition.
 *
 * At ggml's nodes a catch has another breakpoint (catch_nodes.c, nodes.c).
 *
 * Nothing is done before all that can fail has been found out. What fails in gdb's script, since gdb
 * could not set a breakpoint, is noticed by lbx_catch_refresh(): a catch without breakpoint is none. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/catch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/convenience.h"
#include "inspect/tensor/format.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/hooks.h"
#include "plugin/command.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/breakpoints.h"
#include "plugin/stops/catch_forms.h"
#include "plugin/stops/catch_nodes.h"
#include "plugin/stops/catch_words.h"
#include "plugin/stops/probes.h"

enum { MAX_CATCHES = LBX_BREAKPOINTS_NUMBERED };

static struct {
	struct lbx_catch v[MAX_CATCHES];
	int last;
	bool vanished; /* some, which the program still has words for */
	int orphans[MAX_CATCHES]; /* their numbers: they may have another breakpoint */
	int n_orphans;
} catches;

/* All that have no probe have one breakpoint in common. A tensor of ggml's has none at a probe. */
static int key_of(const struct lbx_catch *c)
{
	return !c->kind->probe ? LBX_BREAKPOINT_FAULT : c->record ? LBX_BREAKPOINT_NODES + c->number : c->number;
}

static bool exists(const struct lbx_catch *c)
{
	return lbx_breakpoint_exists(key_of(c)) &&
	       (!c->has_nodes || (lbx_breakpoint_exists(LBX_BREAKPOINT_NODES + c->number) &&
				  lbx_breakpoint_exists(LBX_BREAKPOINT_ENTRY)));
}

const struct lbx_catch *lbx_catch_numbered(int number)
{
	for (int i = 0; i < MAX_CATCHES && number > 0; i++)
		if (catches.v[i].number == number)
			return &catches.v[i];
	return NULL;
}

static bool is_set(bool faults_only)
{
	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number && !(faults_only && catches.v[i].kind->probe))
			return true;
	return false;
}

/* A catch without its breakpoint is none. */
bool lbx_catch_refresh(void)
{
	if (!lbx_breakpoints_refresh())
		return false;
	for (int i = 0; i < MAX_CATCHES; i++) {
		if (!catches.v[i].number || exists(&catches.v[i]))
			continue;
		if (catches.n_orphans < MAX_CATCHES)
			catches.orphans[catches.n_orphans++] = catches.v[i].number;
		catches.v[i].number = 0;
		catches.vanished = true;
	}
	return true;
}

struct lbx_catch *lbx_catches(int *ret_n)
{
	*ret_n = MAX_CATCHES;
	return catches.v;
}

void lbx_catch_suspend(void)
{
	for (int i = 0; i < MAX_CATCHES; i++) {
		if (!catches.v[i].number)
			continue;
		lbx_breakpoint_suspend(key_of(&catches.v[i]));
		lbx_breakpoint_suspend(LBX_BREAKPOINT_NODES + catches.v[i].number);
		lbx_breakpoint_suspend(LBX_BREAKPOINT_FORWARD + catches.v[i].number);
	}
}

/* ---- making them ---- */

/* What gdb is to check, to be freed; with an error when memory is out. */
static bool condition_of(const struct lbx_catch *c, const struct lbx_watch_place *place, struct text *ret)
{
	*ret = (struct text){ 0 };
	if (c->kind->probe && !c->record && place->found)
		lbx_catch_condition(c, place->table, ret);
	if (!ret->failed)
		return true;
	text_free(ret);
	return lb_fail("out of memory");
}

/* `breakpoint` is a number, or a variable with it. Frees the condition. */
static void put_condition(const char *breakpoint, struct text *condition)
{
	if (condition->n)
		lbx_bridge_script("with language c -- condition %s %s", breakpoint, condition->bytes);
	text_free(condition);
}

/* Where the runtime is to keep the catch's glob. */
static bool choose_pattern(struct lbx_catch *new)
{
	uint32_t taken = 0;
	int place = 1;

	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number)
			taken |= UINT32_C(1) << catches.v[i].pattern;
	while (taken >> place & 1)
		place++;
	new->pattern = new->is_glob ? place : 0;
	return !new->is_glob || place <= LB_WATCH_PATTERNS ||
	       lb_fail("break: no more than %d globs: `tensor uncatch` some", LB_WATCH_PATTERNS);
}

/* A core does not run; and while this is a question, nothing has happened yet. */
static bool may_run(struct lbx_context *context)
{
	enum lbx_liveness liveness = context->target ? lbx_target_gdb_liveness() : LBX_UNKNOWN;

	if (lbx_bridge_waits())
		return false;
	if (liveness == LBX_CORE)
		return lb_fail("a core file does not run, nothing can happen in it; `tensor "
			       "events` shows what did, `core-file` without a file closes it");
	return true;
}

/* The runtime has one word for a limit. */
static bool is_free(const struct lbx_catch_kind *kind)
{
	if (kind->takes != LBX_TAKES_BYTES && kind->takes != LBX_TAKES_COUNT)
		return true;
	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number && catches.v[i].kind == kind)
			return lb_fail("catch: catch %d has a limit for %s already: `tensor uncatch %d` "
				       "first",
				       catches.v[i].number, kind->name, catches.v[i].number);
	return true;
}

/* What an older runtime cannot do for a catch that it knows. */
static void add_shortcoming(const struct lbx_catch *c, const struct lbx_watch_place *place, struct text *ret)
{
	enum { COUNTS_EACH = 8 }; /* a minor of the symbol table */

	if (place->found && c->kind->takes == LBX_TAKES_COUNT && place->root.minor < COUNTS_EACH)
		text_printf(ret, "the program's runtime is older and counts only now and then: this may stop late, or "
				 "not at all");
}

/* `inlined`: another catch makes the runtime run compiled functions operation by operation. `were_armed`: ggml's nodes
 * were caught before. */
static void tell_set(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_watch_place *place,
		     bool inlined, bool were_armed)
{
	struct lbx_out *out = context->out;
	struct text text = { 0 }, note = { 0 };
	char bytes[32];

	lbx_catch_note(context, c, &note);
	if (place->found && lbx_watch_is_passed(place, c->kind->takes == LBX_TAKES_BYTES ? c->limit : UINT64_MAX)) {
		lbx_format_bytes((int64_t)place->root.counters.active_bytes, bytes, sizeof bytes);
		text_printf(&note, "in use already: %s; it stops at the next growth", bytes);
	}
	add_shortcoming(c, place, &note);
	if (c->has_nodes && !were_armed)
		text_printf(&note, "%sof ggml's nodes, it holds from the next graph on", note.n ? "; " : "");
	if (!c->has_nodes && !c->has_forward && context->target && !place->found && lbx_probes_lack_runtime())
		text_printf(&note, "the program has no runtime now: this waits for one to be loaded");

	lbx_begin(out, NULL);
	lbx_catch_keys(c, out);
	if (note.n)
		LBX_KEY(out, "note", lbx_json_string(note.bytes));
	lbx_catch_describe(c, &text);
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "Catch %d: %.*s%s%s.\n", c->number, (int)text.n, text.bytes, note.n ? "; " : "",
		   note.n ? note.bytes : "");
	if (inlined)
		lbx_printf(out, "While nan, range or a break is set, functions are not compiled, "
				"so none is traced again.\n");
	lbx_end(out);
	text_free(&text);
	text_free(&note);
	lbx_set_int(out, "tensor_catch", c->number);
}

static bool run_catch(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_catch new = { .kind = lbx_catch_kind(args->v[0]) };

	return new.kind && may_run(context) && lbx_catch_refresh() && is_free(new.kind) &&
	       lbx_catch_parse(context, args, &new) && lbx_catch_set(context, &new);
}

/* Puts it into a list of MAX_CATCHES. */
static bool take_place(const struct lbx_catch *new, struct lbx_catch *list)
{
	for (int i = 0; i < MAX_CATCHES; i++) {
		if (list[i].number)
			continue;
		list[i] = *new;
		return true;
	}
	return lb_fail("no more than %d: `tensor uncatch` some", MAX_CATCHES);
}

/* Whether it, or another, makes the runtime run compiled functions operation by operation, where there are any. */
static bool inlines(const struct lbx_catch *new, const struct lbx_catch *list, const struct lbx_watch *want)
{
	const uint32_t by_op = LB_WATCH_NAN | LB_WATCH_RANGE | LB_WATCH_CALLS;
	bool compiling = false;

	for (int i = 0; i < MAX_CATCHES; i++)
		compiling |= list[i].number && list[i].kind->takes == LBX_TAKES_FUNCTION;
	return (want->all & by_op) && compiling &&
	       ((new->kind->watch & by_op) || new->kind->takes == LBX_TAKES_FUNCTION);
}

/* What a program has that the catch is to stop at: a runtime, ggml. Fails if it has no more than a ggml that cannot be
 * stopped so, or that has not what it is of. */
static bool check_places(const struct lbx_catch *c, const struct lbx_watch_place *place, enum lbx_nodes there)
{
	if (place->found || there == LBX_NODES_NONE)
		return true;
	if (there == LBX_NODES_REFUSED)
		return lb_fail("the program's nodes of ggml cannot be stopped at: %s", lbx_nodes_why());
	return lbx_nodes_check(c);
}

/* Makes the breakpoints of one that is among the catches now. */
static bool add_breakpoints(struct lbx_catch *c, const struct lbx_watch_place *place, bool nodes)
{
	struct text condition;

	if (!condition_of(c, place, &condition))
		return false;
	if (nodes && !lbx_catch_add_node(c)) {
		text_free(&condition);
		return false;
	}
	if (!c->kind->probe)
		lbx_breakpoint_add_fault();
	else if (!c->record)
		lbx_breakpoint_add(c->number, c->kind->probe, c->kind->n_args);
	lbx_breakpoint_need_start(LBX_START_FOR_CATCHES);
	put_condition("$_lb_catch", &condition);
	return true;
}

bool lbx_catch_set(struct lbx_context *context, const struct lbx_catch *wanted)
{
	struct lbx_catch new = *wanted, list[MAX_CATCHES];
	struct lbx_watch_place place;
	enum lbx_nodes there;
	struct lbx_watch want;

	if (context->target)
		lbx_probes_lack_runtime(); /* asked in time */
	if (!may_run(context) || !lbx_catch_refresh() || !lbx_hooks_ask() || !lbx_watch_find(context, &place) ||
	    !lbx_nodes_find(context, &there) || !check_places(&new, &place, there) ||
	    (place.found && new.kind->probe && !lbx_probes_exist()))
		return false;
	new.number = catches.last + 1;
	memcpy(list, catches.v, sizeof list);
	if (!choose_pattern(&new) || !take_place(&new, list))
		return false;
	bool nodes = there == LBX_NODES_THERE && lbx_catches_want_nodes(&new, 1) && lbx_nodes_check(&new);
	bool armed = lbx_nodes_are_armed();
	lb_clear_error();
	want = lbx_watch_wanted(list, MAX_CATCHES);
	if (!lbx_watch_check(&place, &want))
		return false;
	if (!context->target)
		lbx_catch_forget_nodes(); /* of a process that has ended */
	memcpy(list, catches.v, sizeof list);
	if (!add_breakpoints(&new, &place, nodes) || !take_place(&new, list))
		return false;
	if (lbx_catches_want_nodes(&new, 1) && (nodes || (there == LBX_NODES_NONE && !place.found)))
		lbx_nodes_need();
	memcpy(catches.v, list, sizeof list);
	catches.last = new.number;
	if (!lbx_watch_write(context, &place, &want))
		return false;
	lbx_hooks_define();
	tell_set(context, &new, &place, inlines(&new, list, &want), armed);
	return true;
}

/* ---- unmaking them ---- */

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

/* The breakpoints that several catches have in common, and of those that the user has deleted what is left. */
static void release_shared(struct lbx_context *context)
{
	for (int i = 0; i < catches.n_orphans; i++) {
		lbx_breakpoint_delete(catches.orphans[i]);
		lbx_nodes_remove(catches.orphans[i]);
	}
	catches.n_orphans = 0;

	if (!is_set(true) && lbx_breakpoint_exists(LBX_BREAKPOINT_FAULT) && !lbx_watch_has_closed_guards(context))
		lbx_breakpoint_delete(LBX_BREAKPOINT_FAULT);
	if (!is_set(false))
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

static bool run_uncatch(struct lbx_context *context, const struct lbx_args *args)
{
	bool all = args->n == 0 || (args->n == 1 && strcmp(args->v[0], "all") == 0);
	struct lbx_catch left[MAX_CATCHES], removed[MAX_CATCHES];
	struct lbx_watch_place place;
	struct lbx_watch want;
	int n = 0;

	if (!lbx_catch_refresh())
		return false;
	for (int k = 0; k < args->n && !all; k++)
		if (!check_number(args->v[k]))
			return false;
	memcpy(left, catches.v, sizeof left);
	for (int i = 0; i < MAX_CATCHES; i++) {
		bool wanted = all;
		for (int k = 0; k < args->n && !wanted; k++)
			wanted = left[i].number == strtol(args->v[k], NULL, 10);
		if (left[i].number && wanted) {
			removed[n++] = left[i];
			left[i].number = 0;
		}
	}
	want = lbx_watch_wanted(left, MAX_CATCHES);
	if (!lbx_watch_find(context, &place) ||
	    (!lbx_catches_want_nodes(left, MAX_CATCHES) && !lbx_nodes_release(context)) ||
	    !lbx_watch_write(context, &place, &want))
		return false;
	memcpy(catches.v, left, sizeof left);
	tell_removed(context->out, removed, n);
	for (int i = 0; i < n; i++) {
		if (removed[i].kind->probe)
			lbx_breakpoint_delete(removed[i].number);
		lbx_nodes_remove(removed[i].number);
	}
	release_shared(context);
	return true;
}

bool lbx_catch_deleted(struct lbx_context *context, bool *changed)
{
	struct lbx_watch_place place;
	struct lbx_watch want;

	*changed = false;
	if (!lbx_catch_refresh() ||
	    (!lbx_catches_want_nodes(catches.v, MAX_CATCHES) && !lbx_nodes_tidy(context, changed)))
		return false;
	if (!catches.vanished || *changed)
		return true;
	want = lbx_watch_wanted(catches.v, MAX_CATCHES);
	if (!lbx_watch_find(context, &place) ||
	    (!lbx_catches_want_nodes(catches.v, MAX_CATCHES) && !lbx_nodes_release(context)) ||
	    !lbx_watch_write(context, &place, &want))
		return false;
	catches.vanished = false;
	*changed = true;
	release_shared(context);
	return true;
}

/* ---- in a program that comes ---- */

/* Takes out of the list what the program's runtime cannot do, and disables its breakpoint, which would
 * stop at each event. */
static bool leave_out(struct lbx_context *context, const struct lbx_watch_place *place, struct lbx_catch *c)
{
	const struct lbx_watch want = lbx_watch_wanted(c, 1);

	if (!c->number || lbx_watch_check(place, &want))
		return false;
	lbx_printf(context->out, "Catch %d is disabled: %s.\n", c->number, lb_error_message());
	lb_clear_error();
	lbx_bridge_script("disable %d", lbx_breakpoint_number(key_of(c)));
	c->number = 0;
	return true;
}

static void tell_shortcoming(struct lbx_context *context, const struct lbx_watch_place *place,
			     const struct lbx_catch *c)
{
	struct text text = { 0 };

	add_shortcoming(c, place, &text);
	lbx_wrap(context->out, 0, 4);
	if (text.n)
		lbx_printf(context->out, "Catch %d: %s.\n", c->number, text.bytes);
	text_free(&text);
}

bool lbx_catch_arm(struct lbx_context *context, const struct lbx_watch_place *place)
{
	struct lbx_catch list[MAX_CATCHES];
	struct lbx_watch want;
	struct text condition;
	char number[16];
	bool ok = true;

	memcpy(list, catches.v, sizeof list);
	for (int i = 0; i < MAX_CATCHES && ok; i++) {
		if (leave_out(context, place, &list[i]) || !list[i].number)
			continue;
		snprintf(number, sizeof number, "%d", lbx_breakpoint_number(key_of(&list[i])));
		ok = condition_of(&list[i], place, &condition);
		if (ok)
			put_condition(number, &condition);
		tell_shortcoming(context, place, &list[i]);
	}
	want = lbx_watch_wanted(list, MAX_CATCHES);
	return ok && lbx_watch_write(context, place, &want);
}

const struct lbx_catch *lbx_catch_of_guard(uint64_t id, const char *name)
{
	for (int i = 0; i < MAX_CATCHES; i++) {
		const struct lbx_catch *c = &catches.v[i];
		bool wanted = c->id ? c->id == id : !c->name[0] || strcmp(c->name, name) == 0;

		if (c->number && !c->kind->probe && wanted)
			return c;
	}
	return NULL;
}

void lbx_catches_tell(struct lbx_out *out)
{
	lbx_begin_list(out, "catches");
	for (int i = 0; i < MAX_CATCHES; i++) {
		struct text text = { 0 };

		if (!catches.v[i].number)
			continue;
		lbx_begin(out, NULL);
		lbx_catch_keys(&catches.v[i], out);
		lbx_catch_describe(&catches.v[i], &text);
		lbx_printf(out, "catch %d: %.*s\n", catches.v[i].number, (int)text.n, text.bytes);
		text_free(&text);
		lbx_end(out);
	}
	lbx_end(out);
}

const struct lbx_command lbx_gdb_command_catch = {
	.name = "catch",
	.arguments = lbx_arguments_catch,
	.min_args = 1,
	.max_args = 4,
	.summary = "stop when something happens to a tensor",
	.help = "misuse [T]        a raw pointer is taken of a view that is not row-contiguous\n"
		"access [T]        such a pointer is used: stops before the first instruction that does\n"
		"nan [T]           an operation gives NaN or Inf for the first time\n"
		"range T LO HI     an operation gives a value outside LO to HI; T may be *\n"
		"implicit [T]      reading a value causes an evaluation\n"
		"eval [T]          the tensor has been computed\n"
		"promote [T]       a half becomes float32, or anything float64, without being asked\n"
		"recompile [NAME]  a compiled function is traced again; tells why\n"
		"memory LIMIT      the bytes in use pass LIMIT: 2G, 512M\n"
		"graph LIMIT       an evaluation, or all there is, has more lazy tensors than LIMIT\n"
		"T limits it to a name (also one to come), #ID, or an expression's tensor. A catch can\n"
		"be set before `run`, and lasts from run to run. gdb undoes all when it detaches.\n"
		"`access` makes the pointers of views lead to copies of their storage that cannot be\n"
		"touched (guard pages), up to 1 GiB and 63 tensors at a time. That costs a copy for\n"
		"each pointer taken, and a system call that is given the pointer fails (EFAULT).\n"
		"`nan`, `range` and `eval` keep the runtime from fusing operations. They, and breaks, stop\n"
		"at the nodes of ggml, too, in a program that is as it was built; there `nan` without T is\n"
		"of what no earlier node has spoilt.\n"
		"Example: catch range 'blk.0.scores' -1e4 1e4",
	.run = run_catch,
};

const struct lbx_command lbx_gdb_command_uncatch = {
	.name = "uncatch",
	.arguments = lbx_arguments_uncatch,
	.max_args = LBX_ARGS_MAX,
	.summary = "end the catches of these numbers, or all of them",
	.help = "`tensor status` lists the catches with their numbers.",
	.run = run_uncatch,
};
