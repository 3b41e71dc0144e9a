/* Transposes of 16 by 16 elements of 4 bytes, in registers. */
#include "kernels/simd/tiles.h"
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#if defined __AVX512F__

void LB_ISA_NAME(lb_tile_turn)(void *to, int64_t to_row, const void *from, int64_t from_row, bool stream)
{
	__m512i a[16], b[16];
	LB_UNROLL
	for (int i = 0; i < 16; i++)
		a[i] = _mm512_loadu_si512((const uint32_t *)from + i * from_row);
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
	LB_UNROLL
	for (int i = 0; i < 16; i++) {
		void *row = (uint32_t *)to + i * to_row;
		if (stream)
			_mm512_stream_si512(row, b[i]);
		else
			_mm512_storeu_si512(row, b[i]);
	}
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

#endif
