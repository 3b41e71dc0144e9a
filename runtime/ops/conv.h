/* What convolutions and pads have in a node's parameters: pairs of numbers below 2^31 in one of them. */
#ifndef LB_OPS_CONV_H
#define LB_OPS_CONV_H

#include "lazybones.h"

static inline int64_t lb_conv_param(int64_t pair, int i)
{
	return (int64_t)((uint64_t)pair >> 32 * i & UINT32_MAX);
}

static inline int64_t lb_conv_pair(int64_t first, int64_t second)
{
	return (int64_t)((uint64_t)first | (uint64_t)second << 32);
}

/* params: 0 stride, 1 padding, 2 dilation; 3 groups, which is no pair */
static inline lb_conv_options lb_conv_options_of(const int64_t *params)
{
	return (lb_conv_options){
		.stride = { lb_conv_param(params[0], 0), lb_conv_param(params[0], 1) },
		.padding = { lb_conv_param(params[1], 0), lb_conv_param(params[1], 1) },
		.dilation = { lb_conv_param(params[2], 0), lb_conv_param(params[2], 1) },
		.groups = params[3],
	};
}

#endif
