#include "table/slab.h"

#include <string.h>

#include "base/error.h"

static const uint64_t max_first_tier = 1ULL << 32, max_used = 1ULL << 32;

/* Slots of tier i, 0 when that does not fit. */
static uint64_t tier_slots(const struct lbx_slab *slab, int i)
{
	uint64_t n = slab->first_tier << i;
	return n >> i == slab->first_tier ? n : 0;
}

/* Bytes of tier i; 0 when it would leave the address space. */
static uint64_t tier_bytes(const struct lbx_slab *slab, int i)
{
	uint64_t bytes;
	if (slab->tiers[i] == 0 || __builtin_mul_overflow(tier_slots(slab, i), (uint64_t)slab->record_size, &bytes) ||
	    slab->tiers[i] + bytes < slab->tiers[i])
		return 0;
	return bytes;
}

bool lbx_slab_update(struct lbx_slab *slab, const char *kind, const struct lb_slab_directory *directory,
		     const uint64_t *tiers, int n_tiers)
{
	if (directory->record_size < 16 || directory->record_size > LBX_RECORD_MAX)
		return lb_fail("the symbol table's %s field 'record_size' is %u", kind, directory->record_size);
	if (directory->first_tier == 0 || directory->first_tier > max_first_tier)
		return lb_fail("the symbol table's %s field 'first_tier' is %llu", kind,
			       (unsigned long long)directory->first_tier);
	slab->record_size = directory->record_size;
	slab->first_tier = directory->first_tier;
	slab->n_tiers = n_tiers < LBX_TIERS_MAX ? n_tiers : LBX_TIERS_MAX;
	uint64_t slots = 0;
	for (int i = 0; i < slab->n_tiers; i++) {
		uint64_t n = tier_slots(slab, i);
		slots = slots + n < slots ? UINT64_MAX : slots + n;
		slab->tiers[i] = tiers[i];
		if (tier_bytes(slab, i) == 0)
			slab->tiers[i] = 0;
	}
	if (directory->used > slots || directory->used > max_used)
		return lb_fail("the symbol table's %s field 'used' is %llu, more than there are slots", kind,
			       (unsigned long long)directory->used);
	slab->used = directory->used;
	slab->last.bytes = 0;
	return true;
}

uint64_t lbx_slab_address(const struct lbx_slab *slab, uint64_t slot, uint64_t *tier_left)
{
	/* tiers before i hold first_tier * (2^i - 1) slots */
	uint64_t quotient = slot / slab->first_tier + 1;
	int i = 63 - __builtin_clzll(quotient);
	if (i >= slab->n_tiers) {
		if (tier_left)
			*tier_left = 1;
		return 0;
	}
	uint64_t within = slot - slab->first_tier * ((1ULL << i) - 1);
	if (tier_left)
		*tier_left = tier_slots(slab, i) - within;
	return slab->tiers[i] ? slab->tiers[i] + within * slab->record_size : 0;
}

static bool find_tier(struct lbx_slab *slab, uint64_t address)
{
	uint64_t before = 0;

	for (int i = 0; i < slab->n_tiers && before < slab->used; i++) {
		uint64_t bytes = tier_bytes(slab, i);
		if (bytes && address >= slab->tiers[i] && address - slab->tiers[i] < bytes) {
			slab->last = (struct lbx_tier){ slab->tiers[i], bytes, before };
			return true;
		}
		before += tier_slots(slab, i);
	}
	return false;
}

bool lbx_slab_find(struct lbx_slab *slab, uint64_t address, uint64_t *slot, uint64_t *within)
{
	if (address - slab->last.start >= slab->last.bytes && !find_tier(slab, address))
		return false;
	uint64_t distance = address - slab->last.start;
	*slot = slab->last.slots_before + distance / slab->record_size;
	*within = distance % slab->record_size;
	return *slot < slab->used;
}
