/* A regular file, mapped whole to be read. */
#ifndef LBX_MAPPED_FILE_H
#define LBX_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct lbx_mapped_file {
	const char *bytes; /* NULL: none is mapped */
	uint64_t size;
	struct timespec modified;
};

/* False, without an error, for what is no regular file, is empty, or cannot be opened; path may be NULL. */
bool lbx_mapped_file_open(const char *path, struct lbx_mapped_file *ret);
/* Also of one that is not mapped. */
void lbx_mapped_file_close(struct lbx_mapped_file *file);

#endif
