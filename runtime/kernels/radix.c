/* An element becomes an unsigned key that orders as it does. All NaN have one key, and so have both zeros: where that loses
 * bits, they are taken from the line again at the end, in its order. */
#include "kernels/radix.h"

#include <string.h>

#include "base/op.h"
#include "symtab.h"

#define INLINE static inline __attribute__((always_inline))

enum { FEW = 32, LONG = 1 << 12, MANY = 1 << 16, SHORT_DIGIT = 8, LONG_DIGIT = 11, PASSES_MOST = 8, KEYS_AND_PLACES = 1 << 9,
       AT_ONCE = 1 << 10 };

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
 * once beats digits, or does up to KEYS_AND_PLACES where these leave out the bits below `low`, in which keys are in order
 * already. */
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
		if (!tiles->sort_##K || (low && n >= KEYS_AND_PLACES)) \
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

/* The bits of infinity: a float whose bits are above, but for its sign, is NaN. 0: integers. */
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

/* What is added to signed integers. */
static uint64_t flip_of(int dtype)
{
	return lb_dtype_is_signed_int(dtype) ? (uint64_t)1 << (8 * lb_dtypes[dtype].bytes - 1) : 0;
}

#define FLOATS(K) \
	/* What keys have lost of zeros and NaN is taken from the line as it was. */ \
	static void restore_##K(K *values, const K *taken, int64_t n, const struct lb_keys_seen *seen, K infinity) \
	{ \
		const K rest = (K)((K)~(K)0 >> 1); \
		int64_t zero = seen->below, nan = n - seen->nan; \
		for (int64_t i = 0; i < n; i++) \
			if ((taken[i] & rest) == 0) \
				values[zero++] = taken[i]; \
			else if ((taken[i] & rest) > infinity) \
				values[nan++] = taken[i]; \
	} \
	static bool sort_floats_##K(const struct lb_tiles *tiles, K *values, K *room, int64_t n, K infinity) \
	{ \
		struct lb_keys_seen seen = { 0 }; \
		tiles->to_keys(n, room, values, sizeof(K), infinity, &seen); \
		bool lossy = seen.negative_zeros || seen.nan; \
		K *taken = room + n; \
		if (lossy) \
			memcpy(taken, values, (size_t)n * sizeof *taken); \
		tiles->from_keys(n, values, sorted_##K(tiles, room, values, n, 0), sizeof(K)); \
		if (lossy) \
			restore_##K(values, taken, n, &seen, infinity); \
		return seen.nan > 0; \
	}
FLOATS(u16)
FLOATS(u32)
FLOATS(u64)

#define INTS(K) \
	static void sort_ints_##K(const struct lb_tiles *tiles, K *values, K *room, int64_t n, K flip) \
	{ \
		for (int64_t i = 0; i < n; i++) \
			room[i] = values[i] ^ flip; \
		const K *sorted = sorted_##K(tiles, room, values, n, 0); \
		for (int64_t i = 0; i < n; i++) \
			values[i] = sorted[i] ^ flip; \
	}
INTS(u8)
INTS(u16)
INTS(u32)
INTS(u64)

bool lb_sort_values(const struct lb_tiles *tiles, int dtype, int64_t n, void *values, void *room)
{
	if (n <= 1 && !lb_dtype_is_float(dtype))
		return false;
	uint64_t infinity = infinity_of(dtype), flip = flip_of(dtype);
	switch (lb_dtypes[dtype].bytes) {
	case 1: sort_ints_u8(tiles, values, room, n, (u8)flip); return false;
	case 2:
		if (infinity)
			return sort_floats_u16(tiles, values, room, n, (u16)infinity);
		sort_ints_u16(tiles, values, room, n, (u16)flip);
		return false;
	case 4:
		if (infinity)
			return sort_floats_u32(tiles, values, room, n, (u32)infinity);
		sort_ints_u32(tiles, values, room, n, (u32)flip);
		return false;
	default:
		if (infinity)
			return sort_floats_u64(tiles, values, room, n, infinity);
		sort_ints_u64(tiles, values, room, n, flip);
		return false;
	}
}

/* ---- indices: keys above the places they came from ---- */

/* Of m elements; integers stay as they are. */
static void keys_of(const struct lb_tiles *tiles, int dtype, int64_t m, const void *from, void *keys,
		    struct lb_keys_seen *seen)
{
	uint64_t infinity = infinity_of(dtype);
	int bytes = lb_dtypes[dtype].bytes;
	if (infinity)
		tiles->to_keys(m, keys, from, bytes, infinity, seen);
	else
		memcpy(keys, from, (size_t)(m * bytes));
}

#define PAIRS(K) \
	do { \
		const K *keys = (const K *)(const void *)some; \
		for (int64_t i = 0; i < m; i++) \
			room[at + i] = (uint64_t)(K)(keys[i] ^ flip) << 32 | (uint64_t)(at + i); \
	} while (0)

bool lb_sort_indices(const struct lb_tiles *tiles, int dtype, int64_t n, const void *values, uint32_t *to,
		     uint64_t *room)
{
	struct lb_keys_seen seen = { 0 };
	uint64_t *sorted = room, flip = flip_of(dtype);
	int bytes = lb_dtypes[dtype].bytes;

	for (int64_t at = 0; at < n; at += AT_ONCE) {
		_Alignas(64) char some[AT_ONCE * sizeof(u32)];
		int64_t m = n - at < AT_ONCE ? n - at : AT_ONCE;
		keys_of(tiles, dtype, m, (const char *)values + at * bytes, some, &seen);
		switch (bytes) {
		case 1: PAIRS(u8); break;
		case 2: PAIRS(u16); break;
		default: PAIRS(u32); break;
		}
	}
	if (n > 0)
		sorted = sorted_u64(tiles, room, room + n, n, 32);
	for (int64_t i = 0; i < n; i++)
		to[i] = (uint32_t)sorted[i];
	return seen.nan > 0;
}
