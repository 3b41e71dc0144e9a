/* What stands behind libstdc++'s classes: the elements of a std::vector, the object of a smart pointer. They are known
 * by their names and by the pointers that they are made of; nothing of the program is called. */
#ifndef LBX_CONTAINERS_H
#define LBX_CONTAINERS_H

#include <elfutils/libdw.h>

#include "target/target.h"

struct lbx_container {
	bool is_pointer; /* a smart pointer: `type` is that of a plain one, `address` what it leads to, perhaps 0 */
	Dwarf_Die type;  /* of an element, without typedefs */
	int tag;
	uint64_t address, n, width; /* of the elements; their number, 0 where the vector is damaged; bytes of each */
};

/* Of the object of a class at an address. False, without error, where it is none of these or cannot be read. */
bool lbx_container_find(struct lbx_target *target, Dwarf_Die *type, uint64_t address, struct lbx_container *ret);

/* The record that an object stands for: what PyTorch's at::Tensor, MLX's array and mlx-c's mlx_array lead to, also within a
 * std::optional or behind a smart pointer.
 * Likewise; 0 of a tensor that is undefined. */
bool lbx_container_record(struct lbx_target *target, Dwarf_Die *type, uint64_t address, uint64_t *ret);

#endif
