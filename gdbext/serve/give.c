#define _GNU_SOURCE
#include "serve/give.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "lazybones.h"
#include "record/skips.h"

static bool tell_gdb(struct lbx_gdb *gdb, const char *line)
{
	struct lbx_gdb_answer answer;

	if (!lbx_gdb_console(gdb, 60, &answer, line))
		return false;
	lbx_gdb_answer_release(&answer);
	return true;
}

static bool set_environment(struct lbx_gdb *gdb, const json_t *environment)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)environment, name, value)
	{
		lb_auto_free char *line = NULL;
		if (!*name || strpbrk(name, "= \t\n") || !json_is_string(value))
			return lb_fail_because(LB_MISUSED, "env: '%s' is no variable with a string as its value", name);
		if (asprintf(&line, "set environment %s = %s", name, json_string_value(value)) < 0)
			return lb_fail("out of memory");
		if (!tell_gdb(gdb, line))
			return false;
	}
	return true;
}

static bool set_skips(struct lbx_gdb *gdb)
{
	char line[128];

	for (int i = 0; lbx_skips[i]; i++) {
		snprintf(line, sizeof line, "skip -rfu %s", lbx_skips[i]);
		if (!tell_gdb(gdb, line))
			return false;
	}
	return true;
}

/* A word that a shell, or gdb itself, reads as the program's argument is meant. */
static void write_argument(FILE *to, const char *argument)
{
	if (!*argument)
		fputs("''", to);
	for (const char *at = argument; *at; at++) {
		if (*at == '\n')
			fputs("'\n'", to);
		else if (strchr("\t !\"#$&*()\\|[]{}<>?'`~^;", *at))
			fprintf(to, "\\%c", *at);
		else
			fputc(*at, to);
	}
}

static bool set_arguments(struct lbx_gdb *gdb, const char *const *arguments)
{
	lb_auto_free char *line = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&line, &n);

	if (!to)
		return lb_fail("out of memory");
	fputs("set args", to);
	for (size_t i = 0; arguments && arguments[i]; i++) {
		fputc(' ', to);
		write_argument(to, arguments[i]);
	}
	bool ok = !ferror(to);
	ok &= fclose(to) == 0;
	return ok ? tell_gdb(gdb, line) : lb_fail("out of memory");
}

static bool tell_mi(struct lbx_gdb *gdb, const char *command, const char *words)
{
	lb_auto_free char *line = NULL;
	struct lbx_gdb_answer answer;

	if (asprintf(&line, "%s %s", command, words) < 0)
		return lb_fail("out of memory");
	if (!lbx_gdb_ask(gdb, LBX_GDB_FOR_EVER, &answer, line))
		return false;
	lbx_gdb_answer_release(&answer);
	return true;
}

/* gdb takes the whole line for the path, from 16 on a word, which may be quoted. */
static bool load_core(struct lbx_gdb *gdb, const char *path)
{
	lb_auto_free char *quoted = lbx_gdb_quote(path);

	if (!quoted)
		return lb_fail("out of memory");
	if (tell_mi(gdb, "-target-select core", path))
		return true;
	if (strlen(quoted) == strlen(path) + 2 && !strpbrk(path, " \t'"))
		return false;
	lb_clear_error();
	return tell_mi(gdb, "-target-select core", quoted);
}

static bool load_program(struct lbx_gdb *gdb, const char *path)
{
	lb_auto_free char *quoted = lbx_gdb_quote(path);

	return quoted ? tell_mi(gdb, "-file-exec-and-symbols", quoted) : lb_fail("out of memory");
}

static bool attach(struct lbx_gdb *gdb, long pid)
{
	char process[32];

	snprintf(process, sizeof process, "%ld", pid);
	if (tell_mi(gdb, "-target-attach", process))
		return true;
	lb_fail_within("process %ld", pid);
	return false;
}

/* What it is to look at; in a program's case, what it is to be run with. */
static bool load(struct lbx_gdb *gdb, const struct lbx_session_start *start)
{
	if (start->kind == LBX_OF_PROGRAM &&
	    !(set_arguments(gdb, start->args) && set_environment(gdb, start->environment)))
		return false;
	if (start->program && !load_program(gdb, start->program))
		return false;
	return start->kind == LBX_OF_CORE      ? load_core(gdb, start->core)
	       : start->kind == LBX_OF_PROCESS ? attach(gdb, start->pid)
					       : true;
}

static bool enter_directory(struct lbx_gdb *gdb, const char *path)
{
	lb_auto_free char *quoted = lbx_gdb_quote(path);

	return quoted ? tell_mi(gdb, "-environment-cd", quoted) : lb_fail("out of memory");
}

bool lbx_give(struct lbx_gdb *gdb, const struct lbx_session_start *start)
{
	return (!start->cwd || enter_directory(gdb, start->cwd)) && load(gdb, start) &&
	       (!start->skips || set_skips(gdb));
}
