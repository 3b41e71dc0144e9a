#include "inspect/graph/idset.h"

#include <stdlib.h>

#include "base/error.h"

enum { FIRST_SLOTS = 64 }; /* a power of two, as all numbers of slots */

static uint64_t *slot_of(const struct lbx_idset *set, uint64_t id)
{
	size_t i = (size_t)(id * 0x9e3779b97f4a7c15ULL >> 32) & (set->n_slots - 1);
	while (set->slots[i] && set->slots[i] != id)
		i = (i + 1) & (set->n_slots - 1);
	return &set->slots[i];
}

static bool grow(struct lbx_idset *set)
{
	struct lbx_idset bigger = { .n_slots = set->n_slots ? set->n_slots * 2 : FIRST_SLOTS };
	bigger.slots = calloc(bigger.n_slots, sizeof *bigger.slots);
	if (!bigger.slots)
		return lb_fail("out of memory for a set of %zu ids", set->n);
	for (size_t i = 0; i < set->n_slots; i++)
		if (set->slots[i])
			*slot_of(&bigger, set->slots[i]) = set->slots[i];
	bigger.n = set->n;
	free(set->slots);
	*set = bigger;
	return true;
}

bool lbx_idset_add(struct lbx_idset *set, uint64_t id, bool *added)
{
	if (set->n * 2 >= set->n_slots && !grow(set))
		return false;
	uint64_t *slot = slot_of(set, id);
	*added = *slot != id;
	if (*added) {
		*slot = id;
		set->n++;
	}
	return true;
}

void lbx_idset_deinit(struct lbx_idset *set)
{
	free(set->slots);
	*set = (struct lbx_idset){ 0 };
}
