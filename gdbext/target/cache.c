#include "target/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"

enum { LINE_BITS = 14, LINE = 1 << LINE_BITS, LINES_BITS = 10, LINES = 1 << LINES_BITS, PIECE = 96 << 10 };

struct line {
	uint64_t tag; /* the line's number, plus 1; 0: empty */
	const char *bytes; /* NULL: not all of it can be read */
	char *own;
};

struct lbx_cache {
	struct lbx_target view; /* first */
	struct lbx_target *target;
	struct line lines[LINES];
	char *piece; /* what is read onward; its bytes stay in the processor's cache while they are looked at */
	uint64_t piece_at;
	size_t piece_bytes;
	uint64_t next;   /* where who reads onward is expected to go on */
	uint64_t broken; /* up to there a piece could not be read */
	bool is_mapped;  /* what was looked at last lies in the target's own pages */
};

static bool view_read(struct lbx_target *view, uint64_t address, void *to, size_t n)
{
	return lbx_cache_read((struct lbx_cache *)view, address, to, n);
}

struct lbx_cache *lbx_cache_create(struct lbx_target *target)
{
	struct lbx_cache *cache = calloc(1, sizeof *cache);
	if (!cache) {
		lb_fail("out of memory");
		return NULL;
	}
	static const struct lbx_target_ops ops = { .read = view_read };
	cache->view = (struct lbx_target){ .ops = &ops, .liveness = target->liveness };
	cache->target = target;
	return cache;
}

void lbx_cache_destroy(struct lbx_cache *cache)
{
	if (!cache)
		return;
	for (int i = 0; i < LINES; i++)
		free(cache->lines[i].own);
	free(cache->piece);
	free(cache);
}

struct lbx_target *lbx_cache_view(struct lbx_cache *cache)
{
	return &cache->view;
}

void lbx_cache_clear(struct lbx_cache *cache)
{
	for (int i = 0; i < LINES; i++)
		cache->lines[i].tag = 0;
	cache->piece_bytes = 0;
	cache->next = cache->broken = 0;
}

void lbx_cache_use(struct lbx_cache *cache, struct lbx_target *target)
{
	for (int i = 0; cache->target != target && i < LINES; i++)
		if (cache->lines[i].bytes != cache->lines[i].own)
			cache->lines[i].tag = 0;
	cache->target = target;
}

/* The line that holds an address, filled; NULL, without error, if it cannot be read. */
static const char *line_at(struct lbx_cache *cache, uint64_t address)
{
	uint64_t number = address >> LINE_BITS;
	struct line *line = &cache->lines[number * 0x9e3779b97f4a7c15ULL >> (64 - LINES_BITS)];

	if (line->tag == number + 1)
		return line->bytes;
	uint64_t base = number << LINE_BITS;
	if (!lbx_target_read_ahead(cache->target, base, LINE))
		return NULL; /* what is asked for is read by itself */
	const char *mapped = lbx_target_map(cache->target, base, LINE);
	if (!mapped) {
		bool clean = lb_ok();
		if (!line->own)
			line->own = malloc(LINE);
		line->tag = 0;
		if (!line->own)
			return NULL;
		if (!lbx_target_read(cache->target, base, line->own, LINE)) {
			if (clean)
				lb_clear_error();
			line->bytes = NULL;
			line->tag = number + 1;
			return NULL;
		}
	}
	cache->is_mapped = mapped;
	line->bytes = mapped ? mapped : line->own;
	line->tag = number + 1;
	return line->bytes;
}

const void *lbx_cache_at(struct lbx_cache *cache, uint64_t address, size_t n, void *scratch)
{
	size_t within = address & (LINE - 1);

	if (n <= LINE - within) {
		const char *line = line_at(cache, address);
		if (line)
			return line + within;
	} else if (lbx_target_runs(cache->target)) {
		/* lines are of different moments */
		return lbx_target_read(cache->target, address, scratch, n) ? scratch : NULL;
	}
	return lbx_cache_read(cache, address, scratch, n) ? scratch : NULL;
}

/* False, without an error: not all of it can be read. */
static bool read_piece(struct lbx_cache *cache, uint64_t address, size_t n)
{
	bool clean = lb_ok();

	cache->piece_bytes = 0;
	if (!cache->piece && !(cache->piece = malloc(PIECE)))
		return false;
	if (!lbx_target_read_ahead(cache->target, address, n) ||
	    !lbx_target_read(cache->target, address, cache->piece, n)) {
		if (clean && lb_error_cause() != LB_INTERRUPTED)
			lb_clear_error();
		return false;
	}
	cache->piece_at = address;
	cache->piece_bytes = n;
	return true;
}

const void *lbx_cache_onward(struct lbx_cache *cache, uint64_t address, size_t n, uint64_t end, void *scratch)
{
	uint64_t within = address - cache->piece_at;
	bool goes_on = address == cache->next;

	cache->next = address + n;
	if (within < cache->piece_bytes && n <= cache->piece_bytes - within)
		return cache->piece + within;
	if (!goes_on || end - address < n || n > PIECE || address < cache->broken || cache->is_mapped ||
	    lbx_target_runs(cache->target))
		return lbx_cache_at(cache, address, n, scratch);
	size_t bytes = end - address < PIECE ? (size_t)(end - address) : PIECE / n * n;
	if (read_piece(cache, address, bytes))
		return cache->piece;
	cache->broken = address + bytes;
	return lbx_cache_at(cache, address, n, scratch);
}

bool lbx_cache_read(struct lbx_cache *cache, uint64_t address, void *to, size_t n)
{
	size_t within = address & (LINE - 1);

	/* more than two lines are not worth keeping */
	if (n > LINE || address + n < address)
		return lbx_target_read(cache->target, address, to, n);
	size_t first = n < LINE - within ? n : LINE - within;
	const char *line = line_at(cache, address);
	if (!line)
		return lbx_target_read(cache->target, address, to, n);
	memcpy(to, line + within, first);
	if (first == n)
		return true;
	line = line_at(cache, address + first);
	if (!line)
		return lbx_target_read(cache->target, address + first, (char *)to + first, n - first);
	memcpy((char *)to + first, line, n - first);
	return true;
}

bool lbx_cache_read_string(struct lbx_cache *cache, uint64_t address, char *to, size_t size)
{
	size_t within = address & (LINE - 1);
	const char *line = size ? line_at(cache, address) : NULL;

	if (line) {
		const char *from = line + within;
		size_t room = LINE - within < size - 1 ? LINE - within : size - 1;
		size_t length = strnlen(from, room);
		if (length < room || room == size - 1) {
			memcpy(to, from, length);
			to[length] = '\0';
			return true;
		}
	}
	return lbx_target_read_string(cache->target, address, to, size);
}
