#include "serve/reads_on.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz-"
#define SOURCE "it reads further lines: write them all to a file, and run `source FILE`"
#define NO_TERMINAL "it needs a terminal, which a session has not"

/* gdb takes the beginning of a name for it; `shortest` is that of some version of gdb. */
static const struct {
	const char *name;
	size_t shortest;
	bool is_alone; /* only where nothing follows */
	const char *instead;
} rows[] = {
	{ "define", 3, false, SOURCE },
	{ "document", 3, false, SOURCE },
	{ "commands", 4, false, SOURCE },
	{ "actions", 2, false, SOURCE },
	{ "while", 3, false, SOURCE },
	{ "if", 2, false, SOURCE },
	{ "python", 2, true, SOURCE ", or say what Python is to run in the same line" },
	{ "python-interactive", 8, true, NO_TERMINAL },
	{ "pi", 2, true, NO_TERMINAL },
	{ "guile", 2, true, SOURCE ", or say what Guile is to run in the same line" },
	{ "guile-repl", 6, false, NO_TERMINAL },
	{ "gr", 2, false, NO_TERMINAL },
	{ "compile", 5, true, SOURCE },
	{ "expression", 3, true, SOURCE },
	{ "shell", 3, true, NO_TERMINAL },
	{ "!", 1, true, NO_TERMINAL },
	{ "edit", 1, false, NO_TERMINAL },
};

/* `compile` has commands of its own, which read on where nothing follows them. */
static const char *behind_compile(const char *rest)
{
	size_t n = strspn(rest, LETTERS);

	return n > 0 && (strncmp("code", rest, n) == 0 || strncmp("print", rest, n) == 0) &&
		       !rest[n + strspn(rest + n, " \t")]
		   ? ""
		   : rest;
}

const char *lbx_reads_on(const char *line)
{
	line += strspn(line, " \t");
	size_t n = *line == '!' ? 1 : strspn(line, LETTERS);
	const char *rest = line + n + strspn(line + n, " \t");

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (n < rows[i].shortest || strncmp(rows[i].name, line, n) != 0)
			continue;
		if (strcmp(rows[i].name, "compile") == 0)
			rest = behind_compile(rest);
		return rows[i].is_alone && *rest ? NULL : rows[i].instead;
	}
	return NULL;
}
