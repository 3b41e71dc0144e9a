/* lazybones pid PID COMMAND …, lazybones core CORE COMMAND …: the inspections without gdb. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/guard.h"
#include "cli/manual.h"
#include "cli/request.h"
#include "cli/sites.h"
#include "cli/terminal.h"
#include "cli/top.h"
#include "cli/trace.h"
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
	const struct lbx_command *verb = lbx_command_find(lbx_verbs, name);

	if (verb) {
		lbx_command_help(out, verb, "lazybones ", "lazybones ");
		return true;
	}
	const struct lbx_command *command = lbx_request_command(name);

	if (command)
		lbx_command_help(out, command, command->needs & LBX_NEEDS_CORES ? "lazybones "
				 : "lazybones (pid PID | core CORE) ", lbx_cli_prefix(command));
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
	    !is_there("--sysroot", r->core.sysroot) ||
	    !lbx_core_open(r->what, &r->core, &context->target))
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
	return lbx_process_open(r->pid, &context->target) &&
	       (!r->stop || lbx_process_hold(context->target)) &&
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
	if (strstr(lb_error_message(), "out of memory"))
		lb_fail_within("--memory allows the reader no more than %s", text);
}

/* Of two cores, the one that cannot be read is named. */
static bool open_pair(const struct lbx_request *r, struct lbx_context *context)
{
	if (lbx_command_open(context, r->command))
		return true;
	lb_fail_within("%s", r->what);
	return false;
}

/* In the child. */
static int answer(void *job)
{
	const struct lbx_request *r = &((struct job *)job)->request;
	struct lbx_out *out = ((struct job *)job)->out;
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context context = { .out = out, .settings = &settings, .cores = r->cores };

	out->json = r->json;
	bool done = (r->cores || open_target(r, &context)) && (!r->pair || open_pair(r, &context)) &&
		    lbx_command_run(&context, r->command, r->line);
	char notice[512];
	if (done)
		lbx_tell_notice(out, context.target);
	if (done && context.target && lbx_target_notice(context.target, notice, sizeof notice))
		lbx_complain(notice); /* beside JSON */
	if (!done)
		explain_limit(&r->limits);
	bool wrong = !done && lbx_is_misuse();
	lbx_stacks_destroy(context.stacks);
	lbx_context_close(&context);
	lbx_target_destroy(context.target);
	return wrong ? misused() : report(done);
}

static bool asks_for_json(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--json") == 0 || strncmp(*argv, "--json=", 7) == 0)
			return true;
	return false;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
	struct lbx_out out = lbx_terminal(stdout);
	static struct job job = {
		.request.limits = { 4LL << 30, 600 },
		.request.core.advice = "if it is elsewhere now: --sysroot DIR, or --exe FILE for the program itself",
	};
	struct lbx_request *request = &job.request;
	int status = LBX_EXIT_FAILED;

	/* no downloads of debug information: an answer must not wait for a network */
	unsetenv("DEBUGINFOD_URLS");
	/* who ignores it gets no child's status */
	signal(SIGCHLD, SIG_DFL);
	job.out = &out;
	argv++;
	is_json = asks_for_json(argv);
	while (*argv && strcmp(*argv, "--json") == 0 && argv++)
		request->json = true;
	argc = 0;
	while (argv[argc])
		argc++;
	if (argc > 0 && strcmp(argv[0], "--version") == 0) {
		lbx_printf(&out, "lazybones %s (symbol tables %d.x)\n", LB_VERSION, LB_ABI_MAJOR);
		return report(true);
	}
	if (argc > 0 && strcmp(argv[0], "--manual") == 0) {
		if (argc > 1)
			return lbx_manual(&out, argv[1]) ? report(true) : misused();
		lbx_manual_pages(&out);
		return report(true);
	}
	if (argc > 1 && strcmp(argv[0], "help") == 0)
		return help(&out, argv[1]) ? report(true) : misused();
	if (argc > 0 && (is_help(argv[0]) || strcmp(argv[0], "help") == 0)) {
		lbx_usage(&out);
		return report(true);
	}
	const struct lbx_command *verb = argc > 0 ? lbx_command_find(lbx_verbs, argv[0]) : NULL;
	if (verb && argc > 1 && is_help(argv[1]))
		return report(help(&out, verb->name));
	out.json = request->json;
	if (verb && strcmp(verb->name, "sites") == 0)
		return lbx_sites(argv);
	if (verb)
		return strcmp(verb->name, "top") == 0 ? lbx_top(argv, &out) : lbx_trace(argv);
	if (argc == 0) {
		out = lbx_terminal(stderr);
		lbx_usage(&out);
		return LBX_EXIT_MISUSED;
	}
	if (!lbx_request_parse(argv, request))
		return misused();
	if (request->help && request->command)
		return report(help(&out, request->command->name));
	if (request->help) {
		lbx_usage(&out);
		return report(true);
	}
	if (!lbx_guard(&request->limits, request->what, answer, &job, &status))
		return report(false);
	return status;
}
