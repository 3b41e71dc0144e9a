/* Writes a file without a name (beside the one it is to replace, where the file system has no such
 * files), which gets the name when it is whole and on the disk: who
 * has the old one mapped keeps it, and a full disk or a power failure leaves it alone. What a saver that
 * was killed has left is removed by the next. Devices, pipes and folders are never replaced. */
#ifndef LB_IO_WRITER_H
#define LB_IO_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct lb_writer {
	FILE *stream;
	const char *path;
	char *target;    /* the path, behind symbolic links */
	int mode;        /* of the file to be replaced; 0 if there is none */
	char *temporary; /* "": it has no name */
	uint64_t at; /* bytes written */
};

bool lb_writer_begin(struct lb_writer *w, const char *path);
bool lb_writer_put(struct lb_writer *w, const void *bytes, size_t n);
/* Ends it: with `ok` the file is put in its place, else thrown away. False if anything failed. */
bool lb_writer_end(struct lb_writer *w, bool ok);

#endif
