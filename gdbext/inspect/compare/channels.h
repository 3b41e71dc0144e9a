/* y = factor x + offset, with a factor and an offset for each channel: each index of some axes of an array. */
#ifndef LBX_CHANNELS_H
#define LBX_CHANNELS_H

#include "inspect/tensor/array.h"

enum { LBX_CHANNELS_LEAST = 8 /* elements of a channel */ };

struct lbx_channels {
	unsigned axes; /* a bit each: those whose indices are channels */
	int64_t n;     /* channels, row-major over these axes */
	double *factors, *offsets;
};

/* Through the least and the largest x of each channel. Both arrays are of one shape, row-major and local. False where
 * there are too many channels for their elements, or no memory. To be deinitialised. */
bool lbx_channels_fit(const struct lbx_array *x, const struct lbx_array *y, unsigned axes, struct lbx_channels *ret);
/* Makes `values`, of x's size, factor x + offset; they may be x's own. */
void lbx_channels_apply(const struct lbx_channels *channels, const struct lbx_array *x, double *values);
void lbx_channels_deinit(struct lbx_channels *channels);

#endif
