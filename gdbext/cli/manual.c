#include "cli/manual.h"

#include <string.h>

#include "lazybones.h"

static const struct {
	const char *synopsis, *what;
} forms[] = {
	{ "core CORE [COMMAND [ARGUMENT]...]", "look into a core file; without COMMAND: a report" },
	{ "pid PID COMMAND [ARGUMENT]...", "look into a running process, which runs on" },
	{ "report CORE [-o FILE.html]", "the report of a core; as a page of its own" },
	{ "diff CORE:T CORE:T|FILE.npy", "compare tensors of two cores, or one with a file" },
	{ "ranks CORE CORE... [OPTION]...", "compare the processes of one MPI job" },
	{ "trace [-o FILE] -- PROGRAM...", "write a program's timeline; or of --pid PID" },
	{ "top PID [--once | --json]", "watch a running program" },
	{ "sites [--pid PID]", "functions and lines for what tracers wrote" },
	{ "help COMMAND", "explain a command" },
};

const struct lbx_command lbx_verbs[] = {
	{ .name = "trace", .arguments = "[-o FILE] (--pid PID | -- PROGRAM [ARGUMENT]...)",
	  .summary = "write a timeline of a program, for ui.perfetto.dev",
	  .help = "Evaluations and operations become slices, one row a thread or stream; memory and\n"
		  "tensors become counters; misuse, implicit evaluations, NaN, errors and\n"
		  "compilations are marked. The file is in the JSON array form of the Trace Event Format, which\n"
		  "chrome://tracing loads, too. It is written as the program runs: whatever ends early\n"
		  "leaves a file that loads. Events come from the flight recorder; those that it\n"
		  "overwrote before they were read are counted, and marked in the timeline.\n"
		  "\n"
		  "A program that is started so runs with LAZYBONES_TIMES=memory and a large recorder; its exit\n"
		  "status is this command's. With --pid, the same clock is switched on while the trace\n"
		  "lasts: until Ctrl-C, or the program's end; some seconds later it is off again, however the\n"
		  "trace ended.\n"
		  "\n"
		  "Programs that the program runs (it may be a script), and children that it forks, are in the same\n"
		  "file, a process each, whichever thread makes them. Not followed are a program whose first thread has\n"
		  "ended, and what a process does in the last milliseconds before it becomes another program (exec):\n"
		  "the summary says where that happened.\n"
		  "\n"
		  "Example: lazybones trace -o train.json -- ./train",
	  .options = { { "output", "FILE", "where to write (default lazybones-trace.json); also -o" },
		       { "pid", "PID", "of a process that runs already; also -p" },
		       { "interval", "MS", "milliseconds between two looks at the program (default 2)" } } },
	{ .name = "top", .arguments = "PID",
	  .summary = "watch a running program: memory, rates, operations, call sites",
	  .help = "A screen that is drawn anew each second: memory in use, evaluations and operations a\n"
		  "second and the share of time spent in them, growth of the number of tensors, and who is\n"
		  "behind it: the operations and the call sites that take most time, the places\n"
		  "that made the tensors with the most memory. q ends it. The program runs on; its events\n"
		  "carry the time while it is watched, and some seconds longer.\n"
		  "\n"
		  "Example: lazybones top 4711",
	  .options = { { "once", NULL, "print it once, over one interval, and end" },
		       { "json", NULL, "the same as JSON" },
		       { "interval", "MS", "milliseconds between two looks (default 1000)" } } },
	{ .name = "sites", .arguments = "[--pid PID]",
	  .summary = "put functions and lines into what a tracer has written",
	  .help = "Copies standard input to standard output. Each place such as /home/ann/train+0x51de, as\n"
		  "LAZYBONES_STRACE=1 writes it, becomes its function, file and line; its file is taken as it is\n"
		  "now: one that was built anew since gives other lines.\n"
		  "\n"
		  "So do the addresses of processes that the tools of bpftrace announce, by a line such as\n"
		  "\"process 4711\". Each is looked at then, and may end after that. The first number in a\n"
		  "line is the process whose places follow it. Where there is none, a place is named only if it\n"
		  "is the same for all processes. Otherwise it stays, and the end says why.\n"
		  "\n"
		  "With --pid, all addresses are of that process. It is looked at once, at the start.\n"
		  "\n"
		  "Example: lbmisuse.bt liblazybones.so.0.1.0 | lazybones sites",
	  .options = { { "pid", "PID", "of the process whose addresses are in the text; also -p" } } },
	{ 0 },
};

