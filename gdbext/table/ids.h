/* Where the living tensors are, by their ids: for who asks for many. As the cache, it is of the moment at which the table
 * was refreshed. */
#ifndef LBX_TABLE_IDS_H
#define LBX_TABLE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_ids {
	size_t n, room;
	struct lbx_id_place {
		uint64_t id, address;
	} *list; /* by id, once they are sorted */
	int searches; /* that were made without it */
	bool is_built;
};

/* False where there is no memory for it. */
bool lbx_ids_add(struct lbx_ids *ids, uint64_t id, uint64_t address);
void lbx_ids_sort(struct lbx_ids *ids);
/* 0: none has this id. */
uint64_t lbx_ids_find(const struct lbx_ids *ids, uint64_t id);
void lbx_ids_deinit(struct lbx_ids *ids);

#endif
