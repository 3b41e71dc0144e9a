#include "target/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "target/allocations.h"

enum { PIECE = 1 << 20, PAGE = 1 << 12 };

struct run {
	const struct lbx_search *search;
	struct lbx_target *target; /* as directly as can be, without keeping what is read */
	char *scratch;             /* for a piece; NULL before it is needed */
	int64_t done;              /* bytes */
};

/* What can be read of a piece, the rest as zeros; false where that is nothing. */
static bool read_piece(struct lbx_target *target, uint64_t address, char *to, size_t n)
{
	size_t half = n / 2 / PAGE * PAGE;
	char byte;

	if (lbx_target_try_read(target, address, to, n))
		return true;
	memset(to, 0, n);
	/* nothing is where there is nothing at either end: memory of a device may be large */
	if (half == 0 || (!lbx_target_try_read(target, address, &byte, 1) &&
			  !lbx_target_try_read(target, address + n - 1, &byte, 1)))
		return false;
	bool first = read_piece(target, address, to, half);
	return read_piece(target, address + half, to + half, n - half) || first;
}

/* *ret_done: how much of what is left of a range has been looked at, or passed over. */
static bool search_piece(struct run *r, const struct lbx_range *rest, uint64_t *ret_done)
{
	const struct lbx_search *search = r->search;
	size_t most = PIECE + search->bytes - 1, n = (size_t)(rest->size < most ? rest->size : most);
	const char *piece = lbx_target_map(r->target, rest->start, n);

	*ret_done = rest->size < PIECE ? rest->size : PIECE;
	if (!piece && !r->scratch && !(r->scratch = malloc(most)))
		return lb_fail("out of memory");
	if (!piece && read_piece(r->target, rest->start, r->scratch, n))
		piece = r->scratch;
	if (!piece)
		return true;
	size_t before = search->is_thorough ? n : lbx_before_large(piece, n, rest->start, rest->start + rest->size);
	if (before < *ret_done)
		*ret_done = n = before;
	return search->look(search->context, piece, n, rest->start);
}

static bool search_range(struct run *r, const struct lbx_range *range)
{
	const struct lbx_search *search = r->search;
	struct lbx_range rest = *range;
	uint64_t done;

	for (;;) {
		done = search->is_thorough ? 0 : lbx_large_allocations(r->target, &rest);
		rest.start += done;
		rest.size -= done;
		if (rest.size == 0)
			return true;
		if (search->progress && !search->progress(search->progress_context, r->done))
			return false;
		if (!search_piece(r, &rest, &done))
			return false;
		r->done += (int64_t)done;
		rest.start += done;
		rest.size -= done;
	}
}

bool lbx_search(struct lbx_target *target, const struct lbx_search *search)
{
	struct lbx_target *direct = lbx_target_direct(target), *reader = direct ? direct : target;
	struct run r = { .search = search, .target = lbx_target_glance(reader) };
	struct lbx_range range;
	uint64_t from = 0;
	bool whole = true, is_copied = !search->is_thorough && lbx_target_copied(reader, 0, &range);

	while (whole &&
	       (is_copied ? lbx_target_copied(reader, from, &range) : lbx_target_range(target, from, &range))) {
		whole = search_range(&r, &range);
		from = range.start + range.size;
		if (from == 0)
			break;
	}
	free(r.scratch);
	return whole;
}
