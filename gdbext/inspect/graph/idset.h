/* A set of ids that grows. */
#ifndef LBX_IDSET_H
#define LBX_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_idset {
	uint64_t *slots; /* 0: free; open addressing */
	size_t n, n_slots;
};

/* Adds an id other than 0; *added tells whether it is new. False, with an error, without
 * memory. */
bool lbx_idset_add(struct lbx_idset *set, uint64_t id, bool *added);
void lbx_idset_deinit(struct lbx_idset *set);

#endif
