/* Arithmetic of every dtype but complex. Integers wrap: they are computed unsigned.
 * A bool is 0 or 1, and arithmetic on it that of those numbers, non-zero being 1. */
#include <math.h>

#include "kernels/simd/tiles.h"

#define SQUARED(U, x) ((U)(x) * (U)(x))
/* NaN in either operand wins */
#define FMAX(x, y) ((x) >= (y) || (x) != (x) ? (x) : (y))
#define FMIN(x, y) ((x) <= (y) || (x) != (x) ? (x) : (y))
#define MAX(x, y) ((x) >= (y) ? (x) : (y))
#define MIN(x, y) ((x) <= (y) ? (x) : (y))

/* Python's and NumPy's remainder: the divisor's sign; by 0 it gives 0. */
static inline int64_t mod_signed(int64_t a, int64_t b)
{
	if (b == 0 || b == -1)
		return 0;
	int64_t r = a % b;
	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Down, not towards 0; by 0 it gives 0. */
static inline uint64_t floor_signed(int64_t a, int64_t b)
{
	if (b == 0 || b == -1)
		return b ? 0 - (uint64_t)a : 0;
	return (uint64_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

static inline uint64_t power_unsigned(uint64_t base, uint64_t exponent)
{
	uint64_t result = 1;
	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result *= base;
		base *= base;
	}
	return result;
}

static inline uint64_t power_signed(int64_t base, int64_t exponent)
{
	if (exponent >= 0)
		return power_unsigned((uint64_t)base, (uint64_t)exponent);
	if (base == 1)
		return 1;
	if (base == -1)
		return exponent & 1 ? (uint64_t)-1 : 1;
	return 0;
}

/* Of a number of bits that is none of the dtype's, nothing of it is left. */
#define SHIFTED_LEFT(T, U, x, by) \
	((uint64_t)(by) < 8 * sizeof(T) ? (U)(x) << ((uint64_t)(by) & (8 * sizeof(U) - 1)) : 0)
#define SHIFTED_RIGHT(T, x, by) \
	((uint64_t)(by) < 8 * sizeof(T) ? (x) >> ((uint64_t)(by) & (8 * sizeof(T) - 1)) : (x) < 0 ? -1 : 0)
#define SHIFTED_DOWN(T, x, by) ((uint64_t)(by) < 8 * sizeof(T) ? (x) >> ((uint64_t)(by) & (8 * sizeof(T) - 1)) : 0)

#define INT(ID, s, T, U) \
	LB_TILE(bitwise_and_##s, T, T, a[i] & b[i]) \
	LB_TILE(bitwise_or_##s, T, T, a[i] | b[i]) \
	LB_TILE(bitwise_xor_##s, T, T, a[i] ^ b[i]) \
	LB_TILE(left_shift_##s, T, T, SHIFTED_LEFT(T, U, a[i], b[i])) \
	LB_TILE(add_##s, T, T, (U)a[i] + (U)b[i]) \
	LB_TILE(subtract_##s, T, T, (U)a[i] - (U)b[i]) \
	LB_TILE(multiply_##s, T, T, (U)a[i] * (U)b[i]) \
	LB_TILE(maximum_##s, T, T, MAX(a[i], b[i])) \
	LB_TILE(minimum_##s, T, T, MIN(a[i], b[i])) \
	LB_TILE(negative_##s, T, T, 0 - (U)a[i]) \
	LB_TILE(bitwise_invert_##s, T, T, ~(U)a[i]) \
	LB_TILE(square_##s, T, T, SQUARED(U, a[i])) \
	LB_TILE(same_##s, T, T, a[i]) \
	LB_TILE(clip_##s, T, T, MIN(MAX(a[i], b[i]), c[i]))
#define UINT(ID, s, T, U) \
	INT(ID, s, T, U) \
	LB_TILE(remainder_##s, T, T, b[i] ? a[i] % b[i] : 0) \
	LB_TILE(floor_divide_##s, T, T, b[i] ? a[i] / b[i] : 0) \
	LB_TILE(sign_##s, T, T, a[i] != 0) \
	LB_TILE(right_shift_##s, T, T, SHIFTED_DOWN(T, a[i], b[i])) \
	LB_TILE(power_##s, T, T, power_unsigned(a[i], b[i]))
#define SINT(ID, s, T, U) \
	INT(ID, s, T, U) \
	LB_TILE(abs_##s, T, T, a[i] < 0 ? 0 - (U)a[i] : (U)a[i]) \
	LB_TILE(remainder_##s, T, T, mod_signed(a[i], b[i])) \
	LB_TILE(floor_divide_##s, T, T, floor_signed(a[i], b[i])) \
	LB_TILE(sign_##s, T, T, (a[i] > 0) - (a[i] < 0)) \
	LB_TILE(right_shift_##s, T, T, SHIFTED_RIGHT(T, a[i], b[i])) \
	LB_TILE(power_##s, T, T, power_signed(a[i], b[i]))
LB_UINTS(UINT)
LB_SINTS(SINT)

LB_TILE(same_bool, uint8_t, uint8_t, a[i] != 0)
LB_TILE(or_bool, uint8_t, uint8_t, (a[i] != 0) | (b[i] != 0))
LB_TILE(xor_bool, uint8_t, uint8_t, (a[i] != 0) ^ (b[i] != 0))
LB_TILE(and_bool, uint8_t, uint8_t, (a[i] != 0) & (b[i] != 0))
LB_TILE(zero_bool, uint8_t, uint8_t, 0)
LB_TILE(not_bool, uint8_t, uint8_t, a[i] == 0)
LB_TILE(power_bool, uint8_t, uint8_t, (a[i] != 0) | (b[i] == 0))
LB_TILE(clip_bool, uint8_t, uint8_t, ((a[i] != 0) | (b[i] != 0)) & (c[i] != 0))

#define FLOAT(s, T, f) \
	LB_TILE(add_##s, T, T, a[i] + b[i]) \
	LB_TILE(subtract_##s, T, T, a[i] - b[i]) \
	LB_TILE(multiply_##s, T, T, a[i] * b[i]) \
	LB_TILE(divide_##s, T, T, a[i] / b[i]) \
	LB_TILE(floor_divide_##s, T, T, floor##f(a[i] / b[i])) \
	LB_TILE(sign_##s, T, T, (a[i] > 0) - (a[i] < 0)) \
	LB_TILE(maximum_##s, T, T, FMAX(a[i], b[i])) \
	LB_TILE(minimum_##s, T, T, FMIN(a[i], b[i])) \
	LB_TILE(negative_##s, T, T, -a[i]) \
	LB_TILE(abs_##s, T, T, fabs##f(a[i])) \
	LB_TILE(square_##s, T, T, a[i] * a[i]) \
	LB_TILE(floor_##s, T, T, floor##f(a[i])) \
	LB_TILE(ceil_##s, T, T, ceil##f(a[i])) \
	LB_TILE(round_##s, T, T, rint##f(a[i])) \
	LB_TILE(sqrt_##s, T, T, sqrt##f(a[i])) \
	LB_TILE(rsqrt_##s, T, T, 1 / sqrt##f(a[i])) \
	static inline T clip_one_##s(T x, T low, T high) \
	{ \
		T y = FMAX(x, low); \
		return FMIN(y, high); \
	} \
	LB_TILE(clip_##s, T, T, clip_one_##s(a[i], b[i], c[i]))
FLOAT(f32, float, f)
FLOAT(f64, double, )

static inline double mod_double(double a, double b)
{
	double r = fmod(a, b);
	if (r == 0)
		return copysign(0.0, b);
	return (r < 0) != (b < 0) ? r + b : r;
}
LB_TILE(remainder_f64, double, double, mod_double(a[i], b[i]))

/* Of floats whose quotient is below 2^24, the quotient in double truncates rightly and
 * the product and the difference are exact: only the rest needs fmod. */
static void remainder_f32(int64_t n, void *dst, const void *a_, const void *b_, const void *c_)
{
	enum { CHUNK = 64 };
	float *d = dst;
	const float *a = a_, *b = b_;
	(void)c_;
	for (int64_t at = 0; at < n; at += CHUNK) {
		int64_t m = n - at < CHUNK ? n - at : CHUNK;
		float kept[2][CHUNK];
		memcpy(kept[0], a + at, (size_t)m * sizeof(float));
		memcpy(kept[1], b + at, (size_t)m * sizeof(float));
		int hard = 0;
		_Pragma("omp simd reduction(|:hard)") for (int64_t i = 0; i < m; i++)
		{
			double x = kept[0][i], y = kept[1][i], q = x / y;
			bool easy = fabs(q) < 0x1p24;
			double r = x - trunc(q) * y;
			double moved = (r < 0) != (y < 0) ? r + y : r;
			d[at + i] = (float)(r == 0 ? copysign(0.0, y) : moved);
			hard |= !easy | (fabs(y) > 3.5e38);
		}
		for (int64_t i = 0; hard && i < m; i++)
			d[at + i] = (float)mod_double(kept[0][i], kept[1][i]);
	}
}

LB_HALVES(add, 2, false)
LB_HALVES(subtract, 2, false)
LB_HALVES(multiply, 2, false)
LB_HALVES(divide, 2, false)
LB_HALVES(floor_divide, 2, false)
LB_HALVES(maximum, 2, false)
LB_HALVES(minimum, 2, false)
LB_HALVES(remainder, 2, false)
LB_HALVES(square, 1, false)
LB_HALVES(sign, 1, false)
LB_HALVES(floor, 1, false)
LB_HALVES(ceil, 1, false)
LB_HALVES(round, 1, false)
LB_HALVES(sqrt, 1, false)
LB_HALVES(rsqrt, 1, false)
LB_HALVES(clip, 3, false)
LB_TILE(negative_half, uint16_t, uint16_t, a[i] ^ 0x8000)
LB_TILE(abs_half, uint16_t, uint16_t, a[i] & 0x7fff)

#define FLOATS(name) [LB_F16] = name##_f16, [LB_BF16] = name##_bf16, [LB_F32] = name##_f32, [LB_F64] = name##_f64
#define SIGNED(name) [LB_I8] = name##_i8, [LB_I16] = name##_i16, [LB_I32] = name##_i32, [LB_I64] = name##_i64
#define UNSIGNED(name) [LB_U8] = name##_u8, [LB_U16] = name##_u16, [LB_U32] = name##_u32, [LB_U64] = name##_u64
#define SIGN_OPS(name) [LB_F16] = name##_half, [LB_BF16] = name##_half, [LB_F32] = name##_f32, [LB_F64] = name##_f64
#define ALL(name, for_bool) { [LB_BOOL] = for_bool, UNSIGNED(name), SIGNED(name), FLOATS(name) }
#define BITS(name, for_bool) { [LB_BOOL] = for_bool, UNSIGNED(name), SIGNED(name) }
#define ROUNDING(name) { [LB_BOOL] = same_bool, UNSIGNED(same), SIGNED(same), FLOATS(name) }

lb_tile_fn *LB_ISA_NAME(lb_tile_arith)(int op, int dtype)
{
	static lb_tile_fn *const table[LB_OPS][LB_DTYPES] = {
		[LB_OP_ADD] = ALL(add, or_bool),
		[LB_OP_SUBTRACT] = ALL(subtract, xor_bool),
		[LB_OP_MULTIPLY] = ALL(multiply, and_bool),
		[LB_OP_DIVIDE] = { FLOATS(divide) },
		[LB_OP_POWER] = { [LB_BOOL] = power_bool, UNSIGNED(power), SIGNED(power) },
		[LB_OP_MAXIMUM] = ALL(maximum, or_bool),
		[LB_OP_MINIMUM] = ALL(minimum, and_bool),
		[LB_OP_REMAINDER] = ALL(remainder, zero_bool),
		[LB_OP_FLOOR_DIVIDE] = { UNSIGNED(floor_divide), SIGNED(floor_divide), FLOATS(floor_divide) },
		[LB_OP_BITWISE_AND] = BITS(bitwise_and, and_bool),
		[LB_OP_BITWISE_OR] = BITS(bitwise_or, or_bool),
		[LB_OP_BITWISE_XOR] = BITS(bitwise_xor, xor_bool),
		[LB_OP_LEFT_SHIFT] = { UNSIGNED(left_shift), SIGNED(left_shift) },
		[LB_OP_RIGHT_SHIFT] = { UNSIGNED(right_shift), SIGNED(right_shift) },
		[LB_OP_BITWISE_INVERT] = BITS(bitwise_invert, not_bool),
		[LB_OP_CLIP] = ALL(clip, clip_bool),
		[LB_OP_NEGATIVE] = { [LB_BOOL] = same_bool, UNSIGNED(negative), SIGNED(negative), SIGN_OPS(negative) },
		[LB_OP_ABS] = { [LB_BOOL] = same_bool, UNSIGNED(same), SIGNED(abs), SIGN_OPS(abs) },
		[LB_OP_SQUARE] = ALL(square, same_bool),
		[LB_OP_SIGN] = ALL(sign, same_bool),
		[LB_OP_FLOOR] = ROUNDING(floor),
		[LB_OP_CEIL] = ROUNDING(ceil),
		[LB_OP_ROUND] = ROUNDING(round),
		[LB_OP_SQRT] = { FLOATS(sqrt) },
		[LB_OP_RSQRT] = { FLOATS(rsqrt) },
	};
	return table[op][dtype];
}
