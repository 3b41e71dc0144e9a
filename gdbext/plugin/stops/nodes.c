/* Two kinds of breakpoints. Those at the entries of what computes a graph put code that returns true into the slot of the
 * scheduler, which is the first argument, if there is nothing. Programs set the slot anew for each graph, so this is done
 * for each. They do it by their condition, which is false: gdb does not stop, and forgets no `next` or `finish`. The
 * other ones are at that code, one for each catch, which says in its condition what it wants.
 *
 * While a graph is computed its scheduler calls what is in the slot without looking whether anything is: then it must stay
 * until the graph ends. Where gdb stays, too, the breakpoints at the entries put it back with the next graph; where gdb
 * is about to leave, the program runs until the call has returned.
 *
 * What was written is in gdb's own variables: the schedulers in the array $_lb_s, what stood beside their slots in
 * $_lb_d, and in $_lb_t those that were left alone. It is put back where it still stands. A scheduler that has a callback of its own keeps it.
 *
 * A program that computes without a scheduler calls no callback. Newer builds export what each thread calls with each
 * node: before a node they can be stopped there. When its value is complete does not show, so other catches are refused.
 * Which of the two a program does shows when it computes its first graph: a breakpoint there is set when it builds one,
 * since before that there may be many libraries with such a function, which come and go.
 *
 * All are at addresses of this process, and go with it: gdb could not insert them into the next. There a breakpoint on
 * the function that makes a scheduler, by its name, says when they can be set. */
#include "plugin/stops/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/stops/caller.h"

enum { SCHEDULERS = 32 };

static struct {
	bool is_known, is_armed;
	bool is_given_up; /* in this process */
	bool is_forward; /* it computes without a scheduler */
	bool ends; /* no catch wants them, but a graph is being computed */
	enum lbx_nodes there;
	struct lbx_ggml_callback callback;
	struct lbx_ggml_anchor anchor;
	char why[256];
} nodes;

/* ---- what there is ---- */

bool lbx_nodes_find(struct lbx_context *context, enum lbx_nodes *ret)
{
	*ret = context->target ? nodes.there : LBX_NODES_NONE;
	if (nodes.is_known || !context->target)
		return true;
	nodes.there = LBX_NODES_NONE;
	if (lbx_ggml_callback_find(context->target, &nodes.callback, &nodes.anchor))
		nodes.there = LBX_NODES_THERE;
	else if (!lb_ok() && !lbx_bridge_waits())
		nodes.there = LBX_NODES_REFUSED;
	if (lbx_bridge_waits())
		return false;
	snprintf(nodes.why, sizeof nodes.why, "%s", nodes.there == LBX_NODES_REFUSED ? lb_error_message() : "");
	lb_clear_error();
	*ret = nodes.there;
	return true;
}

const char *lbx_nodes_why(void)
{
	return nodes.why;
}

const struct lbx_ggml_callback *lbx_nodes_callback(void)
{
	return &nodes.callback;
}

const struct lbx_ggml_anchor *lbx_nodes_anchor(void)
{
	return &nodes.anchor;
}

bool lbx_nodes_are_armed(void)
{
	return nodes.is_armed;
}

bool lbx_nodes_are_here(struct lbx_context *context)
{
	return context->target && lbx_true_code_at(context->target, nodes.callback.machine, nodes.callback.code.start);
}

bool lbx_nodes_check(const struct lbx_catch *c)
{
	if (!c->kind->node)
		return lb_fail("%s is of Lazybones' own runtime; of ggml's nodes nan, range, eval and breaks can be "
			       "caught",
			       c->kind->name);
	if (nodes.is_forward && c->kind->node != LBX_BEFORE_NODE)
		return lb_fail(
		    "the program computes without ggml's scheduler, and when a value is complete shows only by "
		    "that: `tensor break T` stops before a node");
	if (nodes.is_forward && !nodes.callback.forward)
		return lb_fail("the program computes without ggml's scheduler, and its ggml does not export "
			       "ggml_cpu_extra_compute_forward");
	return !c->op[0] || lbx_ggml_has_op(&nodes.anchor, c->op) ||
	       lb_fail("the program's ggml has no operation %s", c->op);
}

/* ---- making the program stop ---- */

/* The first argument of a function. */
static const char *first_argument(void)
{
	return nodes.callback.machine == EM_AARCH64 ? "$x0" : "$rdi";
}

static const char *second_argument(void)
{
	return nodes.callback.machine == EM_AARCH64 ? "$x1" : "$rsi";
}

