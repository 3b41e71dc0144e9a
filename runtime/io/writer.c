#include "io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

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

/* A new file of a name that nobody has, with the mode of the old one, or what umask leaves. */
static bool create_beside(struct lb_writer *w)
{
	size_t room = strlen(w->target) + 32;
	int fd = -1;
	w->temporary = malloc(room);
	if (!w->temporary)
		return lb_fail("%s: out of memory", w->path);
	for (int i = 0; i < 1000 && fd < 0; i++) {
		snprintf(w->temporary, room, "%s.%d-%d.new", w->target, (int)getpid(), i);
		fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	bool ready = fd >= 0 && (!w->mode || fchmod(fd, (mode_t)w->mode) == 0);
	w->stream = ready ? fdopen(fd, "wb") : NULL;
	if (w->stream)
		return true;
	lb_fail("%s: cannot be written: %s", w->path, strerror(errno));
	if (fd >= 0) {
		close(fd);
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

bool lb_writer_end(struct lb_writer *w, bool ok)
{
	if (fclose(w->stream) != 0)
		ok = ok && lb_fail("%s: writing failed: %s", w->path, strerror(errno));
	if (ok && rename(w->temporary, w->target) != 0)
		ok = lb_fail("%s: cannot be replaced: %s", w->path, strerror(errno));
	if (!ok)
		unlink(w->temporary);
	free(w->target);
	free(w->temporary);
	return ok;
}
