/* From keys to numbers: open addressing, never more than half full. */
#ifndef LBX_KEY_MAP_H
#define LBX_KEY_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "tensors/tensors.h"

/* Of tensors, or of buffers, of several sets, or of hashes: one kind in a map. */
struct lbx_key_entry {
	const struct lbx_tensors *of; /* whose the key is */
	uint64_t key;                 /* 0: the entry is free */
	uint32_t value;
};

struct lbx_key_map {
	struct lbx_key_entry *slots;
	uint32_t n, n_slots;
};

/* The entry of a key (not 0); a new one, with value 0, if there was none: then *ret_new is
 * true. Valid until the next call. NULL, with an error, when memory is out. */
struct lbx_key_entry *lbx_key_map_at(struct lbx_key_map *map, const struct lbx_tensors *of, uint64_t key,
				     bool *ret_new);
/* Likewise; NULL, without an error: there is none. */
const struct lbx_key_entry *lbx_key_map_find(const struct lbx_key_map *map, const struct lbx_tensors *of, uint64_t key);
/* That of a tensor: by its record, or, in sets without records, by its id. */
struct lbx_key_entry *lbx_key_map_tensor(struct lbx_key_map *map, const struct lbx_tensor *t, bool *ret_new);
void lbx_key_map_deinit(struct lbx_key_map *map);

#endif
