/* MLX computes what the program asks for: by eval() and async_eval(), of which every version exports those that take a
 * std::vector of arrays, and by reading a value, as item(), tolist(), bool(), NumPy and print do: each of these calls an
 * array's own eval(), which is exported, too, and then the former. So there are breakpoints at these three, by their names; they
 * need no program, and hold in each that comes. They are there once for all catches.
 *
 * What is computed for a catch of values is noted when it begins (watched.c), and looked at where the call returns to the
 * program's own code, since then it is complete; of async_eval(), where a later call does.
 *
 * Nothing is written into the program. */
#include "plugin/mlx/provider.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mlx/mlx.h"
#include "plugin/bridge/bridge.h"
#include "plugin/mlx/asked.h"
#include "plugin/mlx/keys.h"
#include "plugin/mlx/known.h"
#include "plugin/mlx/watched.h"
#include "plugin/stops/call_words.h"
#include "plugin/stops/caller.h"
#include "plugin/stops/catch_stop.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/guests.h"
#include "plugin/stops/hits.h"
#include "plugin/stops/node_look.h"
#include "plugin/stops/said.h"

/* A call's frame is below that of its caller, on the same stack, and not far away. */
enum { STACK_BETWEEN = 1 << 20 };

static unsigned machine; /* of the process that was seen last; 0: this one's */
static bool is_told; /* that its arrays cannot be read */
static uint64_t stood; /* lbx_target_moment() where it last stopped in front of an evaluation; 0: not known */
static bool is_in_front; /* it stands there */

/* ---- what there is ---- */

static bool find(struct lbx_context *context, enum lbx_nodes_there *ret)
{
	*ret = context->target && lbx_mlx_is_there(context->target) ? LBX_NODES_THERE : LBX_NODES_NONE;
	if (context->target && !lbx_target_machine(context->target, &machine))
		machine = 0;
	uint64_t now;
	is_in_front = context->target && stood && lbx_target_moment(context->target, &now) && now == stood;
	return !lbx_bridge_waits();
}

static const char *why(void)
{
	return "";
}

static bool check(const struct lbx_catch *c)
{
	return !c->op[0] ||
	       lb_fail("MLX computes an evaluation's operations all at once: break at one of its arrays, which "
		       "stops before or after the evaluation");
}

static bool is_implicit(const struct lbx_catch *c)
{
	return c->kind->evaluation == LBX_BEFORE_IMPLICIT;
}

/* Whether there is a catch that stops where a value is read; or one that stops where an evaluation begins or ends. */
static bool any_of(bool implicit)
{
	int n;
	const struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++)
		if (lbx_guest_wants(&lbx_mlx_nodes, &catches[i]) && is_implicit(&catches[i]) == implicit)
			return true;
	return false;
}

/* ---- arming ---- */

static const struct lbx_call_words *call_words(void)
{
#ifdef __aarch64__
	return lbx_call_words(machine ? machine : EM_AARCH64);
#else
	return lbx_call_words(machine ? machine : EM_X86_64);
#endif
}

static void need(int key)
{
	static const struct {
		const char *function, *word;
	} rows[] = { { "_ZN3mlx4core4evalESt6vectorINS0_5arrayESaIS2_EE", "evaluates" },
		     { "_ZN3mlx4core10async_evalESt6vectorINS0_5arrayESaIS2_EE", "begins" },
		     { "_ZN3mlx4core5array4evalEv", "reads" } };
	const int i = key - LBX_KEY_MLX;

	lbx_breakpoint_need(key, LBX_MLX, rows[i].function, rows[i].word, call_words()->first, call_words()->stack);
}

static bool arm(const struct lbx_catch *c, unsigned *how)
{
	if (is_implicit(c)) {
		need(LBX_KEY_MLX_VALUE);
	} else {
		need(LBX_KEY_MLX_EVAL);
		need(LBX_KEY_MLX_ASYNC);
	}
	*how = 1;
	return true;
}

/* The breakpoint by which it would have met this evaluation has been hit. */
static bool holds_now(void)
{
	return !is_in_front;
}

static bool is_armed(const struct lbx_catch *c, unsigned how)
{
	(void)c;
	return how;
}

static bool is_whole(const struct lbx_catch *c, unsigned how)
{
	(void)how;
	if (is_implicit(c))
		return lbx_breakpoint_exists(LBX_KEY_MLX_VALUE);
	return lbx_breakpoint_exists(LBX_KEY_MLX_EVAL) && lbx_breakpoint_exists(LBX_KEY_MLX_ASYNC);
}

/* None is of one catch alone. */
static bool remains(int catch)
{
	(void)catch;
	return lbx_breakpoint_exists(LBX_KEY_MLX_EVAL) || lbx_breakpoint_exists(LBX_KEY_MLX_ASYNC) ||
	       lbx_breakpoint_exists(LBX_KEY_MLX_VALUE);
}

static void suspend(const struct lbx_catch *c)
{
	(void)c;
	for (int key = LBX_KEY_MLX; key < LBX_KEY_MLX_END + LBX_MLX_ENDS; key++)
		lbx_breakpoint_suspend(key);
}

