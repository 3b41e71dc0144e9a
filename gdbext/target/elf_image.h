/* The headers of a 64-bit ELF file, as it lies in a file or in a program's memory. */
#ifndef LBX_ELF_IMAGE_H
#define LBX_ELF_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "target/target.h"

/* At most *n bytes at an offset of the file, or at a distance from where it is mapped; NULL: there are
 * none. */
typedef const char *lbx_image_fn(const void *context, uint64_t at, uint64_t *n);

struct lbx_image {
	lbx_image_fn *at;
	const void *context;
	bool is_mapped;     /* else a file */
	/* by lbx_image_read() */
	uint64_t low, high; /* its addresses, from a page's beginning, before it is moved */
	struct lbx_build_id id; /* n is 0: it has none, or it cannot be read */
};

/* Needs the first three. False, without error, where there is no ELF file, or a damaged one. */
bool lbx_image_read(struct lbx_image *image);

#endif
