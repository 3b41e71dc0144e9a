/* The file of a trace. It gets whole events at a time, so that it can be read whatever happens; what was in it
 * before stays until there is something to write. */
#ifndef LBX_TRACE_FILE_H
#define LBX_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/out.h"

struct lbx_trace_file {
	const char *path;
	struct lbx_out out; /* what is to be written next */
	int fd;
	bool is_new, has_written, failed;
	char *bytes;
	size_t n, room;
};

/* Needs file->path; ends with close, also where it fails. */
bool lbx_trace_file_open(struct lbx_trace_file *file);
/* What file->out has been given since. */
bool lbx_trace_file_write(struct lbx_trace_file *file);
/* A new file to which nothing was written goes. */
void lbx_trace_file_close(struct lbx_trace_file *file);

#endif
