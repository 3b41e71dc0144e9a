#include "inspect/graph/key_map.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"

enum { FIRST_SLOTS = 256 };

static struct lbx_key_entry *slot_of(struct lbx_key_entry *slots, uint32_t n_slots, const struct lbx_tensors *of,
				     uint64_t key)
{
	uint32_t i = (uint32_t)lb_mix(key + (uintptr_t)of) & (n_slots - 1);

	while (slots[i].key && (slots[i].key != key || slots[i].of != of))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static bool make_room(struct lbx_key_map *map)
{
	if (map->n * 2 < map->n_slots)
		return true;
	uint32_t n = map->n_slots ? map->n_slots * 2 : FIRST_SLOTS;
	struct lbx_key_entry *slots = calloc(n, sizeof *slots);
	if (!slots)
		return lb_fail("out of memory for a graph of %u nodes", map->n);
	for (uint32_t i = 0; i < map->n_slots; i++) {
		const struct lbx_key_entry *e = &map->slots[i];
		if (e->key)
			*slot_of(slots, n, e->of, e->key) = *e;
	}
	free(map->slots);
	map->slots = slots;
	map->n_slots = n;
	return true;
}

struct lbx_key_entry *lbx_key_map_at(struct lbx_key_map *map, const struct lbx_tensors *of, uint64_t key, bool *ret_new)
{
	if (!make_room(map))
		return NULL;
	struct lbx_key_entry *entry = slot_of(map->slots, map->n_slots, of, key);
	*ret_new = entry->key == 0;
	map->n += *ret_new;
	entry->of = of;
	entry->key = key;
	return entry;
}

const struct lbx_key_entry *lbx_key_map_find(const struct lbx_key_map *map, const struct lbx_tensors *of, uint64_t key)
{
	const struct lbx_key_entry *entry = map->n ? slot_of(map->slots, map->n_slots, of, key) : NULL;
	return entry && entry->key ? entry : NULL;
}

struct lbx_key_entry *lbx_key_map_tensor(struct lbx_key_map *map, const struct lbx_tensor *t, bool *ret_new)
{
	return lbx_key_map_at(map, t->of, t->address ? t->address : t->id, ret_new);
}

void lbx_key_map_deinit(struct lbx_key_map *map)
{
	free(map->slots);
	*map = (struct lbx_key_map){ 0 };
}