static void delete_ends(void)
{
	for (int i = 0; i < LBX_MLX_ENDS; i++)
		lbx_breakpoint_delete(LBX_KEY_MLX_END + i);
}

static void delete_unneeded(void)
{
	if (!any_of(false)) {
		lbx_breakpoint_delete(LBX_KEY_MLX_EVAL);
		lbx_breakpoint_delete(LBX_KEY_MLX_ASYNC);
	}
	if (!any_of(true) && !lbx_watched_any())
		lbx_breakpoint_delete(LBX_KEY_MLX_VALUE);
	if (!lbx_watched_any())
		delete_ends();
}

static void disarm(int catch)
{
	lbx_watched_forget(catch);
	delete_unneeded();
}

/* ---- when the process goes ---- */

static bool leave(struct lbx_context *context, enum lbx_leaving how)
{
	(void)context;
	(void)how;
	return true; /* nothing was written, and gdb takes its breakpoints with it */
}

static void forget(void)
{
	lbx_watched_forget(0);
	lbx_known_forget();
	delete_ends();
	is_told = false;
	stood = 0;
}

/* ---- what the breakpoints say ---- */

/* A catch by its own breakpoint, which is at the runtime's probe, is switched off by that, too. */
static bool is_on(const struct lbx_catch *c)
{
	return lbx_guest_wants(&lbx_mlx_nodes, c) &&
	       (lbx_catch_key(c) == LBX_BREAKPOINT_NONE || lbx_breakpoint_is_enabled(lbx_catch_key(c)));
}

/* The record for which a catch stops in front of what is asked for; 0: none. False while the answer is awaited. */
static bool find_reason(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_asked *asked,
			uint64_t *ret)
{
	uint64_t found[LBX_MLX_NEAR_FOUND];
	struct lbx_watched *w = NULL;
	int n;

	*ret = 0;
	if (!c->record && !c->name[0]) {
		*ret = asked->n ? asked->list[0] : 0;
	} else if (c->is_glob) {
		w = lbx_watched_of(c->number);
		if (!w || !lbx_watched_begin(context, c, &asked->order))
			return false;
		for (size_t i = 0; i < w->n && !*ret; i++)
			*ret = lbx_asked_computes(asked, &w->list[i], 1);
		lbx_watched_forget(c->number);
	} else {
		if (!lbx_known_meant(context, c, found, &n))
			return false;
		if (is_implicit(c)) /* it is the one that is read */
			for (int i = 0; i < n && !*ret; i++)
				*ret = asked->n && found[i] == asked->list[0] ? found[i] : 0;
		else
			*ret = lbx_asked_computes(asked, found, n);
	}
	return true;
}

/* Stops for a catch, if it wants to. */
static bool stop_before(struct lbx_context *context, struct lbx_catch *c, const struct lbx_asked *asked, bool *stops)
{
	struct lbx_node_place place = { .done = 0 };
	struct lbx_catch_stop stop = { .catch = c };
	bool wants;

	if (!find_reason(context, c, asked, &place.next) || lbx_bridge_waits())
		return false;
	if (!place.next)
		return true;
	if (!lbx_node_look(context, &lbx_mlx_nodes, c, &place, &stop, &wants))
		return false;
	if (wants)
		lbx_catch_stop_at_node(context, &lbx_mlx_nodes, &stop);
	*stops |= wants;
	return true;
}

/* Where the call returns to the program, in a frame above this one. False while the answer is awaited. */
static bool add_end(struct lbx_context *context, uint64_t stack)
{
	char condition[128], words[16];
	uint64_t end, within;

	if (!lbx_caller_return(context, &end, &within))
		return false;
	for (int i = 0; i < LBX_MLX_ENDS && end; i++) {
		if (lbx_breakpoint_exists(LBX_KEY_MLX_END + i))
			continue;
		snprintf(condition, sizeof condition, "(unsigned long)%s - 0x%" PRIx64 " < 0x%x", call_words()->stack,
			 stack, (unsigned)STACK_BETWEEN);
		snprintf(words, sizeof words, "ends %d", i);
		lbx_breakpoint_add_code(LBX_KEY_MLX_END + i, LBX_MLX, end, words, NULL, NULL, condition);
		break;
	}
	return true;
}

static bool has_near(struct lbx_context *context, bool *ret)
{
	const struct lbx_mlx_near *near;

	if (!lbx_known_near(context, &near))
		return false;
	*ret = near;
	if (!near && !is_told) {
		lbx_wrap(context->out, 0, 4);
		lbx_printf(context->out, "The program's arrays of MLX are not caught: %s.\n", lbx_known_why());
		is_told = true;
	}
	return true;
}

