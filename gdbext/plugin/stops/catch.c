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
 * At the nodes of a program that nobody has prepared a catch has other breakpoints (guests.h).
 *
 * Nothing is done before all that can fail has been found out. What fails in gdb's script, since gdb
 * could not set a breakpoint, is noticed by lbx_catch_refresh(): a catch without breakpoint is none. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/catch.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/convenience.h"
#include "inspect/tensor/format.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/hooks.h"
#include "plugin/command.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/catch_forms.h"
#include "plugin/stops/catch_nodes.h"
#include "plugin/stops/catch_sieve.h"
#include "plugin/stops/catch_words.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/hits.h"
#include "plugin/stops/probes.h"

static int last; /* the number of the last one that was set */

bool lbx_catch_make_condition(const struct lbx_catch *c, const struct lbx_watch_place *place, struct text *ret)
{
	*ret = (struct text){ 0 };
	if (c->kind->probe && !c->record && place->found) {
		lbx_catch_condition(c, place->table, ret);
		if (c->condition[0])
			lbx_catch_sieve(c, place->table, ret);
	}
	if (!ret->failed)
		return true;
	text_free(ret);
	return lb_fail("out of memory");
}

void lbx_catch_put_condition(const char *breakpoint, struct text *condition)
{
	static unsigned number; /* gdb asks before it defines a command anew */

	if (condition->n) {
		number++;
		lbx_bridge_script("define _lb_condition_%u\ncondition %s %s\nend\n_lb_c _lb_condition_%u", number,
				  breakpoint, condition->bytes, number);
	}
	text_free(condition);
}

/* Where the runtime is to keep the catch's glob. */
static bool choose_pattern(struct lbx_catch *new)
{
	uint32_t taken = 0;
	int n, place = 1;
	const struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++)
		if (catches[i].number)
			taken |= UINT32_C(1) << catches[i].pattern;
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
	int n;
	const struct lbx_catch *catches = lbx_catches(&n);

	if (kind->takes != LBX_TAKES_BYTES && kind->takes != LBX_TAKES_COUNT)
		return true;
	for (int i = 0; i < n; i++)
		if (catches[i].number && catches[i].kind == kind)
			return lb_fail("catch: catch %d has a limit for %s already: `tensor uncatch %d` "
				       "first",
				       catches[i].number, kind->name, catches[i].number);
	return true;
}

void lbx_catch_add_shortcoming(const struct lbx_catch *c, const struct lbx_watch_place *place, struct text *ret)
{
	enum { COUNTS_EACH = 8 }; /* a minor of the symbol table */

	if (place->found && c->kind->takes == LBX_TAKES_COUNT && place->root.minor < COUNTS_EACH)
		text_printf(ret, "the program's runtime is older and counts only now and then: this may stop late, or "
				 "not at all");
}

/* No program that nobody has prepared knows such a thing. */
static bool is_ours_alone(const struct lbx_catch *c)
{
	return c->kind->node == LBX_NOT_AT_NODES && c->kind->evaluation == LBX_NOT_AT_EVALUATIONS;
}

/* `inlined`: another catch makes the runtime run compiled functions operation by operation. `is_there`: the program has
 * nodes of its kind, of whatever guest. `late`: at whose nodes
 * it holds only from the next graph on; or NULL. */
