#include "cli/forms.h"

#include <string.h>

#include "cli/verbs.h"

const struct lbx_form lbx_forms[LBX_FORMS] = {
	{ .name = "core",
	  .arguments = "CORE [COMMAND [ARGUMENT]...]",
	  .summary = "look into a core file; without COMMAND: a report",
	  .help = "Shows the tensors of a dead program. Bytes that the core did not save are an error with their "
		  "address, never zeros. The core may be -, which reads it from a pipe, and may be compressed by zstd. "
		  "Functions and lines come from the program's files: where they are not where the core says, tell it "
		  "by --exe or --sysroot.",
	  .operand = "CORE",
	  .is_core = true,
	  .lacks = "which core? lazybones core CORE [COMMAND] (see lazybones --help)" },
	{ .name = "pid",
	  .arguments = "PID COMMAND [ARGUMENT]...",
	  .summary = "look into a running process, which runs on",
	  .help = "Shows the tensors of a running process, which is neither changed nor called (but `follow` makes its "
		  "runtime write a log). It runs on meanwhile, "
		  "so what is shown together may be of different moments: --stop holds it still.",
	  .operand = "PID",
	  .lacks = "which process? lazybones pid PID COMMAND (see lazybones --help)" },
	{ .command = &lbx_command_report,
	  .arguments = "PID|CORE [-o FILE.html]",
	  .summary = "report on a program, as text or as a page",
	  .operand = "PID|CORE",
	  .is_either = true,
	  .lacks = "on which program? lazybones report PID|CORE [-o FILE] (see lazybones help report)" },
	{ .command = &lbx_command_diff,
	  .arguments = "CORE:T CORE:T|FILE.npy|CORE",
	  .summary = "compare tensors of cores and files",
	  .operand = "CORE:T",
	  .is_core = true,
	  .is_pair = true,
	  .lacks = "which tensor? lazybones diff CORE:T CORE:T (see lazybones help diff)" },
	{ .command = &lbx_command_weights,
	  .arguments = "PID|CORE FILE...",
	  .summary = "compare all parameters with a checkpoint",
	  .operand = "PID|CORE",
	  .is_either = true,
	  .lacks = "of which program? lazybones weights PID|CORE FILE... (see lazybones help weights)" },
	{ .command = &lbx_command_doctor,
	  .arguments = "PID|CORE|-- PROGRAM...",
	  .summary = "say what is wrong with a program, and what to do",
	  .operand = "PID|CORE",
	  .is_either = true,
	  .lacks = "of which program? lazybones doctor PID|CORE, or -- PROGRAM (see lazybones help doctor)" },
	{ .command = &lbx_command_explain,
	  .arguments = "[RULE]",
	  .summary = "explain a rule of doctor's, or list them all",
	  .is_alone = true },
	{ .command = &lbx_command_log,
	  .arguments = "FILE [OTHER]",
	  .summary = "what a run computed, beside another run or what is expected",
	  .is_alone = true },
	{ .command = &lbx_command_ranks,
	  .arguments = "CORE CORE... [OPTION]...",
	  .summary = "compare the processes of one MPI job" },
	{ .verb = &lbx_verb_trace,
	  .arguments = "[-o FILE] -- PROGRAM...",
	  .summary = "write a program's timeline; or of --pid PID" },
	{ .verb = &lbx_verb_top, .arguments = "PID [--once | --json]", .summary = "watch a running program" },
	{ .verb = &lbx_verb_sites,
	  .arguments = "[--pid PID]",
	  .summary = "functions and lines for what tracers wrote" },
	{ .verb = &lbx_verb_gdb,
	  .arguments = "[--gdb PROGRAM] [ARGUMENT]...",
	  .summary = "gdb, with the commands in place" },
	{ .verb = &lbx_verb_serve,
	  .arguments = "[OPTION]... [PROGRAM...]",
	  .summary = "sessions of gdb over HTTP, and a page in the browser" },
	{ .verb = &lbx_verb_mcp, .arguments = "[OPTION]...", .summary = "the same sessions for agents" },
	{ .verb = &lbx_verb_trace_diff,
	  .arguments = "TRACE TRACE",
	  .summary = "two sessions side by side: what differs first" },
	{ .verb = &lbx_verb_replay_session,
	  .arguments = "TRACE [PROGRAM]",
	  .summary = "a session again, and what came out otherwise" },
	{ .verb = &lbx_verb_follow,
	  .arguments = "NAME -- PROGRAM [ARGUMENT]...",
	  .summary = "a named value at each evaluation, while the program runs on" },
	{ .name = "help", .arguments = "COMMAND", .summary = "explain a command", .is_help = true },
};

const char *lbx_form_name(const struct lbx_form *form)
{
	return form->name ? form->name : form->verb ? form->verb->row.name : form->command->name;
}

const struct lbx_form *lbx_form_find(const char *name)
{
	for (int i = 0; i < LBX_FORMS; i++)
		if (strcmp(lbx_form_name(&lbx_forms[i]), name) == 0)
			return &lbx_forms[i];
	return NULL;
}

const struct lbx_verb *lbx_verb_find(struct lbx_argv words)
{
	const struct lbx_form *form = *words.at ? lbx_form_find(*words.at) : NULL;

	if (form && form->command == &lbx_command_doctor &&
	    lbx_doctor_watches((struct lbx_argv){ words.at + 1, words.typed }))
		return &lbx_verb_doctor;
	if (form && strcmp(lbx_form_name(form), "pid") == 0 &&
	    lbx_follow_is_of_process((struct lbx_argv){ words.at + 1, words.typed }))
		return &lbx_verb_follow;
	return form ? form->verb : NULL;
}
