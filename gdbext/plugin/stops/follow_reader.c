/* The thread blocks all signals, which are gdb's. The pipe has two ends in gdb: the second keeps poll() from telling of the
 * last program's end for ever; it is closed while a program writes, so that its end is told once, before gdb tells of it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/follow_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/trace/log_pipe.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/text.h"
#include "target/hold.h"

static struct {
	pthread_mutex_t lock; /* of all that follows, from the thread's beginning on */
	bool is_open, is_on;
	struct lbx_log_pipe pipe;
	struct lbx_follower follower;
	bool colour, json, is_chart, is_mi;
	int width;
	pid_t pid; /* the program's; 0: it is not known */
	bool is_begun; /* the chart's line, which has not ended */
	bool is_late; /* a value came when the program had stopped, and is not in it */
	uint64_t shown; /* of the values */
} reader = { .lock = PTHREAD_MUTEX_INITIALIZER, .pipe = { -1, -1, "" } };

/* ---- the terminal ---- */

static void collect(struct lbx_out *out, const char *text, size_t n)
{
	text_append(out->context, text, n);
}

static void write_all(const char *bytes, size_t n)
{
	ssize_t written;

	for (; n > 0 && (written = write(STDOUT_FILENO, bytes, n)) > 0; n -= (size_t)written)
		bytes += written;
}

/* As gdb tells a front end what the user sees. */
static void quote_for_mi(const struct text *from, struct text *ret)
{
	for (size_t i = 0, end; i < from->n; i = end + 1) {
		end = i + strcspn(from->bytes + i, "\n");
		text_printf(ret, "~\"");
		for (size_t k = i; k < end; k++)
			text_printf(ret, "%s%c", strchr("\"\\", from->bytes[k]) ? "\\" : "", from->bytes[k]);
		text_printf(ret, "\\n\"\n");
	}
}

/* Between two lines of gdb's: it may be about to write, but not while it waits for the program. What is said of a stop begins
 * with an empty line, behind which there is nothing to tell that more follows; so there the chart is left alone. gdb cannot
 * begin that meanwhile, since it needs the lock as well. False: it has been left. */
