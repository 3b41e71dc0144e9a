/* A call, or jump, to where no code is. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/forensics/death.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/places.h"

/* What lies there, if it is a tensor's; "" else. */
static bool describe(struct lbx_case *c, uint64_t pc, char *ret, size_t size)
{
	struct lbx_places *places;

	*ret = '\0';
	if (!c->tensors)
		return true;
	if (!lbx_places_create(c->context, &places))
		return false;
	if (!lbx_describe_address(places, pc, 0, ret, size))
		*ret = '\0';
	lbx_places_destroy(places);
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lbx_thread_view *stack = lbx_case_stack(c);
	const struct lbx_frame_view *own;
	struct lbx_module m;
	char what[1024];
	uint64_t pc;

	(void)state;
	if (!stack || stack->n == 0 || c->death.signal != SIGSEGV || !c->death.has_address)
		return lb_ok();
	pc = stack->frames[0].frame.pc;
	if (pc != c->death.address || lbx_target_module_at(c->context->target, pc, &m))
		return lb_ok();
	if (!describe(c, pc, what, sizeof what))
		return false;
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.98);
	if (!f)
		return lb_ok();
	own = lbx_case_own_frame(c);
	if (pc == 0)
		LBX_SAY(f->title, "a function pointer that was called is NULL");
	else
		LBX_SAY(f->title, "a call or jump led to 0x%" PRIx64 ", where no code is", pc);
	LBX_SAY(f->evidence, "%s%sThe instruction that failed is the one at that address itself.", what,
		*what ? ". " : "");
	lbx_diagnosed_frame(f, own);
	LBX_SAY(f->advice,
		own ? "Look at the pointer that it was called by there, and at who has written it."
		    : "The stack does not tell who called it: what has written over a return address may have.");
	return lb_ok();
}

const struct lbx_rule lbx_rule_wild_call = {
	.id = "F11",
	.name = "wild-call",
	.title = "a call to where no code is",
	.sees = LBX_SEES_DEATH,
	.meaning =
	    "A function pointer was NULL, or had been written over; or a return address had. The program's own frame is\n"
	    "the caller, where that is known.",
	.example = "void (*done)(int) = NULL;\n"
		   "done(0);",
	.demands =
	    "It died of SIGSEGV at the address of its next instruction, which lies in no module that it had loaded.",
	.cure = "See who sets that pointer: before the first call, and whether its object is still alive.",
	.conclude = conclude,
};
