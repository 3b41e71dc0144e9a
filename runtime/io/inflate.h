/* Unpacks a deflated stream piece by piece; by zlib, or not at all where that was missing when
 * the library was built. */
#ifndef LB_IO_INFLATE_H
#define LB_IO_INFLATE_H

#include <stdbool.h>
#include <stdint.h>

struct lb_inflate;

/* Over n bytes that outlive it; path and name are for messages. NULL on failure. */
struct lb_inflate *lb_inflate_begin(const uint8_t *packed, uint64_t n, const char *path, const char *name);
/* The next n bytes, all of them, or an error. */
bool lb_inflate_read(struct lb_inflate *inflate, void *to, uint64_t n);
/* NULL is fine. */
void lb_inflate_end(struct lb_inflate *inflate);

#endif