static const struct lbx_option options[] = {
	{ "json", NULL, "write JSON instead of text" },
	{ "exe", "FILE", "core: the program, when it is not where the core says; not used if it is another" },
	{ "force", NULL, "core: use names from --exe also if it is another program: they may be wrong" },
	{ "sysroot", "DIR", "core: a directory with the program's files under their paths" },
	{ "unpack", "BYTES", "core: a compressed core may become (default 64 GiB; in TMPDIR or /var/tmp)" },
	{ "stop", NULL, "pid: hold the process still meanwhile, for a consistent picture" },
	{ "memory", "BYTES", "of the reader's own at most (default 4 GiB)" },
	{ "seconds", "N", "of processor time at most (default 600)" },
	{ "help", NULL, "show this, or a command's help" },
	{ "version", NULL, "show the version" },
};
enum { FORMS = sizeof forms / sizeof *forms, OPTIONS = sizeof options / sizeof *options };

bool lbx_cli_has(const struct lbx_command *command)
{
	return !(command->needs & LBX_NEEDS_LIVE);
}

const char *lbx_cli_prefix(const struct lbx_command *command)
{
	return !command->run || (command->needs & LBX_NEEDS_CORES) ? "lazybones " : "lazybones core CORE ";
}

/* Long arguments have a line of their own. */
static void print_row(struct lbx_out *out, const struct lbx_command *c)
{
	enum { NAME = 10, ARGUMENTS = 15, SUMMARY = 2 + NAME + 1 + ARGUMENTS + 1 };

	lbx_wrap(out, 0, SUMMARY);
	lbx_printf(out, "  %-*s %-*s", NAME, c->name, ARGUMENTS, c->arguments);
	if (strlen(c->arguments) > ARGUMENTS) {
		lbx_printf(out, "\n");
		lbx_wrap(out, 0, SUMMARY);
		lbx_printf(out, "%*s", SUMMARY - 1, "");
	}
	lbx_printf(out, " %s\n", c->summary);
}

static void print_option(struct lbx_out *out, const struct lbx_option *o)
{
	int n = (int)strlen(o->name) + (o->value ? (int)strlen(o->value) + 1 : 0);

	lbx_wrap(out, 0, 19);
	lbx_printf(out, "  --%s%s%s%*s %s\n", o->name, o->value ? " " : "", o->value ? o->value : "",
		   n < 14 ? 14 - n : 0, "", o->help);
}

void lbx_usage(struct lbx_out *out)
{
	for (int i = 0; i < FORMS; i++)
		lbx_wrap(out, 0, 52), lbx_printf(out, "%s lazybones %-34s %s\n", i ? "      " : "Usage:",
						 forms[i].synopsis, forms[i].what);
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "See the lazy tensors of a running program, or of a dead one's core file.\n"
		   "\nCommands:\n");
	for (const struct lbx_command *c = lbx_commands; c->name; c++)
		if (lbx_cli_has(c))
			print_row(out, c);
	lbx_printf(out, "\nOptions:\n");
	for (int i = 0; i < OPTIONS; i++)
		print_option(out, &options[i]);
}

/* Text of man: a backslash, and a dot or a quote that begins a line, mean something there. */
static void roff(struct lbx_out *out, const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			lbx_printf(out, "\\&");
		if (*text == '\\')
			lbx_printf(out, "\\e");
		else if (*text == '-')
			lbx_printf(out, "\\-");
		else
			out->write(out, text, 1);
		start = *text == '\n';
	}
}

static void write_roff(struct lbx_out *out, const char *text, size_t n)
{
	char piece[512];

	for (size_t done = 0, m; done < n; done += m) {
		m = n - done < sizeof piece ? n - done : sizeof piece - 1;
		memcpy(piece, text + done, m);
		piece[m] = '\0';
		roff(out->context, piece);
	}
}

