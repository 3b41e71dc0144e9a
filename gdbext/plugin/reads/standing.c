/* Each question costs half a millisecond, and what kind of program gdb looks at, which process or which core it is, hardly
 * ever changes. gdb tells nobody when it does. But it cannot change without a file that gdb opens or closes: of a process that is its memory,
 * /proc/PID/mem, of a core the core itself. So the answers stand for as long as the same files are open and
 * the same inferior is selected, and runs the same image; and only where there is one such file alone, since gdb's checkpoints, or
 * several inferiors, have more of them. */
#include "plugin/reads/standing.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mix.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/open_files.h"

enum { MOST = 8, PATH = 64 /* of a process's memory */ };

static struct {
	uint64_t files;
	int inferior;
	int n;
	struct {
		char *command, *answer;
	} known[MOST];
} standing;

/* Not answered yet, in this run of the line. */
static struct {
	int n;
	const char *commands[MOST];
} asked;

static void drop(void)
{
	for (int i = 0; i < standing.n; i++) {
		free(standing.known[i].command);
		free(standing.known[i].answer);
	}
	standing.n = 0;
}

/* /proc/PID/mem, or /proc/PID/task/TID/mem: the path's length; 0: it is none. */
static size_t memory_path(const struct lbx_open_file *file, char ret[PATH])
{
	static const char folder[] = "/proc/", name[] = "/mem";
	char link[64];

	if (!S_ISREG(file->st.st_mode) || file->st.st_size != 0)
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
	ssize_t n = readlink(link, ret, PATH - 1);
	ret[n > 0 ? n : 0] = '\0';
	return n > (ssize_t)(sizeof name - 1) && strncmp(ret, folder, sizeof folder - 1) == 0 &&
		       strcmp(ret + n - (sizeof name - 1), name) == 0
		   ? (size_t)n
		   : 0;
}

/* A number for the image that a process runs, by its auxiliary vector: a program that replaces itself (exec) keeps its memory's
 * file. 0: there is no process, or it cannot be told. */
static uint64_t image_of_process(void)
{
	const struct lbx_open_file *file;
	uint64_t words[64], ret = 0;
	char path[PATH + 1];
	size_t length;

	for (int i = 0; (file = lbx_open_file(i)); i++) {
		if (!(length = memory_path(file, path)))
			continue;
		strcpy(path + length - 3, "auxv"); /* in the place of "mem" */
		lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd >= 0 ? read(fd, words, sizeof words) : 0;
		for (ssize_t k = 0; k < n / (ssize_t)sizeof *words; k++)
			ret = lb_mix(ret + words[k]) + LB_MIX_STEP;
	}
	return ret;
}

bool lbx_standing_may(void)
{
	const struct lbx_open_file *file;
	char path[PATH];
	int fd, n = lbx_open_cores(&fd);

	for (int i = 0; n < 2 && (file = lbx_open_file(i)); i++)
		n += memory_path(file, path) > 0;
	return n == 1 && lbx_bridge_inferior();
}

const char *lbx_standing_answer(const char *command)
{
	for (int i = 0; lbx_bridge_reader() && i < standing.n; i++)
		if (strcmp(standing.known[i].command, command) == 0)
			return standing.known[i].answer;
	return NULL;
}

static void keep(const char *command, const char *answer)
{
	if (standing.n == MOST || !lbx_standing_may())
		return;
	char *copies[] = { strdup(command), strdup(answer) };
	if (copies[0] && copies[1]) {
		standing.known[standing.n].command = copies[0];
		standing.known[standing.n++].answer = copies[1];
		return;
	}
	free(copies[0]);
	free(copies[1]);
}

/* Who has asked need not ask again. */
static void keep_answered(void)
{
	const char *answer;

	for (int i = 0; i < asked.n && !lbx_bridge_is_new(); i++)
		if (!lbx_standing_answer(asked.commands[i]) &&
		    lbx_bridge_ask(&answer, LBX_ANYWHERE, "%s", asked.commands[i]))
			keep(asked.commands[i], answer);
	asked.n = 0;
}

void lbx_standing_begin(void)
{
	lbx_open_files_look();
	uint64_t files = lb_mix(lbx_open_files_number()) + image_of_process();
	if (standing.files != files || standing.inferior != lbx_bridge_inferior()) {
		drop();
		standing.files = files;
		standing.inferior = lbx_bridge_inferior();
	}
	keep_answered();
}

bool lbx_standing_ask(const char **ret, const char *command)
{
	const char *answer = lbx_standing_answer(command);

	if (answer) {
		*ret = answer;
		return true;
	}
	if (!lbx_bridge_ask(ret, LBX_ANYWHERE, "%s", command)) {
		if (lbx_bridge_waits() && asked.n < MOST)
			asked.commands[asked.n++] = command;
		return false;
	}
	keep(command, *ret);
	return true;
}
