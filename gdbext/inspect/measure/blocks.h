/* Statistics of elements that are stored as blocks of codes, without making numbers of them. */
#ifndef LBX_BLOCKS_H
#define LBX_BLOCKS_H

#include "inspect/measure/summary.h"

/* Adds n elements, whole blocks of an encoding that has codes, the first of which has the row-major index `first`. */
void lbx_summary_add_blocks(struct lbx_summary *s, const struct lbx_encoding *encoding, const void *blocks, int64_t n,
			    int64_t first);

#endif
