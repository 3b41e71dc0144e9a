/* A program that the C library has given up. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/forensics/death.h"
#include "inspect/operand/frames.h"
#include "target/abort_message.h"

/* What the library's messages have in common (glibc's assert, malloc and debug). */
static const struct kind {
	const char *part, *what, *advice;
} kinds[] = {
	{ "Assertion `", "an assertion failed",
	  "The condition that it demands did not hold: see what its values were." },
	{ "*** stack smashing detected ***", "a function wrote past the end of a local array",
	  "The function where it died has overwritten its own frame: look at its arrays, and at what it gives to others." },
	{ "*** buffer overflow detected ***", "a call would have written past the end of its buffer",
	  "The call in front of the library's frames was given a buffer that is too small." },
	{ "double free", "memory was freed twice",
	  "Who freed it first is not known here: valgrind or -fsanitize=address tell." },
	{ "invalid pointer", "what was freed is no allocation, or its header is damaged",
	  "Either malloc() has not given this pointer, or something has written beside its memory: valgrind or "
	  "-fsanitize=address tell." },
	/* malloc's chunks have their sizes in front of them: these are what it finds there */
	{ "corrupted", "the heap is damaged",
	  "Something has written beside its memory, earlier than this call: valgrind or -fsanitize=address tell where." },
	{ "invalid ", "the heap is damaged",
	  "Something has written beside its memory, earlier than this call: valgrind or -fsanitize=address tell where." },
	{ "", "the C library gave up", "The message is the library's own." },
};

static const struct kind *kind_of(const char *message)
{
	const struct kind *k = kinds;

	while (!strstr(message, k->part))
		k++;
	return k;
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lbx_frame_view *own;
	char message[256], where[512] = "";

	(void)state;
	if (!c->has_death || c->death.signal != SIGABRT || lbx_death_cause(&c->death) == LBX_CAUSE_OTHER ||
	    !lbx_abort_message(c->context->target, message, sizeof message))
		return lb_ok();
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 1);
	if (!f)
		return lb_ok();
	own = lbx_case_own_frame(c);
	if (own)
		lbx_describe_frame(own, where, sizeof where);
	LBX_SAY(f->title, "%s: %s", kind_of(message)->what, message);
	LBX_SAY(f->evidence, "So the C library said when it ended the program%s%s.", own ? ", which was in " : "",
		where);
	LBX_SAY(f->advice, "%s", kind_of(message)->advice);
	lbx_diagnosed_frame(f, own);
	return lb_ok();
}

const struct lbx_rule lbx_rule_aborted = {
	.id = "F5",
	.name = "aborted",
	.title = "given up by the C library: an assertion, a damaged heap, a smashed stack",
	.sees = LBX_SEES_DEATH,
	.meaning =
	    "The C library found a state in which the program must not go on. Of a damaged heap the cause lies earlier\n"
	    "than the call that found it.",
	.example = "assert(n > 0);\n"
		   "free(p);\n"
		   "free(p);     /* free(): double free detected in tcache 2 */",
	.demands = "It died of SIGABRT that it sent itself, and glibc has left its message (__abort_msg).",
	.cure = "Of an assertion, the caller that broke the condition. Of a heap, -fsanitize=address or valgrind.",
	.conclude = conclude,
};
