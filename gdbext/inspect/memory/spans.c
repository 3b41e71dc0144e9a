/* An allocator gives the memory of one tensor to another that comes later, and while a graph is computed it is not always
 * certain whose value lies there. Values that are certain are in nobody else's way. Of the others each gets what none of
 * those have, nor any that begins before it. */
#include "inspect/memory/spans.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"

/* Disjoint ranges by address, with how many bytes those before have. */
struct sure {
	uint64_t start, end, before;
};

static int by_start(const void *a, const void *b)
{
	const struct lbx_span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static size_t join(const struct lbx_span *spans, size_t n, struct sure *ret)
{
	size_t n_sure = 0;

	for (size_t i = 0; i < n; i++) {
		const struct lbx_span *s = &spans[i];
		struct sure *last = n_sure ? &ret[n_sure - 1] : NULL;
		if (!s->is_sure || s->end <= s->start)
			continue;
		if (last && s->start <= last->end)
			last->end = s->end > last->end ? s->end : last->end;
		else
			ret[n_sure++] =
			    (struct sure){ s->start, s->end, last ? last->before + last->end - last->start : 0 };
	}
	return n_sure;
}

/* How many bytes below an address are sure. */
static uint64_t sure_below(const struct sure *sure, size_t n, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sure[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	const struct sure *s = &sure[low - 1];
	return s->before + (address < s->end ? address : s->end) - s->start;
}

bool lbx_spans_share_out(struct lbx_span *spans, size_t n)
{
	lb_auto_free struct sure *sure = calloc(n + 1, sizeof *sure);
	uint64_t seen = 0; /* up to here others have it */

	if (!sure)
		return lb_fail("out of memory for %zu buffers", n);
	if (n)
		qsort(spans, n, sizeof *spans, by_start);
	size_t n_sure = join(spans, n, sure);
	for (size_t i = 0; i < n; i++) {
		struct lbx_span *s = &spans[i];
		uint64_t from = s->is_sure || s->start > seen ? s->start : seen;
		s->bytes = 0;
		if (s->end <= from)
			continue;
		uint64_t taken = s->is_sure ? 0 : sure_below(sure, n_sure, s->end) - sure_below(sure, n_sure, from);
		s->bytes = (int64_t)(s->end - from - taken);
		if (!s->is_sure)
			seen = s->end;
	}
	return true;
}
