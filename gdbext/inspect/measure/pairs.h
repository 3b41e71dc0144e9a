/* Two arrays of as many elements side by side, both in row-major order. */
#ifndef LBX_PAIRS_H
#define LBX_PAIRS_H

#include "inspect/tensor/array.h"

enum { LBX_PAIRS = 1024 }; /* elements at once */

struct lbx_pairs {
	const struct lbx_array *a, *b; /* their shapes may differ, their sizes must not */
	const char *doing;
	/* What is gathered: n_bytes, which begin as *total; a part's, whose elements come in order,
	 * are joined to *total in the order of the parts. */
	void *total;
	size_t nbytes;
	/* n elements (at most LBX_PAIRS) of each, dense, from the first-th on */
	void (*add)(void *part, const void *x, const void *y, int n, int64_t first);
	void (*join)(void *total, const void *part);
};

/* On all cores where the bytes of both are at hand; then add() runs in several threads. */
bool lbx_pairs_walk(const struct lbx_pairs *pairs, struct lbx_out *out);

#endif
