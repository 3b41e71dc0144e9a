/* The rows of the commands that this program alone has; trace.c, top.c and sites.c run them. */
#include "cli/manual.h"

static const struct lbx_command trace = {
	.name = "trace", .arguments = "[-o FILE] (--pid PID | -- PROGRAM [ARGUMENT]...)",
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
		       { "pid", "PID", "trace a process that already runs; also -p" },
		       { "interval", "MS", "milliseconds between two looks at the program (default 2)" } } };

static const struct lbx_command top = {
	.name = "top", .arguments = "PID",
	  .summary = "watch a running program: memory, rates, operations, call sites",
	  .help = "A screen, redrawn each second: memory in use, evaluations and operations a\n"
		  "second and the share of time spent in them, growth of the number of tensors, and who is\n"
		  "behind it: the operations and the call sites that take most time, the places\n"
		  "that made the tensors with the most memory. q ends it. The program runs on; its events\n"
		  "carry the time while it is watched, and some seconds longer.\n"
		  "\n"
		  "Example: lazybones top 4711",
	  .options = { { "once", NULL, "print it once, over one interval, and end" },
		       { "json", NULL, "the same as JSON" },
		       { "interval", "MS", "milliseconds between two looks (default 1000)" } } };

static const struct lbx_command sites = {
	.name = "sites", .arguments = "[--pid PID]",
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
	  .options = { { "pid", "PID", "of the process whose addresses are in the text; also -p" } } };

const struct lbx_command *const lbx_verbs[] = { &trace, &top, &sites, NULL };
