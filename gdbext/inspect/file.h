/* Files that commands write: beside the one of that name, which is replaced when the new one is whole
 * (io/writer.h). Devices and pipes are written as they are. */
#ifndef LBX_FILE_H
#define LBX_FILE_H

#include "io/writer.h"

struct lbx_file {
	FILE *stream; /* to write to */
	const char *path;
	bool beside;
	struct lb_writer writer;
};

/* `path` must stay until the end. */
bool lbx_file_begin(struct lbx_file *file, const char *path);
/* With `ok` the file is put in its place, else a regular one stays as it was. False if anything failed. */
bool lbx_file_end(struct lbx_file *file, bool ok);

#endif
