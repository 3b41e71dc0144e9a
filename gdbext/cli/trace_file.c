#include "cli/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vector.h"

static void keep(struct lbx_out *out, const char *text, size_t n)
{
	struct lbx_trace_file *file = out->context;

	if (!lb_reserve(file->bytes, file->room, file->n + n)) {
		file->failed = true;
		return;
	}
	memcpy(file->bytes + file->n, text, n);
	file->n += n;
}

static bool cannot_write(const struct lbx_trace_file *file)
{
	return lb_fail("cannot write %s: %s", file->path, strerror(errno));
}

bool lbx_trace_file_open(struct lbx_trace_file *file)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC;

	file->out = (struct lbx_out){ .json = true, .write = keep, .context = file };
	file->fd = open(file->path, flags | O_EXCL, 0666);
	file->is_new = file->fd >= 0;
	if (file->fd < 0 && errno == EEXIST)
		file->fd = open(file->path, flags, 0666);
	return file->fd >= 0 || cannot_write(file);
}

bool lbx_trace_file_write(struct lbx_trace_file *file)
{
	if (file->failed)
		return lb_fail("out of memory");
	/* EINVAL: no file that has a length, a pipe perhaps */
	if (file->n && !file->has_written && ftruncate(file->fd, 0) != 0 && errno != EINVAL)
		return cannot_write(file);
	for (size_t done = 0; done < file->n;) {
		ssize_t n = write(file->fd, file->bytes + done, file->n - done);
		if (n < 0 && errno != EINTR)
			return cannot_write(file);
		done += n > 0 ? (size_t)n : 0;
		file->has_written = true;
	}
	file->n = 0;
	return true;
}

void lbx_trace_file_close(struct lbx_trace_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->is_new && !file->has_written)
		unlink(file->path);
	free(file->bytes);
	file->bytes = NULL;
}
