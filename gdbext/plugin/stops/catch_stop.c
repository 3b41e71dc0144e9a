#include "plugin/stops/catch_stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/convenience.h"
#include "inspect/tensor/format.h"
#include "plugin/bridge/bridge.h"
#include "plugin/stops/catch_condition.h"
#include "plugin/stops/catch_nodes.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/evaluation.h"
#include "plugin/stops/hits.h"
#include "plugin/stops/node_look.h"
#include "tensors/tensors.h"

enum { MAX_FRAMES = 48 };

static void print_wrapped(struct lbx_out *out, int indent, const struct text *text)
{
	lbx_printf(out, "%*s", indent, "");
	lbx_wrap(out, indent, indent + 2);
	lbx_printf(out, "%s\n", text->bytes);
}

/* "tensor #3 qt: float32 (4, 3), strides (1, 4), made by transpose in main at subject.c:68" */
static void describe_tensor(struct lbx_context *context, const struct lbx_tensor *t, struct text *ret)
{
	struct lbx_source_line made = { .line = 0 };
	char list[LBX_LIST_MAX], id[LBX_ID_TEXT_MAX];

	lbx_format_list(lbx_shape(t), t->rank, list, sizeof list);
	text_printf(ret, "tensor");
	if (t->id) {
		lbx_tensor_id_text(t, id);
		text_printf(ret, " %s", id);
	}
	text_printf(ret, "%s%s: %s %s", t->name[0] ? " " : "", t->name, lbx_tensor_dtype_name(t), list);
	if (t->layout_known && lbx_tensor_contiguity(t) != LBX_ROW_CONTIGUOUS) {
		lbx_format_list(lbx_strides(t), t->rank, list, sizeof list);
		text_printf(ret, ", strides %s", list);
	}
	if (t->op[0])
		text_printf(ret, ", made by %s", t->op);
	if (t->site)
		lbx_target_source_line(context->target, t->site - 1, &made);
	if (made.function[0])
		text_printf(ret, " in %s", made.function);
	if (made.line)
		text_printf(ret, " at %s:%d", made.file, made.line);
}

static void describe_advice(const struct lbx_catch_stop *stop, struct text *ret)
{
	const struct lbx_catch_kind *kind = stop->catch->kind;
	const char *at = kind->advice, *gap;
	char id[LBX_ID_TEXT_MAX] = "T";

	if (stop->of && stop->of->by_evaluation && kind->evaluation_advice)
		at = kind->evaluation_advice;
	else if (stop->of && !stop->of->by_evaluation && kind->node_advice)
		at = kind->node_advice;

	if (stop->tensor && !stop->tensor->id) {
		text_printf(ret, "the program has given up the context that it is in: its record is at 0x%" PRIx64,
			    stop->args[0]);
		return;
	}
	if (stop->tensor)
		lbx_tensor_id_text(stop->tensor, id);
	text_printf(ret, "try: ");
	for (; (gap = strstr(at, "%s")); at = gap + 2)
		text_printf(ret, "%.*s%s", (int)(gap - at), at, id);
	text_printf(ret, "%s", at);
}

/* The file that a code address is of, as gdb names it; false when it does not know, or not yet. */
static bool find_module(uint64_t pc, const char **ret)
{
	const char *symbol, *in;

	if (!lbx_bridge_ask(&symbol, LBX_ANYWHERE, "info symbol 0x%" PRIx64, pc))
		return false;
	in = strstr(symbol, " in section ");
	if (!in)
		return false;
	*ret = strstr(in, " of ");
	if (!*ret)
		*ret = ""; /* the program itself */
	return true;
}

/* Whether both are in the same file, and the frame's function has lines. */
static bool is_near(struct lbx_context *context, const struct lbx_frame *frame, uint64_t site)
{
	struct lbx_source_line line;
	const char *own, *other;
	bool known = find_module(frame->pc, &own);

	known &= find_module(site, &other); /* both are asked at once */
	return known && strcmp(own, other) == 0 && context->stacks->ops->line(context->stacks, frame, &line) &&
	       line.line;
}

/* The level of the frame of the running call; or, for code that uses what a call gave, of the
 * innermost frame in the same file as that call. -1 when there is none. */
static int find_level(struct lbx_context *context, uint64_t site, bool exact)
{
	struct lbx_stack stack = { 0 };
	uint64_t tid;
	int level = -1;

	if (!context->stacks || context->stacks->ops->threads(context->stacks, &tid, 1) < 1 ||
	    !context->stacks->ops->walk(context->stacks, tid, MAX_FRAMES, 0, &stack))
		return -1;
	for (int i = 0; i < stack.n && level < 0; i++)
		if (exact ? stack.frames[i].pc == site : is_near(context, &stack.frames[i], site))
			level = stack.frames[i].level;
	lbx_stack_release(&stack);
	return level;
}

/* The call that the stop is in: one that the probe names, or that asked for the evaluation; 0: none is known.
 * *ret_without: a thread of the runtime's own evaluates, for a call that is over. */
