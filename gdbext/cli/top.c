/* lazybones top: a live screen of a running program: what its runtime counts, or, of one that counts nothing, what its
 * tensors hold. Those are found while the program stands still, in a target of that moment. */
#define _GNU_SOURCE

#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/timed.h"
#include "cli/verbs.h"
#include "inspect/browse/screen.h"
#include "inspect/trace/top.h"
#include "inspect/trace/top_memory.h"
#include "target/process.h"
#include "target/stacks.h"

enum { POLL_MS = 5, LINE = 1024 };

struct view {
	int64_t pid, interval; /* milliseconds */
	bool once, has_looked;
	struct lbx_context context;
	struct lbx_timed timed;
	struct lbx_top *top;           /* one of these */
	struct lbx_top_memory *memory;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

static bool parse(struct lbx_argv words, struct view *ret)
{
	struct lbx_args args;
	bool parsed = lbx_args_parse(&lbx_verb_top.row, words.at, &args);

	ret->context.out->json |= lbx_args_option(&args, "json") != NULL;
	ret->once = lbx_args_option(&args, "once");
	if (!parsed || !lbx_args_int(&args, "interval", 1, 3600000, &ret->interval))
		return false;
	if (!args.n)
		return lb_fail("top: of which process? lazybones top PID");
	return lbx_args_whole(&args, "PID", args.v[0], 1, INT32_MAX, &ret->pid);
}

static bool find_tensors(struct view *view)
{
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context still = { .out = view->context.out, .settings = &settings, .lets_go = true };
	bool ok = lbx_process_open((pid_t)view->pid, &still.target);

	if (ok)
		lbx_context_prepare(&still);
	ok = ok && lbx_process_hold(still.target) && lbx_stacks_of_process(still.target, &still.stacks) &&
	     lbx_top_memory_find(view->memory, &still);
	lbx_context_close(&still);
	lbx_stacks_destroy(still.stacks);
	lbx_target_destroy(still.target);
	return ok;
}

static bool poll_once(struct view *view)
{
	if (view->memory)
		return true;
	lbx_timed_ask(&view->context, &view->timed);
	return lbx_top_poll(view->top);
}

static bool look(struct view *view)
{
	if (!view->memory)
		return lbx_top_look(view->top);
	/* who wants one interval wants what changed in it */
	bool finds = view->once || view->context.out->json || lbx_top_memory_is_old(view->memory);
	return (!finds || find_tensors(view)) && lbx_top_memory_look(view->memory);
}

static void show(struct view *view, int lines)
{
	if (view->memory)
		lbx_top_memory_show(view->memory, view->context.out, lines);
	else
		lbx_top_show(view->top, lines);
}

/* `wants_end` waits a moment. Until the next look; false when the user has had enough, or with an error when the program is
 * gone. */
static bool wait_for_next(struct view *view, bool (*wants_end)(struct view *))
{
	int64_t end = lb_clock_ms() + view->interval;

	while (!stopped && !wants_end(view)) {
		if (!poll_once(view))
			return false;
		if (lb_clock_ms() >= end)
			return look(view);
	}
	return false;
}

static bool never(struct view *view)
{
	(void)view;
	poll(NULL, 0, POLL_MS);
	return false;
}

/* ---- on a screen ---- */

static struct {
	int line, column;
} pen;

/* Nothing is wider than the screen, or stands in its last line. */
static void draw_text(struct lbx_out *out, const char *text, size_t n)
{
	char piece[LINE];
	int lines, columns;

	(void)out;
	lbx_screen_size(&lines, &columns);
	for (const char *end = text + n; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		snprintf(piece, sizeof piece, "%.*s", (int)((newline ? newline : end) - text), text);
		if (pen.line < lines - 1)
			pen.column +=
			    lbx_screen_put(pen.line, pen.column, columns - 1 - pen.column, LBX_SCREEN_PLAIN, piece);
		if (newline)
			pen.line++, pen.column = 0;
		text = newline ? newline + 1 : end;
	}
}

static void draw(struct view *view)
{
	int lines, columns;

	lbx_screen_size(&lines, &columns);
	lbx_screen_clear();
	pen.line = pen.column = 0;
	view->context.out->width = columns;
	if (view->has_looked) {
		show(view, lines - 1);
		lbx_screen_put(lines - 1, 0, columns, LBX_SCREEN_PLAIN, "q ends");
	} else {
		lbx_screen_put(0, 0, columns, LBX_SCREEN_PLAIN, "lazybones top: looking ...  (q ends)");
	}
	lbx_screen_show(-1, 0);
}

static bool wants_end(struct view *view)
{
	int key = lbx_screen_key(POLL_MS);

	if (key == LBX_KEY_RESIZED)
		draw(view);
	if (key == LBX_KEY_REDRAW)
		lbx_screen_redraw();
	return key == 'q' || key == 'Q' || key == LBX_KEY_INTERRUPT || key == LBX_KEY_GONE;
}

static bool open_screen(void)
{
	char why[LB_ERROR_MAX];

	setlocale(LC_CTYPE, ""); /* which the screen goes by */
	if (isatty(STDOUT_FILENO) ? lbx_screen_open(false) : lb_fail("the output is no terminal"))
		return true;
	snprintf(why, sizeof why, "%s", lb_error_message());
	lb_clear_error();
	return lb_fail("%s: use --once or --json", why);
}

static bool run_screen(struct view *view)
{
	struct lbx_out *out = view->context.out;
	void (*write)(struct lbx_out *, const char *, size_t) = out->write;

	if (!open_screen())
		return false;
	out->write = draw_text;
	out->colour = false;
	draw(view);
	while (wait_for_next(view, wants_end)) {
		view->has_looked = true;
		draw(view);
	}
	lbx_screen_close();
	out->write = write;
	return lb_ok();
}

/* The first look. */
static bool begin(struct view *view)
{
	struct lbx_table *table;
	uint64_t headers, n;

	if (lbx_context_table(&view->context, &table))
		return lbx_top_create(&view->context, &view->top);
	if (!lbx_target_headers(view->context.target, &headers, &n)) /* nobody may look into it */
		return false;
	lb_clear_error();
	view->memory = lbx_top_memory_create(view->context.target);
	if (!view->memory)
		return lb_fail("out of memory");
	return look(view);
}

static bool run(struct view *view)
{
	if (!lbx_process_open((pid_t)view->pid, &view->context.target) || !begin(view))
		return false;
	if (!view->once && !view->context.out->json)
		return run_screen(view);
	if (wait_for_next(view, never))
		show(view, 48);
	return lb_ok();
}

/* Text goes to `out` where there is no screen, or JSON if it says so. */
static int run_top(struct lbx_out *out, struct lbx_argv words)
{
	struct lbx_settings settings = lbx_default_settings;
	struct view view = { .interval = 1000, .context = { .out = out, .settings = &settings } };
	struct sigaction action = { .sa_handler = stop };
	int status = LBX_EXIT_DONE;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!parse(words, &view))
		status = LBX_EXIT_MISUSED;
	else if (!run(&view))
		status = LBX_EXIT_FAILED;
	if (status != LBX_EXIT_DONE)
		lbx_tell_error(out->json);
	lbx_top_destroy(view.top);
	lbx_top_memory_destroy(view.memory);
	lbx_context_close(&view.context);
	lbx_target_destroy(view.context.target);
	return status;
}

const struct lbx_verb lbx_verb_top = {
	.row = {
		.name = "top",
		.arguments = "PID",
		.max_args = 1,
		.summary = "watch a running program: memory, rates, operations, call sites",
		.help = "A screen, redrawn each second: memory in use, evaluations and operations a\n"
			"second and the share of time spent in them, growth of the number of tensors, and who is\n"
			"behind it: the operations and the call sites that take most time, the places\n"
			"that made the tensors with the most memory. q ends it. The program runs on; its events\n"
			"carry the time while it is watched, and some seconds longer.\n"
			"Of a program with ggml or PyTorch, which count nothing: its memory, and that of its\n"
			"tensors by what they are for, by device and by module, how much of it is in memory\n"
			"now, and how many came and went. It stands still for the\n"
			"moment in which its tensors are found, at most a twentieth of the time.\n"
			"\n"
			"Example: lazybones top 4711",
		.options = {
			{ "once", NULL, "print it only once, over one interval, and end" },
			{ "json", NULL, "the same as JSON" },
			{ "interval", "MS", "milliseconds between two looks (default 1000)" },
		},
	},
	.run = run_top,
};
