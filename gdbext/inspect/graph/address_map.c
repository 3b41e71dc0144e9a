#include "inspect/graph/address_map.h"

#include <stdlib.h>

#include "base/error.h"

enum { FIRST_SLOTS = 256 };

static struct lbx_address_entry *slot_of(struct lbx_address_entry *slots, uint32_t n_slots, uint64_t address)
{
	uint32_t i = (uint32_t)((address >> 4) * 0x9e3779b97f4a7c15ULL >> 40) & (n_slots - 1);

	while (slots[i].address && slots[i].address != address)
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static bool make_room(struct lbx_address_map *map)
{
	if (map->n * 2 < map->n_slots)
		return true;
	uint32_t n = map->n_slots ? map->n_slots * 2 : FIRST_SLOTS;
	struct lbx_address_entry *slots = calloc(n, sizeof *slots);
	if (!slots)
		return lb_fail("out of memory for a graph of %u nodes", map->n);
	for (uint32_t i = 0; i < map->n_slots; i++) {
		if (map->slots[i].address)
			*slot_of(slots, n, map->slots[i].address) = map->slots[i];
	}
	free(map->slots);
	map->slots = slots;
	map->n_slots = n;
	return true;
}

struct lbx_address_entry *lbx_address_map_at(struct lbx_address_map *map, uint64_t address, bool *ret_new)
{
	if (!make_room(map))
		return NULL;
	struct lbx_address_entry *entry = slot_of(map->slots, map->n_slots, address);
	*ret_new = entry->address == 0;
	map->n += *ret_new;
	entry->address = address;
	return entry;
}

void lbx_address_map_deinit(struct lbx_address_map *map)
{
	free(map->slots);
	*map = (struct lbx_address_map){ 0 };
}
