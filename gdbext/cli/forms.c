#include "cli/forms.h"

#include <string.h>

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
	  .help = "Shows the tensors of a running process, which is neither changed nor called. It runs on meanwhile, "
		  "so what is shown together may be of different moments: --stop holds it still.",
	  .operand = "PID",
	  .lacks = "which process? lazybones pid PID COMMAND (see lazybones --help)" },
	{ .name = "report",
	  .arguments = "CORE [-o FILE.html]",
	  .summary = "report on a core, as text or as a page",
	  .operand = "CORE",
	  .command = &lbx_command_report,
	  .is_core = true,
	  .lacks = "which core? lazybones report CORE [-o FILE] (see lazybones help report)" },
	{ .name = "diff",
	  .arguments = "CORE:T CORE:T|FILE.npy|CORE",
	  .summary = "compare tensors of cores and files",
	  .operand = "CORE:T",
	  .command = &lbx_command_diff,
	  .is_core = true,
	  .is_pair = true,
	  .lacks = "which tensor? lazybones diff CORE:T CORE:T (see lazybones help diff)" },
	{ .name = "weights",
	  .arguments = "PID|CORE FILE...",
	  .summary = "compare all parameters with a checkpoint",
	  .operand = "PID|CORE",
	  .command = &lbx_command_weights,
	  .is_either = true,
	  .lacks = "of which program? lazybones weights PID|CORE FILE... (see lazybones help weights)" },
	{ .name = "doctor",
	  .arguments = "PID|CORE|-- PROGRAM...",
	  .summary = "say what is wrong with a program, and what to do",
	  .operand = "PID|CORE",
	  .command = &lbx_command_doctor,
	  .is_either = true,
	  .lacks = "of which program? lazybones doctor PID|CORE, or -- PROGRAM (see lazybones help doctor)" },
	{ .name = "explain",
	  .arguments = "[RULE]",
	  .summary = "explain a rule of doctor's, or list them all",
	  .command = &lbx_command_explain,
	  .is_alone = true },
	{ .name = "log",
	  .arguments = "FILE [OTHER]",
	  .summary = "what a run computed, beside another run or what is expected",
	  .command = &lbx_command_log,
	  .is_alone = true },
	{ .name = "ranks",
	  .arguments = "CORE CORE... [OPTION]...",
	  .summary = "compare the processes of one MPI job",
	  .command = &lbx_command_ranks },
	{ .name = "trace",
	  .arguments = "[-o FILE] -- PROGRAM...",
	  .summary = "write a program's timeline; or of --pid PID",
	  .is_own = true },
	{ .name = "top", .arguments = "PID [--once | --json]", .summary = "watch a running program", .is_own = true },
	{ .name = "sites",
	  .arguments = "[--pid PID]",
	  .summary = "functions and lines for what tracers wrote",
	  .is_own = true },
	{ .name = "help", .arguments = "COMMAND", .summary = "explain a command", .is_own = true },
};

const struct lbx_form *lbx_form_find(const char *name)
{
	for (int i = 0; i < LBX_FORMS; i++)
		if (strcmp(lbx_forms[i].name, name) == 0)
			return &lbx_forms[i];
	return NULL;
}
