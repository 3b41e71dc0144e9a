/* Elements by their indices. */
#include "kernels/simd/tiles.h"

bool LB_ISA_NAME(lb_tile_indices)(int64_t n, int64_t *indices, int64_t size, bool is_unsigned)
{
	/* A distance from the least, or to the most, that is below 0 says so by its sign, and one that wraps does. */
	uint64_t least = is_unsigned ? 0 : (uint64_t)-size, range = (uint64_t)size - 1 - least, signs = 0;
	_Pragma("omp simd reduction(|:signs)") for (int64_t i = 0; i < n; i++)
	{
		uint64_t above = (uint64_t)indices[i] - least;
		signs |= above | (range - above);
		indices[i] += indices[i] < 0 ? size : 0;
	}
	return !(signs >> 63);
}

/* One by one, several a turn, and not "omp simd": gathers in registers are slower. */
#define EACH_ALONE(i, n) _Pragma("GCC unroll 8") for (int64_t i = 0; i < (n); i++)
#define PICK(T) \
	do { \
		T *d = to; \
		const T *s = from; \
		if (walk == 0 && stride == 1) \
			EACH_ALONE(i, n) d[i] = s[indices[i]]; \
		else \
			EACH_ALONE(i, n) d[i] = s[i * walk + indices[i] * stride]; \
	} while (0)

void LB_ISA_NAME(lb_tile_pick)(int64_t n, void *to, const void *from, const int64_t *indices, int64_t walk,
			       int64_t stride, int64_t bytes)
{
	switch (bytes) {
	case 1: PICK(uint8_t); break;
	case 2: PICK(uint16_t); break;
	case 4: PICK(uint32_t); break;
	case 8: PICK(uint64_t); break;
	}
}
