/* lazybones pid PID COMMAND …, lazybones core CORE COMMAND …: the inspections without gdb. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/guard.h"
#include "cli/manual.h"
#include "cli/top.h"
#include "cli/trace.h"
#include "inspect/command.h"
#include "target/core.h"
#include "target/printable.h"
#include "target/process.h"

/* What the command line says. */
struct request {
	bool json, is_core, stop;
	const char *what; /* the core's path, or the process' number */
	const char **cores; /* of `ranks`, NULL at the end; or NULL */
	struct lbx_core_options core;
	struct lbx_limits limits;
	const struct lbx_command *command;
	char line[LBX_LINE_MAX];
	struct lbx_out *out;
};

static void write_out(struct lbx_out *out, const char *text, size_t n)
{
	fwrite(text, 1, n, out->context);
}

static int columns(void)
{
	struct winsize size;
	const char *text = getenv("COLUMNS");

	if (text && atoi(text) > 20)
		return atoi(text);
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

static const struct lbx_command *find_command(const char *name)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);

	if (command && lbx_cli_has(command))
		return command;
	lb_fail("there is no command '%s' (see lazybones --help)", name);
	return NULL;
}

static bool help(struct lbx_out *out, const char *name)
{
	const struct lbx_command *verb = lbx_command_find(lbx_verbs, name);

	if (verb) {
		lbx_command_help(out, verb, "lazybones ");
		return true;
	}
	const struct lbx_command *command = find_command(name);

	if (command)
		lbx_command_help(out, command, "lazybones (pid PID | core CORE) ");
	return command;
}

/* Adds a word to the line that both front ends take apart in one place. */
static bool add_word(char *line, size_t size, const char *word)
{
	bool quote = !*word || strpbrk(word, " \t\n'\"~");
	size_t used = strlen(line);

	if (used + 2 * strlen(word) + 4 >= size)
		return lb_fail("the arguments are longer than %zu bytes", size);
	line[used++] = ' ';
	if (quote)
		line[used++] = '"';
	for (const char *c = word; *c; c++) {
		if (quote && (*c == '"' || *c == '\\'))
			line[used++] = '\\';
		line[used++] = *c;
	}
	if (quote)
		line[used++] = '"';
	line[used] = '\0';
	return true;
}

static bool open_target(struct request *r, struct lbx_context *context)
{
	char *end;

	if (r->is_core)
		return lbx_core_open(r->what, &r->core, &context->target) &&
		       lbx_stacks_of_core(context->target, &context->stacks);
	errno = 0;
	long pid = strtol(r->what, &end, 10);
	if (end == r->what || *end || errno || pid <= 0 || pid > INT32_MAX)
		return lb_fail("'%s' is no process id", r->what);
	return lbx_process_open((pid_t)pid, &context->target) &&
	       (!r->stop || lbx_process_hold(context->target)) &&
	       lbx_stacks_of_process(context->target, &context->stacks);
}

static int report(bool done)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		done = lb_fail("cannot write the output: %s", strerror(errno));
	if (done)
		return LBX_EXIT_DONE;
	fprintf(stderr, "lazybones: %s\n", lbx_error_text());
	return LBX_EXIT_FAILED;
}

/* In the child. */
static int answer(void *request)
{
	struct request *r = request;
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context context = { .out = r->out, .settings = &settings, .cores = r->cores };

	r->out->json = r->json;
	bool done = (r->cores || open_target(r, &context)) && lbx_command_run(&context, r->command, r->line);
	char notice[512];
	if (done)
		lbx_tell_notice(r->out, context.target);
	if (done && context.target && lbx_target_notice(context.target, notice, sizeof notice))
		fprintf(stderr, "lazybones: %s\n", notice); /* beside JSON */
	lbx_stacks_destroy(context.stacks);
	lbx_table_destroy(context.table);
	lbx_target_destroy(context.target);
	return report(done);
}

/* An option's value: after '=', or the next word. */
static bool take_value(const char *option, char ***argv, const char **ret)
{
	const char *equals = strchr(option, '=');

	*ret = equals ? equals + 1 : **argv ? *(*argv)++ : NULL;
	return *ret || lb_fail("%s needs a value (see lazybones --help)", option);
}

static bool is_option(const char *word, const char *name)
{
	size_t n = strlen(name);
	return strncmp(word, name, n) == 0 && (word[n] == '\0' || word[n] == '=');
}

static bool take_number(const char *option, char ***argv, int64_t *ret)
{
	const char *text;
	char *end;

	if (!take_value(option, argv, &text))
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 0);
	return (end != text && !*end && !errno && *ret > 0) ||
	       lb_fail("%s takes a number above 0, not '%s'", option, text);
}

static bool take_option(struct request *r, const char *word, char ***argv)
{
	if (strcmp(word, "--json") == 0)
		return r->json = true;
	if (strcmp(word, "--stop") == 0)
		return r->is_core ? lb_fail("--stop is of pid: a core stands still") : (r->stop = true);
	if (is_option(word, "--memory"))
		return take_number(word, argv, &r->limits.memory);
	if (is_option(word, "--seconds"))
		return take_number(word, argv, &r->limits.seconds);
	if (is_option(word, "--unpack"))
		return take_number(word, argv, &r->core.unpack);
	if (is_option(word, "--exe") || is_option(word, "--sysroot")) {
		if (!r->is_core)
			return lb_fail("%s is of core: a process says itself what it runs", word);
		return take_value(word, argv, word[2] == 'e' ? &r->core.exe : &r->core.sysroot);
	}
	return lb_fail("there is no option %s before a command (see lazybones --help)", word);
}

