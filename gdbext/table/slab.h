/* The records of one kind: slot numbers, and the addresses behind them. */
#ifndef LBX_TABLE_SLAB_H
#define LBX_TABLE_SLAB_H

#include "table/layout.h"

enum { LBX_TIERS_MAX = 48 };

struct lbx_slab {
	uint32_t record_size;
	uint64_t first_tier, used;
	int n_tiers;
	uint64_t tiers[LBX_TIERS_MAX]; /* 0: not there, or impossible */
	/* The tier that an address was last found in: its bytes, and the first of its slots. */
	struct lbx_tier {
		uint64_t start, bytes, slots_before;
	} last;
	struct lbx_layout layout;
};

/* Takes the numbers of a directory (whose tiers are `n_tiers`) over; fails when they cannot
 * be true, naming the field. The layout is left alone. */
bool lbx_slab_update(struct lbx_slab *slab, const char *kind, const struct lb_slab_directory *directory,
		     const uint64_t *tiers, int n_tiers);
/* Address of a slot's record; 0 when its tier is not there. *tier_left, if not NULL, gets the
 * number of slots from this one to the tier's end. */
uint64_t lbx_slab_address(const struct lbx_slab *slab, uint64_t slot, uint64_t *tier_left);
/* The slot whose record holds an address, and how far into it; false if none does. */
bool lbx_slab_find(struct lbx_slab *slab, uint64_t address, uint64_t *slot, uint64_t *within);

#endif
