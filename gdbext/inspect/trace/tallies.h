/* What is counted of many things, each known by a number: of an operation, of a call site. */
#ifndef LBX_TALLIES_H
#define LBX_TALLIES_H

#include <stdint.h>

enum { LBX_TALLIES_MAX = 1 << 16 };

struct lbx_tally {
	uint64_t key, count, ns;
};

/* All zero is an empty one. */
struct lbx_tallies {
	uint32_t n, room;        /* room: a power of two, or 0 */
	struct lbx_tally *list;
	uint32_t *places;        /* of 2 * room: by key, a row's number from 1 on; or 0 */
	struct lbx_tally others; /* of all for which there was no row; its key is 0 */
};

void lbx_tallies_deinit(struct lbx_tallies *tallies);
void lbx_tallies_clear(struct lbx_tallies *tallies);
void lbx_tallies_add(struct lbx_tallies *tallies, uint64_t key, uint64_t ns);
/* The one that took most time first; nothing can be added until it is cleared. */
void lbx_tallies_sort(struct lbx_tallies *tallies);

#endif
