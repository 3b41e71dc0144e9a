/* Where a variable is: DWARF's location expressions, as far as compilers use them for
 * variables. */
#ifndef LBX_LOCATION_H
#define LBX_LOCATION_H

#include <elfutils/libdw.h>

#include "target/stacks.h"

struct lbx_scope {
	struct lbx_target *target;
	const struct lbx_frame *frame;
	Dwarf_Addr pc;         /* of the instruction, as the module's DWARF counts */
	uint64_t bias;         /* to add to addresses of the module's DWARF */
	Dwarf_Die *function;   /* whose frame base counts; NULL: none */
	struct lbx_lines *lines; /* for what a function was called with (entry_value.h); NULL: that is not known */
	int callers;           /* how far that has been asked for */
	int *asks; /* how often it may still be, which one call's values may do many times; NULL: at first */
};

/* A place in memory, or the value itself (from a register or computed). */
struct lbx_location {
	bool in_memory;
	uint64_t value; /* or the address */
};

/* False, without error, when the attribute gives no location at this pc, or one that is not
 * known any more or of a kind beyond this reader. */
bool lbx_locate(const struct lbx_scope *scope, Dwarf_Attribute *attribute, struct lbx_location *ret);

#endif