/* The index of the scheduler `s` in gdb's arrays: by its address, or the next one; false where both are taken. */
static void add_index(struct text *text, const char *s)
{
	text_printf(
	    text,
	    "($_lb_i = %s / 0x40 %% %#x, $_lb_s[$_lb_i] == 0 || $_lb_s[$_lb_i] == %s || ($_lb_i = ($_lb_i + 1) %% "
	    "%#x, $_lb_s[$_lb_i] == 0 || $_lb_s[$_lb_i] == %s))",
	    s, SCHEDULERS, s, SCHEDULERS, s);
}

struct words {
	char slot[64], data[64];
};

static struct words words_of(const char *s)
{
	struct words w;

	snprintf(w.slot, sizeof w.slot, "{unsigned long}(%s + 0x%" PRIx64 ")", s, nodes.callback.slot);
	snprintf(w.data, sizeof w.data, "{unsigned long}(%s + 0x%" PRIx64 ")", s, nodes.callback.data);
	return w;
}

/* False where the slot has been written, or has been already; true where that cannot be, and nobody was told. */
static void add_writing(struct text *text, const char *s)
{
	const struct words w = words_of(s);
	uint64_t code = nodes.callback.code.start;

	text_printf(text, "($_lb_uses = 1, %s == 0 && ", w.slot);
	add_index(text, s);
	text_printf(text,
		    ") ? ($_lb_s[$_lb_i] = %s, $_lb_d[$_lb_i] = %s, %s = 0x%" PRIx64 ", %s = 0x%" PRIx64
		    ", 0) : (%s != 0x%" PRIx64 " && $_lb_t[%s / 0x40 %% %#x] != %s)",
		    s, w.data, w.slot, code, w.data, lbx_ggml_mark(code), w.slot, code, s, SCHEDULERS, s);
}

/* False, with the slot as it was. */
static void add_putting_back(struct text *text, const char *s)
{
	const struct words w = words_of(s);

	text_printf(text, "(%s == 0x%" PRIx64 " && ", w.slot, nodes.callback.code.start);
	add_index(text, s);
	text_printf(text, ") ? (%s = $_lb_d[$_lb_i], %s = 0, 0) : 0", w.data, w.slot);
}

static void delete_entries(void)
{
	for (int i = 0; i < LBX_GGML_ENTRIES; i++)
		lbx_breakpoint_delete(LBX_BREAKPOINT_ENTRY - i);
	nodes.ends = false;
}

static void add_entries(void (*add)(struct text *text, const char *scheduler))
{
	struct text condition = { 0 };
	char words[32];

	add(&condition, first_argument());
	for (int i = 0; i < nodes.callback.n_entries; i++) {
		snprintf(words, sizeof words, "scheduler %d", i);
		lbx_breakpoint_add_code(LBX_BREAKPOINT_ENTRY - i, nodes.callback.entries[i], words, first_argument(),
					NULL, condition.bytes);
	}
	text_free(&condition);
}

/* The condition of one that is not pending, which gdb 13 would disable for it. */
static void let_pass(int key, const char *unless)
{
	char number[16] = "$bpnum";

	if (lbx_breakpoint_number(key))
		snprintf(number, sizeof number, "%d", lbx_breakpoint_number(key));
	lbx_bridge_script("with language c -- condition %s %s == 0", number, unless);
}

/* One that exists, and has been refreshed. */
static void enable(int key, bool is_on)
{
	if (lbx_breakpoint_number(key))
		lbx_bridge_script("%s %d", is_on ? "enable" : "disable", lbx_breakpoint_number(key));
}

/* Of words, which gdb has once there is a process. */
static void make_arrays(void)
{
	static const char names[] = "sdt";
	struct text zeros = { 0 };

	for (int i = 0; i < SCHEDULERS; i++)
		text_printf(&zeros, "%s(unsigned long) 0", i ? ", " : "");
	for (int i = 0; names[i]; i++)
		lbx_bridge_script("with language c -- set $_lb_%c = {%s}", names[i], zeros.bytes);
	text_free(&zeros);
}

static void arm(void)
{
	if (nodes.is_armed && nodes.ends) {
		delete_entries();
		add_entries(add_writing);
	}
	if (nodes.is_armed)
		return;
	nodes.is_armed = nodes.is_known = true;
	make_arrays();
	lbx_bridge_script("set $_lb_nodes = 1, $_lb_uses = 0");
	add_entries(add_writing);
	if (lbx_breakpoint_number(LBX_BREAKPOINT_SCHEDULER))
		let_pass(LBX_BREAKPOINT_SCHEDULER, "$_lb_nodes");
	if (lbx_breakpoint_number(LBX_BREAKPOINT_COMPUTE))
		let_pass(LBX_BREAKPOINT_COMPUTE, "$_lb_uses");
	enable(LBX_BREAKPOINT_BUILD, false);
}

