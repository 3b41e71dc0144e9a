/* lazybones doctor -- PROGRAM: a program that is watched to its end, and what is wrong with it. It is looked at while it
 * runs, ever less often, and at its end, when its memory is still in place: what an earlier look has found, and a later
 * one does not, is told all the same, since tensors come and go. Values are looked at where the program stands still. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/follow.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "target/printable.h"
#include "inspect/diagnose/diagnosis.h"
#include "inspect/diagnose/looks.h"
#include "target/process.h"
#include "target/stacks.h"

enum { FIRST_MS = 10, LAST_MS = 60000, WAIT_MS = 50, DEFAULT_SECONDS = 10 };

struct watch {
	struct lbx_command row; /* of a program that is started here: without PID */
	struct lbx_args args;
	const char **program;
	int64_t pid, every, seconds; /* every: in seconds; 0: not asked for */
	struct lbx_diagnose what;
	struct lbx_following following;
	struct lbx_settings settings;
	struct lbx_out out;
	FILE *file;
	int64_t began, next, pause; /* milliseconds */
	struct lbx_diagnosis found; /* by all looks; of the last, which rules there were */
	bool has_looked;
	char why_not[1024]; /* of the last look that failed */
	int status;
};

/* Of a program that is followed. */
struct seen {
	struct lbx_looks looks;
	bool is_told;
	struct lbx_diagnosis last; /* that was told: what its findings were about cannot be asked any more */
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

bool lbx_doctor_watches(struct lbx_argv words)
{
	for (; *words.at; words.at++)
		if (strcmp(*words.at, "--") == 0 || strcmp(*words.at, "--every") == 0 ||
		    strncmp(*words.at, "--every=", 8) == 0)
			return true;
	return false;
}

static bool open_output(struct watch *w)
{
	const char *path = lbx_args_option(&w->args, "output");

	w->file = path ? fopen(path, "we") : stderr;
	if (!w->file)
		return lb_fail("cannot write %s: %m", path);
	w->out = lbx_terminal(w->file);
	w->out.json = lbx_args_option(&w->args, "json");
	return true;
}

/* "10" or "10s". */
static bool parse_every(const struct lbx_args *args, int64_t *ret)
{
	const char *text = lbx_args_option(args, "every");
	char number[16] = "";

	if (!text)
		return true;
	size_t n = strlen(text);
	if (n && n < sizeof number)
		memcpy(number, text, n - (text[n - 1] == 's'));
	return lbx_args_whole(args, "--every", number, 1, 86400, ret);
}

static bool has_program(struct lbx_argv words)
{
	while (*words.at && strcmp(*words.at, "--") != 0)
		words.at++;
	return *words.at;
}

static bool parse(struct watch *w, struct lbx_argv words)
{
	w->row = lbx_verb_doctor.row;
	w->row.max_args = !has_program(words);
	lbx_args_begin(&w->row, NULL, &w->args);
	if (!lbx_args_take(&w->args, &words) || !parse_every(&w->args, &w->every) ||
	    !lbx_args_int(&w->args, "seconds", 0, 1 << 20, &w->seconds))
		return false;
	w->program = words.at;
	w->what.only = lbx_args_option(&w->args, "only");
	if (w->args.n && !lbx_args_whole(&w->args, "PID", w->args.v[0], 1, INT32_MAX, &w->pid))
		return false;
	return ((*w->program != NULL) != (w->pid != 0) ||
		lb_fail(
		    "doctor: either PID --every SECONDS or -- PROGRAM [ARGUMENT]... (see lazybones help doctor)")) &&
	       open_output(w);
}

/* Which of a program's tensors a finding was about cannot be asked any more. */
static bool keep(struct watch *w, struct lbx_diagnosis *seen, bool is_last)
{
	if (!lbx_diagnosis_add(seen, &w->found, is_last || w->following.n > 1))
		return false;
	lbx_diagnosis_deinit(&w->found);
	w->found = *seen;
	*seen = (struct lbx_diagnosis){ 0 };
	w->has_looked = true;
	return true;
}

static void note_why_not(struct watch *w)
{
	snprintf(w->why_not, sizeof w->why_not, "%s", lb_error_message());
	lb_clear_error();
}

/* After the first look, what has changed. */
static bool tell_look(struct watch *w, struct lbx_context *context, const struct lbx_diagnosis *found,
		      struct seen *seen)
{
	bool all = lbx_args_option(&w->args, "all");

