#include "ops/conv_axis.h"

#include "base/error.h"
#include "graph/shape.h"

bool lb_conv_fail(const char *name, lb_list x, lb_list w, const char *wrong)
{
	char tx[LB_SHAPE_TEXT], tw[LB_SHAPE_TEXT];
	return lb_fail("%s: x %s, weight %s: %s", name, lb_shape_text(x.n, x.v, tx), lb_shape_text(w.n, w.v, tw),
		       wrong);
}

static bool is_small(int64_t x, int64_t least)
{
	return x >= least && x <= INT32_MAX;
}

bool lb_conv_steps(const char *name, lb_list x, lb_list w, int64_t *stride, int64_t *dilation, int64_t padding)
{
	*stride = *stride ? *stride : 1;
	*dilation = *dilation ? *dilation : 1;
	return (is_small(*stride, 1) && is_small(*dilation, 1) && is_small(padding, 0)) ||
	       lb_conv_fail(name, x, w, "stride and dilation must be positive, padding not negative");
}

bool lb_conv_slide(const char *name, lb_list x, lb_list w, int axis, int64_t stride, int64_t dilation, int64_t padding,
		   int64_t *ret)
{
	int64_t n = x.v[axis], taps = w.v[axis], span, room;
	if (taps < 1 || !lb_mul(taps - 1, dilation, &span) || !lb_sum_of(n, 2 * padding, &room) || span >= room)
		return lb_conv_fail(name, x, w, "weight, with its dilation, is larger than x with its padding");
	*ret = (room - span - 1) / stride + 1;
	return true;
}

bool lb_conv_spread(const char *name, lb_list x, lb_list w, int axis, int64_t stride, int64_t dilation, int64_t padding,
		    int64_t more, int64_t *ret_whole, int64_t *ret_last)
{
	int64_t n = x.v[axis], taps = w.v[axis], span, steps, size;
	if (!is_small(more, 0))
		return lb_conv_fail(name, x, w, "stride and dilation must be positive, padding not negative");
	if (n < 1 || taps < 1 || !lb_mul(taps - 1, dilation, &span) || !lb_mul(n - 1, stride, &steps) ||
	    !lb_sum_of(span + 1, steps, ret_whole) || !lb_sum_of(*ret_whole, more, &size))
		return lb_conv_fail(name, x, w, "there is nothing along an axis, or too much");
	*ret_last = size - padding;
	return *ret_last > padding || lb_conv_fail(name, x, w, "the padding takes all of the result away");
}
