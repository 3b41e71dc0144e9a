/* Stores past the caches, and the search for NaN and Inf. */
#include "kernels/simd/tiles.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* A store that does not read its line first saves a third of the traffic of a large
 * copy-like chain; glibc's memcpy does the same, but only in one large call. */
void LB_ISA_NAME(lb_tile_stream)(void *dst, const void *src, int64_t nbytes)
{
	char *d = dst;
	const char *s = src;
#ifdef __x86_64__
	int64_t head = (int64_t)(-(uintptr_t)d & 63);
	if (nbytes >= 256) {
		memcpy(d, s, (size_t)head);
		d += head, s += head, nbytes -= head;
		for (; nbytes >= 64; d += 64, s += 64, nbytes -= 64) {
#if defined __AVX512F__
			_mm512_stream_si512((void *)d, _mm512_loadu_si512(s));
#elif defined __AVX2__
			for (int i = 0; i < 64; i += 32)
				_mm256_stream_si256((void *)(d + i), _mm256_loadu_si256((const void *)(s + i)));
#else
			for (int i = 0; i < 64; i += 16)
				_mm_stream_si128((void *)(d + i), _mm_loadu_si128((const void *)(s + i)));
#endif
		}
	}
#endif
	memcpy(d, s, (size_t)nbytes);
}

#define COUNT(T, mask) \
	do { \
		const T *x = data; \
		for (int64_t at = 0; at < n; at += CHUNK) { \
			int64_t m = n - at < CHUNK ? n - at : CHUNK; \
			T found = 0; \
			_Pragma("omp simd reduction(+:found)") for (int64_t i = 0; i < m; i++) found += \
			    (x[at + i] & (T)(mask)) == (T)(mask); \
			total += (int64_t)found; \
		} \
	} while (0)

int64_t LB_ISA_NAME(lb_tile_nonfinite)(const void *data, int dtype, int64_t n)
{
	enum { CHUNK = 4096 };
	int64_t total = 0;
	switch (dtype) {
	case LB_F16: COUNT(uint16_t, 0x7c00); break;
	case LB_BF16: COUNT(uint16_t, 0x7f80); break;
	case LB_F32: COUNT(uint32_t, 0x7f800000); break;
	case LB_F64: COUNT(uint64_t, 0x7ff0000000000000); break;
	case LB_C64: {
		const uint64_t *x = data;
		const uint64_t low = 0x7f800000, high = low << 32;
		_Pragma("omp simd reduction(+:total)") for (int64_t i = 0; i < n; i++) total +=
		    ((x[i] & low) == low) | ((x[i] & high) == high);
		break;
	}
	}
	return total;
}
