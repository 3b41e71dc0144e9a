/* An address is one of many processes, and most have ended when it is asked for. So all that matters is taken
 * when a process is announced: where its code lies, and each file, open, so that another under the same name is
 * not taken for it. What could not be looked at might have had any code anywhere. Of a recorded process there are
 * names alone: who recorded it leaves out files that are newer. */
#include "cli/announced.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "base/vector.h"
#include "cli/terminal.h"

enum { MOST_FILES = 256, MOST_CODE = 1 << 18, MOST_PROCESSES = 1 << 16, NO_FILE = -1 };

struct mapped_file {
	struct stat as; /* when it was opened */
	char *path;
	int fd;
	struct lbx_lines *lines; /* NULL: not asked for yet */
};

/* Executable memory of a process; file may be NO_FILE, which is like no other. */
struct code {
	uint64_t start, end, offset;
	int file;
	size_t before; /* the same process's, from 1; 0: none */
};

struct process {
	pid_t pid;
	bool unread;
	size_t last; /* its code, from 1 */
};

enum reason { UNREAD, LOST, UNANNOUNCED, DIFFERENT, CHANGED, NOWHERE, REASONS };

struct lbx_announced {
	struct mapped_file files[MOST_FILES];
	struct code *codes;
	struct process *processes;
	size_t n_files, n_codes, n_processes, codes_room, processes_room;
	uint64_t n_unread;
	pid_t first_unread;
	int why_unread; /* an errno */
	bool lost;
	uint64_t left[REASONS];
};

struct lbx_announced *lbx_announced_create(void)
{
	return calloc(1, sizeof(struct lbx_announced));
}

void lbx_announced_destroy(struct lbx_announced *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_files; i++) {
		lbx_lines_destroy(a->files[i].lines);
		close(a->files[i].fd);
		free(a->files[i].path);
	}
	free(a->codes);
	free(a->processes);
	free(a);
}

static bool same_file(const struct stat *x, const struct stat *y)
{
	return x->st_dev == y->st_dev && x->st_ino == y->st_ino && x->st_size == y->st_size &&
	       x->st_mtim.tv_sec == y->st_mtim.tv_sec && x->st_mtim.tv_nsec == y->st_mtim.tv_nsec;
}

/* What is mapped itself, where this user may open that; otherwise the name, if it is the same file still. Where it was
 * recorded there is only the name. */
static int open_mapped(pid_t pid, const struct code *code, const char *path, dev_t device, ino_t inode, bool recorded,
		       struct stat *as)
{
	char by_map[96], by_name[PATH_MAX + 32];
	const char *names[] = { by_map, by_name };

	snprintf(by_map, sizeof by_map, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, code->start, code->end);
	if (recorded)
		snprintf(by_name, sizeof by_name, "%s", path);
	else
		snprintf(by_name, sizeof by_name, "/proc/%d/root%s", pid, path);
	for (int i = recorded; i < 2; i++) {
		/* a device must not even be opened */
		if (stat(names[i], as) != 0 || !S_ISREG(as->st_mode) ||
		    (i == 1 && (as->st_ino != inode || as->st_dev != device)))
			continue;
		int fd = open(names[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		struct stat opened;
		if (fd >= 0 && fstat(fd, &opened) == 0 && same_file(as, &opened))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int file_of(struct lbx_announced *a, pid_t pid, const struct code *code, const char *path, dev_t device,
		   ino_t inode, bool recorded)
{
	struct stat as;
	int fd = path[0] == '/' ? open_mapped(pid, code, path, device, inode, recorded, &as) : -1;

	if (fd < 0)
		return NO_FILE;
	for (size_t i = 0; i < a->n_files; i++)
		if (same_file(&a->files[i].as, &as)) {
			close(fd);
			return (int)i;
		}
	char *copy = a->n_files < MOST_FILES ? strdup(path) : NULL;
	if (!copy) {
		close(fd);
		return NO_FILE;
	}
	a->files[a->n_files] = (struct mapped_file){ .as = as, .path = copy, .fd = fd };
	return (int)a->n_files++;
}

static bool add_code(struct lbx_announced *a, struct process *process, struct code code)
{
	for (size_t i = process->last; i; i = a->codes[i - 1].before) {
		const struct code *c = &a->codes[i - 1];
		if (c->start == code.start && c->end == code.end && c->offset == code.offset && c->file == code.file)
			return true;
	}
	if (a->n_codes == MOST_CODE || !lb_reserve(a->codes, a->codes_room, a->n_codes + 1))
		return false;
	code.before = process->last;
	a->codes[a->n_codes++] = code;
	process->last = a->n_codes;
	return true;
}

/* A line of /proc/PID/maps, all else but code is skipped; false where there is no room. */
static bool add_line(struct lbx_announced *a, struct process *process, const char *line, bool recorded)
{
	struct code code = { 0 };
	unsigned int major, minor;
	uint64_t inode;
	char mode[5];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &code.start, &code.end, mode,
		   &code.offset, &major, &minor, &inode, &name) != 7 ||
	    mode[2] != 'x')
		return true;
	code.file = file_of(a, process->pid, &code, line + name, makedev(major, minor), inode, recorded);
	return add_code(a, process, code);
}

static bool read_maps(struct lbx_announced *a, struct process *process, FILE *maps)
{
	lb_auto_free char *line = NULL;
	size_t size = 0, n = 0;
	bool done = true;

	while (done && getline(&line, &size, maps) > 0) {
		line[strcspn(line, "\n")] = '\0';
		n++;
		done = add_line(a, process, line, false);
	}
	/* of a process that ends meanwhile the rest is missing: then there is no more to be read at all */
	if (done && (n == 0 || ferror(maps) || fseek(maps, 0, SEEK_SET) != 0 || getc(maps) == EOF)) {
		errno = ESRCH;
		return false;
	}
	if (!done)
		errno = ENOMEM;
	return done;
}

static bool look_at(struct lbx_announced *a, struct process *process)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/maps", process->pid);
	FILE *maps = fopen(path, "re");
	if (!maps)
		return false;
	bool done = read_maps(a, process, maps);
	int why = errno;
	fclose(maps);
	errno = why;
	return done;
}

static struct process *find_process(const struct lbx_announced *a, pid_t pid)
{
	for (size_t i = a->n_processes; i-- > 0;) /* much is told of the newest */
		if (a->processes[i].pid == pid)
			return &a->processes[i];
	return NULL;
}

/* NULL where there is no room for another. One that was announced before has its number once more, or has become
 * another program. */
static struct process *process_of(struct lbx_announced *a, pid_t pid)
{
	struct process *process = find_process(a, pid);

