/* Elements somewhere in a file, and the tensor over them. */
#ifndef LB_IO_ARRAY_H
#define LB_IO_ARRAY_H

#include "graph/tensor.h"
#include "io/mapping.h"

/* What a file says of an array. Whoever fills it in has checked that [at, at + nbytes) lies
 * in the file. */
struct lb_array {
	enum lb_encoding encoding;
	enum lb_dtype dtype;
	int rank;
	bool fortran; /* the first axis is the innermost */
	int64_t shape[LB_MAX_RANK];
	uint64_t at, nbytes;
};

/* Elements and bytes of the array's shape, or an error that begins with `what`. */
bool lb_array_measure(struct lb_array *array, const char *what);

/* A tensor over the bytes of the array in a mapping, which it holds; `raw`: the bytes alone. */
struct lb_tensor *lb_array_in_file(const struct lb_array *array, struct lb_mapping *mapping, bool raw, const char *name,
				   const void *site);
/* The same in a buffer, whose first byte is the array's; takes over the reference to it. */
struct lb_tensor *lb_array_in_buffer(const struct lb_array *array, struct lb_buffer *buffer, bool raw, const char *name,
				     const void *site);

#endif
