/* Rows of x, cut into digits, times a quantised matrix of 4-bit codes: a panel of codes at a time is unpacked to bytes, for all
 * the rows. */
#ifndef LB_KERNELS_QUANT_PANELS_H
#define LB_KERNELS_QUANT_PANELS_H

#include "kernels/quant_rows.h"

enum { LB_QUANT_PANELS_ROWS = 256 /* at most */ };

/* What multiplies rows: VNNI, of digits; AMX; what has the same bits as AMX, of parts, without it; AVX512-BF16, of one part. */
enum lb_panels_by { LB_BY_DIGITS, LB_BY_TILES, LB_BY_HAND, LB_BY_PAIRS };

struct lb_quant_panels {
	const struct lb_quant_matrix *w; /* n rows of k codes */
	int64_t m, n, k;
	/* The first rows of x are in AMX's order, none or a multiple of what lb_quant_panels_step() says: room of
	 * lb_quant_panels_room(). As so many parts each; 0: cut into bytes. Of parts they are all rows, and some of zeros. */
	int64_t n_ordered;
	void *ordered;
	int parts;
	enum lb_panels_by by;
	const struct lb_cut *x; /* the others, by digits */
	int dtype;
	char *to; /* m rows of n elements */
};

/* Whether this processor multiplies bytes fast enough. */
bool lb_has_quant_panels(void);
/* Whether bfloat16 is better multiplied by AVX512-BF16: not where there is AMX, whose processors are slow at it. */
bool lb_has_quant_pairs(void);
int64_t lb_quant_panels_step(enum lb_panels_by by);
/* Bytes for m rows in AMX's order. */
int64_t lb_quant_panels_room(int parts, int group, int64_t m, int64_t k);
/* Where the block of rows is that `row` is one of. */
struct lb_amx_rows lb_quant_panels_rows(const struct lb_quant_panels *panels, int64_t row);
/* The bits of an element depend on its row and column alone. False without memory. */
bool lb_multiply_quant_panels(struct lb_exec *exec, const struct lb_quant_panels *panels);

#endif
