/* NumPy's .npy: "\x93NUMPY", version, length, a Python dict, then the elements
 * (numpy/lib/format.py; versions 1.0, 2.0, 3.0). */
#ifndef LB_IO_NPY_H
#define LB_IO_NPY_H

#include "io/array.h"

enum {
	LB_NPY_PREFIX = 12,          /* bytes before the dict at most */
	LB_NPY_HEADER_MAX = 1 << 20, /* of the dict */
	LB_NPY_AXES = 64,            /* that NumPy takes since 2.0; 32 before */
	LB_NPY_WRITTEN = 1536,       /* what lb_npy_write_header() needs at most */
};

/* Bytes up to the elements, from at least the LB_NPY_PREFIX first ones. */
bool lb_npy_header_size(struct lb_cursor c, const char *what, uint64_t *ret);
/* Reads the header; the cursor then stands at the elements, and `ret->at` is its place. The
 * elements may lie beyond the end: the caller compares `ret->nbytes` with what is there.
 * `what` names the array in messages. */
bool lb_npy_header(struct lb_cursor *c, const char *what, struct lb_array *ret);

/* A shape with more axes than a tensor has. */
struct lb_npy_shape {
	int rank; /* 0: it has no more */
	bool fortran;
	int64_t sizes[LB_NPY_AXES];
};
/* The same, and if `shape` is not NULL an array may have up to LB_NPY_AXES axes: where they are more than
 * LB_MAX_RANK they are in *shape, and *ret is a row of all elements. */
bool lb_npy_header_of_any(struct lb_cursor *c, const char *what, struct lb_array *ret, struct lb_npy_shape *shape);

/* The same without `ret->nbytes`, which the caller works out. */
bool lb_npy_parse(struct lb_cursor *c, const char *what, struct lb_array *ret, struct lb_npy_shape *shape);
/* How a dtype is written there: '<f4' is kind 'f', width 4. False for bfloat16. */
bool lb_npy_type(enum lb_dtype dtype, char *kind, int *width);

/* Writes the header of an array to `to`, a multiple of 64 bytes; fails for bfloat16. */
bool lb_npy_write_header(enum lb_dtype dtype, int rank, const int64_t *shape, char to[LB_NPY_WRITTEN], size_t *ret);

#endif
