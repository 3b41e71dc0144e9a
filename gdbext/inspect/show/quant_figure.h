/* Many scales, or minimums, in a line: their range by magnitude, and what is odd among them. */
#ifndef LBX_QUANT_FIGURE_H
#define LBX_QUANT_FIGURE_H

#include "inspect/measure/quantile.h"
#include "inspect/measure/summary.h"
#include "inspect/out.h"

struct json_t;

struct lbx_quant_figure {
	struct lbx_summary summary; /* of the magnitudes */
	struct lbx_sample sample;
	float normal; /* the least magnitude that its format has without losing digits, or 0 */
	double median;
	int64_t denormal, first_denormal;
	int64_t outliers, first_outlier; /* beyond 64 times the median */
};

/* `n`: how many there will be. */
bool lbx_quant_figure_init(struct lbx_quant_figure *f, enum lb_dtype dtype, int64_t n);
void lbx_quant_figure_deinit(struct lbx_quant_figure *f);
/* In their order: `first` is the number of the first of n, at most LBX_QUANT_PIECE. Their signs are taken away. */
enum { LBX_QUANT_PIECE = 4096 };
void lbx_quant_figure_add(struct lbx_quant_figure *f, float *values, int64_t n, int64_t first);
/* When all have been added; *ret: whether there may be outliers. Then all are to be shown again. */
bool lbx_quant_figure_settle(struct lbx_quant_figure *f, bool *ret);
void lbx_quant_figure_compare(struct lbx_quant_figure *f, const float *values, int64_t n, int64_t first);

/* Where the i-th is, "[3, 0]". */
typedef void lbx_quant_place_fn(const void *context, int64_t i, char *ret, size_t size);
/* "  scales     from 1 to 2, median 1.5, 3 zero (first at [0, 1])", folded. */
void lbx_quant_figure_tell(struct lbx_out *out, const char *lead, const char *key, const struct lbx_quant_figure *f,
			   lbx_quant_place_fn *place, const void *context);

#endif
