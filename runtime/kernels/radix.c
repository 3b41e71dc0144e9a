/* Keys in order: few by insertion, or by what the instruction set has for it; more by counting their digits, from the lowest on.
 * Long lines are split by their highest digits first, on several cores. */
#include "kernels/radix.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
	FEW = 32,
	LONG = 1 << 12,
	MANY = 1 << 16,
	SHORT_DIGIT = 8,
	LONG_DIGIT = 11,
	PASSES_MOST = 8,
	KEYS_AND_PLACES = 1 << 9,
	PARTS = 1 << LONG_DIGIT,
	PIECES_MOST = 8,
	GRAIN = 1 << 15
};

#define SORT(K) \
	static void insert_##K(K *x, int64_t n) \
	{ \
		for (int64_t i = 1; i < n; i++) { \
			K key = x[i]; \
			int64_t at = i; \
			for (; at > 0 && x[at - 1] > key; at--) \
				x[at] = x[at - 1]; \
			x[at] = key; \
		} \
	} \
	/* By digits of the bits [low, high); those in which all agree are passed over. Returns where the result is. */ \
	INLINE K *by_digits_##K(K *x, K *other, int64_t n, const int low, const int high, const int digit) \
	{ \
		const int passes = (high - low + digit - 1) / digit; \
		const K mask = (K)((1 << digit) - 1); \
		uint32_t counts[PASSES_MOST][1 << LONG_DIGIT]; \
		for (int p = 0; p < passes; p++) \
			memset(counts[p], 0, sizeof(uint32_t) << digit); \
		for (int64_t i = 0; i < n; i++) \
			for (int p = 0; p < passes; p++) \
				counts[p][x[i] >> (low + p * digit) & mask]++; \
		for (int p = 0; p < passes; p++) { \
			uint32_t *count = counts[p], at = 0; \
			const int shift = low + p * digit; \
			if (count[x[0] >> shift & mask] == (uint32_t)n) \
				continue; \
			for (int v = 0; v < 1 << digit; v++) { \
				uint32_t here = count[v]; \
				count[v] = at; \
				at += here; \
			} \
			for (int64_t i = 0; i < n; i++) \
				other[count[x[i] >> shift & mask]++] = x[i]; \
			K *sorted = other; \
			other = x; \
			x = sorted; \
		} \
		return x; \
	}
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
SORT(u8)
SORT(u16)
SORT(u32)
SORT(u64)

/* Lines that do not fit a near cache are split by their highest digit first: each part does. A digit begins with the highest bit
 * in which keys differ. What the instruction set sorts at once beats digits, or does up to KEYS_AND_PLACES where these leave out
 * the bits below `low`, in which keys are in order already: whole, unless several cores can share the parts. */
