/* An element becomes an unsigned key that orders as it does. All NaN have one key, and so have both zeros: where that loses
 * bits, they are taken from the line again at the end, in its order. */
#include "kernels/sort_line.h"

#include <string.h>

#include "base/op.h"
#include "kernels/radix.h"
#include "symtab.h"

enum { AT_ONCE = 1 << 10, GRAIN = 1 << 15 };

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

struct line {
	const struct lb_tiles *tiles;
	int bytes;
	uint64_t infinity, flip;
	const char *from; /* elements, or keys */
	char *to;
	struct lb_keys_seen seen;
};

#define FLIP(K) \
	for (int64_t i = 0; i < n; i++) \
	((K *)(void *)to)[i] = (K)(((const K *)(const void *)from)[i] ^ (K)line->flip)

static void flip(const struct line *line, int64_t n, char *to, const char *from)
{
	switch (line->bytes) {
	case 1: FLIP(uint8_t); break;
	case 2: FLIP(uint16_t); break;
	case 4: FLIP(uint32_t); break;
	default: FLIP(uint64_t); break;
	}
}

static void make_keys(struct line *line, int64_t n, char *to, const char *from)
{
	struct lb_keys_seen seen = { 0 };
	if (!line->infinity) {
		flip(line, n, to, from);
		return;
	}
	line->tiles->to_keys(n, to, from, line->bytes, line->infinity, &seen);
	__atomic_fetch_add(&line->seen.nan, seen.nan, __ATOMIC_RELAXED);
	__atomic_fetch_add(&line->seen.below, seen.below, __ATOMIC_RELAXED);
	__atomic_fetch_add(&line->seen.negative_zeros, seen.negative_zeros, __ATOMIC_RELAXED);
}

static void to_keys(void *arg, int64_t begin, int64_t end)
{
	struct line *line = arg;
	make_keys(line, end - begin, line->to + begin * line->bytes, line->from + begin * line->bytes);
}

static void from_keys(void *arg, int64_t begin, int64_t end)
{
	const struct line *line = arg;
	char *to = line->to + begin * line->bytes;
	const char *from = line->from + begin * line->bytes;
	if (line->infinity)
		line->tiles->from_keys(end - begin, to, from, line->bytes);
	else
		flip(line, end - begin, to, from);
}

/* What keys have lost of zeros and NaN is taken from the line as it was. */
#define RESTORE(K) \
	do { \
		const K *bits = taken, rest = (K)((K) ~(K)0 >> 1); \
		K *to = values; \
		for (int64_t i = 0; i < n; i++) \
			if ((bits[i] & rest) == 0) \
				to[zero++] = bits[i]; \
			else if ((bits[i] & rest) > line->infinity) \
				to[nan++] = bits[i]; \
	} while (0)

static void restore(const struct line *line, int64_t n, void *values, const void *taken)
{
	int64_t zero = line->seen.below, nan = n - line->seen.nan;
	if (line->bytes == 2)
		RESTORE(uint16_t);
	else if (line->bytes == 4)
		RESTORE(uint32_t);
	else
		RESTORE(uint64_t);
}

bool lb_sort_values(const struct lb_exec *exec, const struct lb_tiles *tiles, int dtype, int64_t n, const void *values,
		    void *to, void *room)
{
	int bytes = lb_dtypes[dtype].bytes;
	struct line line = { .tiles = tiles,
			     .bytes = bytes,
			     .infinity = infinity_of(dtype),
			     .flip = flip_of(dtype),
			     .from = values,
			     .to = room };
	if (n <= 1 && !line.infinity) {
		memmove(to, values, (size_t)(n * bytes));
		return false;
	}
	lb_parallel(exec, n, GRAIN, to_keys, &line);
	bool lossy = line.seen.negative_zeros || line.seen.nan;
	const void *taken = values;
	if (lossy && values == to)
		taken = memcpy((char *)room + n * bytes, values, (size_t)(n * bytes));
	line.from = lb_sort_keys(exec, tiles, bytes, n, room, to);
	line.to = to;
	lb_parallel(exec, n, GRAIN, from_keys, &line);
	if (lossy)
		restore(&line, n, to, taken);
	return line.seen.nan > 0;
}

/* ---- indices: keys above the places they came from ---- */

#define PAIRS(K) \
	for (int64_t i = 0; i < m; i++) \
	pairs[at + i] = (uint64_t)((const K *)(const void *)some)[i] << 32 | (uint64_t)(at + i)

static void to_pairs(void *arg, int64_t begin, int64_t end)
{
	struct line *line = arg;
	uint64_t *pairs = (uint64_t *)(void *)line->to;
	for (int64_t at = begin; at < end; at += AT_ONCE) {
		_Alignas(64) char some[AT_ONCE * sizeof(uint32_t)];
		int64_t m = end - at < AT_ONCE ? end - at : AT_ONCE;
		make_keys(line, m, some, line->from + at * line->bytes);
		if (line->bytes == 1)
			PAIRS(uint8_t);
		else if (line->bytes == 2)
			PAIRS(uint16_t);
		else
			PAIRS(uint32_t);
	}
}

static void to_places(void *arg, int64_t begin, int64_t end)
{
	const struct line *line = arg;
	const uint64_t *pairs = (const uint64_t *)(const void *)line->from;
	for (int64_t i = begin; i < end; i++)
		((uint32_t *)(void *)line->to)[i] = (uint32_t)pairs[i];
}

bool lb_sort_indices(const struct lb_exec *exec, const struct lb_tiles *tiles, int dtype, int64_t n, const void *values,
		     uint32_t *to, uint64_t *room)
{
	struct line line = { .tiles = tiles,
			     .bytes = lb_dtypes[dtype].bytes,
			     .infinity = infinity_of(dtype),
			     .flip = flip_of(dtype),
			     .from = values,
			     .to = (char *)room };
	if (n == 0)
		return false;
	lb_parallel(exec, n, GRAIN, to_pairs, &line);
	line.from = (const char *)lb_sort_keys_above(exec, tiles, n, room, room + n);
	line.to = (char *)to;
	lb_parallel(exec, n, GRAIN, to_places, &line);
	return line.seen.nan > 0;
}
