/* Floats as unsigned keys that order as they do, and back. All NaN have the largest key, and both zeros have one. */
#include "kernels/simd/tiles.h"

/* Elements whose counts fit their own width. */
enum { STRETCH = 1 << 12 };

#define KEYS(K) \
	static void to_keys_##K(int64_t n, K *to, const K *from, K infinity, struct lb_keys_seen *seen) \
	{ \
		const K sign = (K)((K)1 << (8 * sizeof(K) - 1)), all = (K) ~(K)0; \
		for (int64_t at = 0; at < n; at += STRETCH) { \
			int64_t end = n - at < STRETCH ? n : at + STRETCH; \
			K nan = 0, below = 0, zeros = 0; \
			_Pragma("omp simd reduction(+ : nan, below, zeros)") for (int64_t i = at; i < end; i++) \
			{ \
				K bits = from[i], rest = (K)(bits & (K)~sign); \
				K key = bits & sign ? (K)~bits : (K)(bits | sign); \
				key = rest == 0 ? sign : key; \
				key = rest > infinity ? all : key; \
				nan = (K)(nan + (key == all)); \
				below = (K)(below + (key < sign)); \
				zeros = (K)(zeros + (bits == sign)); \
				to[i] = key; \
			} \
			seen->nan += nan; \
			seen->below += below; \
			seen->negative_zeros += zeros; \
		} \
	} \
	static void from_keys_##K(int64_t n, K *to, const K *from) \
	{ \
		const K sign = (K)((K)1 << (8 * sizeof(K) - 1)); \
		LB_EACH(i, n) to[i] = from[i] & sign ? (K)(from[i] ^ sign) : (K)~from[i]; \
	}
KEYS(uint16_t)
KEYS(uint32_t)
KEYS(uint64_t)

void LB_ISA_NAME(lb_tile_to_keys)(int64_t n, void *to, const void *from, int bytes, uint64_t infinity,
				  struct lb_keys_seen *seen)
{
	if (bytes == 2)
		to_keys_uint16_t(n, to, from, (uint16_t)infinity, seen);
	else if (bytes == 4)
		to_keys_uint32_t(n, to, from, (uint32_t)infinity, seen);
	else
		to_keys_uint64_t(n, to, from, infinity, seen);
}

void LB_ISA_NAME(lb_tile_from_keys)(int64_t n, void *to, const void *from, int bytes)
{
	if (bytes == 2)
		from_keys_uint16_t(n, to, from);
	else if (bytes == 4)
		from_keys_uint32_t(n, to, from);
	else
		from_keys_uint64_t(n, to, from);
}
