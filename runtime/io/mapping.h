/* A file mapped read-only (or a copy of its bytes), shared by the tensors whose elements lie in it.
 *
 * Mapping costs no memory: the kernel reads pages when they are touched and takes them
 * back when it likes. A file that another program shortens while it is mapped raises
 * SIGBUS at the first touch beyond its new end; replace files by renaming instead, as
 * lb_save_*() does, and the mapping keeps the old content. */
#ifndef LB_IO_MAPPING_H
#define LB_IO_MAPPING_H

#include <stddef.h>

#include "io/cursor.h"

struct lb_mapping {
	uint32_t refs;
	uint64_t size;
	const uint8_t *data; /* aligned to 64; NULL when empty */
	bool is_copy;        /* on the heap, of no file */
	char path[];
};

/* With one reference. NULL, with the path in the message, on failure. */
struct lb_mapping *lb_mapping_open(const char *path);
/* A copy of n bytes, under a name for messages. */
struct lb_mapping *lb_mapping_copy(const char *name, const void *bytes, size_t n);
void lb_mapping_retain(struct lb_mapping *mapping);
/* NULL is fine. */
void lb_mapping_drop(struct lb_mapping *mapping);

static inline struct lb_cursor lb_mapping_cursor(const struct lb_mapping *mapping)
{
	return (struct lb_cursor){ .data = mapping->data, .size = mapping->size, .path = mapping->path };
}

#endif
