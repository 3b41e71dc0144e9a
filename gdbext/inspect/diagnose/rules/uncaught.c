/* An exception of C++ that nobody caught. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/operand/frames.h"
#include "target/thrown.h"

enum { NEAR = 64 /* frames of libraries, before the program's own */, SHORT = 200 };

/* The innermost frame of one of these functions; -1: none is near. */
static int find_frame(const struct lbx_thread_view *stack, const char *const *functions)
{
	for (int i = 0; stack && i < stack->n && i < NEAR; i++)
		for (int k = 0; functions[k]; k++)
			if (strcmp(stack->frames[i].line.function, functions[k]) == 0)
				return i;
	return -1;
}

/* Whether it is std::terminate() that has called abort(). What is not exported has no name in a library without symbols:
 * the routine that looks for handlers calls it, too. */
static bool terminates(const struct lbx_thread_view *stack)
{
	static const char *const names[] = { "std::terminate", "__cxxabiv1::__terminate", "std::__terminate",
					     "__gxx_personality_v0", NULL };
	static const char *const aborts[] = { "abort", NULL };
	int at = find_frame(stack, names);

	return at > 0 && find_frame(stack, aborts) >= 0 && find_frame(stack, aborts) < at;
}

/* The frame of the call that throws; -1: it was thrown by one that has ended, as in a destructor. */
static int find_thrower(const struct lbx_thread_view *stack)
{
	static const char *const throwers[] = { "__cxa_throw", "__cxa_rethrow", NULL };

	return find_frame(stack, throwers);
}

/* By the part of the stack within the frame that has thrown, or else within the program's own. */
static bool find_thrown(struct lbx_case *c, const struct lbx_thread_view *stack, struct lbx_thrown *ret)
{
	int thrower = find_thrower(stack);
	const struct lbx_frame_view *last = thrower >= 0 ? &stack->frames[thrower] : lbx_case_own_frame(c);
	uint64_t from;

	return last && last->frame.cfa && lbx_stack_pointer(&stack->frames[0].frame.registers, &from) &&
	       lbx_thrown_find(c->context->target, from, last->frame.cfa, ret);
}

static bool conclude(struct lbx_case *c, void *state)
{
	static const char *const pure[] = { "__cxa_pure_virtual", NULL };
	const struct lbx_thread_view *stack = lbx_case_stack(c);
	const struct lbx_frame_view *own;
	struct lbx_thrown thrown;
	char where[512] = "?";

	(void)state;
	if (!terminates(stack))
		return lb_ok();
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 1);
	if (!f)
		return lb_ok();
	own = lbx_case_own_frame(c);
	if (own)
		lbx_describe_frame(own, where, sizeof where);
	lbx_diagnosed_frame(f, own);
	if (find_thrown(c, stack, &thrown)) {
		bool is_short = strlen(thrown.text) <= SHORT;
		LBX_SAY(f->title, "nobody catches %s%s%s", thrown.type, thrown.text[0] && is_short ? ": " : "",
			is_short ? thrown.text : "");
		LBX_SAY(f->evidence, "%s%sIt %s %s; std::terminate() ended the program.", is_short ? "" : thrown.text,
			is_short ? "" : ". ", find_thrower(stack) >= 0 ? "was thrown in" : "came to", where);
		LBX_SAY(
		    f->advice,
		    "Catch it where something can be done about it, at the latest in main() or where its thread begins.");
	} else if (find_frame(stack, pure) >= 0) {
		LBX_SAY(f->title, "a pure virtual function was called in %s", where);
		LBX_SAY(f->evidence, "A constructor or destructor calls it, or the object is gone.");
		LBX_SAY(f->advice,
			"Call no virtual function before the object is whole, nor after its destructor has begun.");
	} else {
		LBX_SAY(f->title, "std::terminate() was called in %s", where);
		LBX_SAY(f->evidence, "Which exception led to it, if one did, is not certain.");
		LBX_SAY(f->advice, "Without an exception, a std::thread was neither joined nor detached, as a rule.");
	}
	return lb_ok();
}

const struct lbx_rule lbx_rule_uncaught = {
	.id = "F6",
	.name = "uncaught",
	.title = "an exception of C++ that nobody catches",
	.sees = LBX_SEES_DEATH,
	.meaning =
	    "No caller of the function that throws has a handler for it, or it would leave a noexcept function or a\n"
	    "thread. std::terminate() then ends the program.",
	.example = "std::vector<int> v;\n"
		   "v.at(3);     // std::out_of_range",
	.demands =
	    "std::terminate() is on the stack of the thread that died. The exception is told where the stack leads to its\n"
	    "header, and it is certain which of several it is; its text, where it is a std::logic_error, a\n"
	    "std::runtime_error, a c10::Error, or derived from these, a string or a number.",
	.cure = "Catch it, or see that what it complains of does not happen.",
	.conclude = conclude,
};
