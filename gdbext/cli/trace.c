#define _GNU_SOURCE
#include "cli/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/follow.h"
#include "cli/manual.h"
#include "inspect/timeline.h"
#include "target/process.h"

struct trace {
	const char *path;
	int64_t pid, interval;
	char **program;
	struct lbx_followed followed;
	int fd;
	/* what the file is to get, whole events at a time */
	char *bytes;
	size_t n, room;
	bool failed;
	uint32_t mode; /* the program's event_mode, before */
	uint64_t mode_at;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

static void keep(struct lbx_out *out, const char *text, size_t n)
{
	struct trace *trace = out->context;

	if (trace->n + n > trace->room) {
		size_t room = 2 * (trace->n + n) + 4096;
		char *bytes = realloc(trace->bytes, room);
		if (!bytes) {
			trace->failed = true;
			return;
		}
		trace->bytes = bytes;
		trace->room = room;
	}
	memcpy(trace->bytes + trace->n, text, n);
	trace->n += n;
}

static bool write_out(struct trace *trace)
{
	if (trace->failed)
		return lb_fail("out of memory");
	for (size_t done = 0; done < trace->n;) {
		ssize_t n = write(trace->fd, trace->bytes + done, trace->n - done);
		if (n < 0 && errno != EINTR)
			return lb_fail("cannot write %s: %s", trace->path, strerror(errno));
		done += n > 0 ? (size_t)n : 0;
	}
	trace->n = 0;
	return true;
}

static bool take_int(const char *name, const char *text, int64_t max, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = text ? strtoll(text, &end, 10) : 0;
	return (text && end != text && !*end && !errno && *ret > 0 && *ret <= max) ||
	       lb_fail("trace: %s takes a number from 1 to %" PRId64 ", not '%s'", name, max,
		       text ? text : "");
}

static bool parse(struct trace *trace, char **argv)
{
	for (; *argv; argv++) {
		const char *word = *argv;
		if (strcmp(word, "--") == 0) {
			trace->program = argv + 1;
			break;
		}
		if (word[0] != '-') {
			trace->program = argv;
			break;
		}
		if (!argv[1])
			return lb_fail("trace: %s needs a value, or is none of its options (see lazybones help "
				       "trace)", word);
		argv++;
		if (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0)
			trace->path = *argv;
		else if (strcmp(word, "-p") == 0 || strcmp(word, "--pid") == 0) {
			if (!take_int(word, *argv, INT32_MAX, &trace->pid))
				return false;
		} else if (strcmp(word, "--interval") == 0) {
			if (!take_int(word, *argv, 1000, &trace->interval))
				return false;
		} else {
			return lb_fail("trace: there is no option %s (see lazybones help trace)", word);
		}
	}
	bool has_program = trace->program && trace->program[0];
	return has_program != (trace->pid != 0) ||
	       lb_fail("trace: either --pid PID or -- PROGRAM [ARGUMENT]... (see lazybones help trace)");
}

/* The program may not have come to the runtime yet: then there is no timeline, and no error. */
static bool open_timeline(struct trace *trace, struct lbx_context *context,
			  struct lbx_timeline **ret)
{
	struct lbx_root root;

