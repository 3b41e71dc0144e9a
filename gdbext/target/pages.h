/* Memory of a program that runs, each part as it was when it was first read: who reads it again sees the same, and no more is
 * held than was asked for. */
#ifndef LBX_PAGES_H
#define LBX_PAGES_H

#include "target/target.h"

struct lbx_pages;

enum { LBX_PAGES_UNIT = 1 << 14 /* bytes that are read at once, at a multiple of as many */ };

/* Of at most so many bytes. NULL, quietly: there is no memory. Several threads may use it at once. */
struct lbx_pages *lbx_pages_create(uint64_t most);
void lbx_pages_destroy(struct lbx_pages *pages); /* NULL is fine */
/* The n bytes at an address, all of one unit, valid until it is destroyed; read from `from` if they have not been yet. NULL,
 * quietly: they cannot be, or there is no more room. */
const void *lbx_pages_take(struct lbx_pages *pages, struct lbx_target *from, uint64_t address, size_t n);
/* Likewise, of what has been read. */
const void *lbx_pages_kept(struct lbx_pages *pages, uint64_t address, size_t n);

#endif
