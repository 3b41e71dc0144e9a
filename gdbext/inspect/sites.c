#include "inspect/sites.h"

#include <stdlib.h>

#include "base/error.h"

static int by_pc(const void *a, const void *b)
{
	const struct lbx_site *x = a, *y = b;
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int by_bytes(const void *a, const void *b)
{
	const struct lbx_site *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_pc(a, b);
}

static int64_t capped_sum(int64_t a, int64_t b)
{
	int64_t sum;
	return lb_sum_of(a, b, &sum) ? sum : INT64_MAX;
}

static void merge(struct lbx_sites *s)
{
	size_t n = 0;

	qsort(s->list, s->n, sizeof *s->list, by_pc);
	for (size_t i = 1; i < s->n; i++) {
		struct lbx_site *to = &s->list[n], *from = &s->list[i];
		if (to->pc != from->pc) {
			s->list[++n] = *from;
			continue;
		}
		to->bytes = capped_sum(to->bytes, from->bytes);
		to->ready += from->ready;
		to->lazy += from->lazy;
	}
	s->n = n + 1;
	qsort(s->list, s->n, sizeof *s->list, by_bytes);
}

bool lbx_sites_collect(struct lbx_context *context, struct lbx_sites *ret)
{
	struct lbx_table *table;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	size_t room = 0;
	enum lbx_next next;

	*ret = (struct lbx_sites){ 0 };
	if (!lbx_context_table(context, &table))
		return false;
	struct lbx_tensors *tensors = lbx_table_tensors(table);
	while ((next = tensors->ops->next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		bool ready = t.state == LB_STATE_READY;
		if (ret->n == room) {
			/* what has come so far is often of a few places only */
			if (ret->n)
				merge(ret);
			if (2 * ret->n >= room) {
				room = room ? 2 * room : 1024;
				void *list = realloc(ret->list, room * sizeof *ret->list);
				if (!list) {
					lbx_sites_deinit(ret);
					return lb_fail("out of memory for %zu places", room);
				}
				ret->list = list;
			}
		}
		int64_t bytes = ready && t.op_class != LB_CLASS_VIEW ? lbx_tensor_nbytes(&t) : 0;
		ret->bytes = capped_sum(ret->bytes, bytes);
		ret->list[ret->n++] = (struct lbx_site){ t.site, bytes, ready, !ready };
		if (ret->n % 1024 == 0 && !lbx_progress(context->out, "adding up", (int64_t)slot, 0)) {
			lbx_sites_deinit(ret);
			return false;
		}
	}
	if (ret->n)
		merge(ret);
	return next == LBX_NEXT_END;
}

void lbx_sites_deinit(struct lbx_sites *sites)
{
	free(sites->list);
	sites->list = NULL;
	sites->n = 0;
}
