/* What is in the slot does nothing but return true, with all that it was given still in the registers. A breakpoint at the
 * instruction that returns goes on with the program's callback instead, which so returns to who has called, with its own
 * data: $_lb_c and $_lb_d have both, by the mark (slots.c).
 *
 * Before a node the callback says whether it wants to see the value. If not, the scheduler would compute several nodes
 * in one go: a breakpoint where it returns to then makes it true, and when the value is there the callback is not
 * called. Where the stack of the thread that asks is stands, by the scheduler, in $_lb_p while the callback is asked and in $_lb_u
 * until the node has been computed: one thread at a time computes with a scheduler. Where the callback returns nothing tells which
 * scheduler it was asked by, but that stack.
 *
 * Where the callback returns to shows at its first call: only there gdb stops, and goes on. */
#include "plugin/ggml/own.h"

#include <inttypes.h>
#include <string.h>

#include "inspect/out.h"
#include "plugin/bridge/bridge.h"
#include "plugin/ggml/conditions.h"
#include "plugin/ggml/found.h"
#include "plugin/ggml/keys.h"

enum { ANSWERS = 8 };

static struct {
	bool is_armed;
	uint64_t answers[ANSWERS]; /* where it returns to */
	int n_answers;
} own;

bool lbx_own_may_be(void)
{
	const struct lbx_call_words *w = lbx_call_words(lbx_found_callback()->machine);

	return strcmp(w->result, w->first) != 0;
}

/* True where it returns to an address that is not known. */
static void add_call(struct text *text)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	const struct lbx_call_words *w = lbx_call_words(c->machine);

	text_printf(text,
		    "((unsigned long)%s - 0x%" PRIx64 " < %#x && ($_lb_i = ((unsigned long)%s - 0x%" PRIx64
		    ") / 0x2, $_lb_c[$_lb_i] != 0)) ? ((unsigned char)%s != 0 ? ",
		    w->third, lbx_ggml_mark(c->code.start, 0), 2 * LBX_GGML_MARKS, w->third,
		    lbx_ggml_mark(c->code.start, 0), w->second);
	text_printf(text, "($_lb_p[$_lb_i] = (unsigned long)%s, %s = $_lb_d[$_lb_i], $pc = $_lb_c[$_lb_i], ", w->stack,
		    w->third);
	text_printf(text, own.n_answers == ANSWERS ? "0" : "1");
	for (int i = 0; i < own.n_answers; i++)
		text_printf(text, " && %s != 0x%" PRIx64, w->back, own.answers[i]);
	text_printf(text,
		    ") : $_lb_u[$_lb_i] == (unsigned long)%s ? ($_lb_u[$_lb_i] = 0, 0) : (%s = $_lb_d[$_lb_i], $pc = "
		    "$_lb_c[$_lb_i], 0)) : 0",
		    w->stack, w->third);
}

/* False, with the answer as it has to be. */
static void add_answer(struct text *text)
{
	const struct lbx_call_words *w = lbx_call_words(lbx_found_callback()->machine);

	text_printf(text, "($_lb_k = (unsigned long)%s - %#x, 0", w->stack, w->pushed);
	for (unsigned i = 0; i < LBX_GGML_MARKS; i++)
		text_printf(text, " || ($_lb_i = %#x, $_lb_p[%#x] == $_lb_k)", i, i);
	text_printf(text, ") ? ($_lb_u[$_lb_i] = (unsigned char)%s ? 0 : $_lb_k, $_lb_p[$_lb_i] = 0, %s = 1, 0) : 0",
		    w->result, w->result);
}

static void add_answers_at(int i)
{
	struct text condition = { 0 };

	add_answer(&condition);
	lbx_breakpoint_add_code(LBX_KEY_ANSWER + i, LBX_GGML, own.answers[i], "answer", NULL, NULL, condition.bytes);
	text_free(&condition);
}

/* Nobody is to find the variable set without the breakpoints. */
static void add_breakpoints(void)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	struct text condition = { 0 };

	add_call(&condition);
	if (!lbx_breakpoint_exists(LBX_KEY_OWN))
		lbx_breakpoint_add_code(LBX_KEY_OWN, LBX_GGML, c->code.end, "answers", lbx_call_words(c->machine)->back,
					NULL, condition.bytes);
	for (int i = 0; i < own.n_answers; i++)
		if (!lbx_breakpoint_exists(LBX_KEY_ANSWER + i))
			add_answers_at(i);
	lbx_bridge_script("set $_lb_own = 1");
	text_free(&condition);
}

void lbx_own_arm(void)
{
	own.n_answers = own.is_armed ? own.n_answers : 0;
	own.is_armed = true;
	add_breakpoints();
}

void lbx_own_answers_at(uint64_t address)
{
	struct text call = { 0 };

	if (own.is_armed && own.n_answers < ANSWERS) {
		own.answers[own.n_answers++] = address;
		add_answers_at(own.n_answers - 1);
		add_call(&call);
		lbx_breakpoint_set_condition(LBX_KEY_OWN, call.bytes);
	}
	text_free(&call);
}

void lbx_own_disarm(void)
{
	lbx_breakpoint_delete(LBX_KEY_OWN);
	for (int i = 0; i < ANSWERS; i++)
		lbx_breakpoint_delete(LBX_KEY_ANSWER + i);
	own.is_armed = false;
}

bool lbx_own_is_whole(void)
{
	bool whole = !own.is_armed || lbx_breakpoint_exists(LBX_KEY_OWN);

	for (int i = 0; own.is_armed && i < own.n_answers; i++)
		whole &= lbx_breakpoint_exists(LBX_KEY_ANSWER + i);
	return whole;
}

void lbx_own_mend(void)
{
	if (own.is_armed)
		add_breakpoints();
}

static void enable(struct lbx_out *out, int key)
{
	if (!lbx_breakpoint_exists(key) || lbx_breakpoint_is_enabled(key))
		return;
	lbx_wrap(out, 0, 2);
	lbx_printf(out,
		   "Breakpoint %d stays enabled: the program's own callback is called there. `tensor uncatch` "
		   "deletes it.\n",
		   lbx_breakpoint_number(key));
	lbx_breakpoint_enable(key, true);
}

void lbx_own_enable(struct lbx_out *out)
{
	if (own.is_armed)
		enable(out, LBX_KEY_OWN);
	for (int i = 0; own.is_armed && i < own.n_answers; i++)
		enable(out, LBX_KEY_ANSWER + i);
}
