/* lazybones sites: text with code addresses in it, as tracers write it, with functions and lines. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/announced.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "target/lines.h"
#include "target/printable.h"

enum { MOST_FILES = 64 };

struct sites {
	struct lbx_lines *process; /* NULL: none was named */
	struct lbx_announced *announced;
	pid_t owner; /* of the places that follow in this line: its first number, or 0 */
	struct named_file {
		char *path;
		struct lbx_lines *lines;
	} files[MOST_FILES];
	int n_files;
};

/* A pipe or a device would be waited for. */
static bool is_file(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static struct lbx_lines *lines_of(struct sites *sites, const char *path, size_t n)
{
	for (int i = 0; i < sites->n_files; i++)
		if (strlen(sites->files[i].path) == n && memcmp(sites->files[i].path, path, n) == 0)
			return sites->files[i].lines;
	char *copy = sites->n_files < MOST_FILES ? strndup(path, n) : NULL;
	if (!copy)
		return NULL;
	sites->files[sites->n_files] = (struct named_file){
		.path = copy,
		.lines = is_file(copy) ? lbx_lines_of_file(copy, -1) : NULL,
	};
	return sites->files[sites->n_files++].lines;
}

/* The call, not what follows it: that may be another line. */
static bool print_line(struct lbx_lines *lines, uint64_t pc)
{
	struct lbx_source_line line = { .line = 0 };

	if (!lines || pc == 0 || !lbx_lines_known(lines, pc - 1) || !lbx_lines_find(lines, pc - 1, 0, &line))
		return false;
	lbx_make_printable(line.function);
	lbx_make_printable(line.file);
	if (line.file[0])
		printf("%s%s%s:%d", line.function, line.function[0] ? " at " : "", line.file, line.line);
	else
		printf("%s", line.function);
	return true;
}

/* "0x12ab", all of it */
static bool number(const char *text, size_t n, uint64_t *ret)
{
	if (n < 3 || n > 18 || memcmp(text, "0x", 2) != 0 || strspn(text + 2, "0123456789abcdef") < n - 2)
		return false;
	*ret = strtoull(text, NULL, 16);
	return true;
}

/* "4711", all of it */
static bool pid_of(const char *text, size_t n, pid_t *ret)
{
	long long value = n > 0 && n <= 10 && strspn(text, "0123456789") >= n ? strtoll(text, NULL, 10) : 0;

	*ret = value <= INT32_MAX ? (pid_t)value : 0;
	return *ret > 0;
}

static bool print_announced(struct sites *sites, uint64_t pc)
{
	struct lbx_lines *lines;
	uint64_t at;

	return pc != 0 && lbx_announced_any(sites->announced) &&
	       lbx_announced_find(sites->announced, sites->owner, pc, &lines, &at) && print_line(lines, at);
}

static bool print_site(struct sites *sites, const char *word, size_t n)
{
	const char *plus = memrchr(word, '+', n);
	uint64_t pc;

	if (word[0] == '/')
		return plus && number(plus + 1, n - (size_t)(plus + 1 - word), &pc) &&
		       print_line(lines_of(sites, word, (size_t)(plus - word)), pc);
	if (sites->owner == 0 && pid_of(word, n, &sites->owner))
		return false;
	if (!number(word, n, &pc))
		return false;
	return sites->process ? print_line(sites->process, pc) : print_announced(sites, pc);
}

/* "train(+0x51de) [0x…]", as the runtime's messages have it, where the current folder has that file. Returns its length;
 * 0: it is none. */
static size_t print_message_site(struct sites *sites, const char *word, size_t n)
{
	const char *offset = word + n + 2;
	uint64_t pc;

	if (n == 0 || strncmp(word + n, "(+", 2) != 0)
		return 0;
	size_t digits = strcspn(offset, ") \t\n"), length = n + 2 + digits + 1;
	if (offset[digits] != ')' || !number(offset, digits, &pc) || !print_line(lines_of(sites, word, n), pc))
		return 0;
	if (strncmp(word + length, " [0x", 4) == 0) {
		size_t address = strcspn(word + length, "]\n");
		length += word[length + address] == ']' ? address + 1 : 0;
	}
	return length;
}

/* Words end at blanks, and at what stands around them: site=…", @by[…]. */
static void print_words(struct sites *sites, const char *line)
{
	static const char around[] = " \t\n=[],()\"'";

	sites->owner = 0;
	while (*line) {
		size_t n = strcspn(line, around), done = print_message_site(sites, line, n);
		if (done) {
			line += done;
			continue;
		}
		if (n > 0 && !print_site(sites, line, n))
			fwrite(line, 1, n, stdout);
		line += n;
		n = strspn(line, around);
		fwrite(line, 1, n, stdout);
		line += n;
	}
}

static bool parse(struct lbx_argv words, int64_t *pid)
{
	struct lbx_args args;

	lbx_args_begin(&lbx_verb_sites.row, NULL, &args);
	return lbx_args_take(&args, &words) && lbx_args_int(&args, "pid", 1, INT32_MAX, pid) &&
	       (!args.left || lb_fail("sites: it reads standard input: lazybones sites [--pid PID] <FILE"));
}

static bool open_process(struct sites *sites, int64_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%" PRId64 "/maps", pid);
	FILE *maps = fopen(path, "r"); /* one may be there that another user may not read */
	if (!maps)
		return lb_fail("cannot read %s: %s", path, strerror(errno));
	fclose(maps);
	sites->process = lbx_lines_of_process((pid_t)pid);
	return sites->process || lb_fail("out of memory");
}

/* What the tools of bpftrace write for this command alone: "process 4711" as they see one first, and, beginning
 * with "0x...: ", what places without this command are. And of lazybones-perf: "mapping 4711 " and a line of that
 * process's /proc/PID/maps. */
static bool is_for_us(struct sites *sites, char *line)
{
	static const char process[] = "process ", mapping[] = "mapping ";
	size_t n = strcspn(line, "\n");
	pid_t pid;

	if (strncmp(line, "0x...: ", 7) == 0)
		return true;
	if (strncmp(line, "Lost ", 5) == 0 && n > 12 && memcmp(line + n - 7, " events", 7) == 0)
		lbx_announced_lose(sites->announced); /* it is shown, too */
	if (strncmp(line, mapping, sizeof mapping - 1) == 0) {
		char *number = line + sizeof mapping - 1;
		size_t digits = strcspn(number, " \n");
		if (number[digits] != ' ' || !pid_of(number, digits, &pid))
			return false;
		line[n] = '\0';
		if (!sites->process)
			lbx_announced_record(sites->announced, pid, number + digits + 1);
		return true;
	}
	if (strncmp(line, process, sizeof process - 1) != 0 ||
	    !pid_of(line + sizeof process - 1, n - (sizeof process - 1), &pid))
		return false;
	if (!sites->process)
		lbx_announced_add(sites->announced, pid);
	return true;
}

/* Each line as it comes: it may be a tracer's that runs. */
static bool copy(struct sites *sites)
{
	lb_auto_free char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (!line[i])
				line[i] = '?';
		lbx_make_lines_printable(line);
		if (!is_for_us(sites, line))
			print_words(sites, line);
		if (fflush(stdout) != 0)
			break;
	}
	if (ferror(stdin))
		return lb_fail("cannot read standard input: %s", strerror(errno));
	return !ferror(stdout) || lb_fail("cannot write the output: %s", strerror(errno));
}