void lbx_nodes_add(const struct lbx_catch *c, const struct text *condition)
{
	char word[32];

	arm();
	snprintf(word, sizeof word, "node %d", c->number);
	lbx_breakpoint_add_code(LBX_BREAKPOINT_NODES + c->number, nodes.callback.code.start, word, first_argument(),
				second_argument(), condition->bytes);
}

void lbx_nodes_add_forward(const struct lbx_catch *c, const struct text *condition)
{
	char word[32];

	snprintf(word, sizeof word, "node %d", c->number);
	lbx_breakpoint_add_code(LBX_BREAKPOINT_FORWARD + c->number, nodes.callback.forward, word, second_argument(),
				"0x1", condition->bytes);
}

void lbx_nodes_remove(int catch)
{
	lbx_breakpoint_delete(LBX_BREAKPOINT_NODES + catch);
	lbx_breakpoint_delete(LBX_BREAKPOINT_FORWARD + catch);
}

void lbx_nodes_need(void)
{
	bool is_new = !lbx_breakpoint_exists(LBX_BREAKPOINT_SCHEDULER);

	lbx_breakpoint_need(LBX_BREAKPOINT_SCHEDULER);
	if (is_new && nodes.is_armed)
		let_pass(LBX_BREAKPOINT_SCHEDULER, "$_lb_nodes");
	if (!nodes.is_armed) {
		lbx_breakpoint_need(LBX_BREAKPOINT_BUILD);
	} else if (!nodes.is_forward && !lbx_breakpoint_exists(LBX_BREAKPOINT_COMPUTE)) {
		lbx_breakpoint_need(LBX_BREAKPOINT_COMPUTE);
		let_pass(LBX_BREAKPOINT_COMPUTE, "$_lb_uses");
	}
}

void lbx_nodes_build(void)
{
	enable(LBX_BREAKPOINT_BUILD, false);
	if (!nodes.is_armed)
		lbx_breakpoint_need(LBX_BREAKPOINT_COMPUTE);
}

bool lbx_nodes_are_forward(void)
{
	return nodes.is_forward;
}

void lbx_nodes_have_computed(void)
{
	nodes.is_forward = nodes.is_known = true;
	enable(LBX_BREAKPOINT_COMPUTE, false);
}

bool lbx_nodes_tell_left(struct lbx_context *context, uint64_t scheduler)
{
	const char *symbol = "";
	uint64_t callback = 0;

	if (!nodes.is_armed)
		return lb_fail("a breakpoint of a catch that is off: delete it");
	lbx_target_try_read(context->target, scheduler + nodes.callback.slot, &callback, sizeof callback);
	if (callback && !lbx_bridge_ask(&symbol, LBX_ANYWHERE, "info symbol 0x%" PRIx64, callback))
		symbol = "";
	lbx_wrap(context->out, 0, 2);
	if (callback)
		lbx_printf(context->out,
			   "The nodes of ggml's scheduler at 0x%" PRIx64
			   " are not caught: it has a callback of the program's "
			   "own, 0x%" PRIx64 " (%.*s).\n",
			   scheduler, callback, (int)strcspn(symbol, "\n"), symbol);
	else
		lbx_printf(context->out,
			   "The nodes of ggml's scheduler at 0x%" PRIx64 " are not caught: there are too many.\n",
			   scheduler);
	lbx_bridge_script("with language c -- set $_lb_t[%#x] = 0x%" PRIx64 "\nset $_lb_go = 1",
			  (unsigned)(scheduler / 0x40 % SCHEDULERS), scheduler);
	return true;
}

/* ---- undoing it ---- */

static bool write(struct lbx_target *target, uint64_t at, uint64_t value)
{
	return lbx_target_write(target, at, &value, sizeof value);
}

/* A scheduler that is gone has no such words, or they mean nothing. */
static bool put_back(struct lbx_target *target, uint64_t scheduler, uint64_t data)
{
	const struct lbx_ggml_callback *c = &nodes.callback;
	uint64_t now, beside;

	if (!scheduler || !lbx_target_try_read(target, scheduler + c->slot, &now, sizeof now) ||
	    !lbx_target_try_read(target, scheduler + c->data, &beside, sizeof beside) || now != c->code.start ||
	    beside != lbx_ggml_mark(c->code.start))
		return true;
	return write(target, scheduler + c->slot, 0) && write(target, scheduler + c->data, data);
}

