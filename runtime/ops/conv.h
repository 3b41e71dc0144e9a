/* Pairs of numbers below 2^31 in one parameter of a node: of convolutions and pads. */
#ifndef LB_OPS_CONV_H
#define LB_OPS_CONV_H

#include <stdint.h>

static inline int64_t lb_conv_param(int64_t pair, int i)
{
	return (int64_t)((uint64_t)pair >> 32 * i & UINT32_MAX);
}

static inline int64_t lb_conv_pair(int64_t first, int64_t second)
{
	return (int64_t)((uint64_t)first | (uint64_t)second << 32);
}

#endif
