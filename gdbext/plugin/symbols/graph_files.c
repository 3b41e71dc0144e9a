/* gdb shows lines without a text when their file cannot be opened. So the folders stay on the source
 * path whatever the user makes of it (bridge/definitions.c); and what a cleaner of temporary files has removed is
 * written again before gdb shows a frame (graphs.c). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/symbols/graph_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "plugin/bridge/files.h"
#include "target/private_folder.h"

enum { FILES_MOST = 600, PATH_SIZE = PATH_MAX + 32 };

struct folder {
	char path[PATH_SIZE]; /* "": none */
	uint64_t root, pid;
	int n_files;
	struct timespec changed; /* by us, last */
};

static struct {
	char base[LBX_FOLDER_MAX]; /* of all folders; "" before the first listing */
	pid_t owner;
	unsigned n_folders;
	struct folder now, before;
	struct lbx_table *table; /* of the process; valid while it publishes */
} files;

bool lbx_graph_files_open(void)
{
	return lbx_file_open_folder(LBX_GRAPHS_FD) && lbx_file_open_folder(LBX_GRAPHS_BEFORE_FD);
}

static void remove_folder(const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[PATH_MAX + 300];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		if (unlink(name) != 0 && depth > 0)
			remove_folder(name, depth - 1);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

__attribute__((destructor)) static void remove_all(void)
{
	if (files.base[0] && files.owner == getpid())
		remove_folder(files.base, 1);
}

static bool failed(const char *what, const char *path)
{
	return lb_fail("cannot %s %s: %s: make that possible, or start again with another TMPDIR", what, path,
		       strerror(errno));
}

bool lbx_graph_files_prepare(void)
{
	if (files.base[0] && access(files.base, F_OK) == 0)
		return true;
	if (!lbx_private_folder("listings", files.base))
		return false;
	files.owner = getpid();
	return true;
}

/* ---- folders ---- */

static void note_change(void)
{
	struct stat now;

	if (stat(files.now.path, &now) == 0)
		files.now.changed = now.st_mtim;
}

static bool is_of(const struct folder *folder, const struct lbx_root *root)
{
	return folder->path[0] && folder->root == root->address && folder->pid == root->pid;
}

static bool swap_folders(void)
{
	struct folder before = files.before;
	int fd = fcntl(LBX_GRAPHS_BEFORE_FD, F_DUPFD_CLOEXEC, 0);

	files.before = files.now;
	files.now = before;
	return lbx_file_place(fcntl(LBX_GRAPHS_FD, F_DUPFD_CLOEXEC, 0), LBX_GRAPHS_BEFORE_FD) &&
	       lbx_file_place(fd, LBX_GRAPHS_FD);
}

static bool make_folder(const struct lbx_root *root)
{
	struct folder *now = &files.now;

	*now = (struct folder){ .root = root->address, .pid = root->pid };
	if (!lbx_graph_files_prepare())
		return false;
	snprintf(now->path, sizeof now->path, "%s/%u", files.base, ++files.n_folders);
	int fd = mkdir(now->path, 0700) == 0 ? open(now->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0) {
		failed("make", now->path);
		now->path[0] = '\0';
		return false;
	}
	flock(fd, LOCK_SH); /* systemd-tmpfiles leaves it alone */
	note_change();
	return lbx_file_place(fd, LBX_GRAPHS_FD);
}

bool lbx_graph_files_enter(struct lbx_table *table, const struct lbx_root *root)
{
	bool here = is_of(&files.now, root);

	files.table = table;
	if (!here && files.now.path[0] && !swap_folders())
		return false;
	here = is_of(&files.now, root);
	return (here && access(files.now.path, F_OK) == 0) || make_folder(root);
}

bool lbx_graph_files_touched(void)
{
	struct stat now;
	struct timespec *known = &files.now.changed;

	if (!files.now.path[0])
		return false;
	if (stat(files.now.path, &now) != 0)
		memset(&now, 0, sizeof now);
	if (now.st_mtim.tv_sec == known->tv_sec && now.st_mtim.tv_nsec == known->tv_nsec)
		return false;
	*known = now.st_mtim;
	return true;
}

/* ---- files ---- */

static void name_file(char path[static PATH_SIZE + 64], uint64_t graph)
{
	snprintf(path, PATH_SIZE + 64, "%s/graph-%" PRIu64 ".lb", files.now.path, graph);
}

static void name_unfinished(char path[static PATH_SIZE + 64])
{
	snprintf(path, PATH_SIZE + 64, "%s/unfinished", files.now.path);
}

bool lbx_graph_files_has(uint64_t graph)
{
	char path[PATH_SIZE + 64];

	name_file(path, graph);
	return access(path, R_OK) == 0;
}

FILE *lbx_graph_files_begin(void)
{
	char path[PATH_SIZE + 64];

	name_unfinished(path);
	FILE *file = fopen(path, "we");
	if (!file)
		failed("write", path);
	return file;
}

static bool is_kept(uint64_t id)
{
	struct lbx_eval_graph graph;
	bool found = lbx_table_graph_by_id(files.table, id, &graph);

	lb_clear_error();
	return found;
}

/* Removes the listings of graphs that the program has dropped. */
static void remove_dropped(void)
{
	DIR *dir = opendir(files.now.path);
	struct dirent *entry;
	uint64_t id;

	files.now.n_files = 0;
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "graph-%" SCNu64 ".lb", &id) != 1)
			continue;
		if (is_kept(id))
			files.now.n_files++;
		else
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

bool lbx_graph_files_end(FILE *file, uint64_t graph, bool ok)
{
	char path[PATH_SIZE + 64], unfinished[PATH_SIZE + 64];

	name_file(path, graph);
	name_unfinished(unfinished);
	ok &= fflush(file) == 0;
	int error = errno;
	/* else gdb warns of a source that is newer than the program */
	futimens(fileno(file), (const struct timespec[2]){ { .tv_sec = 1 }, { .tv_sec = 1 } });
	if (fclose(file) != 0 && ok) {
		error = errno;
		ok = false;
	}
	if (ok && rename(unfinished, path) != 0) {
		error = errno;
		ok = false;
	}
	errno = error;
	if (!ok) {
		failed("write", path);
		unlink(unfinished);
	} else if (++files.now.n_files > FILES_MOST) {
		remove_dropped();
	}
	note_change();
	return ok;
}
