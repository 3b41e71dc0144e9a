/* What computes arrays: classes derived from mlx::core::Primitive, by their virtual tables. */
#ifndef LBX_MLX_PRIMITIVES_H
#define LBX_MLX_PRIMITIVES_H

#include "target/cxx_types.h"

struct lbx_mlx_primitive {
	uint64_t vtable;
	bool is_one; /* it is such a class */
	char name[LBX_CXX_NAME]; /* "Softmax", "fast::RoPE" */
};

/* Those that were looked at. All 0 at first. */
struct lbx_mlx_primitives {
	struct lbx_mlx_primitive **list;
	size_t n, room;
};

/* The name of an object's class; it lives as long as the list. NULL, quietly: it is no primitive. */
const char *lbx_mlx_primitive(struct lbx_mlx_primitives *primitives, struct lbx_target *target, uint64_t object);
void lbx_mlx_primitives_free(struct lbx_mlx_primitives *primitives);

#endif
