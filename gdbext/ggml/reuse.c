#include "ggml/reuse.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"

enum { MAX_PAIRS = 1 << 24 };

static int by_start(const void *a, const void *b)
{
	const struct lbx_ggml_extent *x = a, *y = b;

	return x->start != y->start      ? (x->start < y->start ? -1 : 1)
	       : x->ordinal < y->ordinal ? -1
					 : x->ordinal > y->ordinal;
}

/* Two that overlap: has b written over a? */
static void look(const struct lbx_ggml_extent *a, const struct lbx_ggml_extent *b, int64_t *ret, int64_t *orders)
{
	int64_t *writer = &ret[a->ordinal];

	if (!b->writes || (a->root == b->root && a->is_leaf))
		return;
	if (a->context != b->context) {
		*writer = *writer == LBX_GGML_KEPT ? LBX_GGML_UNKNOWN_WRITER : *writer;
	} else if (b->order > a->since && (*writer < 0 || orders[a->ordinal] < b->order)) {
		*writer = b->ordinal;
		orders[a->ordinal] = b->order;
	}
}

bool lbx_ggml_find_reuse(struct lbx_ggml_extent *extents, size_t n, size_t room, int64_t *ret)
{
	lb_auto_free int64_t *orders = calloc(room ? room : 1, sizeof *orders);
	size_t pairs = 0;

	if (!orders)
		return lb_fail("out of memory for %zu tensors of ggml", room);

	for (size_t i = 0; i < n; i++)
		ret[extents[i].ordinal] = LBX_GGML_KEPT;
	qsort(extents, n, sizeof *extents, by_start);
	for (size_t i = 0; i < n && pairs < MAX_PAIRS; i++)
		for (size_t k = i + 1; k < n && extents[k].start < extents[i].end && pairs < MAX_PAIRS; k++, pairs++) {
			if (extents[k].start == extents[k].end)
				continue;
			look(&extents[i], &extents[k], ret, orders);
			look(&extents[k], &extents[i], ret, orders);
		}
	for (size_t i = 0; i < n && pairs >= MAX_PAIRS; i++)
		if (!extents[i].is_leaf && ret[extents[i].ordinal] == LBX_GGML_KEPT)
			ret[extents[i].ordinal] = LBX_GGML_UNKNOWN_WRITER;
	return true;
}
