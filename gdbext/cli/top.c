#define _GNU_SOURCE
#include "cli/top.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if LB_HAVE_NCURSES
#include <curses.h>
#endif

#include "base/error.h"
#include "cli/manual.h"
#include "inspect/top.h"
#include "target/process.h"

enum { POLL_MS = 5 };

struct options {
	int64_t pid, interval; /* milliseconds */
	bool once, json;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

static bool take_int(const char *name, const char *text, int64_t max, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = text ? strtoll(text, &end, 10) : 0;
	return (text && end != text && !*end && !errno && *ret > 0 && *ret <= max) ||
	       lb_fail("top: %s takes a number from 1 to %" PRId64 ", not '%s'", name, max,
		       text ? text : "");
}

static bool parse(char **argv, struct options *ret)
{
	for (; *argv; argv++) {
		if (strcmp(*argv, "--once") == 0)
			ret->once = true;
		else if (strcmp(*argv, "--json") == 0)
			ret->once = ret->json = true;
		else if (strcmp(*argv, "--interval") == 0) {
			if (!take_int("--interval", argv[1], 3600000, &ret->interval))
				return false;
			argv++;
		} else if (**argv == '-' || ret->pid) {
			return lb_fail("top: there is no option %s (see lazybones help top)", *argv);
		} else if (!take_int("PID", *argv, INT32_MAX, &ret->pid)) {
			return false;
		}
	}
	return ret->pid || lb_fail("top: of which process? lazybones top PID");
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until the next look; false when the user has had enough, or with an error when the program is
 * gone. */
static bool wait_for_next(struct lbx_top *top, const struct options *options,
			  bool (*wants_end)(void))
{
	int64_t end = now_ms() + options->interval;

	while (!stopped && !wants_end()) {
		if (!lbx_top_poll(top))
			return false;
		if (now_ms() >= end)
			return lbx_top_look(top);
		poll(NULL, 0, POLL_MS);
	}
	return false;
}

static bool never(void)
{
	return false;
}

#if LB_HAVE_NCURSES
static void draw_text(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	addnstr(text, (int)n);
}

static bool wants_end(void)
{
	int key = getch();

	return key == 'q' || key == 'Q';
}

static bool run_screen(struct lbx_top *top, const struct options *options, struct lbx_out *out)
{
	void (*write)(struct lbx_out *, const char *, size_t) = out->write;
	bool ok = true;

	if (!initscr())
		return lb_fail("this terminal cannot show a screen: --once prints one");
	cbreak();
	noecho();
	curs_set(0);
	nodelay(stdscr, TRUE);
	out->write = draw_text;
	out->colour = false;
	mvaddstr(0, 0, "lazybones top: looking …  (q ends)");
	refresh();
	while (ok) {
		ok = wait_for_next(top, options, wants_end);
		if (!ok)
			break;
		erase();
		move(0, 0);
		out->width = COLS;
		lbx_top_show(top, LINES - 1);
		mvaddnstr(LINES - 1, 0, "q ends", COLS - 1);
		refresh();
	}
	endwin();
	out->write = write;
	return lb_ok();
}
#else
static bool run_screen(struct lbx_top *top, const struct options *options, struct lbx_out *out)
{
	(void)top;
	(void)options;
	(void)out;
	return lb_fail("this program was built without ncurses: --once and --json work");
}
#endif

static bool run(const struct options *options, struct lbx_context *context)
{
	struct lbx_top *top = NULL;
	struct lbx_root root;

	if (!lbx_process_open((pid_t)options->pid, &context->target) ||
	    !lbx_top_create(context, &top) || !lbx_table_root(context->table, &root))
		return false;
	uint32_t mode = root.event_mode | LB_EVENTS_TIMED;
	bool switched = mode != root.event_mode && root.event_mode_at &&
			lbx_process_write(context->target, root.event_mode_at, &mode, sizeof mode);
	lb_clear_error();
	bool ok = options->once ? wait_for_next(top, options, never)
				: run_screen(top, options, context->out);
	if (ok && options->once)
		lbx_top_show(top, 48);
	char message[512];
	snprintf(message, sizeof message, "%s", lb_ok() ? "" : lb_error_message());
	if (switched)
		lbx_process_write(context->target, root.event_mode_at, &root.event_mode, sizeof mode);
	lb_clear_error();
	lbx_top_destroy(top);
	return !message[0] || lb_fail("%s", message);
}

int lbx_top(char **argv, struct lbx_out *out)
{
	struct options options = { .interval = 1000 };
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context context = { .out = out, .settings = &settings };
	struct sigaction action = { .sa_handler = stop };
	int status = LBX_EXIT_DONE;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!parse(argv, &options))
		status = LBX_EXIT_MISUSED;
	out->json = options.json;
	if (status == LBX_EXIT_DONE && !run(&options, &context))
		status = LBX_EXIT_FAILED;
	if (status != LBX_EXIT_DONE)
		fprintf(stderr, "lazybones: %s\n", lb_error_message());
	lbx_table_destroy(context.table);
	lbx_target_destroy(context.target);
	return status;
}