#define SPLIT(K) \
	/* By the digits of the bits from `low` to `high` and, in the last one, some above, in which all agree. */ \
	static __attribute__((noinline)) K *few_##K(K *x, K *other, int64_t n, const int low, const int high) \
	{ \
		if (n <= FEW) { \
			insert_##K(x, n); \
			return x; \
		} \
		switch ((high - low + SHORT_DIGIT - 1) / SHORT_DIGIT) { \
		case 1: return by_digits_##K(x, other, n, low, low + SHORT_DIGIT, SHORT_DIGIT); \
		case 2: return by_digits_##K(x, other, n, low, low + 2 * SHORT_DIGIT, SHORT_DIGIT); \
		case 3: return by_digits_##K(x, other, n, low, low + 3 * SHORT_DIGIT, SHORT_DIGIT); \
		case 4: return by_digits_##K(x, other, n, low, low + 4 * SHORT_DIGIT, SHORT_DIGIT); \
		default: return by_digits_##K(x, other, n, low, high, SHORT_DIGIT); \
		} \
	} \
	static __attribute__((noinline)) K *many_##K(K *x, K *other, int64_t n, const int low, const int high) \
	{ \
		switch ((high - low + LONG_DIGIT - 1) / LONG_DIGIT) { \
		case 1: return by_digits_##K(x, other, n, low, low + LONG_DIGIT, LONG_DIGIT); \
		case 2: return by_digits_##K(x, other, n, low, low + 2 * LONG_DIGIT, LONG_DIGIT); \
		default: return by_digits_##K(x, other, n, low, high, LONG_DIGIT); \
		} \
	} \
	INLINE bool by_tile_##K(const struct lb_tiles *tiles, K *x, K *other, int64_t n, const int low) \
	{ \
		if (!tiles->sort_##K || (low && n >= KEYS_AND_PLACES)) \
			return false; \
		tiles->sort_##K(n, x, other); \
		return true; \
	} \
	struct split_##K { \
		const struct lb_tiles *tiles; \
		K *x, *other; \
		int64_t n, pieces; \
		int low, shift; \
		K differ; /* bits that are not the same in all keys */ \
		uint32_t counts[PIECES_MOST][PARTS]; /* of each piece; then where its next key of a part goes */ \
		uint32_t starts[PARTS + 1]; \
	}; \
	static void compare_##K(void *arg, int64_t begin, int64_t end) \
	{ \
		struct split_##K *s = arg; \
		K differ = 0; \
		for (int64_t i = begin; i < end; i++) \
			differ |= s->x[i] ^ s->x[0]; \
		__atomic_fetch_or(&s->differ, differ, __ATOMIC_RELAXED); \
	} \
	static void count_##K(void *arg, int64_t begin, int64_t end) \
	{ \
		struct split_##K *s = arg; \
		for (int64_t p = begin; p < end; p++) \
			for (int64_t i = s->n * p / s->pieces; i < s->n * (p + 1) / s->pieces; i++) \
				s->counts[p][s->x[i] >> s->shift & (PARTS - 1)]++; \
	} \
	static void scatter_##K(void *arg, int64_t begin, int64_t end) \
	{ \
		struct split_##K *s = arg; \
		for (int64_t p = begin; p < end; p++) \
			for (int64_t i = s->n * p / s->pieces; i < s->n * (p + 1) / s->pieces; i++) \
				s->other[s->counts[p][s->x[i] >> s->shift & (PARTS - 1)]++] = s->x[i]; \
	} \
	static void sort_parts_##K(void *arg, int64_t begin, int64_t end) \
	{ \
		struct split_##K *s = arg; \
		for (int64_t v = begin; v < end; v++) { \
			int64_t first = s->starts[v], m = s->starts[v + 1] - first; \
			K *part = s->other + first, *sorted = part; \
			if (m > 1 && s->shift > s->low && !by_tile_##K(s->tiles, part, s->x + first, m, s->low)) \
				sorted = (m < LONG ? few_##K : many_##K)(part, s->x + first, m, s->low, s->shift); \
			if (sorted != part) \
				memcpy(part, sorted, (size_t)m * sizeof *part); \
		} \
	} \
	static __attribute__((noinline)) K *split_##K(const struct lb_exec *exec, const struct lb_tiles *tiles, K *x, \
						      K *other, int64_t n, int low, int64_t pieces) \
	{ \
		struct split_##K s = { .tiles = tiles, .x = x, .other = other, .n = n, .pieces = pieces, .low = low }; \
		lb_parallel(exec, n, GRAIN, compare_##K, &s); \
		if (!(s.differ >> low)) \
			return x; \
		int bits = 64 - __builtin_clzll(s.differ); \
		s.shift = bits - LONG_DIGIT > low ? bits - LONG_DIGIT : low; \
		lb_parallel(exec, pieces, 1, count_##K, &s); \
		uint32_t at = 0; \
		for (int v = 0; v < PARTS; v++) { \
			s.starts[v] = at; \
			for (int64_t p = 0; p < pieces; p++) { \
				uint32_t here = s.counts[p][v]; \
				s.counts[p][v] = at; \
				at += here; \
			} \
		} \
		s.starts[PARTS] = at; \
		lb_parallel(exec, pieces, 1, scatter_##K, &s); \
		lb_parallel(exec, PARTS, 1, sort_parts_##K, &s); \
		return other; \
	} \
	INLINE K *sorted_##K(const struct lb_exec *exec, const struct lb_tiles *tiles, K *x, K *other, int64_t n, \
			     const int low) \
	{ \
		int64_t pieces = n >= MANY && exec->threads ? lb_parallel_width() : 1; \
		if (pieces == 1 && by_tile_##K(tiles, x, other, n, low)) \
			return x; \
		return n < MANY \
			   ? few_##K(x, other, n, low, 8 * sizeof(K)) \
			   : split_##K(exec, tiles, x, other, n, low, pieces < PIECES_MOST ? pieces : PIECES_MOST); \
	}
SPLIT(u32)
SPLIT(u64)

#define NARROW(K) \
	static K *sorted_##K(const struct lb_exec *exec, const struct lb_tiles *tiles, K *x, K *other, int64_t n, \
			     int low) \
	{ \
		(void)exec, (void)tiles; \
		if (n > FEW) \
			return by_digits_##K(x, other, n, low, 8 * sizeof(K), SHORT_DIGIT); \
		insert_##K(x, n); \
		return x; \
	}
NARROW(u8)
NARROW(u16)

void *lb_sort_keys(const struct lb_exec *exec, const struct lb_tiles *tiles, int bytes, int64_t n, void *keys,
		   void *other)
{
	switch (bytes) {
	case 1: return sorted_u8(exec, tiles, keys, other, n, 0);
	case 2: return sorted_u16(exec, tiles, keys, other, n, 0);
	case 4: return sorted_u32(exec, tiles, keys, other, n, 0);
	default: return sorted_u64(exec, tiles, keys, other, n, 0);
	}
}

uint64_t *lb_sort_keys_above(const struct lb_exec *exec, const struct lb_tiles *tiles, int64_t n, uint64_t *keys,
			     uint64_t *other)
{
	return sorted_u64(exec, tiles, keys, other, n, 32);
}
