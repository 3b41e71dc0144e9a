/* While a graph is computed its scheduler calls what is in the slot without looking whether anything is: then it must stay
 * until the graph ends. Where gdb stays, too, the breakpoints at the entries put it back with the next graph; where gdb
 * is about to leave, the program runs until the call has returned.
 *
 * They write by their condition, which is false: gdb does not stop, and forgets no `next` or `finish`. Programs set the
 * slot anew for each graph, so this is done for each.
 *
 * What was written is in gdb's own variables: the schedulers in the array $_lb_s, what was in their slots in $_lb_c and
 * beside them in $_lb_d, and in $_lb_t those that were left alone ($_lb_p and $_lb_u are own.c's). The mark beside the code says
 * which of them it is.
 * It is put back where both still stand. */
#include "plugin/ggml/slots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge/bridge.h"
#include "plugin/ggml/conditions.h"
#include "plugin/ggml/found.h"
#include "plugin/ggml/graph_call.h"
#include "plugin/ggml/kept.h"
#include "plugin/ggml/keys.h"
#include "plugin/ggml/own.h"

static bool is_armed;
static bool lingers; /* no catch wants them, but a graph is being computed */

bool lbx_slots_are_armed(void)
{
	return is_armed;
}

bool lbx_slots_linger(void)
{
	return lingers;
}

/* ---- what the breakpoints do ---- */

/* The index of the scheduler `s` in gdb's arrays: by its address, or the next one; false where both are taken. */
static void add_index(struct text *text, const char *s)
{
	text_printf(
	    text,
	    "($_lb_i = %s / 0x40 %% %#x, $_lb_s[$_lb_i] == 0 || $_lb_s[$_lb_i] == %s || ($_lb_i = ($_lb_i + 1) %% "
	    "%#x, $_lb_s[$_lb_i] == 0 || $_lb_s[$_lb_i] == %s))",
	    s, LBX_GGML_MARKS, s, LBX_GGML_MARKS, s);
}

struct words {
	char slot[64], data[64], is_ours[256];
};

static struct words words_of(const char *s)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	struct words w;

	snprintf(w.slot, sizeof w.slot, "{unsigned long}(%s + 0x%" PRIx64 ")", s, c->slot);
	snprintf(w.data, sizeof w.data, "{unsigned long}(%s + 0x%" PRIx64 ")", s, c->data);
	snprintf(w.is_ours, sizeof w.is_ours, "%s == 0x%" PRIx64 " && %s - 0x%" PRIx64 " < %#x", w.slot, c->code.start,
		 w.data, lbx_ggml_mark(c->code.start, 0), 2 * LBX_GGML_MARKS);
	return w;
}

/* False where the slot has been written, or has been already; true where the program's own callback is the first one to be
 * kept, for which breakpoints have to be there before (own.c), or the scheduler has to be left alone, and nobody was told. */
static void add_writing(struct text *text, const char *s)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	const struct words w = words_of(s);

	text_printf(text, "($_lb_uses = 1, %s) ? 0 : ", w.is_ours);
	if (lbx_own_may_be())
		text_printf(text, "%s != 0 && $_lb_own == 0 ? 1 : ", w.slot);
	else
		text_printf(text, "%s != 0 ? $_lb_t[%s / 0x40 %% %#x] != %s : ", w.slot, s, LBX_GGML_MARKS, s);
	add_index(text, s);
	text_printf(text,
		    " ? ($_lb_s[$_lb_i] = %s, $_lb_c[$_lb_i] = %s, $_lb_d[$_lb_i] = %s, %s = 0x%" PRIx64
		    ", %s = 0x%" PRIx64 " + 0x2 * (unsigned long)$_lb_i, 0)"
		    " : $_lb_t[%s / 0x40 %% %#x] != %s",
		    s, w.slot, w.data, w.slot, c->code.start, w.data, lbx_ggml_mark(c->code.start, 0), s,
		    LBX_GGML_MARKS, s);
}

/* False, with the slot as it was. */
static void add_putting_back(struct text *text, const char *s)
{
	const struct words w = words_of(s);

	text_printf(text,
		    "(%s) ? ($_lb_i = (%s - 0x%" PRIx64 ") / 0x2, %s = $_lb_d[$_lb_i], %s = $_lb_c[$_lb_i], 0) : 0",
		    w.is_ours, w.data, lbx_ggml_mark(lbx_found_callback()->code.start, 0), w.data, w.slot);
}

static void delete_entries(void)
{
	for (int i = 0; i < LBX_GGML_ENTRIES; i++)
		lbx_breakpoint_delete(LBX_KEY_ENTRY + i);
	lingers = false;
}

static bool have_entries(void)
{
	for (int i = 0; i < lbx_found_callback()->n_entries; i++)
		if (!lbx_breakpoint_exists(LBX_KEY_ENTRY + i))
			return false;
	return true;
}

bool lbx_slots_are_whole(void)
{
	return have_entries() && lbx_own_is_whole();
}

static void add_entries(void (*add)(struct text *text, const char *scheduler))
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	const char *scheduler = lbx_call_words(c->machine)->first;
	struct text condition = { 0 };

	add(&condition, scheduler);
	for (int i = 0; i < c->n_entries; i++)
		lbx_breakpoint_add_code(LBX_KEY_ENTRY + i, LBX_GGML, c->entries[i], "scheduler", scheduler, NULL,
					condition.bytes);
	text_free(&condition);
}