static bool put_all_back(struct lbx_context *context)
{
	struct text question = { 0 };
	const char *answer = "";
	char *at;
	bool ok = true;

	text_printf(&question, "with language c -- printf \"");
	for (int i = 0; i < 2 * SCHEDULERS; i++)
		text_printf(&question, "%%#lx ");
	text_printf(&question, "\\n\"");
	for (int i = 0; i < SCHEDULERS; i++)
		text_printf(&question, ", $_lb_s[%#x], $_lb_d[%#x]", (unsigned)i, (unsigned)i);
	bool known = !question.failed && lbx_bridge_ask(&answer, LBX_WITHOUT_FRAME, "%s", question.bytes);
	text_free(&question);
	if (!known)
		return !lbx_bridge_waits();
	for (int i = 0; i < SCHEDULERS && ok; i++) {
		uint64_t scheduler = strtoull(answer, &at, 16), data = strtoull(at, &at, 16);
		answer = at;
		ok = put_back(context->target, scheduler, data);
	}
	return ok;
}

static void forget(void)
{
	delete_entries();
	lbx_bridge_script("set $_lb_nodes = 0");
	nodes.is_armed = false;
	nodes.is_known = nodes.is_forward;
}

/* Puts back what can be now. *ret: a graph is being computed; *ret_end: where that call returns to, 0 if not known.
 * Nothing is done then. */
static bool put_back_now(struct lbx_context *context, bool *ret, uint64_t *ret_end)
{
	*ret = false;
	*ret_end = 0;
	if (!nodes.is_armed)
		return true;
	if (context->target && !lbx_graph_call(context, &nodes.callback, ret, ret_end))
		return false;
	return !context->target || *ret || put_all_back(context);
}

bool lbx_nodes_release(struct lbx_context *context)
{
	bool within;
	uint64_t end;

	if (!put_back_now(context, &within, &end))
		return false;
	if (within && !nodes.ends) {
		delete_entries();
		nodes.ends = true;
		add_entries(add_putting_back);
	}
	if (nodes.is_armed && !within)
		forget();
	lbx_breakpoint_delete(LBX_BREAKPOINT_SCHEDULER);
	lbx_breakpoint_delete(LBX_BREAKPOINT_BUILD);
	lbx_breakpoint_delete(LBX_BREAKPOINT_COMPUTE);
	return true;
}

void lbx_nodes_ask_no_more(void)
{
	nodes.is_given_up = true;
	lbx_bridge_script("set $_lb_nodes = 1");
	if (lbx_breakpoint_number(LBX_BREAKPOINT_SCHEDULER))
		let_pass(LBX_BREAKPOINT_SCHEDULER, "$_lb_nodes");
}

bool lbx_nodes_tidy(struct lbx_context *context, bool *ret)
{
	bool ends = nodes.ends;

	*ret = false;
	if (!ends)
		return true;
	if (!lbx_nodes_release(context))
		return false;
	*ret = !nodes.ends;
	return true;
}

bool lbx_nodes_leave(struct lbx_context *context, enum lbx_leaving how)
{
	bool within;
	uint64_t end;

	if (!put_back_now(context, &within, &end))
		return false;
	if (within && how == LBX_LEAVES && end) {
		delete_entries();
		lbx_bridge_script("with language c -- _lb_quiet tbreak *0x%" PRIx64 "\ncommands\nsilent\nend\n"
				  "set $_lb_graph = 1",
				  end);
		return true;
	}
	if (within && how != LBX_KILLS) {
		lbx_wrap(context->out, 0, 2);
		lbx_printf(context->out,
			   "ggml's scheduler keeps the callback, which lets each node pass: a graph is still "
			   "being computed.\n");
	}
	if (nodes.is_armed)
		forget();
	return true;
}

void lbx_nodes_forget(void)
{
	if (nodes.is_armed)
		forget();
	else if (nodes.is_given_up)
		lbx_bridge_script("set $_lb_nodes = 0");
	lbx_breakpoint_delete(LBX_BREAKPOINT_COMPUTE);
	enable(LBX_BREAKPOINT_BUILD, true);
	nodes.is_known = nodes.is_given_up = nodes.is_forward = false;
}
