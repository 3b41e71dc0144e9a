/* Quantiles and a histogram, from all values or from a sample spread over them evenly. */
#ifndef LBX_QUANTILE_H
#define LBX_QUANTILE_H

#include "tensors/tensor.h"

enum { LBX_SAMPLE_MAX = 1 << 18 };

struct lbx_sample {
	enum lb_dtype dtype;
	int64_t size, step; /* one value of each `step`; 1: all of them */
	int64_t n, next;    /* values kept; which step comes next */
	double *values;     /* without NaN; ascending once sorted */
};

bool lbx_sample_init(struct lbx_sample *s, enum lb_dtype dtype, int64_t size);
void lbx_sample_deinit(struct lbx_sample *s);
/* The index of the element that is taken next; the array's size if there is none. */
int64_t lbx_sample_next(const struct lbx_sample *s);
/* Pieces must come in order. */
void lbx_sample_add(struct lbx_sample *s, const void *elements, int64_t n, int64_t first);
/* A part that takes the elements [first, first + n) alone, both multiples of `step` (but for the
 * last part's n); any thread may. Then the parts are joined in order. */
struct lbx_sample lbx_sample_part(const struct lbx_sample *s, int64_t first);
void lbx_sample_join(struct lbx_sample *s, const struct lbx_sample *part);
bool lbx_sample_sort(struct lbx_sample *s);
/* As numpy.quantile(method="linear"); NaN of nothing. The sample must be sorted. */
double lbx_sample_quantile(const struct lbx_sample *s, double q);
/* Counts the finite values in n equal parts of [*low, *high]. Returns n, 1 if all are one value, or 0
 * if there are none. */
int lbx_sample_histogram(const struct lbx_sample *s, int n, int64_t *counts, double *low, double *high);
/* Where part i of n begins; i may be n. */
double lbx_histogram_edge(double low, double high, int n, int i);
/* Significant digits by which the edges differ, 4 at least. */
int lbx_histogram_digits(double low, double high, int n);

#endif
