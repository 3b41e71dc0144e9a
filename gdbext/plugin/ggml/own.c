/* What is in the slot does nothing but return true, with all that it was given still in the registers. A breakpoint at the
 * instruction that returns goes on with the program's callback instead, which so returns to who has called, with its own
 * data: $_lb_c and $_lb_d have both, by the mark (slots.c).
 *
 * Before a node the callback says whether it wants to see the value. If not, the scheduler would compute several nodes
 * in one go: a breakpoint where it returns to then makes it true, and when the value is there the callback is not
 * called. Which thread that is of, and where its stack was, is in $_lb_p while the callback is asked and in $_lb_u until the
 * node has been computed: by the thread's number in gdb, which is no more than a place there, so the stack must fit, too.
 *
 * Where the callback returns to shows at its first call: only there gdb stops, and goes on. */
#include "plugin/ggml/own.h"

#include <inttypes.h>
#include <string.h>

#include "plugin/bridge/bridge.h"
#include "plugin/ggml/conditions.h"
#include "plugin/ggml/found.h"
#include "plugin/ggml/keys.h"

enum { ANSWERS = 8, THREADS = 32 };

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
		    ") / 0x2, $_lb_c[$_lb_i] != 0)) ? ($_lb_k = $_thread %% %#x, (unsigned char)%s != 0 ? ",
		    w->third, lbx_ggml_mark(c->code.start, 0), 2 * LBX_GGML_MARKS, w->third,
		    lbx_ggml_mark(c->code.start, 0), THREADS, w->second);
	text_printf(text, "($_lb_p[$_lb_k] = (unsigned long)%s, %s = $_lb_d[$_lb_i], $pc = $_lb_c[$_lb_i], ", w->stack,
		    w->third);
	text_printf(text, own.n_answers == ANSWERS ? "0" : "1");
	for (int i = 0; i < own.n_answers; i++)
		text_printf(text, " && %s != 0x%" PRIx64, w->back, own.answers[i]);
	text_printf(text,
		    ") : $_lb_u[$_lb_k] == (unsigned long)%s ? ($_lb_u[$_lb_k] = 0, 0) : (%s = $_lb_d[$_lb_i], $pc = "
		    "$_lb_c[$_lb_i], 0)) : 0",
		    w->stack, w->third);
}

/* False, with the answer as it has to be. */
static void add_answer(struct text *text)
{
	const struct lbx_call_words *w = lbx_call_words(lbx_found_callback()->machine);

	text_printf(text,
		    "($_lb_k = $_thread %% %#x, $_lb_p[$_lb_k] == (unsigned long)%s - %#x) ? ($_lb_u[$_lb_k] = "
		    "(unsigned char)%s ? 0 : $_lb_p[$_lb_k], $_lb_p[$_lb_k] = 0, %s = 1, 0) : 0",
		    THREADS, w->stack, w->pushed, w->result, w->result);
}

void lbx_own_arm(void)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	struct text condition = { 0 }, zeros = { 0 };

	if (own.is_armed)
		return;
	own.is_armed = true;
	own.n_answers = 0;
	for (int i = 0; i < THREADS; i++)
		text_printf(&zeros, "%s(unsigned long) 0", i ? ", " : "");
	lbx_bridge_script(
	    "with language c -- set $_lb_p = {%s}\nwith language c -- set $_lb_u = {%s}\nset $_lb_own = 1", zeros.bytes,
	    zeros.bytes);
	add_call(&condition);
	lbx_breakpoint_add_code(LBX_KEY_OWN, LBX_GGML, c->code.end, "answers", lbx_call_words(c->machine)->back, NULL,
				condition.bytes);
	text_free(&condition);
	text_free(&zeros);
}

void lbx_own_answers_at(uint64_t address)
{
	struct text condition = { 0 }, call = { 0 };

	if (own.is_armed && own.n_answers < ANSWERS) {
		add_answer(&condition);
		lbx_breakpoint_add_code(LBX_KEY_ANSWER + own.n_answers, LBX_GGML, address, "answer", NULL, NULL,
					condition.bytes);
		own.answers[own.n_answers++] = address;
		add_call(&call);
		lbx_breakpoint_set_condition(LBX_KEY_OWN, call.bytes);
	}
	text_free(&condition);
	text_free(&call);
}

void lbx_own_disarm(void)
{
	lbx_breakpoint_delete(LBX_KEY_OWN);
	for (int i = 0; i < ANSWERS; i++)
		lbx_breakpoint_delete(LBX_KEY_ANSWER + i);
	own.is_armed = false;
}

bool lbx_own_is_gone(void)
{
	return own.is_armed && !lbx_breakpoint_exists(LBX_KEY_OWN);
}
