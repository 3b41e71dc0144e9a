/* Unsigned keys in ascending order: few by a sorting network in registers (Batcher, 1968), more split by a pivot until they are few,
 * to and fro between two memories. A pivot is the middle one of a few samples; where these have served badly, the
 * middle between the least and the largest key: no order of keys is slow. */
#include "kernels/simd/tiles.h"

#ifdef __AVX512F__
#include <immintrin.h>

enum { VECTORS = 16 }; /* of a network */

#define INSIDE static inline __attribute__((always_inline))

#define SORT(K, BITS, NUMBERS) \
	enum { K##_LANES = 512 / BITS, K##_FEW = VECTORS * K##_LANES }; \
	typedef uint##BITS##_t K; \
	typedef K K##_lanes __attribute__((vector_size(64))); \
\
	INSIDE unsigned K##_first(int64_t n) \
	{ \
		return n >= K##_LANES ? (1u << K##_LANES) - 1 : n <= 0 ? 0 : (1u << n) - 1; \
	} \
	INSIDE __m512i K##_turned(__m512i x, const int by) \
	{ \
		const K##_lanes at = NUMBERS; \
		return _mm512_permutexvar_epi##BITS((__m512i)(at ^ (K)by), x); \
	} \
	/* Each lane and that whose number differs by `by`: the one with the bit `upper` gets the larger key. */ \
	INSIDE __m512i K##_exchange(__m512i x, const int by, const int upper) \
	{ \
		const K##_lanes at = NUMBERS; \
		__m512i y = K##_turned(x, by); \
		return _mm512_mask_max_epu##BITS(_mm512_min_epu##BITS(x, y), \
						 _mm512_test_epi##BITS##_mask((__m512i)at, \
									      _mm512_set1_epi##BITS(upper)), \
						 x, y); \
	} \
	/* Groups of `lanes` that rise and then fall, or fall and then rise. */ \
	INSIDE __m512i K##_merged(__m512i x, const int lanes) \
	{ \
		if (lanes > 8) \
			x = K##_exchange(x, 8, 8); \
		if (lanes > 4) \
			x = K##_exchange(x, 4, 4); \
		if (lanes > 2) \
			x = K##_exchange(x, 2, 2); \
		return lanes > 1 ? K##_exchange(x, 1, 1) : x; \
	} \
	INSIDE __m512i K##_vector(__m512i x) \
	{ \
		x = K##_exchange(x, 1, 1); \
		x = K##_merged(K##_exchange(x, 3, 2), 2); \
		x = K##_merged(K##_exchange(x, 7, 4), 4); \
		return K##_LANES > 8 ? K##_merged(K##_exchange(x, 15, 8), 8) : x; \
	} \
	INSIDE void K##_exchange_vectors(const int n, __m512i *x, const int by) \
	{ \
		LB_UNROLL \
		for (int i = 0; i < n; i++) \
			if (!(i & by)) { \
				__m512i low = _mm512_min_epu##BITS(x[i], x[i + by]); \
				x[i + by] = _mm512_max_epu##BITS(x[i], x[i + by]); \
				x[i] = low; \
			} \
	} \
	/* Two sorted halves. */ \
	INSIDE void K##_merge(const int half, __m512i *x) \
	{ \
		__m512i upper[VECTORS / 2]; \
		LB_UNROLL \
		for (int i = 0; i < half; i++) \
			upper[i] = K##_turned(x[2 * half - 1 - i], K##_LANES - 1); \
		LB_UNROLL \
		for (int i = 0; i < half; i++) { \
			x[half + i] = _mm512_max_epu##BITS(x[i], upper[i]); \
			x[i] = _mm512_min_epu##BITS(x[i], upper[i]); \
		} \
		if (half > 4) \
			K##_exchange_vectors(2 * half, x, 4); \
		if (half > 2) \
			K##_exchange_vectors(2 * half, x, 2); \
		if (half > 1) \
			K##_exchange_vectors(2 * half, x, 1); \
		LB_UNROLL \
		for (int i = 0; i < 2 * half; i++) \
			x[i] = K##_merged(x[i], K##_LANES); \
	} \
	INSIDE void K##_network(const int vectors, int64_t n, const K *from, K *to) \
	{ \
		__m512i x[VECTORS]; \
		LB_UNROLL \
		for (int i = 0; i < vectors; i++) { \
			unsigned some = K##_first(n - i * K##_LANES); \
			x[i] = _mm512_mask_loadu_epi##BITS(_mm512_set1_epi##BITS(-1), some, from + i * K##_LANES); \
			x[i] = K##_vector(x[i]); \
		} \
		LB_UNROLL \
		for (int i = 0; i < vectors / 2; i++) \
			K##_merge(1, x + 2 * i); \
		LB_UNROLL \
		for (int i = 0; i < vectors / 4; i++) \
			K##_merge(2, x + 4 * i); \
		LB_UNROLL \
		for (int i = 0; i < vectors / 8; i++) \
			K##_merge(4, x + 8 * i); \
		if (vectors == 16) \
			K##_merge(8, x); \
		LB_UNROLL \
		for (int i = 0; i < vectors; i++) \
			_mm512_mask_storeu_epi##BITS(to + i * K##_LANES, K##_first(n - i * K##_LANES), x[i]); \
	} \
	static void K##_few(int64_t n, const K *from, K *to) \
	{ \
		if (n <= K##_LANES) \
			K##_network(1, n, from, to); \
		else if (n <= 4 * K##_LANES) \
			K##_network(4, n, from, to); \
		else if (n <= 8 * K##_LANES) \
			K##_network(8, n, from, to); \
		else \
			K##_network(16, n, from, to); \
	} \
	static K K##_middle_of_samples(int64_t n, const K *x) \
	{ \
		K samples[K##_LANES]; \
		for (int i = 0; i < K##_LANES; i++) \
			samples[i] = x[n / K##_LANES * i + n / (2 * K##_LANES)]; \
		K##_network(1, K##_LANES, samples, samples); \
		return samples[K##_LANES / 2]; \
	} \
	/* The least that is not below the middle of the range; 0 if all are equal. */ \
	static K K##_middle_of_range(int64_t n, const K *x) \
	{ \
		K low = x[0], high = x[0]; \
		for (int64_t i = 0; i < n; i++) { \
			low = x[i] < low ? x[i] : low; \
			high = x[i] > high ? x[i] : high; \
		} \
		return low == high ? 0 : (K)(low + (high - low) / 2 + 1); \
	} \
	/* Keys below the pivot, then the others; returns how many are below. */ \
	static int64_t K##_split(int64_t n, const K *from, K *to, K pivot) \
	{ \
		__m512i p = _mm512_set1_epi##BITS((int##BITS##_t)pivot); \
		int64_t low = 0, high = n; \
		for (int64_t i = 0; i < n; i += K##_LANES) { \
			unsigned some = K##_first(n - i); \
			__m512i x = _mm512_maskz_loadu_epi##BITS(some, from + i); \
			unsigned below = _mm512_mask_cmplt_epu##BITS##_mask(some, x, p), above = some & ~below; \
			int n_below = __builtin_popcount(below), n_above = __builtin_popcount(above); \
			_mm512_mask_storeu_epi##BITS(to + low, K##_first(n_below), \
						     _mm512_maskz_compress_epi##BITS(below, x)); \
			low += n_below; \
			high -= n_above; \
			_mm512_mask_storeu_epi##BITS(to + high, K##_first(n_above), \
						     _mm512_maskz_compress_epi##BITS(above, x)); \
		} \
		return low; \
	} \
	static void K##_sort(int64_t n, K *x, K *other, bool to_other, int samples) \
	{ \
		while (n > K##_FEW) { \
			K pivot = samples > 0 ? K##_middle_of_samples(n, x) : K##_middle_of_range(n, x); \
			int64_t below = pivot ? K##_split(n, x, other, pivot) : 0; \
			if (below == 0 && samples > 0) { /* many equal keys */ \
				samples = 0; \
				continue; \
			} \
			if (below == 0) { \
				if (to_other) \
					memcpy(other, x, (size_t)n * sizeof *x); \
				return; \
			} \
			K##_sort(below, other, x, !to_other, samples - 1); \
			x += below; \
			other += below; \
			n -= below; \
			K *turned = x; \
			x = other; \
			other = turned; \
			to_other = !to_other; \
			samples--; \
		} \
		K##_few(n, x, to_other ? other : x); \
	}
#define NUMBERS_16 { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }
#define NUMBERS_8 { 0, 1, 2, 3, 4, 5, 6, 7 }
SORT(u32, 32, NUMBERS_16)
SORT(u64, 64, NUMBERS_8)

/* Twice the number of splits that halves would take. */
static int samples_of(int64_t n)
{
	return 2 * (64 - __builtin_clzll((unsigned long long)n | 1));
}

void LB_ISA_NAME(lb_tile_sort_u32)(int64_t n, uint32_t *keys, uint32_t *room)
{
	u32_sort(n, keys, room, false, samples_of(n));
}

void LB_ISA_NAME(lb_tile_sort_u64)(int64_t n, uint64_t *keys, uint64_t *room)
{
	u64_sort(n, keys, room, false, samples_of(n));
}
#endif
