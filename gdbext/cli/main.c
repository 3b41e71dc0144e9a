/* lazybones pid PID COMMAND …, lazybones core CORE COMMAND …: the inspections without gdb. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/forms.h"
#include "cli/guard.h"
#include "cli/manual.h"
#include "cli/request.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "inspect/command.h"
#include "inspect/tensor/format.h"
#include "target/core.h"
#include "target/printable.h"
#include "target/process.h"

/* For the child that answers. */
struct job {
	struct lbx_request request;
	struct lbx_out *out;
};

static bool help(struct lbx_out *out, const char *name)
{
	const struct lbx_form *form = lbx_form_find(name);

	if (form && form->verb) {
		lbx_command_help(out, &form->verb->row, "lazybones ", "lazybones ");
		return true;
	}
	const struct lbx_command *command = lbx_request_command(name);

	if (command)
		lbx_command_help(out, command,
				 lbx_cli_is_inspection(command) ? "lazybones (pid PID | core CORE) " : "lazybones ",
				 lbx_cli_prefix(command));
	return command;
}

/* What is named must be there: the rest of an answer would look as if it had been used. */
static bool is_there(const char *option, const char *path)
{
	return !path || access(path, R_OK) == 0 || lb_fail("cannot open %s (%s): %s", path, option, strerror(errno));
}

static bool is_no_directory(const char *option, const char *path)
{
	struct stat s;

	return !path || stat(path, &s) != 0 || !S_ISDIR(s.st_mode) ||
	       lb_fail("%s (%s) is a directory, not a file", path, option);
}

static bool open_core(const struct lbx_request *r, struct lbx_context *context)
{
	char warning[8192];

	if (!is_there("--exe", r->core.exe) || !is_no_directory("--exe", r->core.exe) ||
	    !is_there("--sysroot", r->core.sysroot) || !lbx_core_open(r->what, &r->core, &context->target))
		return false;
	if (lbx_core_warning(context->target, warning, sizeof warning)) {
		lbx_make_printable(warning);
		lbx_complain(warning);
	}
	return lbx_stacks_of_core(context->target, &context->stacks);
}

static bool open_target(const struct lbx_request *r, struct lbx_context *context)
{
	if (r->is_core)
		return open_core(r, context);
	if (!lbx_process_open(r->pid, &context->target))
		return false;
	if (r->stop && r->args.command->needs & LBX_LETS_GO)
		lbx_context_prepare(context);
	return (!r->stop || lbx_process_hold(context->target)) &&
	       lbx_stacks_of_process(context->target, &context->stacks);
}

static bool is_json;

static int report(bool done)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		done = lb_fail("cannot write the output: %s", strerror(errno));
	if (done)
		return LBX_EXIT_DONE;
	lbx_tell_error(is_json);
	return LBX_EXIT_FAILED;
}

static int misused(void)
{
	report(false);
	return LBX_EXIT_MISUSED;
}

/* Where memory ran out, names the option that limits it. */
static void explain_limit(const struct lbx_limits *limits)
{
	char text[32];

	lbx_format_bytes(limits->memory, text, sizeof text);
	if (!strstr(lb_error_message(), "out of memory"))
		return;
	lbx_guard_lift_memory();
	lb_fail_within("--memory allows the reader no more than %s", text);
}

/* Of two cores, the one that cannot be read is named. */
static bool open_pair(const struct lbx_request *r, struct lbx_context *context)
{
	struct lbx_tensors *tensors;

	if (lbx_context_tensors(context, &tensors))
		return true;
	lb_fail_within("%s", r->what);
	return false;
}

/* The thread and the frame whose variables are meant, as gdb's `thread` and `frame` choose them. */
static bool choose(const struct lbx_request *r, struct lbx_context *context)
{
	if ((!r->thread && !r->has_frame) || !context->stacks)
		return true;
	return context->stacks->ops->choose(context->stacks, (uint64_t)r->thread, r->has_frame ? (int)r->frame : -1,
					    &context->frame_stack);
}

/* In the child. */
static int answer(void *job)
{
	const struct lbx_request *r = &((struct job *)job)->request;
	struct lbx_out *out = ((struct job *)job)->out;
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context context = { .out = out,
				       .settings = &settings,
				       .core = r->is_core ? r->what : NULL,
				       .cores = r->cores,
				       .stacks_of_core = lbx_stacks_of_core,
				       .thread = (uint64_t)r->thread,
				       .has_frame = r->has_frame,
				       .frame = (uint64_t)r->frame,
				       .lets_go = !r->stop };

	out->json = r->json;
	lbx_terminal_begin_progress(out);
	bool done = (r->cores || r->is_alone || open_target(r, &context)) && choose(r, &context) &&
		    (!r->is_pair || open_pair(r, &context)) && lbx_command_run(&context, &r->args);
	lbx_terminal_end_progress();
	char notice[512];
	if (done)
		lbx_tell_notice(out, context.target);
	if (done && context.target && lbx_target_notice(context.target, notice, sizeof notice))
		lbx_complain(notice); /* beside JSON */
	if (!done)
		explain_limit(&r->limits);
	lbx_abandon(out, done ? NULL : lb_error_message());
	bool wrong = !done && lb_error_cause() == LB_MISUSED, has_found = done && context.has_found;
	lbx_stacks_destroy(context.stacks);
	lbx_context_close(&context);
	lbx_target_destroy(context.target);
	if (wrong)
		return misused();
	int status = report(done);
	return status == LBX_EXIT_DONE && has_found ? LBX_EXIT_FOUND : status;
}