/* Of words, which gdb has once there is a process. */
static void make_arrays(void)
{
	static const char names[] = "scdtpu";
	struct text zeros = { 0 };

	for (int i = 0; i < LBX_GGML_MARKS; i++)
		text_printf(&zeros, "%s(unsigned long) 0", i ? ", " : "");
	for (int i = 0; names[i]; i++)
		lbx_bridge_script("with language c -- set $_lb_%c = {%s}", names[i], zeros.bytes);
	text_free(&zeros);
}

void lbx_slots_arm(void)
{
	if (is_armed && lingers) {
		delete_entries();
		add_entries(add_writing);
	}
	if (is_armed)
		return;
	is_armed = true;
	make_arrays();
	lbx_bridge_script("set $_lb_nodes = 1, $_lb_uses = 0, $_lb_own = 0");
	add_entries(add_writing);
}

/* By what is in its slot. */
static const char *why_left_alone(uint64_t callback)
{
	return callback && !lbx_own_may_be() ? "it has a callback of the program's own, which gdb cannot call on this "
					       "processor"
					     : "there are too many";
}

/* The thread has not read the slot yet. */
static void write_slot(uint64_t scheduler)
{
	struct text writing = { 0 };
	char s[32];

	snprintf(s, sizeof s, "0x%" PRIx64, scheduler);
	add_writing(&writing, s);
	lbx_bridge_script("with language c -- set $_lb_left = %s", writing.bytes);
	text_free(&writing);
}

bool lbx_slots_meet(struct lbx_context *context, uint64_t scheduler)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	uint64_t callback = 0;
	const char *seen; /* whether the breakpoints for callbacks are there */

	lbx_target_try_read(context->target, scheduler + c->slot, &callback, sizeof callback);
	if (!lbx_bridge_ask(&seen, LBX_WITHOUT_FRAME, "output $_lb_own"))
		return false;
	if (callback && lbx_own_may_be() && atoi(seen) == 0) {
		lbx_own_arm();
		write_slot(scheduler);
		return true;
	}
	lbx_wrap(context->out, 0, 2);
	lbx_printf(context->out, "The nodes of ggml's scheduler at 0x%" PRIx64 " are not caught: %s.\n", scheduler,
		   why_left_alone(callback));
	lbx_bridge_script("with language c -- set $_lb_t[%#x] = 0x%" PRIx64,
			  (unsigned)(scheduler / 0x40 % LBX_GGML_MARKS), scheduler);
	return true;
}

/* ---- undoing it ---- */

static void forget(void)
{
	delete_entries();
	lbx_own_disarm();
	lbx_bridge_script("set $_lb_nodes = 0");
	is_armed = false;
}

/* Puts back what can be now. *ret: a graph is being computed; *ret_end: where that call returns to, 0 if not known.
 * Nothing is done then. */
static bool put_back_now(struct lbx_context *context, bool *ret, uint64_t *ret_end)
{
	bool rest;

	*ret = false;
	*ret_end = 0;
	if (!is_armed)
		return true;
	if (context->target && !lbx_graph_call(context, lbx_found_callback(), ret, ret_end))
		return false;
	return !context->target || *ret || lbx_kept_put_back(context, false, &rest);
}

bool lbx_slots_release(struct lbx_context *context, bool *ret)
{
	bool within;
	uint64_t end;

	if (!put_back_now(context, &within, &end))
		return false;
	if (within && (!lingers || !have_entries())) {
		delete_entries();
		lingers = true;
		add_entries(add_putting_back);
	}
	if (within) /* perhaps within a node that the program's own callback has declined */
		lbx_own_mend();
	if (is_armed && !within)
		forget();
	*ret = !is_armed;
	return true;
}

/* The program runs on first, to a breakpoint; then this is called again. */
static void run_to(uint64_t at, const char *condition)
{
	delete_entries();
	lbx_bridge_script("with language c -- _lb_quiet tbreak *0x%" PRIx64
			  "\nset $_lb_end = $bpnum\ncommands\nsilent\nend",
			  at);
	if (condition)
		lbx_bridge_script("with language c -- condition $_lb_end %s", condition);
	lbx_bridge_script("set $_lb_graph = 1");
}

/* To where the value of the node is there that is being computed. */
static void run_to_value(void)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	char condition[64];

	snprintf(condition, sizeof condition, "(unsigned char)%s == 0", lbx_call_words(c->machine)->second);
	run_to(c->code.end, condition);
}

bool lbx_slots_leave(struct lbx_context *context, enum lbx_leaving how)
{
	enum { TIMES = 8 }; /* breakpoints of the user's may be in the way */
	static int left;
	bool within, rest = false, has_declined = false;
	uint64_t end;

	if (!put_back_now(context, &within, &end) || (within && !lbx_kept_ask_declined(&has_declined)))
		return false;
	left = how == LBX_LEAVES ? TIMES : left;
	if (within && how == LBX_LEAVES && end) {
		run_to(end, NULL);
		return true;
	}
	if (has_declined && left-- > 0) {
		run_to_value();
		return true;
	}
	if (within && !lbx_kept_put_back(context, true, &rest))
		return false;
	if (rest) {
		lbx_wrap(context->out, 0, 2);
		lbx_printf(context->out,
			   "ggml's scheduler keeps the callback, which lets each node pass: a graph is still "
			   "being computed.\n");
	}
	if (is_armed)
		forget();
	return true;
}

void lbx_slots_forget(void)
{
	if (is_armed)
		forget();
}
