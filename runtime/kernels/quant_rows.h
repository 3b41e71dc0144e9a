/* Rows of a quantised matrix, their scales as floats. */
#ifndef LB_KERNELS_QUANT_ROWS_H
#define LB_KERNELS_QUANT_ROWS_H

#include "kernels/codes.h"

enum {
	LB_QUANT_CHUNK = 256, /* groups of a row whose scales are converted at once */
	LB_QUANT_LINES = 32,  /* rows, likewise */
	LB_QUANT_AT_ONCE = LB_QUANT_ROWS * LB_QUANT_CHUNK, /* of them all */
};

/* One matrix of codes; strides between rows in bytes. */
struct lb_quant_matrix {
	const struct lb_tiles *tiles;
	int kind, group, scale_dtype;
	int64_t group_bytes;      /* of codes */
	const char *words, *scales, *biases; /* biases NULL: none */
	int64_t words_row, scales_row, biases_row;
	bool e8m0;                /* scales */
	float e4m3;               /* what e4m3 scales are multiplied with */
};

struct lb_quant_scales {
	_Alignas(64) float scales[LB_QUANT_AT_ONCE], biases[LB_QUANT_AT_ONCE];
};

/* The first matrix of q's batch, the last two axes being its rows. */
void lb_quant_matrix_of(const struct lb_quant_view *q, struct lb_quant_matrix *ret);
/* Groups [begin, begin + n) of some rows; n <= LB_QUANT_CHUNK, rows <= LB_QUANT_LINES, n * rows <= LB_QUANT_AT_ONCE. Valid
 * while `store` is. */
void lb_quant_codes(const struct lb_quant_matrix *q, int64_t row, int rows, int64_t begin, int64_t n,
		    struct lb_quant_scales *store, struct lb_codes *ret);
/* The floats of groups of a row, as many as one likes. */
void lb_quant_row(const struct lb_quant_matrix *q, int64_t row, int64_t begin, int64_t n, float *to);

#endif
