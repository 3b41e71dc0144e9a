/* lazybones follow NAME -- PROGRAM, lazybones pid PID follow NAME: a named value over the evaluations of a program that runs on.
 * The runtime writes its log of values (runtime/eval/journal.h) into a pipe, and only of that name: so no evaluation is missed,
 * the program stops at none, and what it pays is one pass over the values of that name, and that this value is not fused away. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "inspect/trace/follower.h"
#include "inspect/trace/log_pipe.h"
#include "inspect/trace/log_switch.h"
#include "target/process.h"

struct following {
	struct lbx_args args;
	char **program; /* NULL: of a process that runs already: */
	int64_t pid;
	struct lbx_out out;
	bool draws; /* one line, drawn anew */
	struct lbx_follower follower;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

static bool parse(struct lbx_argv words, struct following *ret)
{
	bool is_pid = lbx_follow_is_of_process(words);

	lbx_args_begin(&lbx_verb_follow.row, NULL, &ret->args);
	if (is_pid && !lbx_args_whole(&ret->args, "PID", *words.at, 1, INT32_MAX, &ret->pid))
		return false;
	words.at += is_pid ? 2 : 0;
	if (!lbx_args_take(&ret->args, &words))
		return false;
	if (is_pid && (!ret->args.n || *words.at))
		return lbx_misuse("follow: what? lazybones pid PID follow NAME");
	if (!is_pid && (!ret->args.n || !*words.at))
		return lbx_misuse("follow: what, and in which program? lazybones follow NAME -- PROGRAM [ARGUMENT]...");
	ret->program = is_pid ? NULL : (char **)words.at;
	return lbx_follower_begin(&ret->args, &ret->follower);
}

static void take(struct following *f, const char *bytes, size_t n)
{
	uint64_t before = f->follower.count;

	lbx_follower_take(&f->follower, bytes, n, f->draws ? NULL : &f->out);
	if (f->draws && f->follower.count > before) {
		lbx_escape_terminal(&f->out, "\r\033[K");
		lbx_follower_draw(&f->follower, &f->out);
	}
	fflush(f->out.context);
}

/* What is there now; false at the end, or where a signal comes. */
static bool take_some(struct following *f, int from)
{
	char bytes[1 << 16];
	ssize_t n = read(from, bytes, sizeof bytes);

	if (n > 0)
		take(f, bytes, (size_t)n);
	return n > 0;
}

static void end_line(struct following *f)
{
	if (f->draws && f->follower.n)
		lbx_printf(&f->out, "\n");
}

static void tell_none(void)
{
	fprintf(stderr, "lazybones: no value of that name was computed by a runtime of Lazybones\n");
}

/* ---- a program that is started here ---- */

static void be_program(const struct following *f, int to)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", to);
	setenv("LAZYBONES_LOG", path, 1);
	setenv("LAZYBONES_LOG_NAMES", f->follower.names, 1);
	signal(SIGINT, SIG_DFL);
	execvp(f->program[0], f->program);
	fprintf(stderr, "lazybones: cannot run %s: %s\n", f->program[0], strerror(errno));
	_exit(127);
}

static bool follow_program(struct following *f, int *status)
{
	int ends[2];

	if (pipe(ends) != 0)
		return lb_fail("cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		be_program(f, ends[1]);
	}
	close(ends[1]);
	/* Ctrl-C is the program's, too: it ends the reading, and, again, the wait for a program that goes on */
	while (pid > 0 && take_some(f, ends[0]))
		;
	close(ends[0]);
	if (pid < 0)
		return lb_fail("cannot start a process: %s", strerror(errno));
	end_line(f);
	if (waitpid(pid, status, 0) == pid)
		return true;
	return lb_fail(errno == EINTR ? "interrupted: the program goes on%s" : "the program is lost%s", "");
}