static void sites_deinit(struct sites *sites)
{
	lbx_lines_destroy(sites->process);
	lbx_announced_destroy(sites->announced);
	for (int i = 0; i < sites->n_files; i++) {
		lbx_lines_destroy(sites->files[i].lines);
		free(sites->files[i].path);
	}
}

/* From standard input to standard output, until its end. */
static int run_sites(struct lbx_out *out, struct lbx_argv words)
{
	struct sites sites = { .announced = lbx_announced_create() };
	int64_t pid = 0;
	bool parsed = parse(words, &pid);

	(void)out; /* the tracer's lines go through as they are */
	/* Ctrl-C is for the tracer, which has more to say then. */
	if (!isatty(STDIN_FILENO))
		signal(SIGINT, SIG_IGN);
	bool done = parsed && (sites.announced || lb_fail("out of memory")) &&
		    (pid == 0 || open_process(&sites, pid)) && copy(&sites);
	if (done)
		lbx_announced_explain(sites.announced);
	sites_deinit(&sites);
	if (!done)
		lbx_complain(lbx_error_text());
	return done ? LBX_EXIT_DONE : parsed ? LBX_EXIT_FAILED : LBX_EXIT_MISUSED;
}

const struct lbx_verb lbx_verb_sites = {
	.row = {
		.name = "sites",
		.arguments = "[--pid PID]",
		.summary = "put functions and lines into what a tracer has written",
		.help = "Copies standard input to standard output. Each place such as /home/ann/train+0x51de, as\n"
			"LAZYBONES_STRACE=1 writes it, becomes its function, file and line; its file is taken as it is\n"
			"now: a file that was rebuilt since gives other lines. So does train(+0x51de), as the runtime's\n"
			"messages have it (LAZYBONES_NAN=warn), where the current folder has the file.\n"
			"\n"
			"So do the addresses of processes that the tools of bpftrace announce, by a line such as\n"
			"\"process 4711\". Each is looked at then, and may end after that. The first number in a\n"
			"line is the process whose places follow it. Where there is none, a place is named only if it\n"
			"is the same for all processes. Otherwise it stays, and the end says why.\n"
			"\n"
			"With --pid, all addresses are of that process. It is looked at once, at the start.\n"
			"\n"
			"Example: lbmisuse.bt liblazybones.so.0.1.0 | lazybones sites",
		.options = {
			{ "pid", "PID", "of the process whose addresses are in the text; also -p" },
		},
		.letters = "pid",
	},
	.run = run_sites,
};