static bool asks_for_json(const char **words)
{
	for (; *words && strcmp(*words, "--") != 0; words++)
		if (strcmp(*words, "--json") == 0 || strncmp(*words, "--json=", 7) == 0)
			return true;
	return false;
}

static bool is_help(const char *word)
{
	return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

/* An option that is given, and is not --json: those are of what looks into something. NULL: there is none. */
static const char *other_option(const struct lbx_args *program)
{
	for (const struct lbx_option *o = program->command->options; o->name; o++)
		if (strcmp(o->name, "json") != 0 && lbx_args_option(program, o->name))
			return o->name;
	return NULL;
}

static int show_usage(struct lbx_out *out)
{
	lbx_usage(out);
	return report(true);
}

/* What is answered without looking into anything. False: nothing of that kind is asked for. */
static bool tell_of_itself(struct lbx_out *out, const struct lbx_args *program, const char **words, int *status)
{
	if (lbx_args_option(program, "version")) {
		lbx_printf(out, "lazybones %s (symbol tables %d.x)\n", LB_VERSION, LB_ABI_MAJOR);
		*status = report(true);
	} else if (lbx_args_option(program, "help")) {
		*status = show_usage(out);
	} else if (*words && strcmp(*words, "help") == 0) {
		*status = !words[1] ? show_usage(out) : help(out, words[1]) ? report(true) : misused();
	} else if (*words && is_help(words[1]) && lbx_request_command(*words)) {
		*status = report(help(out, *words));
	} else {
		return false;
	}
	return true;
}

static int show_manual(struct lbx_out *out, const char *page)
{
	if (page)
		return lbx_manual(out, page) ? report(true) : misused();
	lbx_manual_pages(out);
	return report(true);
}

static int run_verb(struct lbx_out *out, const struct lbx_verb *verb, const struct lbx_args *program,
		    struct lbx_argv words)
{
	if (is_help(*words.at))
		return report(help(out, verb->row.name));
	if (other_option(program)) {
		lb_fail("%s: there is no option '--%s'", verb->row.name, other_option(program));
		return misused();
	}
	out->json = lbx_args_option(program, "json");
	return verb->run(out, words);
}

static int run_request(struct job *job, struct lbx_argv words)
{
	struct lbx_request *request = &job->request;
	int status = LBX_EXIT_FAILED;

	if (!lbx_request_parse(words, request))
		return misused();
	if (request->help && request->command)
		return report(help(job->out, request->command->name));
	if (request->help)
		return show_usage(job->out);
	if (!lbx_guard(&request->limits, request->what, answer, job, &status))
		return report(false);
	return status;
}

int main(int argc, char **argv)
{
	struct lbx_out out = lbx_terminal(stdout);
	static struct job job = {
		.request.limits = { 4LL << 30, 600 },
		.request.core.advice = "if it is elsewhere now: --sysroot DIR, or --exe FILE for the program itself",
	};
	struct lbx_args *program = &job.request.program;
	struct lbx_argv words = { (const char **)argv + (argc > 0), false };
	int status;

	/* who ignores it gets no child's status */
	signal(SIGCHLD, SIG_DFL);
	job.out = &out;
	is_json = asks_for_json(words.at);
	if (*words.at && strcmp(*words.at, "--manual") == 0)
		return show_manual(&out, words.at[1]);
	lbx_args_begin(&lbx_cli_program, NULL, program);
	if (!lbx_args_take(program, &words))
		return misused();
	if (tell_of_itself(&out, program, words.at, &status))
		return status;
	if (!*words.at && !other_option(program)) {
		out = lbx_terminal(stderr);
		lbx_usage(&out);
		return LBX_EXIT_MISUSED;
	}
	const struct lbx_verb *verb = lbx_verb_find(words);
	/* no downloads of debug information: an answer must not wait for a network. gdb asks its user */
	if (verb != &lbx_verb_gdb)
		unsetenv("DEBUGINFOD_URLS");
	if (!verb)
		return run_request(&job, words);
	words.at++;
	return run_verb(&out, verb, program, words);
}
