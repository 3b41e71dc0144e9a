/* astype between any two dtypes. Floats become integers by truncation: NaN gives 0,
 * what does not fit saturates at 32 and 64 bits, and narrower integers take the low
 * bits of the 32-bit one, 0 if there is none (as NumPy on x86). Any non-zero, NaN too, is true. Complex
 * drops its imaginary part, except for bool. f16, bf16 and complex go through float. */
#include <math.h>

#include "kernels/simd/tiles.h"

/* Rows of macros. */
/* clang-format off */
#if defined __F16C__
#include <immintrin.h>
#endif

void LB_ISA_NAME(lb_widen_f16)(int64_t n, float *dst, const uint16_t *src)
{
#ifdef __AVX512F__
	for (; n >= 16; n -= 16, dst += 16, src += 16)
		_mm512_storeu_ps(dst, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)src)));
#endif
#if defined __F16C__
	for (; n >= 8; n -= 8, dst += 8, src += 8)
		_mm256_storeu_ps(dst, _mm256_cvtph_ps(_mm_loadu_si128((const void *)src)));
#endif
	for (int64_t i = 0; i < n; i++)
		dst[i] = lb_f16_to_float(src[i]);
}

void LB_ISA_NAME(lb_widen_bf16)(int64_t n, float *dst, const uint16_t *src)
{
	LB_EACH(i, n) dst[i] = lb_bf16_to_float(src[i]);
}

void LB_ISA_NAME(lb_narrow_f16)(int64_t n, uint16_t *dst, const float *src)
{
#if defined __F16C__
	for (; n >= 8; n -= 8, dst += 8, src += 8)
		_mm_storeu_si128((void *)dst, _mm256_cvtps_ph(_mm256_loadu_ps(src),
							      _MM_FROUND_TO_NEAREST_INT));
#endif
	for (int64_t i = 0; i < n; i++)
		dst[i] = lb_float_to_f16(src[i]);
}

