#include "base/number_map.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"

enum { FIRST_SLOTS = 256 };

static struct lbx_number *slot_of(struct lbx_number *slots, uint32_t n_slots, const void *of, uint64_t key)
{
	uint32_t i = (uint32_t)lb_mix(key + (uintptr_t)of) & (n_slots - 1);

	while (slots[i].key && (slots[i].key != key || slots[i].of != of))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static bool make_room(struct lbx_number_map *map)
{
	if (map->n < map->n_slots / 2)
		return true;
	uint32_t n = map->n_slots ? map->n_slots * 2 : FIRST_SLOTS;
	struct lbx_number *slots = n ? calloc(n, sizeof *slots) : NULL;
	if (!slots)
		return lb_fail("out of memory for a table of %u numbers", map->n);
	for (uint32_t i = 0; i < map->n_slots; i++) {
		const struct lbx_number *number = &map->slots[i];
		if (number->key)
			*slot_of(slots, n, number->of, number->key) = *number;
	}
	free(map->slots);
	map->slots = slots;
	map->n_slots = n;
	return true;
}

struct lbx_number *lbx_number_at(struct lbx_number_map *map, const void *of, uint64_t key, bool *ret_new)
{
	if (!make_room(map))
		return NULL;
	struct lbx_number *number = slot_of(map->slots, map->n_slots, of, key);
	*ret_new = number->key == 0;
	map->n += *ret_new;
	number->of = of;
	number->key = key;
	return number;
}

const struct lbx_number *lbx_number_find(const struct lbx_number_map *map, const void *of, uint64_t key)
{
	const struct lbx_number *number = map->n && key ? slot_of(map->slots, map->n_slots, of, key) : NULL;
	return number && number->key ? number : NULL;
}

void lbx_number_map_deinit(struct lbx_number_map *map)
{
	free(map->slots);
	*map = (struct lbx_number_map){ 0 };
}
