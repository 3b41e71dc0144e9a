/* The memory of a program with MLX, made by hand: a program, a libmlx.so with its classes, arrays of all kinds, and Python.
 * Tests and fuzzers damage it and see what the provider says. */
#ifndef TESTS_MLX_IMAGE_H
#define TESTS_MLX_IMAGE_H

#include "library_image.h"
#include "mlx/layout.h"
#include "python_image.h"

enum {
	MLX_PYTHON = LIBRARY_DATA + 0x800, /* what the interpreter exports */
	MLX_HEAP = 0x10000000, /* records */
	MLX_HEAP_SIZE = 0x3000,
	MLX_PRIMITIVE = MLX_HEAP + MLX_HEAP_SIZE - 0x200, /* see mlx_image_become() */
	MLX_DATA = 0x30000000, /* buffers */
	MLX_DATA_SIZE = 0x400,
	MLX_ROWS = 4, /* layouts */
	MLX_ARRAYS = 9
};
/* The arrays, by their numbers. */
enum {
	MLX_MATRIX = 1, /* float32 (2, 3): 0 to 5 */
	MLX_VIEW, /* the transposed last two columns of it, (2, 2) */
	MLX_HALF, /* bfloat16 (4,), whose event has happened */
	MLX_UNDER_WAY, /* float32 (2,), whose event has not */
	MLX_SOFTMAX, /* lazy, of the matrix */
	MLX_ADD, /* lazy, of that and the matrix */
	MLX_SIBLING, /* likewise, its other result */
	MLX_SCALAR, /* complex64 */
	MLX_EMPTY /* float32 (0, 3) */
};

struct mlx_image {
	union {
		struct lbx_target target;
		struct regions regions;
	};
	struct library_image library;
	struct lbx_mlx_layout layout;
	struct python_image python;
	uint64_t heap, data; /* where the next will be */
	struct library_class counted, primitive, softmax, add;
	uint64_t arrays[MLX_ARRAYS + 1]; /* records, by their numbers */
	uint64_t freed; /* one that nobody holds */
};

/* With all of these. `row` is that of the layout (lbx_mlx_layout()); Python is 3.11 or 3.13: model.fc.weight is the matrix,
 * model.layers.0.bias the half, x in a function the view, state['lazy'][0] the sum. */
void mlx_image_create(struct mlx_image *image, int row, unsigned minor);
/* Its library exports what tells its version, but for the newest layout's. */
void mlx_image_tell_version(struct mlx_image *image);
void mlx_image_destroy(struct mlx_image *image);
/* A word of a record, from `size` on (mlx/layout.h). */
void mlx_image_set(struct mlx_image *image, uint64_t array, uint32_t field, uint64_t value, size_t width);
/* An array is given another primitive, of that class (mangled), with fields of its own that begin at 0x14. */
void mlx_image_become(struct mlx_image *image, int array, const char *class, const void *fields, size_t size);

#endif
