/* Arrays one by one, without a search for all of them: by the addresses of their records, and as Python's variables lead to
 * them. Who stops at each evaluation has no time for more. */
#ifndef LBX_MLX_NEAR_H
#define LBX_MLX_NEAR_H

#include "mlx/record.h"
#include "python/walk.h"
#include "tensors/tensors.h"

/* How records of a process are read: as a search for all has found out once. */
struct lbx_mlx_near {
	const struct lbx_mlx_layout *layout; /* NULL: it is not known */
	struct lbx_cxx_classes classes;
};

/* By a set of MLX's arrays. */
void lbx_mlx_near_take(const struct lbx_tensors *tensors, struct lbx_mlx_near *ret);
bool lbx_mlx_near_read(const struct lbx_mlx_near *near, struct lbx_target *target, uint64_t address,
		       struct lbx_mlx_record *ret);
/* As a tensor of no set, without a number and a name. False, quietly: it is none. */
bool lbx_mlx_near_decode(const struct lbx_mlx_near *near, struct lbx_target *target, uint64_t address,
			 struct lbx_tensor *ret);

/* ---- what Python calls them ---- */

enum { LBX_MLX_NEAR_FOUND = 8 };
/* The records of the arrays that an expression leads to, in the thread that `from` names first; how many. */
int lbx_mlx_near_named(struct lbx_python *py, const char *expression, const struct lbx_viewpoint *from,
		       uint64_t ret[LBX_MLX_NEAR_FOUND]);
/* Each array that variables lead to, by the name that its best path gives it, until `take` returns false. False, with an error:
 * there is no memory, or the user wants no more of it. */
typedef bool lbx_mlx_near_fn(void *context, uint64_t address, const char *name);
bool lbx_mlx_near_each(struct lbx_python *py, lbx_mlx_near_fn *take, void *context);

/* ---- what an evaluation computes ---- */

/* Of some arrays, and all that is lazy beneath: each behind those that it is made of. */
struct lbx_mlx_order {
	uint64_t *list; /* addresses of records */
	size_t n, room;
	uint64_t arrays; /* those that are not lazy, too */
	uint32_t depth;
	bool is_cut; /* there is more */
};
/* False, with an error, without memory. */
bool lbx_mlx_order_find(const struct lbx_mlx_near *near, struct lbx_target *target, const uint64_t *of, size_t n,
			struct lbx_mlx_order *ret);
void lbx_mlx_order_free(struct lbx_mlx_order *order); /* all 0 is fine */

#endif
