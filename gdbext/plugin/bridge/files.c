#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/bridge/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"

/* The soft limit may be below these numbers; what is open stays open when it is put back. */
bool lbx_file_place(int fd, enum lbx_descriptor at)
{
	struct rlimit limit, wide;

	getrlimit(RLIMIT_NOFILE, &limit);
	wide = limit;
	if (wide.rlim_cur < LBX_DESCRIPTORS_END)
		wide.rlim_cur = wide.rlim_max < 1024 ? wide.rlim_max : 1024;
	setrlimit(RLIMIT_NOFILE, &wide);
	bool ok = fd >= 0 && dup3(fd, (int)at, O_CLOEXEC) >= 0;
	if (!ok)
		lb_fail("no descriptor %d: %s", (int)at, strerror(errno));
	setrlimit(RLIMIT_NOFILE, &limit);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool is_free(enum lbx_descriptor at)
{
	return (fcntl((int)at, F_GETFD) == -1 && errno == EBADF) ||
	       lb_fail("descriptor %d of gdb is in use by something else", (int)at);
}

bool lbx_file_open(enum lbx_descriptor at, const char *name, const char *text)
{
	return is_free(at) && lbx_file_place(memfd_create(name, MFD_CLOEXEC), at) &&
	       (lbx_file_write(at, text, strlen(text)) ||
		lb_fail("cannot write to descriptor %d: %s", (int)at, strerror(errno)));
}

bool lbx_file_open_folder(enum lbx_descriptor at)
{
	return is_free(at) && lbx_file_place(open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC), at);
}

static bool write_at(enum lbx_descriptor fd, const char *text, size_t n, off_t at)
{
	while (n > 0) {
		ssize_t written = pwrite((int)fd, text, n, at);

		if (written <= 0)
			return false;
		text += written, at += written, n -= (size_t)written;
	}
	return true;
}

bool lbx_file_write(enum lbx_descriptor at, const char *text, size_t n)
{
	return ftruncate((int)at, 0) == 0 && write_at(at, text, n, 0);
}

bool lbx_file_append(enum lbx_descriptor at, const char *text, size_t n)
{
	off_t end = lseek((int)at, 0, SEEK_END);

	return end >= 0 && write_at(at, text, n, end);
}

size_t lbx_file_read(enum lbx_descriptor at, char *ret, size_t size)
{
	ssize_t n = pread((int)at, ret, size - 1, 0);

	ret[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

bool lbx_file_ends_with(enum lbx_descriptor at, const char *mark)
{
	char tail[1024];
	off_t size = lseek((int)at, 0, SEEK_END);
	off_t from = size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0;
	ssize_t n = pread((int)at, tail, sizeof tail, from);

	return n > 0 && memmem(tail, (size_t)n, mark, strlen(mark));
}
