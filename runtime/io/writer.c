#define _GNU_SOURCE
#include "io/writer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

enum { ROOM = 32 }; /* for what a temporary name adds */

/* The file that the path leads to; what is there must be a regular file, or nothing. */
static bool find_target(struct lb_writer *w)
{
	struct stat st;
	bool exists = stat(w->path, &st) == 0;
	if (exists && !S_ISREG(st.st_mode))
		return lb_fail("%s: cannot be replaced: not a regular file", w->path);
	w->mode = exists ? (int)(st.st_mode & 07777) : 0;
	w->target = exists ? realpath(w->path, NULL) : strdup(w->path);
	return w->target || lb_fail("%s: cannot be written: %s", w->path, strerror(errno));
}

/* The folder that the target is in, opened, or -1; *name becomes the target's name there. */
static int open_folder(const struct lb_writer *w, const char **name)
{
	const char *slash = strrchr(w->target, '/');
	*name = slash ? slash + 1 : w->target;
	if (!slash)
		return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lb_auto_free char *folder = strndup(w->target, (size_t)(slash - w->target) + 1);
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return fd;
}

static const char *after_digits(const char *text)
{
	const char *end = text;
	while (isdigit((unsigned char)*end))
		end++;
	return end > text ? end : "?";
}

/* "NAME.12-0.new": what create_beside() makes. */
static bool is_temporary(const char *file, const char *name)
{
	size_t n = strlen(name);
	if (strncmp(file, name, n) != 0 || file[n] != '.')
		return false;
	const char *end = after_digits(file + n + 1);
	return *end == '-' && strcmp(after_digits(end + 1), ".new") == 0;
}

/* The file is locked: it keeps its name, unless it had lost it before. */
static bool has_name(int fd, int folder, const char *name)
{
	struct stat file, named;
	return fstat(fd, &file) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file.st_ino == named.st_ino && file.st_dev == named.st_dev;
}

/* Removes what killed savers of this file have left; one that still writes holds a lock. */
static void sweep(const struct lb_writer *w)
{
	const char *name;
	int folder = open_folder(w, &name);
	DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
	if (!dir) {
		if (folder >= 0)
			close(folder);
		return;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (!is_temporary(entry->d_name, name))
			continue;
		int fd = openat(folder, entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd, folder, entry->d_name))
			unlinkat(folder, entry->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	closedir(dir);
}

/* False when another process took it for the leftover of a killed one. */
static bool hold(int fd)
{
	struct stat st;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK; /* there are file systems without locks */
	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* A file without a name: nothing of it stays, whatever ends this process. -1 where the file system has none. */
static int open_nameless(const struct lb_writer *w)
{
	const char *name;
	int folder = access("/proc/self/fd", X_OK) == 0 ? open_folder(w, &name) : -1;
	int fd = folder >= 0 ? openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
	if (folder >= 0)
		close(folder);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB); /* for the moment in which it has another name */
	return fd;
}

/* A name that nobody has, for the moment before it is renamed. */
static bool name_it(struct lb_writer *w)
{
	char from[64];
	snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(w->stream));
	for (int i = 0; i < 1000; i++) {
		snprintf(w->temporary, strlen(w->target) + ROOM, "%s.%d-%d.new", w->target, (int)getpid(), i);
		if (linkat(AT_FDCWD, from, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW) == 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	w->temporary[0] = '\0';
	return lb_fail("%s: cannot be written: %s", w->path, strerror(errno));
}

/* A new file of a name that nobody has, with the mode of the old one, or what umask leaves. */
static bool create_beside(struct lb_writer *w)
{
	size_t room = strlen(w->target) + ROOM;
	w->temporary = calloc(1, room);
	if (!w->temporary)
		return lb_fail("%s: out of memory", w->path);
	sweep(w);
	int fd = open_nameless(w);
	for (int i = 0; i < 1000 && fd < 0; i++) {
		snprintf(w->temporary, room, "%s.%d-%d.new", w->target, (int)getpid(), i);
		fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
		if (fd >= 0 && !hold(fd)) {
			close(fd);
			fd = -1;
		}
	}
	bool ready = fd >= 0 && (!w->mode || fchmod(fd, (mode_t)w->mode) == 0);
	w->stream = ready ? fdopen(fd, "wb") : NULL;
	if (w->stream)
		return true;
	lb_fail("%s: cannot be written: %s", w->path, strerror(errno));
	if (fd >= 0) {
		close(fd);
		if (w->temporary[0])
			unlink(w->temporary);
	}
	return false;
}

bool lb_writer_begin(struct lb_writer *w, const char *path)
{
	*w = (struct lb_writer){ .path = path };
	if (find_target(w) && create_beside(w))
		return true;
	free(w->target);
	free(w->temporary);
	return false;
}

bool lb_writer_put(struct lb_writer *w, const void *bytes, size_t n)
{
	w->at += n;
	return n == 0 || fwrite(bytes, 1, n, w->stream) == n ||
	       lb_fail("%s: writing failed: %s", w->path, strerror(errno));
}

/* The bytes reach the disk before the name does; EINVAL: a file system that knows no such thing. */
static bool write_through(struct lb_writer *w)
{
	return (fflush(w->stream) == 0 && (fsync(fileno(w->stream)) == 0 || errno == EINVAL)) ||
	       lb_fail("%s: writing failed: %s", w->path, strerror(errno));
}

/* If this fails, or the machine does, the old file is still whole: only what is new is lost. */
static void write_name_through(const struct lb_writer *w)
{
	const char *name;
	int folder = open_folder(w, &name);
	if (folder >= 0) {
		fsync(folder);
		close(folder);
	}
}

bool lb_writer_end(struct lb_writer *w, bool ok)
{
	ok = ok && write_through(w) && (w->temporary[0] || name_it(w));
	/* before it is closed: it is locked until then */
	if (ok && rename(w->temporary, w->target) != 0)
		ok = lb_fail("%s: cannot be replaced: %s", w->path, strerror(errno));
	if (ok)
		write_name_through(w);
	else if (w->temporary[0])
		unlink(w->temporary);
	fclose(w->stream);
	free(w->target);
	free(w->temporary);
	return ok;
}