static bool add_arguments(struct request *r, char **argv)
{
	for (; *argv; argv++)
		if (!add_word(r->line, sizeof r->line, strcmp(*argv, "-o") == 0 ? "--output" : *argv))
			return false;
	return true;
}

/* CORE:T becomes the core and the first argument. */
static bool take_pair(struct request *r, char *word)
{
	char *colon = strrchr(word, ':');

	if (!colon || colon == word || !colon[1])
		return lb_fail("'%s' names no tensor of a core: write CORE:T", word);
	*colon = '\0';
	r->what = word;
	return add_word(r->line, sizeof r->line, colon + 1);
}

/* `ranks CORE... [OPTION]...`: what is no option, nor an option's value, is a core. */
static bool parse_ranks(struct request *r, char **argv)
{
	size_t n = 0, words = 0;

	while (argv[words])
		words++;
	r->what = "the cores";
	r->command = find_command("ranks");
	r->cores = calloc(words + 1, sizeof *r->cores);
	if (!r->cores)
		return lb_fail("out of memory");
	while (*argv) {
		char *word = *argv++;
		if (strncmp(word, "--", 2) != 0) {
			r->cores[n++] = word;
			continue;
		}
		bool has_value = false;
		for (const struct lbx_option *o = r->command->options; o->name; o++)
			has_value |= o->value && strcmp(o->name, word + 2) == 0;
		if (!add_word(r->line, sizeof r->line, word) ||
		    (has_value && *argv && !add_word(r->line, sizeof r->line, *argv++)))
			return false;
	}
	return true;
}

/* A row's name as the first word makes the core the second: `report CORE`, `diff CORE:T …`. */
static bool parse(struct request *r, char **argv)
{
	const char *kind = *argv++;
	bool is_report = strcmp(kind, "report") == 0, is_diff = strcmp(kind, "diff") == 0;

	if (strcmp(kind, "ranks") == 0)
		return parse_ranks(r, argv);
	r->is_core = strcmp(kind, "core") == 0 || is_report || is_diff;
	if (!r->is_core && strcmp(kind, "pid") != 0)
		return lb_fail("'%s' is none of pid, core, report, diff, ranks, trace, top and help (see lazybones --help)",
			       kind);
	if (!is_diff)
		r->what = *argv++;
	while (*argv && strncmp(*argv, "--", 2) == 0 && !(is_report || is_diff)) {
		const char *word = *argv++;
		if (!take_option(r, word, &argv))
			return false;
	}
	const char *name = is_report || is_diff ? kind : *argv ? *argv++ : r->is_core ? "report" : NULL;
	if (!name)
		return lb_fail("which command? (see lazybones --help)");
	r->command = find_command(name);
	return r->command && (!is_diff || take_pair(r, *argv++)) && add_arguments(r, argv);
}

static bool wants_help(char **argv)
{
	for (; *argv; argv++)
		if (strcmp(*argv, "--help") == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct lbx_out out = {
		.context = stdout, .write = write_out, .width = columns(),
		.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
	};
	static struct request request = {
		.limits = { 4LL << 30, 600 },
		.core.advice = "if it is elsewhere now: --sysroot DIR, or --exe FILE for the program itself",
	};
	int status = LBX_EXIT_FAILED;

	if (out.colour)
		out.colours = lbx_terminal_colours();
	out.pixels = out.colour;
	/* no downloads of debug information: an answer must not wait for a network */
	unsetenv("DEBUGINFOD_URLS");
	request.out = &out;
	argv++;
	while (*argv && strcmp(*argv, "--json") == 0 && argv++)
		request.json = true;
	argc = 0;
	while (argv[argc])
		argc++;
	if (argc > 0 && strcmp(argv[0], "--version") == 0) {
		lbx_printf(&out, "lazybones %s (symbol tables %d.x)\n", LB_VERSION, LB_ABI_MAJOR);
		return report(true);
	}
	if (argc > 0 && strcmp(argv[0], "--manual") == 0) {
		lbx_manual(&out);
		return report(true);
	}
	if (argc > 1 && strcmp(argv[0], "help") == 0)
		return report(help(&out, argv[1]));
	if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "help") == 0)) {
		lbx_usage(&out);
		return report(true);
	}
	const struct lbx_command *verb = argc > 0 ? lbx_command_find(lbx_verbs, argv[0]) : NULL;
	if (verb && argc > 1 && strcmp(argv[1], "--help") == 0)
		return report(help(&out, verb->name));
	out.json = request.json;
	if (verb)
		return strcmp(verb->name, "top") == 0 ? lbx_top(argv, &out) : lbx_trace(argv);
	if (argc < 2) {
		out.context = stderr;
		lbx_usage(&out);
		return LBX_EXIT_MISUSED;
	}
	if (!parse(&request, argv))
		return report(false) == LBX_EXIT_DONE ? LBX_EXIT_DONE : LBX_EXIT_MISUSED;
	if (wants_help(argv))
		return report(help(&out, request.command->name));
	if (!lbx_guard(&request.limits, request.what, answer, &request, &status))
		return report(false);
	return status;
}
