/* Two kinds of breakpoints (ggml/callback.h has the trick). Those at the entries of what computes a graph put code that
 * returns true into the slot of the scheduler, which is the first argument (slots.c); what was there is still called (own.c). The
 * other ones are at that code, one for each catch, which says in its condition what it wants (conditions.c).
 *
 * A program that computes without a scheduler calls no callback. Newer builds export what each thread calls with each
 * node (forward.c). Which of the two a program does shows when it computes its first graph: a breakpoint there is set when it
 * builds one, since before that there may be many libraries with such a function, which come and go.
 *
 * All are at addresses of this process, and go with it: gdb could not insert them into the next. There a breakpoint on
 * the function that makes a scheduler, by its name, says when they can be set. */
#include "plugin/ggml/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ggml/modules.h"
#include "plugin/bridge/bridge.h"
#include "plugin/ggml/conditions.h"
#include "plugin/ggml/forward.h"
#include "plugin/ggml/found.h"
#include "plugin/ggml/graph_end.h"
#include "plugin/ggml/keys.h"
#include "plugin/ggml/own.h"
#include "plugin/ggml/record.h"
#include "plugin/ggml/slots.h"
#include "plugin/stops/caller.h"
#include "plugin/stops/catch_nodes.h"
#include "plugin/stops/catch_stop.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/hits.h"
#include "plugin/stops/said.h"

/* How a catch is armed. */
enum { IN_SLOTS = 1 << 0, FORWARD = 1 << 1 };

static bool is_given_up; /* in this process */

/* ---- what there is ---- */

/* What is armed is of a process that is not there any more, as where the program has executed another one. */
static bool is_of_another(struct lbx_context *context)
{
	return context->target && (lbx_slots_are_armed() || lbx_forward_has_begun()) && !lbx_found_is_here(context);
}

/* Where a program has none, its modules may still come. */
static bool find(struct lbx_context *context, enum lbx_nodes_there *ret)
{
	bool is_another = is_of_another(context);

	if (is_another)
		lbx_found_keep(false);
	if (!lbx_found_find(context, ret) || (lbx_forward_has_begun() && !lbx_forward_look(context)))
		return false;
	if (is_another) /* after the last question */
		lbx_catch_forget_nodes();
	if (*ret == LBX_NODES_REFUSED && !is_given_up) {
		is_given_up = true;
		lbx_bridge_script("set $_lb_nodes = 1");
		lbx_breakpoint_set_condition(LBX_KEY_SCHEDULER, "$_lb_nodes == 0");
	}
	return true;
}

static bool check(const struct lbx_catch *c)
{
	return (!lbx_forward_has_begun() || lbx_forward_check(c)) &&
	       (!c->op[0] || lbx_ggml_has_op(lbx_found_anchor(), c->op) ||
		lb_fail("the program's ggml has no operation %s", c->op));
}

/* What it does next, as long as it is not known how it computes. */
static void await(void)
{
	lbx_breakpoint_need(LBX_KEY_SCHEDULER, LBX_GGML, "ggml_backend_sched_new", "made", NULL, NULL);
	if (lbx_forward_has_begun()) { /* it may have built already what it goes on to compute */
		lbx_breakpoint_need(LBX_KEY_COMPUTE, LBX_GGML, "ggml_graph_compute", "computes", NULL, NULL);
	} else if (!lbx_slots_are_armed()) {
		lbx_breakpoint_need(LBX_KEY_BUILD, LBX_GGML, "ggml_build_forward_expand", "builds", NULL, NULL);
	} else if (!lbx_breakpoint_exists(LBX_KEY_COMPUTE)) {
		lbx_breakpoint_need(LBX_KEY_COMPUTE, LBX_GGML, "ggml_graph_compute", "computes", NULL, NULL);
		lbx_breakpoint_set_condition(LBX_KEY_COMPUTE, "$_lb_uses == 0");
	}
}

/* ---- arming ---- */

static void arm_slots(void)
{
	bool is_new = !lbx_slots_are_armed();

	lbx_slots_arm();
	if (!is_new)
		return;
	lbx_found_keep(true);
	if (lbx_breakpoint_number(LBX_KEY_COMPUTE))
		lbx_breakpoint_set_condition(LBX_KEY_COMPUTE, "$_lb_uses == 0");
	lbx_breakpoint_enable(LBX_KEY_BUILD, false);
}

