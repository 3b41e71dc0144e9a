/* Transposes of 16 by 16 elements of 4 bytes, in registers. */
#include "kernels/simd/vectors.h"

#if defined __AVX512F__

/* Of rows a, the columns b. */
static inline __attribute__((always_inline)) void turn(__m512i a[16], __m512i b[16])
{
	LB_UNROLL
	for (int i = 0; i < 16; i += 2) {
		b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
		b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
	}
	LB_UNROLL
	for (int i = 0; i < 16; i += 4) {
		a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
		a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
		a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
		a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
	}
	/* a[4r + c] has columns c, c + 4, c + 8, c + 12 of rows 4r to 4r + 3 */
	LB_UNROLL
	for (int c = 0; c < 4; c++) {
		__m512i p = _mm512_shuffle_i32x4(a[c], a[c + 4], 0x88), q = _mm512_shuffle_i32x4(a[c], a[c + 4], 0xdd);
		__m512i r = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0x88);
		__m512i s = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0xdd);
		b[c] = _mm512_shuffle_i32x4(p, r, 0x88);
		b[c + 8] = _mm512_shuffle_i32x4(p, r, 0xdd);
		b[c + 4] = _mm512_shuffle_i32x4(q, s, 0x88);
		b[c + 12] = _mm512_shuffle_i32x4(q, s, 0xdd);
	}
}

void LB_ISA_NAME(lb_tile_turn)(void *to, int64_t to_row, const void *from, int64_t from_row, bool stream)
{
	__m512i a[16], b[16];
	LB_UNROLL
	for (int i = 0; i < 16; i++)
		a[i] = _mm512_loadu_si512((const uint32_t *)from + i * from_row);
	turn(a, b);
	LB_UNROLL
	for (int i = 0; i < 16; i++) {
		void *row = (uint32_t *)to + i * to_row;
		if (stream)
			_mm512_stream_si512(row, b[i]);
		else
			_mm512_storeu_si512(row, b[i]);
	}
}

static inline __attribute__((always_inline)) void turn_floats(const int dtype, float *to, const char *from, int64_t row,
							      int64_t lines, int64_t n)
{
	__m512i a[16], b[16];
	LB_UNROLL
	for (int i = 0; i < 16; i++)
		a[i] = (__m512i)lb_widened(dtype, from + i * row, 0, i < lines ? lb_some_of(n, 0) : 0);
	turn(a, b);
	LB_UNROLL
	for (int i = 0; i < 16; i++)
		_mm512_storeu_si512(to + i * 16, b[i]);
}

void LB_ISA_NAME(lb_tile_turn_floats)(float *to, const void *from, int64_t row, int dtype, int64_t lines, int64_t n)
{
	if (dtype == LB_F32)
		turn_floats(LB_F32, to, from, row, lines, n);
	else if (dtype == LB_F16)
		turn_floats(LB_F16, to, from, row, lines, n);
	else
		turn_floats(LB_BF16, to, from, row, lines, n);
}

#else

typedef uint32_t quad __attribute__((vector_size(16)));

void LB_ISA_NAME(lb_tile_turn)(void *to, int64_t to_row, const void *from, int64_t from_row, bool stream)
{
	(void)stream;
	for (int i = 0; i < 16; i += 4)
		for (int k = 0; k < 16; k += 4) {
			const uint32_t *source = (const uint32_t *)from + k * from_row + i;
			uint32_t *dest = (uint32_t *)to + i * to_row + k;
			quad x[4], y[4];
			for (int r = 0; r < 4; r++)
				memcpy(&x[r], source + r * from_row, sizeof *x);
			y[0] = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
			y[1] = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
			y[2] = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
			y[3] = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
			x[0] = __builtin_shufflevector(y[0], y[2], 0, 1, 4, 5);
			x[1] = __builtin_shufflevector(y[0], y[2], 2, 3, 6, 7);
			x[2] = __builtin_shufflevector(y[1], y[3], 0, 1, 4, 5);
			x[3] = __builtin_shufflevector(y[1], y[3], 2, 3, 6, 7);
			for (int r = 0; r < 4; r++)
				memcpy(dest + r * to_row, &x[r], sizeof *x);
		}
}

void LB_ISA_NAME(lb_tile_turn_floats)(float *to, const void *from, int64_t row, int dtype, int64_t lines, int64_t n)
{
	float square[16 * 16] = { 0 };
	for (int64_t i = 0; i < 16 && i < lines; i++)
		LB_ISA_NAME(lb_tile_convert)(LB_F32, dtype)(n < 16 ? n : 16, square + i * 16,
							    (const char *)from + i * row, NULL, NULL);
	LB_ISA_NAME(lb_tile_turn)(to, 16, square, 16, false);
}

#endif
