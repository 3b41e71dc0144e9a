/* Convolutions along one axis: what all of them check of it, and how long the result is. */
#ifndef LB_OPS_CONV_AXIS_H
#define LB_OPS_CONV_AXIS_H

#include "lazybones.h"

/* What is wrong with these shapes of x and weight; returns false. */
bool lb_conv_fail(const char *name, lb_list x, lb_list w, const char *wrong);

/* Puts the default, 1, in the place of 0, and checks. */
bool lb_conv_steps(const char *name, lb_list x, lb_list w, int64_t *stride, int64_t *dilation, int64_t padding);
/* Where the taps fit along the axis, padding and all. */
bool lb_conv_slide(const char *name, lb_list x, lb_list w, int axis, int64_t stride, int64_t dilation, int64_t padding,
		   int64_t *ret);
/* Transposed: how long the result is without padding, and where it ends in that with it; behind the whole, if `more` is
 * large. */
bool lb_conv_spread(const char *name, lb_list x, lb_list w, int axis, int64_t stride, int64_t dilation, int64_t padding,
		    int64_t more, int64_t *ret_whole, int64_t *ret_last);

#endif
