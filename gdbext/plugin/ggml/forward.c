/* Each thread calls an exported function with each node (ggml/per_node.h): the first of them that comes to a node says that
 * the one before it is complete, since they wait for each other in between, and that this one has not begun. So for each catch
 * gdb's variables keep, under its number, the node that is being computed ($_lb_n), of which threads ($_lb_q), and the number
 * of the thread that asked for the graph ($_lb_h, gdb's); then $_lb_d is the node that is complete, and $_lb_x what comes next.
 *
 * Nobody comes to a node behind the last one. Its value is complete when the call of ggml has returned: that is where the
 * program stops for it, so that no thread is within ggml. Where that is shows when the call begins.
 *
 * Two graphs that are computed at the same time take turns in these variables: then nothing is said of what comes behind a
 * change. A node that is computed as one with the next has no value, and is passed over. */
#include "plugin/ggml/forward.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "ggml/per_node.h"
#include "plugin/bridge/bridge.h"
#include "plugin/ggml/conditions.h"
#include "plugin/ggml/found.h"
#include "plugin/ggml/keys.h"
#include "plugin/ggml/slots.h"
#include "plugin/stops/catches.h"

static struct {
	bool has_begun, is_told;
	struct lbx_ggml_per_node calls;
	uint64_t ends[LBX_ENDS];
	int n_ends;
	/* what was kept for the catch that went last, and still holds if the program has stood still since */
	int last;
	uint64_t left_at; /* lbx_target_moment() then; 0: not known */
	bool has_stood;
} forward;

bool lbx_forward_has_begun(void)
{
	return forward.has_begun;
}

bool lbx_forward_begin(struct lbx_context *context)
{
	if (forward.has_begun)
		return true;
	lbx_ggml_per_node_find(context->target, &forward.calls);
	if (lbx_bridge_waits())
		return false;
	lb_clear_error();
	forward.has_begun = true;
	return true;
}

bool lbx_forward_rest(struct lbx_context *context)
{
	if (!context->target || !lbx_target_moment(context->target, &forward.left_at))
		forward.left_at = 0;
	return !lbx_bridge_waits();
}

bool lbx_forward_look(struct lbx_context *context)
{
	uint64_t now;

	forward.has_stood =
	    context->target && forward.left_at && lbx_target_moment(context->target, &now) && now == forward.left_at;
	return !lbx_bridge_waits();
}

bool lbx_forward_check(const struct lbx_catch *c)
{
	if (!forward.calls.one)
		return lb_fail("the program computes without ggml's scheduler, and its ggml does not export "
			       "ggml_cpu_extra_compute_forward");
	if (c->kind->node == LBX_AFTER_NODE && forward.calls.unknown[0])
		return lb_fail("the program computes without ggml's scheduler, and when a value is complete does not "
			       "show there: how its ggml's %s computes several nodes as one is not known",
			       forward.calls.unknown);
	return true;
}

/* ---- what gdb checks ---- */

/* Where a thread has come to the node `current`: true for the first one. */
static void add_tracking(struct text *text, int n, const char *current)
{
	const char *thread = lbx_call_words(lbx_found_callback()->machine)->first;

	text_printf(text,
		    "($_lb_q%d == {unsigned long}(%s + 0x%x) || ($_lb_q%d = {unsigned long}(%s + 0x%x), $_lb_n%d = 0, "
		    "$_lb_h%d = 0, 1)) && ({int}(%s + 0x%x) != 0 || ($_lb_h%d = $_thread, 1)) && $_lb_n%d != %s && "
		    "($_lb_d%d = $_lb_n%d, $_lb_n%d = %s, 1)",
		    n, thread, LBX_GGML_POOL, n, thread, LBX_GGML_POOL, n, n, thread, LBX_GGML_THREAD, n, n, current, n,
		    n, n, current);
}

static void add_node(struct text *text, const struct lbx_catch *c, const char *node)
{
	lbx_node_condition(c, node, lbx_found_callback(), lbx_found_anchor(), text);
}