/* Each catch that is of what is asked for. */
static bool meet(struct lbx_context *context, const char *words, bool is_async, bool is_value)
{
	char *at;
	uint64_t argument = strtoull(words, &at, 16), stack = strtoull(at, NULL, 16);
	const struct lbx_asked *asked;
	bool known, stops = false;
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	if (!has_near(context, &known))
		return false;
	if (!known)
		return lbx_hits_go_on();
	asked = lbx_asked_read(context, argument, is_async, is_value);
	if (!asked)
		return false;
	for (int i = 0; i < n && asked->n; i++) {
		if (!is_on(&catches[i]) || is_value != is_implicit(&catches[i]))
			continue;
		if (catches[i].kind->evaluation == LBX_AFTER_EVALUATION
			? !lbx_watched_begin(context, &catches[i], &asked->order)
			: !stop_before(context, &catches[i], asked, &stops))
			return false;
	}
	if (lbx_watched_any() && (!is_value || !asked->n) && !add_end(context, stack))
		return false;
	if (stops &&
	    (is_value || !lbx_target_moment(context->target, &stood))) /* who reads a value calls eval() next */
		stood = 0;
	return (stops && !lbx_bridge_waits()) || (!stops && lbx_hits_go_on());
}

static bool hear_evaluates(struct lbx_context *context, const char *words)
{
	return meet(context, words, false, false);
}

static bool hear_begins(struct lbx_context *context, const char *words)
{
	return meet(context, words, true, false);
}

static bool hear_reads(struct lbx_context *context, const char *words)
{
	return meet(context, words, false, true);
}

static bool stop_behind(struct lbx_context *context, struct lbx_catch *c, bool *stops)
{
	const struct lbx_watched *w = lbx_watched_of(c->number);
	struct lbx_catch_stop stop = { .catch = c };
	struct lbx_node_place place = { .done = 0 };
	bool wants = false;

	for (size_t at = 0; w && !wants && (place.done = lbx_watched_done(context, w, &at));) {
		if (!lbx_node_look(context, &lbx_mlx_nodes, c, &place, &stop, &wants))
			return false;
		if (wants)
			lbx_catch_stop_at_node(context, &lbx_mlx_nodes, &stop);
	}
	*stops |= wants;
	return !lbx_bridge_waits();
}

static bool hear_ends(struct lbx_context *context, const char *words)
{
	int which = (int)strtol(words, NULL, 10), n;
	bool known, stops = false;
	struct lbx_catch *catches = lbx_catches(&n);

	if (!has_near(context, &known))
		return false;
	for (int i = 0; i < n && known; i++)
		if (is_on(&catches[i]) && catches[i].kind->evaluation == LBX_AFTER_EVALUATION &&
		    !stop_behind(context, &catches[i], &stops))
			return false;
	for (int i = 0; i < n && known; i++)
		if (is_on(&catches[i]) && catches[i].kind->evaluation == LBX_AFTER_EVALUATION)
			lbx_watched_drop(context, lbx_watched_of(catches[i].number));
	if (which >= 0 && which < LBX_MLX_ENDS)
		lbx_breakpoint_delete(LBX_KEY_MLX_END + which);
	if (lbx_watched_any()) /* of async_eval(): whoever reads the value waits for it */
		need(LBX_KEY_MLX_VALUE);
	else
		delete_unneeded();
	return stops || lbx_hits_go_on();
}

static bool hear(struct lbx_context *context, const char *words)
{
	static const struct lbx_said rows[] = { { "evaluates", hear_evaluates, true },
						{ "begins", hear_begins, true },
						{ "reads", hear_reads, true },
						{ "ends", hear_ends, true },
						{ NULL, NULL, false } };

	return lbx_said_hear(context, rows, "MLX's evaluations", words);
}

/* ---- what is looked at ---- */

static bool read_record(struct lbx_context *context, uint64_t address, struct lbx_node_record *ret)
{
	*ret = (struct lbx_node_record){ .is_known = true };
	return lbx_known() && lbx_mlx_near_decode(lbx_known(), context->target, address, &ret->tensor);
}

static bool lies_in_order(struct lbx_context *context, uint64_t address)
{
	(void)context;
	(void)address;
	return true;
}

static bool is_of_mlx(const char *function)
{
	return strncmp(function, "mlx::core::", 11) == 0;
}

static int caller_level(struct lbx_context *context)
{
	const struct lbx_library mlx = { .code = lbx_known_library(context),
					 .begins = "_ZN3mlx4core",
					 .has = is_of_mlx };

	return mlx.code ? lbx_caller_level(context, &mlx) : -1;
}

const struct lbx_nodes_ops lbx_mlx_nodes = {
	.name = LBX_MLX,
	.by_evaluation = true,
	.is_ahead = true,
	.has_paths = true,
	.find = find,
	.why = why,
	.check = check,
	.arm = arm,
	.holds_now = holds_now,
	.is_armed = is_armed,
	.is_whole = is_whole,
	.remains = remains,
	.suspend = suspend,
	.disarm = disarm,
	.leave = leave,
	.forget = forget,
	.hear = hear,
	.read = read_record,
	.lies_in_order = lies_in_order,
	.caller_level = caller_level,
	.tell = lbx_asked_tell,
};
