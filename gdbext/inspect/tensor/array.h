/* Elements in place: a view (dtype, shape, strides) of bytes of a target, or of this
 * process when they were computed here. Reading never leaves [low, high), the buffer. */
#ifndef LBX_ARRAY_H
#define LBX_ARRAY_H

#include "inspect/out.h"
#include "tensors/tensor.h"

enum { LBX_ARRAY_RANK = LBX_RANK_MAX }; /* with the new axes of a slice */

struct lbx_array {
	struct lbx_target *target; /* NULL: `local` holds the buffer */
	const char *local;         /* what `low` is the address of; or NULL */
	bool shared;               /* several threads may read elements at once */
	uint64_t low, high;        /* the buffer: addresses of its first byte and past its last */
	enum lb_dtype dtype; /* of the elements as they are read: decoded */
	const struct lbx_encoding *encoding; /* how they are stored; NULL: as the dtype is */
	/* Where each index of an axis has its scale: index i of that axis has that of `first + i * step`. The axis
	 * is -1 where all have that of `first`. */
	struct lbx_scaled {
		int axis;
		int64_t first, step;
	} scaled;
	int rank;
	int64_t shape[LBX_ARRAY_RANK], strides[LBX_ARRAY_RANK]; /* elements */
	int64_t offset; /* elements, from `low` to element 0 */
	int64_t size;
};

/* The array of a ready tensor. Fails, saying why, when it is not ready or reaches out of its
 * buffer. `map`ped memory of the target is used in place. */
bool lbx_array_of_tensor(struct lbx_target *target, const struct lbx_tensor *t, struct lbx_array *ret);
/* An array over this process's memory of nbytes, e.g. a replayed value: checked likewise. */
bool lbx_array_local(const void *data, int64_t nbytes, enum lb_dtype dtype, int rank, const int64_t *shape,
		     const int64_t *strides, int64_t offset, struct lbx_array *ret);

/* Likewise over elements that are stored so, in a row of blocks that strides and offset count through. `encoding` must
 * outlive it. */
bool lbx_array_encoded(const void *data, int64_t nbytes, const struct lbx_encoding *encoding, int rank,
		       const int64_t *shape, const int64_t *strides, int64_t offset, struct lbx_array *ret);

/* What the dtype is called: "float32", or the name of the encoding. */
const char *lbx_array_dtype_name(const struct lbx_array *a);
/* Elements from `low` to the element with these coordinates. */
int64_t lbx_array_at(const struct lbx_array *a, const int64_t *coordinates);
/* The coordinates of the i-th element in row-major order. */
void lbx_coordinates(int rank, const int64_t *shape, int64_t i, int64_t *ret);
void lbx_array_coordinates(const struct lbx_array *a, int64_t i, int64_t *ret);
/* One element's bytes (at most 8). */
bool lbx_array_get(const struct lbx_array *a, const int64_t *coordinates, void *ret);
/* n elements along the last axis, from these coordinates on, dense, to `to`. */
bool lbx_array_run(const struct lbx_array *a, const int64_t *coordinates, int64_t n, void *to);
/* Elements begin … begin+n-1 in row-major order, dense, to `to`. */
bool lbx_array_copy(const struct lbx_array *a, int64_t begin, int64_t n, void *to);
/* All elements in row-major order, where this process can address them so, decoded; or NULL. */
const void *lbx_array_in_place(const struct lbx_array *a);
bool lbx_array_is_dense(const struct lbx_array *a);
/* Whether it is whole blocks, one after the other in row-major order, of an encoding that has codes. */
bool lbx_array_is_blocks(const struct lbx_array *a);
/* The blocks of elements begin … begin+n-1, whole ones of it: in place, or in `own`, which has room for them; NULL: they
 * cannot be read. */
const void *lbx_array_blocks(const struct lbx_array *a, int64_t begin, int64_t n, void *own);
/* Joins neighbouring axes that one stride can walk; the order of elements stays. */
void lbx_array_join_axes(struct lbx_array *a);
/* Leaves of each axis with stride 0, which repeats what it holds, its first place; returns how often
 * what is left is there. The first of equals is in it. */
int64_t lbx_array_drop_repeats(struct lbx_array *a);
/* Makes ready for reading all elements: finds the target's quickest way, and reads all that a strided
 * view reaches at once, when that is bounded and not much more than its elements, for gathering from
 * local memory beats many small reads. *own is then to be freed after the array's last use. True when
 * there is nothing to gain; fails when reading does. */
bool lbx_array_fetch(struct lbx_array *a, struct lbx_out *out, const char *what, char **own);

/* Calls fn for all elements in row-major order, as dense pieces of at most `piece` elements;
 * fn returns false to stop (then the walk fails too). Only the calling thread reads. */
typedef bool lbx_piece_fn(void *context, const void *elements, int64_t n, int64_t first);
bool lbx_array_walk(const struct lbx_array *a, struct lbx_out *out, const char *what, int64_t piece, lbx_piece_fn *fn,
		    void *context);
/* All elements in row-major order, dense, to `to`; as a walk, with progress, and to be interrupted. */
bool lbx_array_gather(const struct lbx_array *a, struct lbx_out *out, const char *what, void *to);

/* An element as a number: the real part of c64; integers beyond 2^53 round. */
double lbx_element_double(const void *element, enum lb_dtype dtype);
/* What it counts as where values are measured and drawn: likewise, but c64 by magnitude. */
double lbx_element_magnitude(const void *element, enum lb_dtype dtype);

#endif