static uint64_t find_site(struct lbx_context *context, const struct lbx_catch_stop *stop, bool *ret_without)
{
	struct lbx_thread thread;

	*ret_without = false;
	if (stop->catch->kind->site != LBX_NO_ARG)
		return stop->args[stop->catch->kind->site];
	if (!context->stacks || !lbx_evaluation_now(context, &thread) || !thread.eval)
		return 0;
	*ret_without = !thread.site;
	return thread.site;
}

/* The stop's tensor: the runtime's, by its id, or a node, by its record. */
static bool find_tensor(struct lbx_context *context, const struct lbx_catch_stop *stop, struct lbx_tensor *ret)
{
	struct lbx_tensors *tensors;
	struct lbx_table *table;

	if (stop->of) {
		bool found =
		    lbx_context_tensors(context, &tensors) && lbx_tensors_by_address(tensors, stop->args[0], ret);
		if (found || lbx_bridge_waits())
			return found;
		lb_clear_error();
		return lbx_node_tensor(context, stop->of, stop->args[0], ret);
	}
	if (stop->catch->kind->id == LBX_NO_ARG || !lbx_context_table(context, &table) ||
	    !lbx_tensors_by_id(lbx_table_tensors(table), stop->args[stop->catch->kind->id], ret))
		return false;
	lbx_tensor_take_computed(ret);
	return true;
}

static int shown; /* the level of the frame that was */
static bool is_told; /* what was hit last */

void lbx_catch_stop_select(void)
{
	lbx_bridge_script("with language c -- _lb_quiet select-frame %#x", (unsigned)shown);
}

/* Looks up the stop's tensor; its arguments are known. May ask (lbx_bridge_waits). */
static void tell(struct lbx_context *context, struct lbx_catch_stop *stop)
{
	const struct lbx_catch_kind *kind = stop->catch->kind;
	struct text head = { 0 }, tensor = { 0 }, advice = { 0 };
	struct lbx_tensor t;
	bool by_evaluation = stop->of && stop->of->by_evaluation;
	bool without = false;
	uint64_t site = stop->of ? 0 : find_site(context, stop, &without);
	int level = -1;

	if (find_tensor(context, stop, &t))
		stop->tensor = &t;
	/* whatever other threads do */
	if (stop->of && stop->tensor && kind->node == LBX_AFTER_NODE && t.state == LBX_UNSURE)
		t.state = LBX_READY;
	if (!site && stop->tensor && kind->takes == LBX_TAKES_BYTES)
		site = t.site; /* outside an evaluation it is the tensor's own call */
	text_printf(&head, "Catch %d (%s): %s.", stop->catch->number, kind->name,
		    by_evaluation && kind->evaluation_what ? kind->evaluation_what : kind->what);
	if (kind->detail && !(by_evaluation && kind->evaluation != LBX_AFTER_EVALUATION))
		kind->detail(context, stop, &head);
	if (stop->of && stop->of->tell)
		stop->of->tell(context, stop, &head);
	if (stop->tensor)
		describe_tensor(context, &t, &tensor);
	describe_advice(stop, &advice);
	if (site)
		level = find_level(context, site, kind->probe != NULL);
	if (stop->of)
		level = stop->of->caller_level(context);
	if (level < 0 && !kind->probe)
		level = 0;
	if (!lbx_bridge_waits() && !head.failed && !tensor.failed && !advice.failed) {
		lb_clear_error();
		print_wrapped(context->out, 0, &head);
		if (stop->tensor)
			print_wrapped(context->out, 2, &tensor);
		print_wrapped(context->out, 2, &advice);
		if (without && level < 0) {
			lbx_wrap(context->out, 0, 4);
			lbx_printf(context->out,
				   "  This thread is the runtime's own, without a frame of the program's: `tensor "
				   "where` tells what it runs.\n");
		}
		if (stop->tensor)
			lbx_set_tensor(context->out, &t);
		shown = level < 0 ? 0 : level;
		is_told = true;
		/* quietly first: the language in force is ours, and gdb warns once that it is not the frame's */
		if (level >= 0)
			lbx_bridge_script("set $_lb_level = %#x\n_lb_quiet select-frame $_lb_level\n"
					  "set $_lb_out_pc = (unsigned long)$pc, $_lb_out_sp = (unsigned long)$sp\n"
					  "with language %s -- frame $_lb_level",
					  (unsigned)level, lbx_bridge_language());
	}
	stop->tensor = NULL;
	text_free(&head);
	text_free(&tensor);
	text_free(&advice);
}

/* ---- whether it is to stop ---- */

/* False while answers are awaited. */
static bool holds(struct lbx_context *context, const struct lbx_catch_stop *stop, bool *ret)
{
	struct lbx_tensor t;
	bool found = stop->catch->condition[0] && find_tensor(context, stop, &t);

	*ret = true;
	if (lbx_bridge_waits())
		return false;
	lb_clear_error();
	return lbx_catch_condition_holds(context, stop->catch, found ? &t : NULL, ret);
}

