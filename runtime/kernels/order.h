/* Elements as unsigned numbers that order as they do: NaN is the largest, whatever its bits, and -0 equals 0. */
#ifndef LB_KERNELS_ORDER_H
#define LB_KERNELS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Flips an IEEE number's bits so that they order as unsigned integers. */
static inline uint64_t lb_order_of_float(uint64_t bits, int width, bool is_nan)
{
	uint64_t sign = 1ull << (width - 1), all = sign | (sign - 1);
	if (is_nan)
		return all;
	if (bits == sign) /* -0 */
		bits = 0;
	return bits & sign ? ~bits & all : bits | sign;
}

/* X(dtype, type of its bits, the number of bits x), of every dtype but c64 */
#define LB_ORDERED(X) \
	X(LB_BOOL, uint8_t, x != 0) \
	X(LB_U8, uint8_t, x) \
	X(LB_U16, uint16_t, x) \
	X(LB_U32, uint32_t, x) \
	X(LB_U64, uint64_t, x) \
	X(LB_I8, uint8_t, x ^ 1u << 7) \
	X(LB_I16, uint16_t, x ^ 1u << 15) \
	X(LB_I32, uint32_t, x ^ 1u << 31) \
	X(LB_I64, uint64_t, x ^ 1ull << 63) \
	X(LB_F16, uint16_t, lb_order_of_float(x, 16, (x & 0x7fff) > 0x7c00)) \
	X(LB_BF16, uint16_t, lb_order_of_float(x, 16, (x & 0x7fff) > 0x7f80)) \
	X(LB_F32, uint32_t, lb_order_of_float(x, 32, (x & 0x7fffffff) > 0x7f800000)) \
	X(LB_F64, uint64_t, lb_order_of_float(x, 64, (x & INT64_MAX) > 0x7ff0000000000000))

#endif
