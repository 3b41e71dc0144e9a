/* A program that did not die of itself. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/forensics/death.h"
#include "inspect/operand/frames.h"

static void say_who(const struct lbx_case *c, enum lbx_cause cause, char *ret, size_t size)
{
	char sender[96];

	if (cause == LBX_CAUSE_TERMINAL)
		snprintf(ret, size, "Ctrl-\\ in its terminal has ended it");
	else if (cause == LBX_CAUSE_LIMIT)
		snprintf(ret, size, "it has used up its limit of processor time");
	else {
		lbx_describe_sender(&c->death, sender, sizeof sender);
		snprintf(ret, size, "%s has killed it", sender);
	}
}

static bool conclude(struct lbx_case *c, void *state)
{
	enum lbx_cause cause = c->has_death ? lbx_death_cause(&c->death) : LBX_CAUSE_FAULT;
	const struct lbx_frame_view *own;
	char who[160], where[512];

	(void)state;
	if (cause != LBX_CAUSE_OTHER && cause != LBX_CAUSE_TERMINAL && cause != LBX_CAUSE_LIMIT)
		return true;
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_MEDIUM, 1);
	if (!f)
		return lb_ok();
	say_who(c, cause, who, sizeof who);
	LBX_SAY(f->title, "%s", who);
	LBX_SAY(f->evidence, "The kernel noted with signal %d where it came from.", c->death.signal);
	own = lbx_case_own_frame(c);
	if (own) {
		lbx_describe_frame(own, where, sizeof where);
		LBX_SAY(f->evidence, " Thread %" PRIu64 " was in %s then.", c->death.tid, where);
	}
	lbx_diagnosed_frame(f, own);
	LBX_SAY(
	    f->advice, "%s",
	    cause == LBX_CAUSE_LIMIT
		? "`ulimit -t` shows the limit; what it computed shows why it took so long."
		: "Look for who sent it and why: a watchdog, a scheduler's or test's limit of time or memory, a person. If it "
		  "hung, `threads` and `where` show in what; `memory` shows what it had.");
	return lb_ok();
}

const struct lbx_rule lbx_rule_killed = {
	.id = "F4",
	.name = "killed",
	.title = "killed from outside",
	.sees = LBX_SEES_DEATH,
	.meaning =
	    "The signal was sent by another process, from the terminal, or because a limit was reached. No instruction\n"
	    "of the program has failed, so its stack shows what it did, not what is wrong.",
	.example = "kill -ABRT $(pidof train)     # as a watchdog does that hears nothing",
	.demands =
	    "The core's NT_SIGINFO says that a process of another number sent the signal (si_code SI_USER, SI_TKILL or\n"
	    "SI_QUEUE, and si_pid), or the kernel SIGQUIT or SIGXCPU. The kernel that runs out of memory sends SIGKILL,\n"
	    "which leaves no core.",
	.cure = "Ask the sender. A program that hung has a cause of its own: see what its threads waited for.",
	.conclude = conclude,
};