static bool arm_in_slots(const struct lbx_catch *c, unsigned *how)
{
	const struct lbx_ggml_callback *callback = lbx_found_callback();
	const struct lbx_call_words *w = lbx_call_words(callback->machine);
	struct text condition = { 0 };
	char words[32];

	lbx_slot_condition(c, callback, lbx_found_anchor(), &condition);
	if (condition.failed) {
		text_free(&condition);
		return lb_fail("out of memory");
	}
	arm_slots();
	snprintf(words, sizeof words, "asked %d", c->number);
	lbx_breakpoint_add_code(LBX_KEY_NODES + c->number, LBX_GGML, callback->code.start, words, w->first, w->second,
				condition.bytes);
	*how |= IN_SLOTS;
	text_free(&condition);
	return true;
}

static bool arm(const struct lbx_catch *c, unsigned *how)
{
	if (!lbx_forward_has_begun())
		return arm_in_slots(c, how);
	*how |= FORWARD;
	return lbx_forward_arm(c);
}

static bool holds_now(void)
{
	return lbx_slots_are_armed() || lbx_forward_has_begun();
}

static bool is_armed(const struct lbx_catch *c, unsigned how)
{
	(void)c;
	return how & (lbx_forward_has_begun() ? FORWARD : IN_SLOTS);
}

static bool is_whole(const struct lbx_catch *c, unsigned how)
{
	return (!(how & IN_SLOTS) || (lbx_breakpoint_exists(LBX_KEY_NODES + c->number) && lbx_slots_are_whole())) &&
	       (!(how & FORWARD) || lbx_forward_is_whole(c));
}

static bool remains(int catch)
{
	return lbx_breakpoint_exists(LBX_KEY_NODES + catch) || lbx_forward_remains(catch);
}

static bool mend(struct lbx_context *context)
{
	bool is_another = is_of_another(context);

	if (is_another)
		lbx_catch_forget_nodes();
	else
		lbx_own_enable(context->out);
	return is_another;
}

static void suspend(const struct lbx_catch *c)
{
	lbx_breakpoint_suspend(LBX_KEY_NODES + c->number);
	lbx_forward_suspend(c);
}

static void disarm(int catch)
{
	lbx_breakpoint_delete(LBX_KEY_NODES + catch);
	lbx_forward_disarm(catch);
}

/* ---- undoing it ---- */

static bool release(struct lbx_context *context)
{
	bool is_done;

	if ((lbx_forward_has_begun() && !lbx_forward_rest(context)) || !lbx_slots_release(context, &is_done))
		return false;
	if (is_done)
		lbx_found_keep(lbx_forward_has_begun());
	lbx_breakpoint_delete(LBX_KEY_SCHEDULER);
	lbx_breakpoint_delete(LBX_KEY_BUILD);
	lbx_breakpoint_delete(LBX_KEY_COMPUTE);
	return true;
}

static bool tidy(struct lbx_context *context, bool *ret)
{
	*ret = false;
	if (!lbx_slots_linger())
		return true;
	if (!release(context))
		return false;
	*ret = !lbx_slots_linger();
	return true;
}

static bool leave(struct lbx_context *context, enum lbx_leaving how)
{
	if (!lbx_slots_leave(context, how))
		return false;
	if (!lbx_slots_are_armed())
		lbx_found_keep(lbx_forward_has_begun());
	return true;
}

static void forget(void)
{
	if (lbx_slots_are_armed())
		lbx_slots_forget();
	else if (is_given_up)
		lbx_bridge_script("set $_lb_nodes = 0");
	lbx_breakpoint_delete(LBX_KEY_COMPUTE);
	lbx_breakpoint_enable(LBX_KEY_BUILD, true);
	lbx_forward_forget();
	lbx_found_keep(false);
	lbx_stop_records_forget();
	is_given_up = false;
}

/* ---- what the breakpoints say ---- */

/* It makes a scheduler. Where gdb has disabled what is armed, another program has been executed, perhaps with the same libraries
 * at the same places. */
