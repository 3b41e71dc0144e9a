/* What reading and writing safetensors share. */
#ifndef LB_IO_SAFETENSORS_H
#define LB_IO_SAFETENSORS_H

#include <stddef.h>

#include "lazybones.h"

enum { LB_SAFETENSORS_HEADER_MAX = 100000000 }; /* bytes, as the reference has it */

/* "BF16"; every dtype has one. */
const char *lb_safetensors_type(enum lb_dtype dtype);
/* False for a type without a dtype here. */
bool lb_safetensors_dtype(const char *name, enum lb_dtype *ret);

/* A tensor, whose bytes lie in [begin, end) of the data. */
struct lb_safetensors_entry {
	const char *name;
	enum lb_dtype dtype;
	int rank;
	const int64_t *shape;
	uint64_t begin, end;
};

/* __metadata__ */
struct lb_safetensors_metadata {
	int n;
	const char *const *keys, *const *values;
};

/* The header as text, padded; the caller frees it. NULL when memory is short. */
char *lb_safetensors_header(int n, const struct lb_safetensors_entry *entries, const struct lb_safetensors_metadata *m,
			    size_t *ret);

#endif