void LB_ISA_NAME(lb_narrow_bf16)(int64_t n, uint16_t *dst, const float *src)
{
	LB_EACH(i, n)
	{
		uint32_t bits = lb_float_to_bits(src[i]);
		uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
		uint32_t quiet = bits >> 16 | 0x40;
		dst[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
	}
}

/* X(suffix, float type, 2^31, 2^32, 2^63, 2^64) */
#define SATURATE(s, F, P31, P32, P63, P64)                        \
	static inline int32_t bits_of_##s(F x)                    \
	{                                                         \
		F low = x >= -P31 ? x : -P31;                     \
		return (int32_t)(low < P31 ? low : 0);            \
	}                                                         \
	static inline int32_t i32_of_##s(F x)                     \
	{                                                         \
		int32_t r = x >= P31 ? INT32_MAX : bits_of_##s(x); \
		return x == x ? r : 0;                            \
	}                                                         \
	static inline int64_t i64_of_##s(F x)                     \
	{                                                         \
		F low = x >= -P63 ? x : -P63;                     \
		int64_t r = (int64_t)(low < P63 ? low : 0);       \
		r = x >= P63 ? INT64_MAX : r;                     \
		return x == x ? r : 0;                            \
	}                                                         \
	static inline uint32_t u32_of_##s(F x)                    \
	{                                                         \
		F low = x > 0 ? x : 0;                            \
		uint32_t r = (uint32_t)(low < P32 ? low : 0);     \
		return x >= P32 ? UINT32_MAX : r;                 \
	}                                                         \
	static inline uint64_t u64_of_##s(F x)                    \
	{                                                         \
		F low = x > 0 ? x : 0;                            \
		uint64_t r = (uint64_t)(low < P64 ? low : 0);     \
		return x >= P64 ? UINT64_MAX : r;                 \
	}                                                         \
	static inline uint8_t u8_of_##s(F x) { return (uint8_t)bits_of_##s(x); }    \
	static inline uint16_t u16_of_##s(F x) { return (uint16_t)bits_of_##s(x); } \
	static inline int8_t i8_of_##s(F x) { return (int8_t)bits_of_##s(x); }      \
	static inline int16_t i16_of_##s(F x) { return (int16_t)bits_of_##s(x); }
SATURATE(f32, float, 0x1p31f, 0x1p32f, 0x1p63f, 0x1p64f)
SATURATE(f64, double, 0x1p31, 0x1p32, 0x1p63, 0x1p64)

/* Conversions among the eleven dtypes that C has: cvt_FROM_TO. */
#define CAST(f, F, s, T) LB_TILE(cvt_##f##_##s, T, F, a[i])
#define TRUNCATE(f, F, s, T) LB_TILE(cvt_##f##_##s, T, F, s##_of_##f(a[i]))
#define TRUTH(f, F) LB_TILE(cvt_##f##_b8, uint8_t, F, a[i] != 0)
#define TO_INTS(HOW, f, F)                                                       \
	HOW(f, F, u8, uint8_t) HOW(f, F, u16, uint16_t) HOW(f, F, u32, uint32_t) \
	HOW(f, F, u64, uint64_t) HOW(f, F, i8, int8_t) HOW(f, F, i16, int16_t)   \
	HOW(f, F, i32, int32_t) HOW(f, F, i64, int64_t)
#define FROM_INT(ID, f, F, U) \
	TRUTH(f, F) TO_INTS(CAST, f, F) CAST(f, F, f32, float) CAST(f, F, f64, double)
#define FROM_FLOAT(f, F) \
	TRUTH(f, F) TO_INTS(TRUNCATE, f, F) CAST(f, F, f32, float) CAST(f, F, f64, double)
LB_UINTS(FROM_INT)
LB_SINTS(FROM_INT)
FROM_FLOAT(f32, float)
FROM_FLOAT(f64, double)
#define OF_BOOL(f, F, s, T) LB_TILE(cvt_b8_##s, T, uint8_t, a[i] != 0)
TO_INTS(OF_BOOL, b8, uint8_t)
OF_BOOL(b8, uint8_t, b8, uint8_t)
OF_BOOL(b8, uint8_t, f32, float)
OF_BOOL(b8, uint8_t, f64, double)

/* Double to float, rounded to odd: rounding that again to a half is then as rounding
 * once (Boldo and Melquiond, "When double rounding is odd", 2005). */
static inline float odd_of_f64(double x)
{
	float f = (float)x;
	uint32_t bits = lb_float_to_bits(f);
	uint32_t inexact = (uint32_t)(x == x) & (uint32_t)((double)f != x);
	bits -= inexact & (uint32_t)(fabs((double)f) > fabs(x));
	return lb_bits_to_float(bits | inexact);
}
LB_TILE(cvt_f64_odd, float, double, odd_of_f64(a[i]))

typedef struct lb_c64 c64;
LB_TILE(cvt_c64_f32, float, c64, a[i].re)
LB_TILE(cvt_f32_c64, c64, float, ((c64){ a[i], 0 }))
LB_TILE(cvt_c64_b8, uint8_t, c64, (a[i].re != 0) | (a[i].im != 0))
LB_TILE(cvt_c64_c64, c64, c64, a[i])
LB_TILE(cvt_f16_f16, uint16_t, uint16_t, a[i])
LB_TILE(cvt_bf16_bf16, uint16_t, uint16_t, a[i])
#define WRAP(name, function, T, F)                                                           \
	static void name(int64_t n, void *d, const void *a, const void *b, const void *c)    \
	{                                                                                    \
		(void)b, (void)c;                                                            \
		LB_ISA_NAME(function)(n, (T *)d, (const F *)a);                              \
	}
WRAP(cvt_f16_f32, lb_widen_f16, float, uint16_t)
WRAP(cvt_bf16_f32, lb_widen_bf16, float, uint16_t)
WRAP(cvt_f32_f16, lb_narrow_f16, uint16_t, float)
WRAP(cvt_f32_bf16, lb_narrow_bf16, uint16_t, float)

static void in_two_steps(int64_t n, void *dst, const void *src, lb_tile_fn *first, int from_bytes,
			 lb_tile_fn *second, int to_bytes)
{
	enum { CHUNK = 512 };
	float between[CHUNK];
	for (int64_t at = 0; at < n; at += CHUNK) {
		int64_t m = n - at < CHUNK ? n - at : CHUNK;
		first(m, between, (const char *)src + at * from_bytes, NULL, NULL);
		second(m, (char *)dst + at * to_bytes, between, NULL, NULL);
	}
}

#define CHAIN(f, s, first, from_bytes, second, to_bytes)                                        \
	static void cvt_##f##_##s(int64_t n, void *d, const void *a, const void *b, const void *c) \
	{                                                                                       \
		(void)b, (void)c;                                                               \
		in_two_steps(n, d, a, first, from_bytes, second, to_bytes);                     \
	}
#define FROM_VIA(f, bytes, s, T) \
	CHAIN(f, s, cvt_##f##_f32, bytes, cvt_f32_##s, sizeof(T))
#define FROM_F16(f, F, s, T) FROM_VIA(f16, 2, s, T)
#define FROM_BF16(f, F, s, T) FROM_VIA(bf16, 2, s, T)
#define FROM_C64(f, F, s, T) FROM_VIA(c64, 8, s, T)
TO_INTS(FROM_F16, , )
TO_INTS(FROM_BF16, , )
TO_INTS(FROM_C64, , )
FROM_VIA(f16, 2, b8, uint8_t) FROM_VIA(f16, 2, f64, double)
FROM_VIA(f16, 2, bf16, uint16_t) FROM_VIA(f16, 2, c64, c64)
FROM_VIA(bf16, 2, b8, uint8_t) FROM_VIA(bf16, 2, f64, double)
FROM_VIA(bf16, 2, f16, uint16_t) FROM_VIA(bf16, 2, c64, c64)
FROM_VIA(c64, 8, f64, double) FROM_VIA(c64, 8, f16, uint16_t) FROM_VIA(c64, 8, bf16, uint16_t)
#define TO_VIA(f, F, s, T) CHAIN(f, s, cvt_##f##_f32, sizeof(F), cvt_f32_##s, sizeof(T))
#define TO_HALVES(ID, f, F, U) \
	TO_VIA(f, F, f16, uint16_t) TO_VIA(f, F, bf16, uint16_t) TO_VIA(f, F, c64, c64)
LB_UINTS(TO_HALVES)
LB_SINTS(TO_HALVES)
TO_HALVES(, b8, uint8_t, )
TO_VIA(f64, double, c64, c64)
CHAIN(f64, f16, cvt_f64_odd, 8, cvt_f32_f16, 2)
CHAIN(f64, bf16, cvt_f64_odd, 8, cvt_f32_bf16, 2)

#define ROW(f)                                                                                   \
	{ [LB_BOOL] = cvt_##f##_b8, [LB_U8] = cvt_##f##_u8, [LB_U16] = cvt_##f##_u16,          \
	  [LB_U32] = cvt_##f##_u32, [LB_U64] = cvt_##f##_u64, [LB_I8] = cvt_##f##_i8,            \
	  [LB_I16] = cvt_##f##_i16, [LB_I32] = cvt_##f##_i32, [LB_I64] = cvt_##f##_i64,          \
	  [LB_F16] = cvt_##f##_f16, [LB_BF16] = cvt_##f##_bf16, [LB_F32] = cvt_##f##_f32,        \
	  [LB_F64] = cvt_##f##_f64, [LB_C64] = cvt_##f##_c64 }

lb_tile_fn *LB_ISA_NAME(lb_tile_convert)(int to, int from)
{
	static lb_tile_fn *const table[LB_DTYPES][LB_DTYPES] = {
		[LB_BOOL] = ROW(b8), [LB_U8] = ROW(u8), [LB_U16] = ROW(u16), [LB_U32] = ROW(u32),
		[LB_U64] = ROW(u64), [LB_I8] = ROW(i8), [LB_I16] = ROW(i16), [LB_I32] = ROW(i32),
		[LB_I64] = ROW(i64), [LB_F16] = ROW(f16), [LB_BF16] = ROW(bf16),
		[LB_F32] = ROW(f32), [LB_F64] = ROW(f64), [LB_C64] = ROW(c64),
	};
	return table[from][to];
}
