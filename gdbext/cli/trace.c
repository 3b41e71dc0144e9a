/* lazybones trace: a program's timeline, in a file. */
#define _GNU_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/plural.h"
#include "cli/follow.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/timed.h"
#include "cli/trace_file.h"
#include "cli/verbs.h"
#include "inspect/trace/log_switch.h"
#include "inspect/trace/timeline.h"
#include "symtab.h"
#include "table/flight.h"
#include "target/needs.h"
#include "target/printable.h"
#include "target/process.h"

struct trace {
	struct lbx_args args;
	int64_t pid, interval;
	const char **program;
	struct lbx_following following;
	struct lbx_settings settings;
	struct lbx_trace_file file;
	bool begun;  /* something is in it, or will be */
	bool failed; /* out of memory */
	int n_timelines, status;
	int n_cut; /* programs that became another one, since the last look at them */
	struct lbx_timeline_totals totals;
};

/* One of the processes. */
struct traced {
	struct lbx_context context;
	struct lbx_timeline *timeline; /* NULL: it has not come to the runtime yet */
	struct lbx_timed timed;
	uint64_t seen;   /* number of the last event that is not its own */
	uint64_t parent; /* 0, or what the runtime calls the process until it has noticed a fork */
	int tries, wait; /* for the runtime */
	bool will_come;  /* to the runtime: its file says so */
	bool is_over;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

/* The program that is started logs its values itself. */
static bool take_log(struct trace *trace)
{
	const char *file = lbx_args_option(&trace->args, "log"), *names = lbx_args_option(&trace->args, "names");

	if (!file)
		return !names || lb_fail("trace: --names is of --log FILE");
	if (trace->pid)
		return lb_fail(
		    "trace: --log is for a program that is started; one that runs can be told by gdb (`tensor log`)");
	if (!lbx_log_check_file(file))
		return false;
	if (setenv("LAZYBONES_LOG", file, 1) != 0 || setenv("LAZYBONES_LOG_NAMES", names ? names : "", 1) != 0)
		return lb_fail("trace: %s", strerror(errno));
	return true;
}

static bool parse(struct trace *trace, struct lbx_argv words)
{
	lbx_args_begin(&lbx_verb_trace.row, NULL, &trace->args);
	if (!lbx_args_take(&trace->args, &words) || !lbx_args_int(&trace->args, "pid", 1, INT32_MAX, &trace->pid) ||
	    !lbx_args_int(&trace->args, "interval", 1, 1000, &trace->interval))
		return false;
	if (lbx_args_option(&trace->args, "output"))
		trace->file.path = lbx_args_option(&trace->args, "output");
	trace->program = words.at;
	if (!take_log(trace))
		return false;
	return (*trace->program != NULL) != (trace->pid != 0) ||
	       lb_fail("trace: either --pid PID or -- PROGRAM [ARGUMENT]... (see lazybones help trace)");
}

static void end_timeline(struct trace *trace, struct traced *traced)
{
	if (traced->timeline)
		lbx_timeline_end(traced->timeline, &trace->totals);
	lbx_timeline_destroy(traced->timeline);
	traced->timeline = NULL;
	lbx_context_close(&traced->context);
	lbx_target_destroy(traced->context.target);
	traced->context.target = NULL;
	traced->timed.asked_ns = 0;
}

/* False with an error when it has no runtime, or not yet. */
static bool look_into(struct traced *traced, pid_t pid, struct lbx_root *ret)
{
	struct lbx_table *table;

	return lbx_process_open(pid, &traced->context.target) && lbx_context_table(&traced->context, &table) &&
	       lbx_table_root(table, ret);
}

static bool open_timeline(struct trace *trace, struct traced *traced, pid_t pid)
{
	struct lbx_root root;

	/* a child that does not run yet has its parent's number */
	if (!look_into(traced, pid, &root) || root.pid == traced->parent ||
	    !lbx_timeline_create(&traced->context, traced->seen, &trace->begun, &traced->timeline)) {
		end_timeline(trace, traced);
		return false;
	}
	trace->n_timelines++;
	return true;
}

/* It has its parent's events, and what they were about. */
static void at_fork(struct trace *trace, struct traced *traced, pid_t pid)
{
	struct lbx_flight flight;
	struct lbx_root root;

	if (look_into(traced, pid, &root) && lbx_flight_read_after(traced->context.table, UINT64_MAX, &flight)) {
		traced->parent = root.pid;
		traced->seen = flight.newest;
		lbx_flight_free(&flight);
	}
	lb_clear_error();
	end_timeline(trace, traced);
}

/* The old memory is gone by now, and what came since the last look with it. */
static void at_exec(struct trace *trace, struct traced *traced, pid_t pid)
{
	char path[64];

	trace->n_cut += !traced->is_over && (traced->timeline || traced->will_come);
	end_timeline(trace, traced);
	traced->seen = LBX_TIMELINE_ALL;
	traced->parent = 0;
	traced->tries = traced->wait = 0;
	traced->is_over = false; /* its first thread's end was not its own, where another one did this */
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	traced->will_come = lbx_file_uses_runtime(path);
}

static struct traced *traced_of(struct trace *trace, struct lbx_followed *program)
{
	struct traced *traced = program->data;

