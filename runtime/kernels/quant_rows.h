/* Rows of a quantised matrix, their scales as floats. */
#ifndef LB_KERNELS_QUANT_ROWS_H
#define LB_KERNELS_QUANT_ROWS_H

#include "kernels/codes.h"

enum { LB_QUANT_CHUNK = 256 /* groups whose scales are converted at once */ };

/* One matrix of codes; strides between rows in bytes. */
struct lb_quant_matrix {
	const struct lb_tiles *tiles;
	int kind, group, scale_dtype;
	int64_t group_bytes;      /* of codes */
	const char *words, *scales, *biases; /* biases NULL: none */
	int64_t words_row, scales_row, biases_row;
	float table[256];         /* values of scale codes, for scales of u8 */
};

struct lb_quant_scales {
	float scales[LB_QUANT_CHUNK], biases[LB_QUANT_CHUNK];
};

/* The first matrix of q's batch, the last two axes being its rows. */
void lb_quant_matrix_of(const struct lb_quant_view *q, struct lb_quant_matrix *ret);
/* Groups [begin, begin + n) of a row; n <= LB_QUANT_CHUNK. Valid while `store` is. */
struct lb_codes lb_quant_codes(const struct lb_quant_matrix *q, int64_t row, int64_t begin, int64_t n,
			       struct lb_quant_scales *store);
/* The floats of those groups. */
void lb_quant_row(const struct lb_quant_matrix *q, int64_t row, int64_t begin, int64_t n, float *to);

#endif
