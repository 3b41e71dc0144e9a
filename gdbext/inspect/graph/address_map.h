/* From records' addresses to numbers: open addressing, never more than half full. */
#ifndef LBX_ADDRESS_MAP_H
#define LBX_ADDRESS_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_address_entry {
	uint64_t address; /* 0: free */
	uint32_t value;
};

struct lbx_address_map {
	struct lbx_address_entry *slots;
	uint32_t n, n_slots;
};

/* The entry of an address (not 0); a new one, with value 0, if there was none: then *ret_new is
 * true. Valid until the next call. NULL, with an error, when memory is out. */
struct lbx_address_entry *lbx_address_map_at(struct lbx_address_map *map, uint64_t address, bool *ret_new);
void lbx_address_map_deinit(struct lbx_address_map *map);

#endif
