/* Writes the archives that .npz files are: stored members, with 64-bit sizes throughout, whose
 * bytes begin at multiples of 64, so that opening the file uses their elements where they are. */
#ifndef LB_IO_ZIP_WRITE_H
#define LB_IO_ZIP_WRITE_H

#include "io/writer.h"

struct lb_zip_member {
	const char *name; /* without .npy */
	uint64_t size;    /* bytes that follow the header */
	uint32_t crc;     /* of these */
	uint64_t at;      /* where its header lies; filled in */
};

/* Writes the member's header; its bytes are the caller's to write. */
bool lb_zip_begin_member(struct lb_writer *w, struct lb_zip_member *m);
/* Writes the directory, after the last member. */
bool lb_zip_end(struct lb_writer *w, int n, const struct lb_zip_member *members);

#endif
