/* Extents that lie over each other share the beginning of one of them, so that beginnings are all the places there are. A
 * tree over the places knows, for each run of them, the writers that begin or lie there, of which two are kept: the last
 * one, and the last one of another root, for extents whose own root's writers do not count. Contexts are put in one after
 * the other, so that what is in the tree when one is asked for is of others, and then its own comes last. */
#include "ggml/reuse.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

/* Numbers from 1 on of extents, in the order of contexts, then of computing; 0: none. */
struct last {
	uint32_t any, other; /* `other` is of another root than `any` */
};

struct tree {
	const struct lbx_ggml_extent *extents; /* in that order */
	const uint64_t *places;
	size_t n; /* places */
	struct last *over; /* of each node, those that cover it as a whole: below n inner nodes, then places */
	struct last *below; /* those that cover any place of it */
};

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int compare_orders(int64_t x, int64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_order(const void *a, const void *b)
{
	const struct lbx_ggml_extent *x = a, *y = b;

	return x->context != y->context ? compare(x->context, y->context) : compare_orders(x->order, y->order);
}

static int by_address(const void *a, const void *b)
{
	return compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

static uint64_t root_of(const struct tree *t, uint32_t writer)
{
	return t->extents[writer - 1].root;
}

static void add_one(const struct tree *t, struct last *to, uint32_t writer)
{
	if (writer > to->any) {
		if (to->any && root_of(t, to->any) != root_of(t, writer))
			to->other = to->any;
		to->any = writer;
	} else if (writer > to->other && root_of(t, writer) != root_of(t, to->any)) {
		to->other = writer;
	}
}

static void add(const struct tree *t, struct last *to, struct last from)
{
	add_one(t, to, from.any);
	if (from.other)
		add_one(t, to, from.other);
}

/* The first place at or after an address. */
static size_t place(const struct tree *t, uint64_t address)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->places[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct tree *t, uint32_t writer)
{
	const struct lbx_ggml_extent *e = &t->extents[writer - 1];
	size_t first = place(t, e->start) + t->n, end = place(t, e->end) + t->n;

	for (size_t low = first, high = end; low < high; low /= 2, high /= 2) {
		if (low & 1)
			add_one(t, &t->over[low++], writer);
		if (high & 1)
			add_one(t, &t->over[--high], writer);
	}
	for (size_t at = first; at > 0; at /= 2)
		add_one(t, &t->below[at], writer);
	for (size_t at = end - 1; at > 0; at /= 2)
		add_one(t, &t->below[at], writer);
	/* nodes between the two are covered as a whole */
	for (size_t low = first, high = end; low < high; low /= 2, high /= 2) {
		if (low & 1)
			add_one(t, &t->below[low++], writer);
		if (high & 1)
			add_one(t, &t->below[--high], writer);
	}
}

/* The last writer in the tree that counts for an extent; 0: there is none. */
static uint32_t last_writer(const struct tree *t, const struct lbx_ggml_extent *e)
{
	struct last found = { 0, 0 };
	size_t first = place(t, e->start) + t->n, end = place(t, e->end) + t->n;

	for (size_t low = first, high = end; low < high; low /= 2, high /= 2) {
		if (low & 1)
			add(t, &found, t->below[low++]);
		if (high & 1)
			add(t, &found, t->below[--high]);
	}
	for (size_t at = first; at > 0; at /= 2)
		add(t, &found, t->over[at]);
	for (size_t at = end - 1; at > 0; at /= 2)
		add(t, &found, t->over[at]);
	return e->is_leaf && found.any && root_of(t, found.any) == e->root ? found.other : found.any;
}

/* The extents [from, to) of one context. */
static void put_in(struct tree *t, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (t->extents[i].writes && t->extents[i].start < t->extents[i].end)
			insert(t, (uint32_t)i + 1);
}

static void ask(const struct tree *t, size_t from, size_t to, bool of_others, int64_t *ret)
{
	for (size_t i = from; i < to; i++) {
		const struct lbx_ggml_extent *e = &t->extents[i];
		uint32_t writer = e->start < e->end ? last_writer(t, e) : 0;
		if (writer && of_others)
			ret[e->ordinal] = LBX_GGML_UNKNOWN_WRITER;
		else if (writer && t->extents[writer - 1].context == e->context &&
			 t->extents[writer - 1].order > e->since)
			ret[e->ordinal] = t->extents[writer - 1].ordinal;
	}
}

/* Where the run of extents of one context that begins or ends at `at` has its other end. */
static size_t other_end(const struct lbx_ggml_extent *extents, size_t n, size_t at, bool up)
{
	uint32_t context = extents[up ? at : at - 1].context;

	if (up)
		while (at < n && extents[at].context == context)
			at++;
	else
		while (at > 0 && extents[at - 1].context == context)
			at--;
	return at;
}

static void look(struct tree *t, size_t n, int64_t *ret)
{
	size_t nodes = 2 * t->n, next;

	/* of those after it, then of those before it, which the last one of its own may replace */
	for (size_t at = n; at > 0; at = next) {
		next = other_end(t->extents, n, at, false);
		ask(t, next, at, true, ret);
		put_in(t, next, at);
	}
	memset(t->over, 0, nodes * sizeof *t->over);
	memset(t->below, 0, nodes * sizeof *t->below);
	for (size_t at = 0; at < n; at = next) {
		next = other_end(t->extents, n, at, true);
		ask(t, at, next, true, ret);
		put_in(t, at, next);
		ask(t, at, next, false, ret);
	}
}

bool lbx_ggml_find_reuse(struct lbx_ggml_extent *extents, size_t n, int64_t *ret)
{
	lb_auto_free uint64_t *places = calloc(n, sizeof *places);
	lb_auto_free struct last *over = calloc(2 * n, sizeof *over), *below = calloc(2 * n, sizeof *below);
	struct tree tree = { .extents = extents, .places = places, .over = over, .below = below };

	for (size_t i = 0; i < n; i++)
		ret[extents[i].ordinal] = LBX_GGML_KEPT;
	if (n == 0)
		return true;
	if (!places || !over || !below)
		return lb_fail("out of memory for what %zu tensors of ggml have written", n);
	qsort(extents, n, sizeof *extents, by_order);
	for (size_t i = 0; i < n; i++)
		places[i] = extents[i].start;
	qsort(places, n, sizeof *places, by_address);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || places[i] != places[i - 1])
			places[tree.n++] = places[i];
	look(&tree, n, ret);
	return true;
}