/* Of two nodes that are computed as one, the one that is meant. */
static void add_next(struct text *text, const struct lbx_catch *c, bool two)
{
	const struct lbx_call_words *w = lbx_call_words(lbx_found_callback()->machine);

	text_printf(text, " && ($_lb_x%d = ", c->number);
	if (two && c->kind->node == LBX_BEFORE_NODE) {
		text_printf(text, "(1");
		add_node(text, c, w->third);
		text_printf(text, ") ? %s : ", w->third);
	}
	text_printf(text, "%s, 1)", w->second);
}

static void arm_calls(const struct lbx_catch *c, int key, uint64_t at, bool two)
{
	const struct lbx_call_words *w = lbx_call_words(lbx_found_callback()->machine);
	char done[32], next[32], words[32];
	struct text condition = { 0 };

	snprintf(done, sizeof done, "$_lb_d%d", c->number);
	snprintf(next, sizeof next, "$_lb_x%d", c->number);
	snprintf(words, sizeof words, "node %d", c->number);
	add_tracking(&condition, c->number, two ? w->third : w->second);
	add_next(&condition, c, two);
	if (c->kind->node == LBX_AFTER_NODE)
		text_printf(&condition, " && %s != 0", done);
	add_node(&condition, c, c->kind->node == LBX_AFTER_NODE ? done : next);
	lbx_breakpoint_add_code(key + c->number, LBX_GGML, at, words, done, next, condition.bytes);
	text_free(&condition);
}

static void arm_end(const struct lbx_catch *c, int i)
{
	const char *result = lbx_call_words(lbx_found_callback()->machine)->result;
	char done[32], words[32];
	struct text condition = { 0 };
	int n = c->number;

	snprintf(done, sizeof done, "$_lb_d%d", n);
	snprintf(words, sizeof words, "node %d", n);
	text_printf(&condition,
		    "$_lb_n%d != 0 && $_lb_h%d == $_thread && ($_lb_d%d = (int)%s == 0 ? $_lb_n%d : 0, $_lb_n%d = 0, "
		    "$_lb_d%d != 0)",
		    n, n, n, result, n, n, n);
	add_node(&condition, c, done);
	lbx_breakpoint_add_code(LBX_KEY_END + n * LBX_ENDS + i, LBX_GGML, forward.ends[i], words, done, "0",
				condition.bytes);
	text_free(&condition);
}

/* ---- arming ---- */

/* Where a graph begins, what was kept of the thread's last one is of no use, whose only node may be the first of this one.
 * Only for catches of values gdb stops there. `begins`: it does so now, perhaps without that condition. */
static void update_meeting(bool begins)
{
	struct text condition = { 0 };
	bool any = false, stops = false;
	int n;
	const struct lbx_catch *catches = lbx_catches(&n);

	text_printf(&condition, "(");
	for (int i = 0; i < n; i++) {
		int c = catches[i].number;
		if (!c || !lbx_breakpoint_exists(LBX_KEY_FORWARD + c))
			continue;
		text_printf(&condition, "$_lb_h%d == $_thread && ($_lb_n%d = 0), ", c, c);
		any = true;
		stops |= catches[i].kind->node == LBX_AFTER_NODE;
	}
	text_printf(&condition, "%d)%s", stops, lbx_slots_are_armed() ? " && $_lb_uses == 0" : "");
	if (any && !condition.failed)
		lbx_breakpoint_set_condition(LBX_KEY_COMPUTE, condition.bytes);
	if (any && begins && !condition.failed)
		lbx_bridge_script("with language c -- set $_lb_left = %s", condition.bytes);
	lbx_breakpoint_enable(LBX_KEY_COMPUTE, any);
	text_free(&condition);
}

/* Another catch, which knows what is being computed now; 0: there is none. */
static int who_knows(const struct lbx_catch *new)
{
	int n;
	const struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++)
		if (catches[i].number && catches[i].number != new->number &&
		    lbx_breakpoint_is_enabled(LBX_KEY_FORWARD + catches[i].number))
			return catches[i].number;
	return forward.has_stood ? forward.last : 0;
}

