/* lazybones pid PID COMMAND …, lazybones core CORE COMMAND …: the inspections without gdb. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/command.h"
#include "target/core.h"
#include "target/process.h"

enum { FAILED = 1, MISUSED = 2 };

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

static void usage(struct lbx_out *out)
{
	lbx_printf(out, "Usage: lazybones pid PID COMMAND [ARGUMENT]...\n"
		   "       lazybones core CORE COMMAND [ARGUMENT]...\n"
		   "       lazybones help COMMAND\n"
		   "See the lazy tensors of a running program, or of a dead one's core file.\n"
		   "\nCommands:\n");
	for (const struct lbx_command *c = lbx_commands; c->name; c++)
		if (!(c->needs & LBX_NEEDS_LIVE))
			lbx_printf(out, "  %-8s %-10s %s\n", c->name, c->arguments, c->summary);
	lbx_printf(out, "\nOptions:\n"
		   "  --json     write JSON instead of text\n"
		   "  --help     show this, or a command's help\n"
		   "  --version  show the version\n");
}

static bool help(struct lbx_out *out, const char *name)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);

	if (!command)
		return lb_fail("there is no command '%s' (see lazybones --help)", name);
	lbx_command_help(out, command, "lazybones (pid PID | core CORE) ");
	return true;
}

/* The arguments as one line, so that both front ends take lines apart in one place. */
static bool join(char *const *words, int n, char *ret, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		bool quote = !*words[i] || strpbrk(words[i], " \t\n'\"");
		if (used + 2 * strlen(words[i]) + 4 >= size)
			return lb_fail("the arguments are longer than %zu bytes", size);
		ret[used++] = ' ';
		if (quote)
			ret[used++] = '"';
		for (const char *c = words[i]; *c; c++) {
			if (quote && (*c == '"' || *c == '\\'))
				ret[used++] = '\\';
			ret[used++] = *c;
		}
		if (quote)
			ret[used++] = '"';
	}
	ret[used] = '\0';
	return true;
}

static bool open_target(const char *kind, const char *what, struct lbx_target **ret)
{
	char *end;

	if (strcmp(kind, "core") == 0)
		return lbx_core_open(what, ret);
	if (strcmp(kind, "pid") != 0)
		return lb_fail("'%s' is neither pid nor core (see lazybones --help)", kind);
	errno = 0;
	long pid = strtol(what, &end, 10);
	if (end == what || *end || errno || pid <= 0 || pid > INT32_MAX)
		return lb_fail("'%s' is no process id", what);
	return lbx_process_open((pid_t)pid, ret);
}

static bool run(struct lbx_out *out, int argc, char **argv)
{
	struct lbx_settings settings = lbx_default_settings;
	struct lbx_context context = { .out = out, .settings = &settings };
	const struct lbx_command *command = lbx_command_find(lbx_commands, argv[3]);
	char line[LBX_LINE_MAX];

	for (int i = 4; i < argc && command; i++)
		if (strcmp(argv[i], "--help") == 0)
			return help(out, argv[3]);
	if (!command)
		return lb_fail("there is no command '%s' (see lazybones --help)", argv[3]);
	bool done = join(argv + 4, argc - 4, line, sizeof line) &&
		    open_target(argv[1], argv[2], &context.target) &&
		    lbx_command_run(&context, command, line);
	lbx_table_destroy(context.table);
	lbx_target_destroy(context.target);
	return done;
}

/* Takes --json away from before the command. */
static int take_json(int argc, char **argv, bool *json)
{
	int n = 1;

	for (int i = 1; i < argc; i++) {
		if (n <= 3 && strcmp(argv[i], "--json") == 0)
			*json = true;
		else
			argv[n++] = argv[i];
	}
	return n;
}

int main(int argc, char **argv)
{
	struct lbx_out out = {
		.context = stdout, .write = write_out, .width = columns(),
		.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
	};
	bool done = true;

	if (out.colour)
		out.colours = lbx_terminal_colours();
	/* no downloads of debug information: an answer must not wait for a network */
	unsetenv("DEBUGINFOD_URLS");
	argc = take_json(argc, argv, &out.json);
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		lbx_printf(&out, "lazybones %s (symbol tables %d.x)\n", LB_VERSION, LB_ABI_MAJOR);
	} else if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
		if (argc > 2)
			done = help(&out, argv[2]);
		else
			usage(&out);
	} else if (argc < 4) {
		out.context = stderr;
		usage(&out);
		return MISUSED;
	} else {
		done = run(&out, argc, argv);
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		done = lb_fail("cannot write the output: %s", strerror(errno));
	if (done)
		return 0;
	fprintf(stderr, "lazybones: %s\n", lb_error_message());
	return FAILED;
}
