#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/memory/holdings.h"

/* One holding under its key; streams have no text of their own. */
static struct lbx_holding_group row_of(const struct lbx_holding *h, enum lbx_by by)
{
	return (struct lbx_holding_group){ .key = h->keys[by],
					   .pc = by == LBX_BY_SITE     ? h->pc
						 : by == LBX_BY_STREAM ? h->stream
								       : 0 };
}

static int by_key(const void *a, const void *b)
{
	const struct lbx_holding_group *x = a, *y = b;

	if (x->key && y->key)
		return strcmp(x->key, y->key);
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int64_t weight(const struct lbx_holding_group *g)
{
	int64_t change = g->bytes - g->before_bytes;
	return change < 0 ? -change : change;
}

/* Bytes decide; then what lazy tensors would take. */
static int by_weight(const void *a, const void *b)
{
	const struct lbx_holding_group *x = a, *y = b;

	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
	if (x->lazy_bytes != y->lazy_bytes)
		return x->lazy_bytes > y->lazy_bytes ? -1 : 1;
	return by_key(a, b);
}

static void add_to(struct lbx_holding_group *to, const struct lbx_holding_group *from)
{
	to->bytes = lbx_capped_sum(to->bytes, from->bytes);
	to->lazy_bytes = lbx_capped_sum(to->lazy_bytes, from->lazy_bytes);
	to->before_bytes = lbx_capped_sum(to->before_bytes, from->before_bytes);
	to->buffers = lbx_capped_sum(to->buffers, from->buffers);
	to->lazy = lbx_capped_sum(to->lazy, from->lazy);
	to->before_buffers = lbx_capped_sum(to->before_buffers, from->before_buffers);
	to->before_lazy = lbx_capped_sum(to->before_lazy, from->before_lazy);
}

bool lbx_holding_groups_make(const struct lbx_snapshot *s, const struct lbx_snapshot *before, enum lbx_by by,
			     struct lbx_holding_groups *ret)
{
	size_t all = s->n + (before ? before->n : 0), n = 0, used = 0;

	*ret = (struct lbx_holding_groups){ .list = calloc(all + 1, sizeof *ret->list) };
	if (!ret->list)
		return lb_fail("out of memory for %zu places", all);
	for (size_t i = 0; i < all; i++) {
		bool old = i >= s->n;
		const struct lbx_holding *h = old ? &before->list[i - s->n] : &s->list[i];
		if (by != LBX_BY_STATE && strcmp(h->keys[LBX_BY_STATE], "cached") == 0)
			continue;
		struct lbx_holding_group *g = &ret->list[n++];
		*g = row_of(h, by);
		*(old ? &g->before_bytes : &g->bytes) = h->bytes;
		*(old ? &g->before_buffers : &g->buffers) = h->buffers;
		*(old ? &g->before_lazy : &g->lazy) = h->lazy;
		g->lazy_bytes = old ? 0 : h->lazy_bytes;
		ret->bytes = old ? ret->bytes : lbx_capped_sum(ret->bytes, h->bytes);
	}
	if (n == 0)
		return true;
	qsort(ret->list, n, sizeof *ret->list, by_key);
	for (size_t i = 1; i < n; i++) {
		if (by_key(&ret->list[used], &ret->list[i]) == 0)
			add_to(&ret->list[used], &ret->list[i]);
		else
			ret->list[++used] = ret->list[i];
	}
	ret->n = used + 1;
	qsort(ret->list, ret->n, sizeof *ret->list, by_weight);
	return true;
}

void lbx_holding_groups_deinit(struct lbx_holding_groups *groups)
{
	free(groups->list);
	*groups = (struct lbx_holding_groups){ .n = 0 };
}
