/* Reads .npy files (format 1.0, little endian, C order), for the tests alone. */
#ifndef TEST_NPY_H
#define TEST_NPY_H

#include "lazybones.h"

struct npy {
	lb_dtype dtype;
	int rank;
	int64_t shape[LB_MAX_RANK];
	int64_t size; /* elements */
	size_t nbytes;
	void *data; /* freed by npy_deinit */
};

/* Says on stderr what is wrong. `bfloat16`: the file's uint16 are the bits of bfloat16. */
bool npy_read(const char *path, bool bfloat16, struct npy *ret);
void npy_deinit(struct npy *npy);

#endif