static void roff_option(struct lbx_out *out, const struct lbx_option *o)
{
	lbx_printf(out, ".TP\n\\fB\\-\\-%s\\fR", o->name);
	if (o->value)
		lbx_printf(out, " \\fI%s\\fR", o->value);
	lbx_printf(out, "\n");
	roff(out, o->help);
	lbx_printf(out, "\n");
}

static void roff_command(struct lbx_out *out, const struct lbx_command *c)
{
	const int max = sizeof c->options / sizeof *c->options;
	struct lbx_out text = { .write = write_roff, .context = out };

	lbx_printf(out, ".SS \"");
	roff(out, c->name);
	lbx_printf(out, "%s", *c->arguments ? " " : "");
	roff(out, c->arguments);
	lbx_printf(out, "\"\n");
	roff(out, c->summary);
	lbx_printf(out, ".\n");
	if (c->help && *c->help) {
		lbx_printf(out, ".PP\n.nf\n");
		lbx_command_text(&text, c, lbx_cli_prefix(c));
		lbx_printf(out, "\n.fi\n");
	}
	for (int i = 0; i < max && c->options[i].name; i++)
		roff_option(out, &c->options[i]);
}

void lbx_manual(struct lbx_out *out)
{
	lbx_printf(out, ".TH LAZYBONES 1 \"\" \"Lazybones %s\" \"User Commands\"\n"
		   ".SH NAME\nlazybones \\- see the lazy tensors of a process or a core file\n"
		   ".SH SYNOPSIS\n", LB_VERSION);
	for (int i = 0; i < FORMS; i++) {
		lbx_printf(out, "%s.B lazybones\n", i ? ".br\n" : "");
		roff(out, forms[i].synopsis);
		lbx_printf(out, "\n");
	}
	lbx_printf(out, ".SH DESCRIPTION\n");
	roff(out, "Reads the tensors of a program that uses the Lazybones runtime from outside: from a "
		  "running process, which it neither changes (but for the clock that trace and top switch "
		  "on) nor calls, or from the core file of a dead one. No debugger is needed. A core is "
		  "read by a process of its own with limits of "
		  "memory and time, for it may be damaged.\n");
	lbx_printf(out, ".SH OPTIONS\nThey stand anywhere. One that the command has itself is "
		   "the command's behind the command.\n");
	for (int i = 0; i < OPTIONS; i++)
		roff_option(out, &options[i]);
	lbx_printf(out, ".SH COMMANDS\nEach of them takes \\fB\\-\\-json\\fR and \\fB\\-\\-help\\fR.\n");
	for (const struct lbx_command *c = lbx_commands; c->name; c++)
		if (lbx_cli_has(c))
			roff_command(out, c);
	lbx_printf(out, ".SH LIVE VIEWS\nThese stand alone: \\fBlazybones trace\\fR and so on.\n");
	for (const struct lbx_command *c = lbx_verbs; c->name; c++)
		roff_command(out, c);
	lbx_printf(out, ".SH EXIT STATUS\n"
		   ".TP\n%d\nthe command is done\n"
		   ".TP\n%d\nit failed; a message on standard error says why\n"
		   ".TP\n%d\nthe command line is wrong, whatever the program holds: a word, an option or its value "
		   "is not understood, or one is missing\n"
		   ".PP\n\\fBtrace\\fR ends with the status of the program that it has started.\n", LBX_EXIT_DONE, LBX_EXIT_FAILED,
		   LBX_EXIT_MISUSED);
	lbx_printf(out, ".SH ENVIRONMENT\n.TP\n\\fBLAZYBONES_REPLAY\\fR\n"
		   "where the program lazybones\\-replay is, which \\fBpeek\\fR runs\n"
		   ".TP\n\\fBCOLUMNS\\fR\nwidth of the output; without it, a terminal's own, and lines stay whole in files and pipes\n"
		   ".TP\n\\fBNO_COLOR\\fR\nno colours, also on a terminal\n"
		   ".SH SEE ALSO\n.BR gdb (1),\n.BR core (5)\n");
}