static bool hear_made(struct lbx_context *context, const char *words)
{
	enum lbx_nodes_there there;

	(void)words;
	if (lbx_slots_are_armed() && !lbx_breakpoint_is_enabled(LBX_KEY_ENTRY)) {
		lbx_found_keep(false);
		if (!lbx_found_find(context, &there))
			return false;
		lbx_catch_forget_nodes();
	}
	return lbx_catch_arm_nodes(context);
}

/* It builds a graph: it may be going to compute that without a scheduler. */
static bool hear_builds(struct lbx_context *context, const char *words)
{
	(void)context;
	(void)words;
	lbx_breakpoint_enable(LBX_KEY_BUILD, false);
	if (!lbx_slots_are_armed())
		lbx_breakpoint_need(LBX_KEY_COMPUTE, LBX_GGML, "ggml_graph_compute", "computes", NULL, NULL);
	return true;
}

/* It is about to compute a graph, and no scheduler does. */
static bool hear_computes(struct lbx_context *context, const char *words)
{
	enum lbx_nodes_there there;
	uint64_t end;

	(void)words;
	/* all that has to be asked before anything is done */
	if (!lbx_found_find(context, &there) || !lbx_graph_end(context, &end) || !lbx_forward_begin(context))
		return false;
	lbx_found_keep(true);
	if (!lbx_catch_arm_nodes(context))
		return false;
	lbx_forward_meet_graph(context, end);
	return true;
}

static bool hear_scheduler(struct lbx_context *context, const char *words)
{
	if (!lbx_slots_are_armed())
		return lb_fail("a breakpoint of a catch that is off: delete it");
	return lbx_slots_meet(context, strtoull(words, NULL, 16));
}

static bool hear_answers(struct lbx_context *context, const char *words)
{
	(void)context;
	lbx_own_answers_at(strtoull(words, NULL, 16));
	return true;
}

static bool hear_asked(struct lbx_context *context, const char *words)
{
	struct lbx_node_place place = { .done = 0 };
	char *at;
	int number = (int)strtol(words, &at, 10);
	uint64_t node = strtoull(at, &at, 16);

	*((strtoull(at, NULL, 16) & 0xff) ? &place.next : &place.done) = node;
	return lbx_catch_hit_node(context, &lbx_ggml_nodes, number, &place);
}

static bool hear_node(struct lbx_context *context, const char *words)
{
	struct lbx_node_place place;
	char *at;
	int number = (int)strtol(words, &at, 10);

	place.done = strtoull(at, &at, 16);
	place.next = strtoull(at, &at, 16);
	return lbx_catch_hit_node(context, &lbx_ggml_nodes, number, &place);
}

static bool hear(struct lbx_context *context, const char *words)
{
	static const struct lbx_said rows[] = {
		{ "made", hear_made, false },         { "builds", hear_builds, false },
		{ "computes", hear_computes, false }, { "scheduler", hear_scheduler, false },
		{ "answers", hear_answers, false },   { "asked", hear_asked, true },
		{ "node", hear_node, true },          { NULL, NULL, false }
	};

	return lbx_said_hear(context, rows, "ggml's nodes", words);
}

static int caller_level(struct lbx_context *context)
{
	const struct lbx_library ggml = { .code = lbx_found_callback()->entries[0],
					  .begins = LBX_GGML "_",
					  .has = lbx_ggml_is_of_library };

	return lbx_caller_level(context, &ggml);
}

const struct lbx_nodes_ops lbx_ggml_nodes = {
	.name = LBX_GGML,
	.what = "nodes of ggml",
	.find = find,
	.why = lbx_found_why,
	.check = check,
	.await = await,
	.arm = arm,
	.holds_now = holds_now,
	.is_armed = is_armed,
	.is_whole = is_whole,
	.remains = remains,
	.mend = mend,
	.suspend = suspend,
	.disarm = disarm,
	.release = release,
	.tidy = tidy,
	.leave = leave,
	.forget = forget,
	.hear = hear,
	.read = lbx_stop_record,
	.lies_in_order = lbx_stop_lies_in_order,
	.caller_level = caller_level,
};