static bool show(struct text *text, bool only_if_it_runs)
{
	enum { TRIES = 100 };
	struct text quoted = { 0 };

	if (reader.is_mi)
		quote_for_mi(text, &quoted);
	for (int i = 0; i < TRIES; i++) {
		flockfile(stdout);
		if (__fpending(stdout) == 0 || i == TRIES - 1)
			break;
		funlockfile(stdout);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	bool is_free = !only_if_it_runs || reader.pid <= 0 || lbx_thread_state(reader.pid) != 't';
	if (is_free && !text->failed && !quoted.failed)
		write_all(reader.is_mi ? quoted.bytes : text->bytes, reader.is_mi ? quoted.n : text->n);
	funlockfile(stdout);
	text_free(&quoted);
	return is_free;
}

static struct lbx_out out_to(struct text *text)
{
	return (struct lbx_out){
		.json = reader.json,
		.colour = reader.colour,
		.width = reader.width,
		.whole_lines = true,
		.context = text,
		.write = collect,
	};
}

static void draw(bool only_if_it_runs)
{
	struct text text = { 0 };
	struct lbx_out out = out_to(&text);

	reader.is_late = false;
	if (lbx_front_end_draws_screen())
		return;
	lbx_escape_terminal(&out, "\r\033[K");
	lbx_follower_draw(&reader.follower, &out);
	reader.is_late = !show(&text, only_if_it_runs);
	text_free(&text);
	if (!reader.is_late) {
		reader.is_begun = true;
		reader.shown = reader.follower.count;
	}
}

static void end_line(void)
{
	if (reader.is_begun)
		write_all("\n", 1);
	reader.is_begun = false;
}

/* ---- the pipe ---- */

/* Whether there was anything. */
static bool take_some(bool has_stopped)
{
	static char bytes[1 << 16];
	struct text text = { 0 };
	struct lbx_out out = out_to(&text);
	uint64_t before = reader.follower.count;
	ssize_t n = read(reader.pipe.from, bytes, sizeof bytes);

	if (n <= 0 || !reader.is_on)
		return n > 0;
	lbx_follower_take(&reader.follower, bytes, (size_t)n, reader.is_chart ? NULL : &out);
	if (reader.follower.count > before && reader.is_chart) {
		draw(!has_stopped);
	} else if (reader.follower.count > before) {
		show(&text, false);
		reader.shown = reader.follower.count;
	}
	text_free(&text);
	return true;
}

/* The last writer is gone. */
static void hold_open(void)
{
	reader.pipe.to = open(reader.pipe.path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	end_line();
}

static void *read_on(void *unused)
{
	enum { LATE = 20 /* ms */ };
	bool is_late = false;

	pthread_setname_np(pthread_self(), "tensor follow");
	for (;;) {
		struct pollfd end = { .fd = reader.pipe.from, .events = POLLIN };
		poll(&end, 1, is_late ? LATE : -1);
		pthread_mutex_lock(&reader.lock);
		bool any = take_some(false);
		if (!any && reader.is_late)
			draw(true);
		is_late = reader.is_late;
		if (any && reader.pipe.to >= 0) {
			close(reader.pipe.to);
			reader.pipe.to = -1;
		} else if (!any && (end.revents & POLLHUP) && reader.pipe.to < 0) {
			hold_open();
		}
		bool is_idle = reader.pipe.to < 0 && (end.revents & POLLHUP);
		pthread_mutex_unlock(&reader.lock);
		if (is_idle) /* it cannot be held open: no descriptor is left */
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	return unused;
}

bool lbx_follow_reader_open(void)
{
	pthread_t thread;
	sigset_t all, before;

	if (reader.is_open)
		return true;
	if (!lbx_log_pipe_open(&reader.pipe))
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	reader.is_open = pthread_create(&thread, NULL, read_on, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (reader.is_open)
		return pthread_detach(thread) == 0;
	lbx_log_pipe_close(&reader.pipe);
	return lb_fail("cannot start a thread");
}

const char *lbx_follow_reader_path(void)
{
	return reader.pipe.path;
}

void lbx_follow_reader_expect(pid_t pid)
{
	pthread_mutex_lock(&reader.lock);
	reader.pid = pid;
	pthread_mutex_unlock(&reader.lock);
}

void lbx_follow_reader_begin(const struct lbx_follower *follower, const struct lbx_out *out)
{
	lbx_follow_reader_settle(true);
	pthread_mutex_lock(&reader.lock);
	reader.follower = *follower;
	reader.is_mi = lbx_front_end_is_mi();
	reader.is_chart = !out->json && !reader.is_mi && !lbx_front_end_is_batch() && isatty(STDIN_FILENO) &&
			  isatty(STDOUT_FILENO) && lbx_follower_is_one(follower);
	reader.json = out->json;
	reader.colour = out->colour && !reader.is_mi;
	reader.width = out->width;
	reader.shown = 0;
	reader.is_late = false;
	reader.is_on = true;
	pthread_mutex_unlock(&reader.lock);
}

void lbx_follow_reader_end(void)
{
	lbx_follow_reader_settle(true);
	pthread_mutex_lock(&reader.lock);
	reader.is_on = reader.is_late = false;
	pthread_mutex_unlock(&reader.lock);
}

void lbx_follow_reader_settle(bool ends)
{
	enum { SETTLED = 64 };

	if (!reader.is_open)
		return;
	pthread_mutex_lock(&reader.lock);
	for (int i = 0; i < SETTLED && take_some(true); i++) /* programs that write on and on keep nobody waiting */
		;
	if (reader.is_late)
		draw(false);
	if (ends)
		end_line();
	pthread_mutex_unlock(&reader.lock);
}

const struct lbx_follower *lbx_follow_reader_now(void)
{
	static struct lbx_follower now;

	pthread_mutex_lock(&reader.lock);
	bool is_on = reader.is_on;
	if (is_on)
		now = reader.follower;
	pthread_mutex_unlock(&reader.lock);
	return is_on ? &now : NULL;
}

bool lbx_follow_reader_is_owed(void)
{
	pthread_mutex_lock(&reader.lock);
	bool owed = reader.is_on && reader.is_chart && reader.shown < reader.follower.count;
	reader.shown = reader.follower.count;
	pthread_mutex_unlock(&reader.lock);
	return owed;
}