	if (process)
		return process;
	if (a->n_processes == MOST_PROCESSES || !lb_reserve(a->processes, a->processes_room, a->n_processes + 1)) {
		a->lost = true;
		return NULL;
	}
	process = &a->processes[a->n_processes++];
	*process = (struct process){ .pid = pid };
	return process;
}

static void note_unread(struct lbx_announced *a, struct process *process, int why)
{
	if (a->n_unread++ == 0) {
		a->first_unread = process->pid;
		a->why_unread = why == ENOENT ? ESRCH : why;
	}
	process->unread = true;
}

void lbx_announced_add(struct lbx_announced *a, pid_t pid)
{
	struct process *process = process_of(a, pid);

	if (process && !look_at(a, process))
		note_unread(a, process, errno);
}

void lbx_announced_record(struct lbx_announced *a, pid_t pid, const char *line)
{
	struct process *process = process_of(a, pid);

	if (process && !add_line(a, process, line, true))
		note_unread(a, process, ENOMEM);
}

void lbx_announced_lose(struct lbx_announced *a)
{
	a->lost = true;
}

bool lbx_announced_any(const struct lbx_announced *a)
{
	return a->n_processes > 0;
}

static bool leave(struct lbx_announced *a, enum reason why)
{
	a->left[why]++;
	return false;
}

/* The file has the address of its code by its own segments. */
static bool find_in_file(struct lbx_announced *a, struct mapped_file *file, uint64_t offset, struct lbx_lines **ret,
			 uint64_t *at)
{
	struct stat now;

	if (fstat(file->fd, &now) != 0 || !same_file(&file->as, &now))
		return leave(a, CHANGED);
	if (!file->lines)
		file->lines = lbx_lines_of_file(file->path, file->fd);
	*ret = file->lines;
	return lbx_lines_code_at(file->lines, offset, at) || leave(a, NOWHERE);
}

/* The place's file; its offset there. NULL where it has none, or processes have different code there. */
static const struct code *find_code(struct lbx_announced *a, const struct process *process, uint64_t call,
				    uint64_t *offset)
{
	const struct code *found = NULL;

	for (size_t i = process ? process->last : a->n_codes; i; i = process ? a->codes[i - 1].before : i - 1) {
		const struct code *code = &a->codes[i - 1];
		if (call < code->start || call >= code->end)
			continue;
		if (found && (code->file != found->file || call - code->start + code->offset != *offset)) {
			leave(a, DIFFERENT);
			return NULL;
		}
		found = code;
		*offset = call - code->start + code->offset;
	}
	if (!found || found->file == NO_FILE) {
		leave(a, NOWHERE);
		return NULL;
	}
	return found;
}

bool lbx_announced_find(struct lbx_announced *a, pid_t pid, uint64_t pc, struct lbx_lines **ret, uint64_t *at)
{
	const struct process *process = pid ? find_process(a, pid) : NULL;
	uint64_t offset = 0;

	if (pid && !process)
		return leave(a, UNANNOUNCED);
	if (pid ? process->unread : a->n_unread > 0)
		return leave(a, UNREAD);
	if (!pid && a->lost)
		return leave(a, LOST);
	const struct code *found = find_code(a, process, pc - 1, &offset);
	if (!found || !find_in_file(a, &a->files[found->file], offset, ret, at))
		return false;
	++*at;
	return true;
}

void lbx_announced_explain(const struct lbx_announced *a)
{
	char unread[128], text[256];
	const char *const why[REASONS] = {
		[UNREAD] = unread,
		[LOST] = "the tracer has lost events, and processes with them",
		[UNANNOUNCED] = "the tracer has not announced their process",
		[DIFFERENT] = "processes have different code there",
		[CHANGED] = "the file there has been changed since",
		[NOWHERE] = "no file's code was there",
	};

	snprintf(unread, sizeof unread, "process %d could not be looked at: %s", a->first_unread,
		 a->why_unread == ESRCH ? "it had ended" : strerror(a->why_unread));
	for (int i = 0; i < REASONS; i++) {
		if (a->left[i] == 0)
			continue;
		snprintf(text, sizeof text, "sites: %" PRIu64 " place%s left as %s: %s", a->left[i],
			 LB_PLURAL(a->left[i], " is", "s are"), LB_PLURAL(a->left[i], "an address", "addresses"),
			 why[i]);
		lbx_complain(text);
	}
}
