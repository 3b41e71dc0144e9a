/* Rows of x, cut into digits, times a quantised matrix of 4-bit codes: a panel of codes at a time is unpacked to bytes, for all
 * the rows. */
#ifndef LB_KERNELS_QUANT_PANELS_H
#define LB_KERNELS_QUANT_PANELS_H

#include "kernels/quant_rows.h"

struct lb_quant_panels {
	const struct lb_quant_matrix *w; /* n rows of k codes */
	int64_t m, n, k;
	const struct lb_cut *x; /* of each row */
	int dtype;
	char *to; /* m rows of n elements */
};

/* Whether this processor multiplies bytes fast enough. */
bool lb_has_quant_panels(void);
/* The bits of an element depend on its row and column alone. False without memory. */
bool lb_multiply_quant_panels(struct lb_exec *exec, const struct lb_quant_panels *panels);

#endif
