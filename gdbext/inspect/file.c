#include "inspect/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

bool lbx_file_begin(struct lbx_file *file, const char *path)
{
	struct stat st;

	*file = (struct lbx_file){ .path = path };
	file->beside = stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
	if (file->beside) {
		if (!lb_writer_begin(&file->writer, path))
			return false;
		file->stream = file->writer.stream;
		return true;
	}
	file->stream = fopen(path, "we");
	return file->stream || lb_fail("%s: cannot be written: %s", path, strerror(errno));
}

bool lbx_file_end(struct lbx_file *file, bool ok)
{
	errno = 0;
	bool written = fflush(file->stream) == 0 && !ferror(file->stream);

	if (ok && !written)
		ok = errno ? lb_fail("%s: writing failed: %s", file->path, strerror(errno))
			   : lb_fail("%s: writing failed", file->path);
	if (file->beside)
		return lb_writer_end(&file->writer, ok);
	if (fclose(file->stream) != 0 && ok)
		ok = lb_fail("%s: writing failed: %s", file->path, strerror(errno));
	return ok;
}
