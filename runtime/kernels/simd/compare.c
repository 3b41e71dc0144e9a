/* Comparisons, logic and classification of every dtype but complex: bool results. */
#include <math.h>

#include "kernels/simd/tiles.h"

#define TESTS(ID, s, T, U) \
	LB_TILE(equal_##s, uint8_t, T, a[i] == b[i]) \
	LB_TILE(not_equal_##s, uint8_t, T, a[i] != b[i]) \
	LB_TILE(less_##s, uint8_t, T, a[i] < b[i]) \
	LB_TILE(less_equal_##s, uint8_t, T, a[i] <= b[i]) \
	LB_TILE(greater_##s, uint8_t, T, a[i] > b[i]) \
	LB_TILE(greater_equal_##s, uint8_t, T, a[i] >= b[i]) \
	LB_TILE(logical_and_##s, uint8_t, T, (a[i] != 0) & (b[i] != 0)) \
	LB_TILE(logical_or_##s, uint8_t, T, (a[i] != 0) | (b[i] != 0)) \
	LB_TILE(logical_not_##s, uint8_t, T, a[i] == 0)
LB_UINTS(TESTS)
LB_SINTS(TESTS)
TESTS(, f32, float, )
TESTS(, f64, double, )

#define ONE(x) ((x) != 0)
LB_TILE(equal_bool, uint8_t, uint8_t, ONE(a[i]) == ONE(b[i]))
LB_TILE(not_equal_bool, uint8_t, uint8_t, ONE(a[i]) != ONE(b[i]))
LB_TILE(less_bool, uint8_t, uint8_t, !ONE(a[i]) & ONE(b[i]))
LB_TILE(less_equal_bool, uint8_t, uint8_t, !ONE(a[i]) | ONE(b[i]))
LB_TILE(greater_bool, uint8_t, uint8_t, ONE(a[i]) & !ONE(b[i]))
LB_TILE(greater_equal_bool, uint8_t, uint8_t, ONE(a[i]) | !ONE(b[i]))

LB_TILE(never, uint8_t, uint8_t, 0)
LB_TILE(always, uint8_t, uint8_t, 1)
LB_TILE(isnan_f32, uint8_t, float, a[i] != a[i])
LB_TILE(isnan_f64, uint8_t, double, a[i] != a[i])
LB_TILE(isnan_f16, uint8_t, uint16_t, (a[i] & 0x7fff) > 0x7c00)
LB_TILE(isnan_bf16, uint8_t, uint16_t, (a[i] & 0x7fff) > 0x7f80)
LB_TILE(isinf_f32, uint8_t, float, fabsf(a[i]) == INFINITY)
LB_TILE(isinf_f64, uint8_t, double, fabs(a[i]) == (double)INFINITY)
LB_TILE(isinf_f16, uint8_t, uint16_t, (a[i] & 0x7fff) == 0x7c00)
LB_TILE(isinf_bf16, uint8_t, uint16_t, (a[i] & 0x7fff) == 0x7f80)
LB_TILE(isfinite_f32, uint8_t, float, fabsf(a[i]) < INFINITY)
LB_TILE(isfinite_f64, uint8_t, double, fabs(a[i]) < (double)INFINITY)
LB_TILE(isfinite_f16, uint8_t, uint16_t, (a[i] & 0x7fff) < 0x7c00)
LB_TILE(isfinite_bf16, uint8_t, uint16_t, (a[i] & 0x7fff) < 0x7f80)
LB_TILE(isposinf_f32, uint8_t, float, a[i] == INFINITY)
LB_TILE(isposinf_f64, uint8_t, double, a[i] == (double)INFINITY)
LB_TILE(isposinf_f16, uint8_t, uint16_t, a[i] == 0x7c00)
LB_TILE(isposinf_bf16, uint8_t, uint16_t, a[i] == 0x7f80)
LB_TILE(isneginf_f32, uint8_t, float, a[i] == -INFINITY)
LB_TILE(isneginf_f64, uint8_t, double, a[i] == -(double)INFINITY)
LB_TILE(isneginf_f16, uint8_t, uint16_t, a[i] == 0xfc00)
LB_TILE(isneginf_bf16, uint8_t, uint16_t, a[i] == 0xff80)

LB_HALVES(equal, 2, true)
LB_HALVES(not_equal, 2, true)
LB_HALVES(less, 2, true)
LB_HALVES(less_equal, 2, true)
LB_HALVES(greater, 2, true)
LB_HALVES(greater_equal, 2, true)
LB_HALVES(logical_and, 2, true)
LB_HALVES(logical_or, 2, true)
LB_HALVES(logical_not, 1, true)

#define FLOATS(name) [LB_F16] = name##_f16, [LB_BF16] = name##_bf16, [LB_F32] = name##_f32, [LB_F64] = name##_f64
#define ALL(name, for_bool) \
	{ [LB_BOOL] = for_bool,  [LB_U8] = name##_u8, [LB_U16] = name##_u16, [LB_U32] = name##_u32, \
	  [LB_U64] = name##_u64, [LB_I8] = name##_i8, [LB_I16] = name##_i16, [LB_I32] = name##_i32, \
	  [LB_I64] = name##_i64, FLOATS(name) }
#define FLOATING(name, for_others) { [LB_BOOL... LB_I64] = for_others, FLOATS(name) }

lb_tile_fn *LB_ISA_NAME(lb_tile_compare)(int op, int dtype)
{
	static lb_tile_fn *const table[LB_OPS][LB_DTYPES] = {
		[LB_OP_EQUAL] = ALL(equal, equal_bool),
		[LB_OP_NOT_EQUAL] = ALL(not_equal, not_equal_bool),
		[LB_OP_LESS] = ALL(less, less_bool),
		[LB_OP_LESS_EQUAL] = ALL(less_equal, less_equal_bool),
		[LB_OP_GREATER] = ALL(greater, greater_bool),
		[LB_OP_GREATER_EQUAL] = ALL(greater_equal, greater_equal_bool),
		[LB_OP_LOGICAL_AND] = ALL(logical_and, logical_and_u8),
		[LB_OP_LOGICAL_OR] = ALL(logical_or, logical_or_u8),
		[LB_OP_LOGICAL_NOT] = ALL(logical_not, logical_not_u8),
		[LB_OP_ISNAN] = FLOATING(isnan, never),
		[LB_OP_ISINF] = FLOATING(isinf, never),
		[LB_OP_ISFINITE] = FLOATING(isfinite, always),
		[LB_OP_ISPOSINF] = FLOATING(isposinf, never),
		[LB_OP_ISNEGINF] = FLOATING(isneginf, never),
	};
	return table[op][dtype];
}
