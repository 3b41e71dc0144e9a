/* From numbers to numbers: open addressing, never more than half full. All 0 is an empty map. */
#ifndef LBX_NUMBER_MAP_H
#define LBX_NUMBER_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_number {
	const void *of; /* whose the key is, where keys of several may be equal; or NULL */
	uint64_t key;   /* 0: the entry is free */
	uint32_t value;
};

struct lbx_number_map {
	struct lbx_number *slots;
	uint32_t n, n_slots;
};

/* The entry of a key (not 0); a new one, with value 0, if there was none: then *ret_new is true. Valid until the next
 * call. NULL, with an error, when memory is out. */
struct lbx_number *lbx_number_at(struct lbx_number_map *map, const void *of, uint64_t key, bool *ret_new);
/* Likewise; NULL, without an error: there is none. */
const struct lbx_number *lbx_number_find(const struct lbx_number_map *map, const void *of, uint64_t key);
void lbx_number_map_deinit(struct lbx_number_map *map);

#endif
