/* Records of a program that runs while it is read. */
#ifndef LBX_TABLE_STEADY_H
#define LBX_TABLE_STEADY_H

#include "table/internal.h"

enum lbx_steady {
	LBX_STEADY,   /* the record is as it was at one moment */
	LBX_CHANGING, /* it changed at each try: torn, for who has to say something */
	LBX_LOST,     /* it cannot be read, or its change has no end: an error is left */
};

/* Reads a record of this kind past the cache, decoded to *ret, so that its sequence number is even, and
 * the same before and after. */
enum lbx_steady lbx_table_read_steady(struct lbx_table *table, enum lb_kind kind, uint64_t address, void *ret);
/* Its sequence number now; 0 where it cannot be read or the program has none. */
uint32_t lbx_table_sequence(struct lbx_table *table, enum lb_kind kind, uint64_t address);

#endif
