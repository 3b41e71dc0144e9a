/* How much memory tensors have, by what they are for, and how much of that is in memory now. Memory that several tensors
 * share, or use one after the other, counts once. */
#ifndef LBX_RESIDENT_H
#define LBX_RESIDENT_H

#include "inspect/command.h"

enum { LBX_RESIDENT_ROWS = 24, LBX_RESIDENT_KIND = 40, LBX_RESIDENT_LINE = 64 };

struct lbx_resident {
	int64_t tensors, states[LBX_STATES];
	uint64_t unreadable; /* records */
	int n;
	struct lbx_resident_row {
		enum lbx_usage usage;
		char kind[LBX_RESIDENT_KIND]; /* of memory, as its runtime calls it; "" if not known */
		bool is_elsewhere; /* on a device: only its size is known */
		int64_t tensors, bytes;
		int64_t resident; /* bytes; -1: not known */
		int64_t filled; /* bytes of lines (LBX_RESIDENT_LINE) that hold anything but zeros; -1: not known */
	} rows[LBX_RESIDENT_ROWS]; /* weights first */
	size_t n_ranges;
	struct lbx_resident_range {
		uint64_t start, end;
		int row;
	} *ranges; /* by address, apart */
};

/* Of all tensors; without what is in memory now. */
bool lbx_resident_take(struct lbx_context *context, struct lbx_resident *ret);
void lbx_resident_deinit(struct lbx_resident *r); /* one that was not taken, all 0, is fine */
/* What is in memory now, where the target knows. */
void lbx_resident_look(struct lbx_resident *r, struct lbx_target *target);
/* How much of what is kept between computations was ever written: of a cache that began with zeros, what is in use and was in
 * use. Reads it all, where it is `limit` bytes at most. Fails where the user wants to stop; `out` may be NULL. */
bool lbx_resident_fill(struct lbx_resident *r, struct lbx_target *target, int64_t limit, struct lbx_out *out);
/* "memory": all rows; as text the first `lines`. */
void lbx_resident_tell(struct lbx_out *out, const struct lbx_resident *r, int lines);

#endif
