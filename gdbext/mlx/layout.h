/* Where the fields of MLX's mlx::core::array::ArrayDesc are (mlx/array.h), which has changed a few times. What lies together has
 * stayed together, so a few numbers tell all; they were read off each version's own headers, as a compiler lays them out. */
#ifndef LBX_MLX_LAYOUT_H
#define LBX_MLX_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_mlx_layout {
	const char *versions; /* of MLX */
	int since; /* the first of them, as mlx/version.h has it */
	bool is_small; /* shape and strides are SmallVectors, which have their elements within; else std::vectors */
	bool has_scheduled; /* a status more, behind the first */
	bool is_offset; /* where elements begin is told in bytes from the buffer on; else it is an address */
	uint32_t strides, size; /* bytes from its beginning; behind `size` the rest, below */
};

/* It lies in memory with its shared_ptr's counts: in front of it a virtual table, and how many hold it, of 4 bytes each (weak
 * ones apart). */
enum { LBX_MLX_FRONT = 0x10, LBX_MLX_COUNTS = 0x08 };
/* From `size` on. */
enum {
	LBX_MLX_DTYPE = 0x08, /* its number in 4 bytes, the bytes of an element in one */
	LBX_MLX_PRIMITIVE = 0x10, /* a shared_ptr: object, counts */
	LBX_MLX_STATUS = 0x20,
	LBX_MLX_EVENT = 0x28,
	LBX_MLX_IS_TRACER = 0x50,
	LBX_MLX_DATA = 0x58, /* a shared_ptr */
	LBX_MLX_BEGIN = 0x68, /* of the elements, as is_offset says */
	LBX_MLX_DATA_SIZE = 0x70, /* elements */
	LBX_MLX_FLAGS = 0x78,
	LBX_MLX_INPUTS = 0x80, /* a std::vector of shared_ptrs */
	LBX_MLX_SIBLINGS = 0x98, /* likewise */
	LBX_MLX_POSITION = 0xb0, /* among the results of its primitive */
	LBX_MLX_END = 0xb8
};
/* Of both kinds of vectors: where the elements begin and end. */
enum { LBX_MLX_VECTOR_BEGIN = 0x00, LBX_MLX_SMALL_BEGIN = 0x08, LBX_MLX_VECTOR_BYTES = 0x18 };
/* Of an Event: the address of what counts, which begins with a number of 8 bytes, and the number that is waited for. */
enum { LBX_MLX_EVENT_COUNTER = 0x10, LBX_MLX_EVENT_VALUE = 0x20 };
/* Of a buffer's memory: what malloc() was asked for stands in front of its elements (mlx/backend/no_gpu/allocator.cpp). */
enum { LBX_MLX_BUFFER_FRONT = 8 };

/* The i-th one that is known, newest first; NULL: there are i. */
const struct lbx_mlx_layout *lbx_mlx_layout(int i);

#endif