	lbx_table_destroy(context->table);
	lbx_target_destroy(context->target);
	context->table = NULL;
	context->target = NULL;
	if (!lbx_process_open(trace->followed.pid, &context->target) ||
	    !lbx_timeline_create(context, trace->followed.is_child, ret) ||
	    !lbx_table_root(context->table, &root)) {
		lbx_timeline_destroy(*ret);
		*ret = NULL;
		return false;
	}
	trace->mode = root.event_mode;
	uint32_t mode = root.event_mode | LB_EVENTS_TIMED;
	if (mode != root.event_mode && root.event_mode_at &&
	    lbx_process_write(context->target, root.event_mode_at, &mode, sizeof mode))
		trace->mode_at = root.event_mode_at;
	lb_clear_error();
	return true;
}

static bool follow(struct trace *trace, struct lbx_context *context, struct lbx_timeline **timeline)
{
	struct lbx_followed *program = &trace->followed;

	for (;;) {
		/* a program that was started here gets its own Ctrl-C, and goes on to its end */
		if (stopped && program->is_child) {
			if (stopped == SIGTERM)
				kill(program->pid, SIGTERM);
			stopped = 0;
		}
		bool last = program->at_end || program->ended || stopped;
		if (!*timeline && !open_timeline(trace, context, timeline)) {
			if (last || !program->is_child)
				return false;
			lb_clear_error();
		}
		bool alive = *timeline && lbx_timeline_poll(*timeline, last);
		if (!write_out(trace))
			return false;
		if (last || (*timeline && !alive))
			return true;
		lbx_follow_wait(program, (int)trace->interval);
	}
}

/* A child's end is awaited, and its status is ours. */
static int finish(struct trace *trace)
{
	struct lbx_followed *program = &trace->followed;

	while (program->is_child && !program->ended) {
		lbx_follow_release(program);
		lbx_follow_wait(program, 100);
	}
	lbx_follow_release(program);
	if (!program->is_child)
		return LBX_EXIT_DONE;
	if (WIFSIGNALED(program->status)) {
		fprintf(stderr, "lazybones: the program was killed by SIG%s\n",
			sigabbrev_np(WTERMSIG(program->status)));
		return 128 + WTERMSIG(program->status);
	}
	return WEXITSTATUS(program->status);
}

static bool run(struct trace *trace, struct lbx_context *context)
{
	struct lbx_timeline *timeline = NULL;
	struct lbx_timeline_totals totals = { 0 };

	trace->fd = open(trace->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (trace->fd < 0)
		return lb_fail("cannot write %s: %s", trace->path, strerror(errno));
	if (!(trace->pid ? lbx_follow_attach((pid_t)trace->pid, &trace->followed)
			 : lbx_follow_start(trace->program, &trace->followed))) {
		close(trace->fd);
		unlink(trace->path);
		return false;
	}
	bool ok = follow(trace, context, &timeline);
	if (timeline) {
		if (trace->mode_at && !trace->followed.ended)
			lbx_process_write(context->target, trace->mode_at, &trace->mode,
					  sizeof trace->mode);
		lb_clear_error();
		lbx_timeline_end(timeline, &totals);
		ok = write_out(trace) && ok;
		fprintf(stderr, "%s: %" PRIu64 " events, %" PRIu64 " evaluations, %" PRIu64
			" operations, %" PRIu64 " events lost%s; open it in ui.perfetto.dev\n",
			trace->path, totals.events, totals.evals, totals.ops, totals.lost,
			totals.lost ? " (a larger LAZYBONES_EVENTS, or a shorter --interval, loses fewer)"
				    : "");
	}
	lbx_timeline_destroy(timeline);
	close(trace->fd);
	return ok;
}

int lbx_trace(char **argv)
{
	struct trace trace = { .path = "lazybones-trace.json", .interval = 2 };
	struct lbx_out out = { .json = true, .write = keep, .context = &trace };
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context context = { .out = &out, .settings = &settings };
	struct sigaction action = { .sa_handler = stop };

	if (!parse(&trace, argv)) {
		fprintf(stderr, "lazybones: %s\n", lb_error_message());
		return LBX_EXIT_MISUSED;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	bool ok = run(&trace, &context);
	if (!ok)
		fprintf(stderr, "lazybones: %s\n", lb_error_message());
	int status = trace.followed.pid > 0 ? finish(&trace) : LBX_EXIT_FAILED;
	lbx_table_destroy(context.table);
	lbx_target_destroy(context.target);
	free(trace.bytes);
	return ok || (status != 0 && trace.followed.is_child) ? status : LBX_EXIT_FAILED;
}