/* gdb runs the commands of breakpoints that are hit at one place in their order: whether those of a catch behind this one are still to
 * come, which then decides. */
static bool another_decides(const struct lbx_catch *c)
{
	int n;
	const struct lbx_catch *all = lbx_catches(&n);

	for (int i = 0; i < n; i++)
		if (all[i].number > c->number && all[i].kind->probe == c->kind->probe &&
		    lbx_breakpoint_exists(lbx_catch_key(&all[i])) &&
		    lbx_hits_is_new(lbx_breakpoint_number(lbx_catch_key(&all[i]))))
			return true;
	return false;
}

static bool has_conditions(void)
{
	int n;
	const struct lbx_catch *all = lbx_catches(&n);

	for (int i = 0; i < n; i++)
		if (all[i].number && all[i].condition[0])
			return true;
	return false;
}

/* ---- which catch it is ---- */

/* The guard at an address, as the arguments of a stop; and the catch that wants it. */
static const struct lbx_catch *find_guard(struct lbx_context *context, uint64_t address, struct lbx_catch_stop *stop)
{
	uint64_t i = (address - LB_GUARD_BASE) >> LB_GUARD_SHIFT;
	struct lb_guard guard;
	struct lbx_table *table;
	struct lbx_tensors *tensors;
	struct lbx_tensor t = { .name = "" };

	if (i == 0 || i >= LB_GUARDS ||
	    !lbx_target_read(context->target, LB_GUARD_BASE + i * sizeof guard, &guard, sizeof guard) ||
	    !lbx_context_table(context, &table))
		return NULL;
	tensors = lbx_table_tensors(table);
	if (!lbx_tensors_by_id(tensors, guard.id, &t))
		lb_clear_error();
	memcpy(stop->args, (uint64_t[]){ guard.id, guard.tensor, guard.site, guard.data, address, guard.nbytes },
	       sizeof stop->args);
	return lbx_catch_of_guard(guard.id, t.name);
}

void lbx_catch_stop_at_node(struct lbx_context *context, const struct lbx_nodes_ops *of, struct lbx_catch_stop *stop)
{
	stop->of = of;
	tell(context, stop);
	if (stop->catch->once && !lbx_bridge_waits())
		lbx_bridge_then("uncatch %d", stop->catch->number);
	if (!lbx_bridge_waits())
		lbx_hits_keep();
}

bool lbx_catch_hit_node(struct lbx_context *context, const struct lbx_nodes_ops *of, int number,
			const struct lbx_node_place *place)
{
	const struct lbx_catch *hit = lbx_catch_numbered(number);
	struct lbx_catch_stop stop = { 0 };
	bool stops = false, another = false;

	if (!hit || !lbx_guests_have(hit))
		return lb_fail("a breakpoint of a catch that is off: delete it");
	if (!lbx_catches_look(context, of, number, place, &stop, &stops, &another))
		return false;
	if (stops)
		lbx_catch_stop_at_node(context, of, &stop);
	return stops || another || lbx_hits_go_on();
}

bool lbx_catch_hit(struct lbx_context *context, const char *words)
{
	struct lbx_catch_stop stop = { 0 };
	uint64_t fault = 0;
	const char *rest;
	const struct lbx_nodes_ops *of = lbx_guest_named(words, &rest);
	char *at;

	is_told = false;
	if (of)
		return of->hear(context, rest);
	if (strncmp(words, "fault ", 6) == 0) {
		lbx_bridge_script("set $_lb_go = 0");
		fault = strtoull(words + 6, NULL, 16);
		stop.catch = find_guard(context, fault, &stop);
		if (!stop.catch) {
			if (!lbx_bridge_waits())
				lbx_bridge_script("set $_lb_go = 1");
			return true;
		}
	} else {
		stop.catch = lbx_catch_numbered((int)strtol(words, &at, 10));
		for (int i = 0; i < LBX_PROBE_ARGS && *at == ','; i++)
			stop.args[i] = strtoull(at + 1, &at, 16);
		if (!stop.catch)
			return lb_fail("a breakpoint of a catch that is off: delete it");
	}
	if (has_conditions()) {
		bool stops, known = lbx_breakpoints_look();
		known &= lbx_hits_ask(); /* both are asked at once */
		lbx_bridge_script("set $_lb_go = 0"); /* of an earlier hit */
		if (!known || !holds(context, &stop, &stops)) {
			if (lbx_bridge_interrupted())
				lbx_bridge_script("frame");
			return false;
		}
		if (!stops && !another_decides(stop.catch))
			return lbx_hits_go_on();
		if (!stops)
			return true;
		lbx_hits_keep();
	}
	tell(context, &stop);
	if (fault)
		lbx_bridge_script("with language c -- _lb_open_guard %#" PRIx64, fault);
	if (stop.catch->once && !lbx_bridge_waits())
		lbx_bridge_then("uncatch %d", stop.catch->number);
	return true;
}

bool lbx_catch_stands(void)
{
	return is_told || lbx_hits_are_kept();
}