static void tell_set(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_watch_place *place,
		     bool inlined, bool is_there, const struct lbx_nodes_ops *late)
{
	struct lbx_out *out = context->out;
	struct text text = { 0 }, note = { 0 };
	char bytes[32];

	lbx_catch_note(context, c, &note);
	if (place->found && lbx_watch_is_passed(place, c->kind->takes == LBX_TAKES_BYTES ? c->limit : UINT64_MAX)) {
		lbx_format_bytes((int64_t)place->root.counters.active_bytes, bytes, sizeof bytes);
		text_printf(&note, "in use already: %s; it stops at the next growth", bytes);
	}
	lbx_catch_add_shortcoming(c, place, &note);
	if (late)
		text_printf(&note, "%sof %s's %s on", note.n ? "; " : "", late->name,
			    late->by_evaluation ? "arrays, it holds from the next evaluation"
						: "nodes, it holds from the next graph");
	if (!is_there && context->target && !place->found && lbx_probes_lack_runtime())
		text_printf(&note, "the program has no runtime now: this waits for one to be loaded");
	if (!context->target && is_ours_alone(c) && lbx_probes_are_of_python())
		text_printf(&note, "this is of Lazybones' own runtime: nothing of PyTorch, MLX or ggml does it");

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

/* Puts it into a list of LBX_CATCHES. */
static bool take_place(const struct lbx_catch *new, struct lbx_catch *list)
{
	for (int i = 0; i < LBX_CATCHES; i++) {
		if (list[i].number)
			continue;
		list[i] = *new;
		return true;
	}
	return lb_fail("no more than %d: `tensor uncatch` some", LBX_CATCHES);
}

/* Whether it, or another, makes the runtime run compiled functions operation by operation, where there are any. */
static bool inlines(const struct lbx_catch *new, const struct lbx_catch *list, const struct lbx_watch *want)
{
	const uint32_t by_op = LB_WATCH_NAN | LB_WATCH_RANGE | LB_WATCH_CALLS;
	bool compiling = false;

	for (int i = 0; i < LBX_CATCHES; i++)
		compiling |= list[i].number && list[i].kind->takes == LBX_TAKES_FUNCTION;
	return (want->all & by_op) && compiling &&
	       ((new->kind->watch & by_op) || new->kind->takes == LBX_TAKES_FUNCTION);
}

/* Whether the program's nodes are what it is of. */
static bool is_of_nodes(const struct lbx_nodes_ops *of, const struct lbx_catch *c, enum lbx_nodes_there there)
{
	bool is_so = there == LBX_NODES_THERE && lbx_catch_check_nodes(of, c);

	lb_clear_error();
	return is_so;
}

/* What a program has that the catch is to stop at: a runtime, nodes. Fails if it has no more than nodes that cannot be
 * stopped at, or are not what it is of. */
static bool check_places(const struct lbx_catch *c, const struct lbx_watch_place *place,
			 const enum lbx_nodes_there there[LBX_GUESTS])
{
	bool any = place->found;

	for (int i = 0; lbx_guest(i) && !any; i++)
		any = is_of_nodes(lbx_guest(i), c, there[i]);
	for (int i = 0; lbx_guest(i) && !any; i++) {
		const struct lbx_nodes_ops *of = lbx_guest(i);
		if (there[i] == LBX_NODES_REFUSED)
			return lb_fail("the program's %s cannot be stopped at: %s", of->what, of->why());
		if (there[i] == LBX_NODES_THERE && (!c->record || c->of == of))
			return lbx_catch_check_nodes(of, c);
	}
	return true;
}

/* Makes the breakpoints of one that is among the catches now; `nodes`: at whose nodes, too. */
static bool add_breakpoints(struct lbx_catch *c, const struct lbx_watch_place *place, const bool nodes[LBX_GUESTS])
{
	struct text condition;

	if (!lbx_catch_make_condition(c, place, &condition))
		return false;
	for (int i = 0; lbx_guest(i); i++) {
		if (!nodes[i] || lbx_guest(i)->arm(c, &c->how[i]))
			continue;
		text_free(&condition);
		return false;
	}
	if (!c->kind->probe)
		lbx_breakpoint_add_fault();
	else if (!c->record)
		lbx_breakpoint_add(c->number, c->kind->probe, c->kind->n_args, c->condition[0]);
	lbx_breakpoint_need_start(LBX_START_FOR_CATCHES);
	lbx_catch_put_condition("$_lb_catch", &condition);
	return true;
}

bool lbx_catch_set(struct lbx_context *context, const struct lbx_catch *wanted)
{
	struct lbx_catch new = *wanted, list[LBX_CATCHES];
	struct lbx_watch_place place;
	enum lbx_nodes_there there[LBX_GUESTS];
	bool nodes[LBX_GUESTS] = { false };
	const struct lbx_nodes_ops *late = NULL;
	bool is_there = false; /* the program has what it stops at: of a guest's */
	struct lbx_watch want;
	int n;

	if (context->target) /* asked in time */
		lbx_probes_lack_runtime();
	else if (is_ours_alone(&new))
		lbx_probes_are_of_python();
	if (!may_run(context) || !lbx_breakpoints_look() || !lbx_catch_refresh() || !lbx_hooks_ask() ||
	    !lbx_watch_find(context, &place) || !lbx_guests_find(context, there))
		return false;
	struct lbx_catch *catches = lbx_catches(&n);
	new.number = last + 1;
	if (!check_places(&new, &place, there) || (place.found && new.kind->probe && !lbx_probes_exist()))
		return false;
	memcpy(list, catches, sizeof list);
	if (!choose_pattern(&new) || !take_place(&new, list))
		return false;
	bool alone = !place.found && !lbx_guests_any(there, LBX_NODES_THERE);
	for (int i = 0; lbx_guest(i); i++) {
		nodes[i] = is_of_nodes(lbx_guest(i), &new, there[i]);
		is_there |= nodes[i] && there[i] == LBX_NODES_THERE;
		if (nodes[i] && !lbx_guest(i)->holds_now())
			late = lbx_guest(i);
	}
	want = lbx_watch_wanted(list, LBX_CATCHES);
	if (!lbx_watch_check(&place, &want))
		return false;
	if (!context->target)
		lbx_catch_forget_nodes(); /* of a process that has ended */
	memcpy(list, catches, sizeof list);
	lbx_breakpoint_probes_are_there(place.found && new.kind->probe);
	if (!add_breakpoints(&new, &place, nodes) || !take_place(&new, list))
		return false;
	lbx_breakpoint_probes_are_there(false);
	memcpy(catches, list, sizeof list);
	for (int i = 0; lbx_guest(i); i++)
		if (lbx_guest_wants(lbx_guest(i), &new) && (nodes[i] || (there[i] == LBX_NODES_NONE && alone)))
			lbx_guest(i)->await();
	last = new.number;
	if (!lbx_watch_write(context, &place, &want))
		return false;
	lbx_hits_settle();
	lbx_hooks_define();
	tell_set(context, &new, &place, inlines(&new, list, &want), is_there, late);
	return true;
}

const struct lbx_command lbx_gdb_command_catch = {
	.name = "catch",
	.arguments = lbx_arguments_catch,
	.min_args = 1,
	.max_args = 4,
	.summary = "stop when something happens to a tensor",
	.word = lbx_catch_word,
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
		"A mask's -Inf, which was put in, stops `nan` only where T is given.\n"
		"T limits it to a name (also one to come), #ID, or an expression's tensor; nan, range and\n"
		"eval also to a glob: 'layers.*'. A catch can be set before `run`, and lasts from run to\n"
		"run. `tensor status` lists them, each with the number of its breakpoint, which gdb's own\n"
		"`disable`, `enable`, `ignore` and `delete` take. gdb undoes all when it detaches.\n"
		"`access` makes the pointers of views lead to copies of their storage that cannot be\n"
		"touched (guard pages), up to 1 GiB and 63 tensors at a time. That costs a copy for\n"
		"each pointer taken, and a system call that is given the pointer fails (EFAULT).\n"
		"`nan`, `range` and `eval` keep the runtime from fusing operations. They, and breaks, stop\n"
		"at the nodes of ggml, too, in a program that is as it was built; there `nan` without T is\n"
		"of what no earlier node has spoilt. Of MLX's arrays `eval` and `implicit` stop in front of an\n"
		"evaluation, and tell Python's line; `nan` and `range` behind it, where a variable leads to\n"
		"the array. Of PyTorch's tensors none can be caught: it says so, and what to do instead.\n"
		"Example: catch range 'blk.0.scores' -1e4 1e4",
	.run = run_catch,
};
