/* The arrays of MLX that were found. They are numbered from 1 on in the order of their addresses: numbers stay the same for as
 * long as the program stands still. */
#ifndef LBX_MLX_SET_H
#define LBX_MLX_SET_H

#include "mlx/names.h"
#include "mlx/primitives.h"
#include "mlx/record.h"
#include "target/window.h"
#include "tensors/held.h"
#include "tensors/tensors.h"

struct lbx_mlx_set {
	struct lbx_tensors tensors; /* first */
	int n_modules;
	struct lbx_loaded *modules;
	struct lbx_cxx_classes classes;
	const struct lbx_mlx_layout *layout;
	bool has_version;
	int version; /* if has_version (version.h) */
	uint64_t *objects; /* addresses of their records */
	size_t n, room;
	struct lbx_mlx_held_buffer {
		uint64_t address, counts;
	} *buffers; /* by address: their numbers are of their own */
	size_t n_buffers, buffers_room;
	bool is_torn; /* the program ran while its memory was read: each is looked at twice */
	size_t n_other; /* that look like arrays, and are none with that layout */
	uint64_t first_bad, last_bad;
	size_t n_by_status[LBX_MLX_STATUSES];
	struct lbx_mlx_graph *graph; /* NULL: it has not been looked at (graph.h) */
	bool has_keepers;
	struct lbx_keeper *keepers; /* those that keep most first (keepers.h) */
	size_t n_keepers, keepers_room;
	struct lbx_mlx_primitives primitives;
	struct lbx_mlx_names names;
	struct lbx_walk walk; /* over their records */
};

static inline struct lbx_mlx_set *lbx_mlx_set_of(struct lbx_tensors *tensors)
{
	return (struct lbx_mlx_set *)tensors;
}

static inline struct lbx_target *lbx_mlx_set_target(const struct lbx_mlx_set *s)
{
	struct lbx_target *direct = lbx_target_direct(s->tensors.target);

	return direct ? direct : s->tensors.target;
}

/* How many of the arrays are not above an address. */
size_t lbx_mlx_count(const struct lbx_mlx_set *s, uint64_t address);
/* The number of the one at an address, from 1 on; 0: none is there. */
size_t lbx_mlx_number(const struct lbx_mlx_set *s, uint64_t address);
/* Likewise of a buffer, by the address of what holds it. */
size_t lbx_mlx_buffer_number(const struct lbx_mlx_set *s, uint64_t address);

#endif
