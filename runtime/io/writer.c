#include "io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* A new file of a name that nobody has, with the modes that umask leaves. */
static int create_beside(struct lb_writer *w)
{
	size_t room = strlen(w->path) + 32;
	w->temporary = malloc(room);
	if (!w->temporary) {
		errno = ENOMEM;
		return -1;
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(w->temporary, room, "%s.%d-%d.new", w->path, (int)getpid(), i);
		int fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

bool lb_writer_begin(struct lb_writer *w, const char *path)
{
	*w = (struct lb_writer){ .path = path };
	int fd = create_beside(w);
	w->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
	if (w->stream)
		return true;
	lb_fail("%s: cannot be written: %s", path, strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(w->temporary);
	}
	free(w->temporary);
	return false;
}

bool lb_writer_put(struct lb_writer *w, const void *bytes, size_t n)
{
	w->at += n;
	return n == 0 || fwrite(bytes, 1, n, w->stream) == n ||
		lb_fail("%s: writing failed: %s", w->path, strerror(errno));
}

bool lb_writer_end(struct lb_writer *w, bool ok)
{
	if (fclose(w->stream) != 0)
		ok = ok && lb_fail("%s: writing failed: %s", w->path, strerror(errno));
	if (ok && rename(w->temporary, w->path) != 0)
		ok = lb_fail("%s: cannot be replaced: %s", w->path, strerror(errno));
	if (!ok)
		unlink(w->temporary);
	free(w->temporary);
	return ok;
}