	if (traced)
		return traced;
	traced = program->data = calloc(1, sizeof *traced);
	if (!traced) {
		trace->failed = true;
		return NULL;
	}
	traced->timed.detailed = true;
	traced->context = (struct lbx_context){ .out = &trace->file.out, .settings = &trace->settings };
	traced->seen = trace->following.is_child || program->halt == LBX_AT_FORK ? LBX_TIMELINE_ALL : LBX_TIMELINE_NOW;
	return traced;
}

/* Most programs that a program runs (a shell, and what scripts call) never come to a runtime: they
 * are asked less and less often. */
static bool is_time_to_try(struct traced *traced)
{
	enum { MOST = 64 };

	if (++traced->tries <= traced->wait)
		return false;
	traced->tries = 0;
	traced->wait = traced->wait < MOST ? 2 * traced->wait + 1 : MOST;
	return true;
}

static void take(struct trace *trace, struct lbx_followed *program)
{
	struct traced *traced;
	bool last =
	    program->halt == LBX_AT_END || program->halt == LBX_ENDED || (stopped && !trace->following.is_child);

	if (program->halt == LBX_BEGINS || program->shares || !(traced = traced_of(trace, program)) ||
	    (traced->is_over && program->halt != LBX_AT_EXEC)) {
		lbx_follow_release(program);
		return;
	}
	if (program->halt == LBX_AT_FORK) {
		at_fork(trace, traced, program->pid);
	} else if (program->halt == LBX_AT_EXEC) {
		at_exec(trace, traced, program->pid);
	} else {
		if (!traced->timeline && (last || is_time_to_try(traced)))
			open_timeline(trace, traced, program->pid);
		if (traced->timeline) {
			lbx_timed_ask(&traced->context, &traced->timed);
			if (!lbx_timeline_poll(traced->timeline, last) || last)
				end_timeline(trace, traced);
		}
		traced->is_over = last;
		lb_clear_error();
	}
	lbx_follow_release(program);
}

static void remove_ended(struct trace *trace)
{
	struct lbx_following *following = &trace->following;

	for (int i = following->n; i-- > 0;) {
		struct lbx_followed *program = following->list[i];
		if (program->halt != LBX_ENDED)
			continue;
		if (program->data)
			end_timeline(trace, program->data);
		free(program->data);
		if (trace->pid == program->pid) {
			trace->status = program->status;
			trace->pid = 0;
		}
		lbx_follow_remove(following, i);
	}
}

/* A program that was started here gets its own Ctrl-C, and goes on to its end. */
static void hand_on_signals(struct trace *trace)
{
	if (!stopped || !trace->following.is_child || !trace->pid)
		return;
	if (stopped == SIGTERM)
		kill((pid_t)trace->pid, SIGTERM);
	stopped = 0;
}

static bool follow(struct trace *trace)
{
	struct lbx_following *following = &trace->following;
	bool ok = true;

	while (following->n > 0 && (!stopped || trace->pid)) {
		hand_on_signals(trace);
		bool last = stopped;
		for (int i = 0; i < following->n; i++)
			take(trace, following->list[i]);
		ok = trace->failed ? lb_fail("out of memory") : lbx_trace_file_write(&trace->file);
		if (last || !ok)
			break;
		remove_ended(trace);
		if (following->n > 0)
			lbx_follow_wait(following, (int)trace->interval);
	}
	return ok;
}

/* A child's end is awaited, and its status is ours. */
static int finish(struct trace *trace)
{
	struct lbx_following *following = &trace->following;

	while (following->is_child && trace->pid) {
		hand_on_signals(trace);
		for (int i = 0; i < following->n; i++)
			lbx_follow_release(following->list[i]);
		lbx_follow_wait(following, 100);
		remove_ended(trace);
	}
	if (!following->is_child)
		return LBX_EXIT_DONE;
	if (WIFSIGNALED(trace->status)) {
		fprintf(stderr, "lazybones: the program was killed by SIG%s\n", sigabbrev_np(WTERMSIG(trace->status)));
		return 128 + WTERMSIG(trace->status);
	}
	return WEXITSTATUS(trace->status);
}

static void report(const struct trace *trace)
{
	const struct lbx_timeline_totals *t = &trace->totals;
	struct lbx_out out = lbx_terminal(stderr);

	lbx_wrap(&out, 0, 4);
	lbx_printf(&out, "%s: ", trace->file.path);
	if (trace->n_timelines > 1)
		lbx_printf(&out, "%d program%s, ", trace->n_timelines, LB_S(trace->n_timelines));
	lbx_printf(&out,
		   "%s%" PRIu64 " event%s, %" PRIu64 " evaluation%s, %" PRIu64 " operation%s, %" PRIu64 " event%s lost",
		   t->lost || trace->n_cut ? "at least " : "", t->events, LB_S(t->events), t->evals, LB_S(t->evals),
		   t->ops, LB_S(t->ops), t->lost, LB_S(t->lost));
	if (t->lost && trace->following.is_child)
		lbx_printf(&out, " (a shorter --interval loses fewer)");
	else if (t->lost)
		lbx_printf(&out, " (a shorter --interval, or a program with LAZYBONES_EVENTS=%d, loses fewer)",
			   LB_FLIGHT_MOST);
	if (trace->n_cut)
		lbx_printf(&out,
			   "; the last milliseconds of %d program%s before %s became another (exec) may be missing",
			   trace->n_cut, LB_S(trace->n_cut), LB_PLURAL(trace->n_cut, "it", "they"));
	lbx_printf(&out, "; open it in ui.perfetto.dev\n");
}

/* What may be missed, before it is. */
static void warn(const struct lbx_followed *program)
{
	char text[256];

	if (!program->untraced && !program->in_part)
		return;
	snprintf(text, sizeof text,
		 program->untraced ? "process %d cannot be traced (%s): its last milliseconds may be "
				     "missed, and so may the processes that it makes"
				   : "process %d makes threads faster than they can be "
				     "traced: processes that they make may be missed",
		 (int)program->pid, strerror(program->untraced));
	lbx_complain(text);
}

/* A program that runs must have a runtime now; one that is started here may come to it later. */
static bool begin(struct trace *trace)
{
	if (!trace->pid) {
		bool ok = lbx_follow_start((char **)trace->program, true, &trace->following);
		trace->pid = ok ? trace->following.list[0]->pid : 0;
		if (ok)
			warn(trace->following.list[0]);
		return ok;
	}
	if (!lbx_follow_attach((pid_t)trace->pid, &trace->following))
		return false;
	warn(trace->following.list[0]);
	struct traced *traced = traced_of(trace, trace->following.list[0]);
	return traced ? open_timeline(trace, traced, (pid_t)trace->pid) : lb_fail("out of memory");
}

static bool complain(void)
{
	lbx_complain(lbx_error_text());
	return false;
}

static bool run(struct trace *trace, int *status)
{
	if (!lbx_trace_file_open(&trace->file)) {
		lbx_trace_file_close(&trace->file);
		return complain();
	}
	bool begun = begin(trace), ok = begun && follow(trace);
	for (int i = 0; i < trace->following.n; i++)
		if (trace->following.list[i]->data)
			end_timeline(trace, trace->following.list[i]->data);
	if (ok && trace->begun) {
		lbx_timeline_close(&trace->file.out);
		ok = lbx_trace_file_write(&trace->file);
	}
	if (ok && trace->begun)
		report(trace);
	else if (ok)
		ok = lb_fail("no program with the Lazybones runtime was seen: %s", trace->program[0]);
	lbx_trace_file_close(&trace->file);
	if (!ok)
		complain();
	if (begun)
		*status = finish(trace);
	else if (trace->following.is_child && trace->following.n > 0)
		*status = WEXITSTATUS(trace->following.list[0]->status);
	return ok;
}

static int run_trace(struct lbx_out *out, struct lbx_argv words)
{
	struct trace trace = {
		.file = { .path = "lazybones-trace.json" },
		.interval = 2,
		.settings = lbx_default_settings,
	};
	struct sigaction action = { .sa_handler = stop };
	int status = LBX_EXIT_FAILED;

	(void)out; /* a file has it */
	if (!parse(&trace, words)) {
		complain();
		return LBX_EXIT_MISUSED;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	bool ok = run(&trace, &status);
	for (int i = 0; i < trace.following.n; i++)
		free(trace.following.list[i]->data);
	lbx_follow_deinit(&trace.following);
	return ok || status != LBX_EXIT_DONE ? status : LBX_EXIT_FAILED;
}

const struct lbx_verb lbx_verb_trace = {
	.row = {
		.name = "trace",
		.arguments = "[-o FILE] (--pid PID | -- PROGRAM [ARGUMENT]...)",
		.summary = "write a timeline of a program, for ui.perfetto.dev",
		.help = "Evaluations and operations become slices, one row a thread or stream; memory and\n"
			"tensors become counters; misuse, implicit evaluations, NaN, errors and\n"
			"compilations are marked. The file is in the JSON array form of the Trace Event Format, which\n"
			"chrome://tracing loads, too. It is written as the program runs: whatever ends early\n"
			"leaves a file that loads. Events come from the flight recorder; those that it\n"
			"overwrote before they were read are counted, and marked in the timeline.\n"
			"\n"
			"A program started this way runs with LAZYBONES_TIMES=memory and a large recorder; its exit\n"
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
		.options = {
			{ "output", "FILE", "where to write (default lazybones-trace.json); also -o" },
			{ "pid", "PID", "trace a process that already runs; also -p" },
			{ "interval", "MS", "milliseconds between two looks at the program (default 2)" },
			{ "log", "FILE", "also a log of named values (see log)" },
			{ "names", "GLOBS", "of that: only of names that match; commas stand between several" },
		},
		.letters = "output pid",
	},
	.run = run_trace,
};