static int run_program(struct following *f, struct lbx_out *out)
{
	int status = 0;

	if (!follow_program(f, &status)) {
		lbx_tell_error(out->json);
		return LBX_EXIT_FAILED;
	}
	if (!f->follower.count && !(WIFEXITED(status) && WEXITSTATUS(status) == 127))
		tell_none();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- a process that runs already ---- */

/* Until it ends, somebody stops us, or its runtime logs no more, as where it could not open the pipe. */
static bool follow_until(struct following *f, struct lbx_context *context, const struct lbx_log_pipe *pipe)
{
	int process = (int)syscall(SYS_pidfd_open, (pid_t)f->pid, 0);
	struct pollfd ends[] = { { .fd = pipe->from, .events = POLLIN }, { .fd = process, .events = POLLIN } };
	struct lbx_root root;
	bool ended = false;

	if (process < 0)
		return lb_fail("process %d: %s", (int)f->pid, strerror(errno));
	while (!stopped && !ended) {
		int n = poll(ends, 2, 500);
		ended = n > 0 && ends[1].revents;
		while (!stopped && take_some(f, pipe->from))
			;
		if (n != 0 || ended)
			continue;
		if (!lbx_table_root(context->table, &root))
			break;
		ended = !(root.log & 1);
	}
	close(process);
	lb_clear_error(); /* it may be gone */
	return true;
}

/* A line that the program is still writing must find a reader. */
static void drain(int from)
{
	enum { QUIET_MS = 20 };
	char bytes[1 << 16];

	while (poll(&(struct pollfd){ .fd = from, .events = POLLIN }, 1, QUIET_MS) > 0 &&
	       read(from, bytes, sizeof bytes) > 0)
		;
}

static bool follow_process(struct following *f, struct lbx_context *context)
{
	struct lbx_log_pipe pipe;
	struct lbx_table *table;
	struct lbx_root root;

	if (!lbx_process_open((pid_t)f->pid, &context->target) || !lbx_context_table(context, &table) ||
	    !lbx_table_root(table, &root) || !lbx_log_pipe_reaches((pid_t)f->pid) || !lbx_log_pipe_open(&pipe))
		return false;
	bool done = lbx_log_begin(context->target, &root, lbx_process_write, f->follower.names, pipe.path);
	if (done) {
		done = follow_until(f, context, &pipe);
		end_line(f);
		if (lbx_table_root(table, &root))
			lbx_log_end(context->target, &root, lbx_process_write, pipe.path);
		drain(pipe.from);
		lb_clear_error(); /* likewise */
	}
	lbx_log_pipe_close(&pipe);
	return done;
}

static int run_process(struct following *f, struct lbx_out *out)
{
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context context = { .out = out, .settings = &settings };
	bool done = follow_process(f, &context);

	if (!done)
		lbx_tell_error(out->json);
	else if (!f->follower.count)
		tell_none();
	lbx_context_close(&context);
	lbx_target_destroy(context.target);
	return done && f->follower.count ? LBX_EXIT_DONE : LBX_EXIT_FAILED;
}

/* ---- both ---- */

bool lbx_follow_is_of_process(struct lbx_argv words)
{
	return words.at[0] && words.at[1] && strcmp(words.at[1], lbx_verb_follow.row.name) == 0;
}

static int run_follow(struct lbx_out *out, struct lbx_argv words)
{
	struct sigaction action = { .sa_handler = stop };
	static struct following f;

	if (!parse(words, &f)) {
		lbx_tell_error(out->json);
		return LBX_EXIT_MISUSED;
	}
	FILE *to = f.program ? stderr : stdout;
	setvbuf(to, NULL, _IOLBF, BUFSIZ); /* whole lines: the program writes there, too */
	f.out = lbx_terminal(to);
	f.out.json = out->json || lbx_args_option(&f.args, "json");
	f.draws = isatty(fileno(to)) && !f.out.json && lbx_follower_is_one(&f.follower);
	sigaction(SIGINT, &action, NULL);
	if (!f.program)
		sigaction(SIGTERM, &action, NULL);
	return f.program ? run_program(&f, out) : run_process(&f, out);
}

const struct lbx_verb lbx_verb_follow = {
	.row = {
		.name = "follow",
		.arguments = "NAME -- PROGRAM [ARGUMENT]...",
		.max_args = 1,
		.summary = "show a named value at each evaluation of a program that runs on",
		.help = "On a terminal the last values are a chart in one line; else, and where NAME is a pattern or\n"
			"several with commas between, there is a line for each evaluation. It goes to the standard\n"
			"error. Of more than one element it is a figure of the finite ones. The program runs with\n"
			"LAZYBONES_LOG, so none is missed, and is stopped at none; Ctrl-C ends it. The exit status is\n"
			"the program's.\n"
			"\n"
			"`lazybones pid PID follow NAME` follows a process that runs already, until it ends or Ctrl-C:\n"
			"it makes the runtime log that name, and no more at the end; this goes to the standard output.\n"
			"\n"
			"Example: lazybones follow loss -- ./train",
		.options = {
			LBX_FOLLOW_OPTIONS,
			{ "json", NULL, "a line of JSON for each evaluation" },
		},
	},
	.run = run_follow,
};
