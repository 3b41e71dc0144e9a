#include "plugin/stops/tainted.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* The first range that ends behind an address. */
static size_t first_behind(const struct lbx_tainted *set, uint64_t address)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (set->list[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Puts `n_new` ranges, at most two, in the place of those from `at` to before `end`. */
static bool replace(struct lbx_tainted *set, size_t at, size_t end, const struct lbx_tainted_range *new, size_t n_new)
{
	size_t n = set->n - (end - at) + n_new;

	if (!lb_reserve(set->list, set->room, n))
		return false;
	if (n)
		memmove(set->list + at + n_new, set->list + end, (set->n - end) * sizeof *set->list);
	for (size_t i = 0; i < n_new; i++)
		set->list[at + i] = new[i];
	set->n = n;
	return true;
}

bool lbx_tainted_add(struct lbx_tainted *set, uint64_t start, uint64_t end)
{
	size_t at = first_behind(set, start), behind = at;
	struct lbx_tainted_range all = { start, end };

	if (start >= end)
		return true;
	if (at > 0 && set->list[at - 1].end == start)
		all.start = set->list[--at].start;
	for (; behind < set->n && set->list[behind].start <= end; behind++) {
		all.start = set->list[behind].start < all.start ? set->list[behind].start : all.start;
		all.end = set->list[behind].end > all.end ? set->list[behind].end : all.end;
	}
	return replace(set, at, behind, &all, 1);
}

bool lbx_tainted_remove(struct lbx_tainted *set, uint64_t start, uint64_t end)
{
	size_t at = first_behind(set, start), behind = at, n = 0;
	struct lbx_tainted_range left[2];

	if (start >= end)
		return true;
	while (behind < set->n && set->list[behind].start < end)
		behind++;
	if (at == behind)
		return true;
	if (set->list[at].start < start)
		left[n++] = (struct lbx_tainted_range){ set->list[at].start, start };
	if (set->list[behind - 1].end > end)
		left[n++] = (struct lbx_tainted_range){ end, set->list[behind - 1].end };
	return replace(set, at, behind, left, n);
}

bool lbx_tainted_has(const struct lbx_tainted *set, uint64_t start, uint64_t end)
{
	size_t at = first_behind(set, start);

	return start < end && at < set->n && set->list[at].start < end;
}

void lbx_tainted_clear(struct lbx_tainted *set)
{
	free(set->list);
	*set = (struct lbx_tainted){ .n = 0 };
}