	lbx_begin(&w->out, NULL);
	lbx_tell(&w->out, "after %pF s:\n", LBX_INT("seconds", (lb_clock_ms() - w->began) / 1000));
	if (seen->is_told)
		lbx_diagnosis_tell_since(context, found, &seen->last, all);
	else
		lbx_diagnosis_tell(context, found, all);
	lbx_end(&w->out);
	fflush(w->file);
	lbx_diagnosis_deinit(&seen->last);
	seen->is_told = true;
	return lbx_diagnosis_add(&seen->last, found, true);
}

/* Programs without tensors, as a shell that runs one, are no error. */
static void look(struct watch *w, struct lbx_followed *program, bool is_last)
{
	struct lbx_context context = { .out = &w->out, .settings = &w->settings };
	struct lbx_diagnosis found = { 0 };
	struct lbx_diagnose what = w->what;
	struct seen *seen = program->data ? program->data : calloc(1, sizeof *seen);

	program->data = seen;
	bool stands = is_last || w->every;
	what.seconds = stands ? (double)w->seconds : 0;
	what.no_values = stands || !w->seconds ? NULL : "values were not looked at while it ran";
	what.looks = seen ? &seen->looks : NULL;
	bool done = (seen || lb_fail("out of memory")) && lbx_process_open(program->pid, &context.target) &&
		    lbx_stacks_of_process(context.target, &context.stacks) && lbx_diagnose(&context, &what, &found) &&
		    (!w->every || tell_look(w, &context, &found, seen));
	if (!done || !keep(w, &found, is_last))
		note_why_not(w);
	lbx_diagnosis_deinit(&found);
	lbx_stacks_destroy(context.stacks);
	lbx_context_close(&context);
	lbx_target_destroy(context.target);
}

/* Ever longer, and so that looking takes a thirtieth of the time at most. */
static int64_t pause_after(const struct watch *w, int64_t took)
{
	int64_t pause = 2 * w->pause > 30 * took ? 2 * w->pause : 30 * took;

	return w->every ? w->every * 1000 : pause < LAST_MS ? pause : LAST_MS;
}

static void look_at_all(struct watch *w)
{
	int64_t began = lb_clock_ms();

	if (began < w->next)
		return;
	for (int i = 0; i < w->following.n; i++)
		if (w->following.list[i]->halt == LBX_RUNS && !w->following.list[i]->shares)
			look(w, w->following.list[i], false);
	w->pause = pause_after(w, lb_clock_ms() - began);
	w->next = lb_clock_ms() + w->pause;
}

static void forget_looks(struct lbx_followed *program)
{
	struct seen *seen = program->data;

	if (seen) {
		lbx_looks_deinit(&seen->looks);
		lbx_diagnosis_deinit(&seen->last);
	}
	free(seen);
	program->data = NULL;
}

static void see_halts(struct watch *w)
{
	struct lbx_following *following = &w->following;

	for (int i = following->n; i-- > 0;) {
		struct lbx_followed *program = following->list[i];
		if (program->halt == LBX_AT_END && !program->shares)
			look(w, program, true);
		if (program->halt == LBX_ENDED) {
			if (program->pid == w->pid) {
				w->status = program->status;
				w->pid = 0;
			}
			forget_looks(program);
			lbx_follow_remove(following, i);
		} else {
			lbx_follow_release(program);
		}
	}
}

/* A program that was started here gets its own Ctrl-C, and is watched to its end. */
static void follow(struct watch *w)
{
	while (w->following.n > 0 && w->pid) {
		if (stopped && !w->following.is_child)
			break;
		if (stopped == SIGTERM)
			kill((pid_t)w->pid, SIGTERM);
		stopped = 0;
		see_halts(w);
		look_at_all(w);
		if (w->following.n > 0 && w->pid)
			lbx_follow_wait(&w->following, w->pause < WAIT_MS ? (int)w->pause : WAIT_MS);
	}
}

static void tell_end(struct watch *w)
{
	struct lbx_out *out = &w->out;

	if (!w->following.is_child) {
		if (w->has_looked)
			lbx_printf(out, "in all looks:\n");
		return;
	}
	if (WIFSIGNALED(w->status))
		lbx_tell(out, "the program was killed by SIG%pF\n",
			 LBX_TEXT("signal", sigabbrev_np(WTERMSIG(w->status))));
	else
		lbx_tell(out, "the program ended with status %pF\n", LBX_INT("status", WEXITSTATUS(w->status)));
}

static int finish(struct watch *w)
{
	struct lbx_context context = { .out = &w->out, .settings = &w->settings };

	lbx_begin(&w->out, NULL);
	tell_end(w);
	if (w->has_looked)
		lbx_diagnosis_tell(&context, &w->found, lbx_args_option(&w->args, "all"));
	else
		lbx_tell(&w->out, "no tensors were seen in it: %pF\n", LBX_TEXT("error", w->why_not));
	lbx_end(&w->out);
	if (lbx_diagnosis_worst(&w->found) > LBX_LOW)
		return LBX_EXIT_FOUND;
	if (!w->following.is_child)
		return w->has_looked ? LBX_EXIT_DONE : LBX_EXIT_FAILED;
	return WIFSIGNALED(w->status) ? 128 + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}

static bool begin(struct watch *w)
{
	w->began = lb_clock_ms();
	w->pause = FIRST_MS;
	w->next = w->began + (w->every && w->pid ? 0 : w->every ? w->every * 1000 : FIRST_MS);
	if (w->pid)
		return lbx_follow_attach((pid_t)w->pid, &w->following);
	if (!lbx_follow_start((char **)w->program, false, &w->following))
		return false;
	w->pid = w->following.list[0]->pid;
	return true;
}

static int run_doctor(struct lbx_out *out, struct lbx_argv words)
{
	struct watch w = { .seconds = DEFAULT_SECONDS, .settings = lbx_default_settings };
	struct sigaction action = { .sa_handler = stop };
	int status = LBX_EXIT_FAILED;

	(void)out;
	if (!parse(&w, words)) {
		lbx_complain(lbx_error_text());
		return LBX_EXIT_MISUSED;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (begin(&w)) {
		follow(&w);
		status = finish(&w);
	} else {
		lbx_complain(lbx_error_text());
	}
	for (int i = 0; i < w.following.n; i++)
		forget_looks(w.following.list[i]);
	lbx_follow_deinit(&w.following);
	lbx_diagnosis_deinit(&w.found);
	if (w.file != stderr && fclose(w.file) != 0) {
		lbx_complain("cannot write what was found");
		status = LBX_EXIT_FAILED;
	}
	return status;
}

const struct lbx_verb lbx_verb_doctor = {
	.row = {
		.name = "doctor",
		.arguments = "(PID --every SECONDS | -- PROGRAM [ARGUMENT]...)",
		.summary = "watch a program, and say what is wrong with it",
		.max_args = 1,
		.options = {
			{ "every", "SECONDS", "look so often, and tell what is new, what still stands, and what is gone" },
			{ "only", "RULES", "check these rules alone: L1,L2a,nonfinite" },
			{ "seconds", "N", "look at values for N seconds at most (default 10); 0: not at all" },
			{ "all", NULL, "tell findings of low severity in full, too" },
			{ "output", "FILE", "where to write (default standard error); also -o" },
			{ "json", NULL, "write JSON instead of text" },
		},
		.letters = "output",
	},
	.run = run_doctor,
};
