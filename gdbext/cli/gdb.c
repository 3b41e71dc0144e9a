/* lazybones gdb: gdb with the commands in place, whatever the program is. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "inspect/near.h"

/* All words but a first --gdb are gdb's own, so they are not parsed. */
static bool take_gdb(const char ***words, const char **ret)
{
	static const char option[] = "--gdb";
	const char *first = **words, *named = getenv("GDB");

	*ret = named && *named ? named : "gdb";
	if (!first || strncmp(first, option, strlen(option)) != 0)
		return true;
	const char *rest = first + strlen(option);
	if (*rest == '=') {
		*ret = rest + 1;
	} else if (*rest) {
		return true;
	} else {
		++*words;
		*ret = **words;
	}
	if (!*ret || !**ret)
		return lbx_misuse("gdb: --gdb needs a program");
	++*words;
	return true;
}

static bool be_gdb(const char *gdb, const char **words)
{
	char loader[PATH_MAX];
	size_t n = 0;

	if (!lbx_find_loader(loader))
		return false;
	while (words[n])
		n++;
	lb_auto_free const char **argv = malloc((n + 4) * sizeof *argv);
	if (!argv)
		return lb_fail("out of memory");
	argv[0] = gdb;
	argv[1] = "-ix";
	argv[2] = loader;
	memcpy(argv + 3, words, (n + 1) * sizeof *argv);
	execvp(gdb, (char **)argv);
	return lb_fail("cannot run %s: %s: install gdb (apt install gdb), or name another by --gdb or GDB", gdb,
		       strerror(errno));
}

static int run_gdb(struct lbx_out *out, struct lbx_argv words)
{
	const char *gdb;

	(void)out; /* gdb speaks */
	if (!take_gdb(&words.at, &gdb)) {
		lbx_tell_error(false);
		return LBX_EXIT_MISUSED;
	}
	be_gdb(gdb, words.at);
	lbx_tell_error(false);
	return LBX_EXIT_FAILED;
}

const struct lbx_verb lbx_verb_gdb = {
	.row = {
		.name = "gdb",
		.arguments = "[--gdb PROGRAM] [ARGUMENT]...",
		.summary = "start gdb with the commands `tensor` in place",
		.help = "The arguments are gdb's own, the options too; with none, gdb starts without a program. The\n"
			"commands are there before `run`, and in programs of any kind. PROGRAM, or GDB in the\n"
			"environment, is another gdb than the one on the PATH.\n"
			"\n"
			"Example: lazybones gdb -ex 'tensor catch nan' -ex run --args ./train --steps 3\n"
			"Example: lazybones gdb -p 4711",
	},
	.run = run_gdb,
};