bool lbx_forward_arm(const struct lbx_catch *c)
{
	int n = c->number, other = who_knows(c);

	lbx_bridge_script("set $_lb_q%d = 0, $_lb_n%d = 0, $_lb_h%d = 0, $_lb_d%d = 0, $_lb_x%d = 0", n, n, n, n, n);
	if (other)
		lbx_bridge_script("set $_lb_q%d = $_lb_q%d, $_lb_n%d = $_lb_n%d, $_lb_h%d = $_lb_h%d", n, other, n,
				  other, n, other);
	arm_calls(c, LBX_KEY_FORWARD, forward.calls.one, false);
	if (forward.calls.two)
		arm_calls(c, LBX_KEY_FUSED, forward.calls.two, true);
	for (int i = 0; i < forward.n_ends && c->kind->node == LBX_AFTER_NODE; i++)
		arm_end(c, i);
	update_meeting(false);
	return true;
}

static bool is_known(uint64_t end)
{
	for (int i = 0; i < forward.n_ends; i++)
		if (forward.ends[i] == end)
			return true;
	return false;
}

void lbx_forward_meet_graph(struct lbx_context *context, uint64_t end)
{
	int n;
	const struct lbx_catch *catches = lbx_catches(&n);

	update_meeting(true);
	if (is_known(end))
		return;
	if (!end || forward.n_ends == LBX_ENDS) {
		if (!forward.is_told)
			lbx_printf(context->out,
				   "Where this graph ends is not known: the program does not stop after its "
				   "last node.\n");
		forward.is_told = true;
		return;
	}
	forward.ends[forward.n_ends++] = end;
	for (int i = 0; i < n; i++)
		if (catches[i].number && lbx_breakpoint_exists(LBX_KEY_FORWARD + catches[i].number) &&
		    catches[i].kind->node == LBX_AFTER_NODE)
			arm_end(&catches[i], forward.n_ends - 1);
}

void lbx_forward_disarm(int catch)
{
	if (lbx_breakpoint_is_enabled(LBX_KEY_FORWARD + catch))
		forward.last = catch;
	lbx_breakpoint_delete(LBX_KEY_FORWARD + catch);
	lbx_breakpoint_delete(LBX_KEY_FUSED + catch);
	for (int i = 0; i < LBX_ENDS; i++)
		lbx_breakpoint_delete(LBX_KEY_END + catch * LBX_ENDS + i);
	if (forward.has_begun)
		update_meeting(false);
}

bool lbx_forward_is_whole(const struct lbx_catch *c)
{
	bool whole = lbx_breakpoint_exists(LBX_KEY_FORWARD + c->number) &&
		     (!forward.calls.two || lbx_breakpoint_exists(LBX_KEY_FUSED + c->number));

	for (int i = 0; i < forward.n_ends && c->kind->node == LBX_AFTER_NODE; i++)
		whole &= lbx_breakpoint_exists(LBX_KEY_END + c->number * LBX_ENDS + i);
	return whole;
}

bool lbx_forward_remains(int catch)
{
	return lbx_breakpoint_exists(LBX_KEY_FORWARD + catch) || lbx_breakpoint_exists(LBX_KEY_FUSED + catch);
}

void lbx_forward_suspend(const struct lbx_catch *c)
{
	lbx_breakpoint_suspend(LBX_KEY_FORWARD + c->number);
	lbx_breakpoint_suspend(LBX_KEY_FUSED + c->number);
	for (int i = 0; i < LBX_ENDS; i++)
		lbx_breakpoint_suspend(LBX_KEY_END + c->number * LBX_ENDS + i);
}

void lbx_forward_forget(void)
{
	forward.has_begun = forward.is_told = forward.has_stood = false;
	forward.n_ends = forward.last = 0;
	forward.left_at = 0;
}
