/* An element becomes an unsigned key that orders as it does. All NaN have one key, and so have both zeros: where that loses
 * bits, they are taken from the line again at the end, in its order. */
#include "kernels/radix.h"

#include <string.h>

#include "base/op.h"
#include "symtab.h"

#define INLINE static inline __attribute__((always_inline))

enum { FEW = 32, LONG = 1 << 12, MANY = 1 << 16, SHORT_DIGIT = 8, LONG_DIGIT = 11, PASSES_MOST = 8, KEYS_ALONE = 1 << 14,
       KEYS_AND_PLACES = 1 << 9 };

/* ---- order ---- */

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

/* Lines that do not fit a near cache are split by their highest digit first: each part does. What the instruction set sorts at
 * once beats digits up to a length: KEYS_ALONE, or KEYS_AND_PLACES where digits leave out the bits below `low`, in which
 * keys are in order already. */
#define SPLIT(K) \
	static __attribute__((noinline)) K *few_##K(K *x, K *other, int64_t n, const int low, const int high) \
	{ \
		if (n <= FEW) { \
			insert_##K(x, n); \
			return x; \
		} \
		return by_digits_##K(x, other, n, low, high, SHORT_DIGIT); \
	} \
	static __attribute__((noinline)) K *many_##K(K *x, K *other, int64_t n, const int low, const int high) \
	{ \
		return by_digits_##K(x, other, n, low, high, LONG_DIGIT); \
	} \
	INLINE bool by_tile_##K(const struct lb_tiles *tiles, K *x, K *other, int64_t n, const int low) \
	{ \
		if (!tiles->sort_##K || n >= (low ? KEYS_AND_PLACES : KEYS_ALONE)) \
			return false; \
		tiles->sort_##K(n, x, other); \
		return true; \
	} \
	INLINE K *split_##K(const struct lb_tiles *tiles, K *x, K *other, int64_t n, const int low) \
	{ \
		enum { BITS = 8 * sizeof(K), TOP = BITS - LONG_DIGIT, PARTS = 1 << LONG_DIGIT }; \
		uint32_t ends[PARTS] = { 0 }, at = 0; \
		for (int64_t i = 0; i < n; i++) \
			ends[x[i] >> TOP]++; \
		for (int v = 0; v < PARTS; v++) { \
			uint32_t here = ends[v]; \
			ends[v] = at; \
			at += here; \
		} \
		for (int64_t i = 0; i < n; i++) \
			other[ends[x[i] >> TOP]++] = x[i]; \
		for (int v = 0; v < PARTS; v++) { \
			int64_t first = v ? ends[v - 1] : 0, m = ends[v] - first; \
			K *part = other + first, *sorted = part; \
			if (m > 1 && !by_tile_##K(tiles, part, x + first, m, low)) \
				sorted = (m < LONG ? few_##K : many_##K)(part, x + first, m, low, TOP); \
			if (sorted != part) \
				memcpy(part, sorted, (size_t)m * sizeof *part); \
		} \
		return other; \
	} \
	INLINE K *sorted_##K(const struct lb_tiles *tiles, K *x, K *other, int64_t n, const int low) \
	{ \
		if (by_tile_##K(tiles, x, other, n, low)) \
			return x; \
		return n < MANY ? few_##K(x, other, n, low, 8 * sizeof(K)) : split_##K(tiles, x, other, n, low); \
	}
SPLIT(u32)
SPLIT(u64)

#define NARROW(K) \
	static K *sorted_##K(const struct lb_tiles *tiles, K *x, K *other, int64_t n, int low) \
	{ \
		(void)tiles; \
		if (n > FEW) \
			return by_digits_##K(x, other, n, low, 8 * sizeof(K), SHORT_DIGIT); \
		insert_##K(x, n); \
		return x; \
	}
NARROW(u8)
NARROW(u16)

/* ---- keys ---- */

/* The bits above which a float without its sign is NaN; 0: integers. */
static uint64_t infinity_of(int dtype)
{
	switch (dtype) {
	case LB_F16: return 0x7c00;
	case LB_BF16: return 0x7f80;
	case LB_F32: return 0x7f800000;
	case LB_F64: return 0x7ff0000000000000;
	default: return 0;
	}
}

struct seen {
	int64_t nan, below; /* below 0 */
	bool negative_zero;
};

#define KEYS(K) \
	INLINE K sign_##K(void) \
	{ \
		return (K)((K)1 << (8 * sizeof(K) - 1)); \
	} \
	/* Of a float's bits. */ \
	INLINE K key_##K(K bits, K infinity) \
	{ \
		const K sign = sign_##K(), all = (K)~(K)0, rest = (K)(bits & (K)~sign); \
		K key = bits & sign ? (K)~bits : (K)(bits | sign); \
		key = rest == 0 ? sign : key; \
		return rest > infinity ? all : key; \
	} \
	INLINE K bits_##K(K key) \
	{ \
		const K sign = sign_##K(); \
		return key & sign ? (K)(key ^ sign) : (K)~key; \
	} \
	static struct seen floats_to_keys_##K(K *to, const K *from, int64_t n, K infinity) \
	{ \
		const K sign = sign_##K(), all = (K)~(K)0; \
		struct seen seen = { 0 }; \
		int64_t nan = 0, below = 0, zeros = 0; \
		for (int64_t i = 0; i < n; i++) { \
			K key = key_##K(from[i], infinity); \
			nan += key == all; \
			below += key < sign; \
			zeros += from[i] == sign; \
			to[i] = key; \
		} \
		seen.nan = nan, seen.below = below, seen.negative_zero = zeros != 0; \
		return seen; \
	} \
	/* `taken`: the line as it was, for what its keys have lost. */ \
	static void keys_to_floats_##K(K *to, const K *keys, const K *taken, int64_t n, struct seen seen, K infinity) \
	{ \
		const K rest = (K)~sign_##K(); \
		for (int64_t i = 0; i < n; i++) \
			to[i] = bits_##K(keys[i]); \
		if (!seen.negative_zero && !seen.nan) \
			return; \
		int64_t zero = seen.below, nan = n - seen.nan; \
		for (int64_t i = 0; i < n; i++) \
			if ((taken[i] & rest) == 0) \
				to[zero++] = taken[i]; \
			else if ((taken[i] & rest) > infinity) \
				to[nan++] = taken[i]; \
	} \
	static bool sort_floats_##K(const struct lb_tiles *tiles, K *values, K *room, int64_t n, K infinity) \
	{ \
		/* keys go between `room` and its second half, so that the line itself stays */ \
		struct seen seen = floats_to_keys_##K(room, values, n, infinity); \
		if (!seen.negative_zero && !seen.nan) { \
			keys_to_floats_##K(values, sorted_##K(tiles, room, values, n, 0), NULL, n, seen, infinity); \
			return false; \
		} \
		K *kept = room + n; \
		memcpy(kept, values, (size_t)n * sizeof *kept); \
		keys_to_floats_##K(values, sorted_##K(tiles, room, values, n, 0), kept, n, seen, infinity); \
		return seen.nan > 0; \
	} \
	/* flip: the sign's bit, of signed integers */ \
	static void sort_ints_##K(const struct lb_tiles *tiles, K *values, K *room, int64_t n, K flip) \
	{ \
		for (int64_t i = 0; i < n; i++) \
			room[i] = values[i] ^ flip; \
		const K *sorted = sorted_##K(tiles, room, values, n, 0); \
		for (int64_t i = 0; i < n; i++) \
			values[i] = sorted[i] ^ flip; \
	} \
	static bool sort_##K(const struct lb_tiles *tiles, int dtype, void *values, void *room, int64_t n) \
	{ \
		if (lb_dtype_is_float(dtype)) \
			return sort_floats_##K(tiles, values, room, n, (K)infinity_of(dtype)); \
		sort_ints_##K(tiles, values, room, n, lb_dtype_is_signed_int(dtype) ? sign_##K() : (K)0); \
		return false; \
	}
KEYS(u8)
KEYS(u16)
KEYS(u32)
KEYS(u64)

bool lb_sort_values(const struct lb_tiles *tiles, int dtype, int64_t n, void *values, void *room)
{
	if (n <= 1 && !lb_dtype_is_float(dtype))
		return false;
	switch (lb_dtypes[dtype].bytes) {
	case 1: return sort_u8(tiles, dtype, values, room, n);
	case 2: return sort_u16(tiles, dtype, values, room, n);
	case 4: return sort_u32(tiles, dtype, values, room, n);
	default: return sort_u64(tiles, dtype, values, room, n);
	}
}

/* ---- indices: keys above the places they came from ---- */

#define PAIRS(K) \
	do { \
		const K *from = values, infinity = (K)infinity_of(dtype); \
		const K flip = lb_dtype_is_signed_int(dtype) ? sign_##K() : (K)0; \
		for (int64_t i = 0; i < n; i++) { \
			K key = infinity ? key_##K(from[i], infinity) : (K)(from[i] ^ flip); \
			nan += infinity && key == (K)~(K)0; \
			room[i] = (uint64_t)key << 32 | (uint64_t)i; \
		} \
	} while (0)

bool lb_sort_indices(const struct lb_tiles *tiles, int dtype, int64_t n, const void *values, uint32_t *to,
		     uint64_t *room)
{
	int64_t nan = 0;
	uint64_t *sorted = room;

	switch (lb_dtypes[dtype].bytes) {
	case 1: PAIRS(u8); break;
	case 2: PAIRS(u16); break;
	default: PAIRS(u32); break;
	}
	if (n > 0)
		sorted = sorted_u64(tiles, room, room + n, n, 32);
	for (int64_t i = 0; i < n; i++)
		to[i] = (uint32_t)sorted[i];
	return nan > 0;
}
