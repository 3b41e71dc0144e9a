#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "mlx/near.h"

enum { MOST = 1 << 20, SLOTS = 1 << 21 };

struct seen {
	uint64_t address; /* 0: free */
	uint32_t depth;
};

struct way {
	struct lbx_mlx_arrays inputs;
	uint64_t address;
	uint32_t next, depth;
};

struct walk {
	const struct lbx_mlx_near *near;
	struct lbx_target *target;
	struct lbx_mlx_order *order;
	struct seen *seen; /* by address */
	struct way *stack;
	size_t n, room;
};

/* Its place, where it may be free. */
static struct seen *place(struct walk *w, uint64_t address)
{
	size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (SLOTS - 1);

	while (w->seen[at].address && w->seen[at].address != address)
		at = (at + 1) & (SLOTS - 1);
	return &w->seen[at];
}

static bool enter(struct walk *w, uint64_t address)
{
	struct seen *seen = place(w, address);
	struct lbx_mlx_record r;

	if (seen->address || w->order->is_cut || !lbx_mlx_near_read(w->near, w->target, address, &r))
		return true;
	w->order->is_cut = w->order->arrays == MOST;
	if (w->order->is_cut)
		return true;
	seen->address = address;
	w->order->arrays++;
	if (r.status > LBX_MLX_UNSCHEDULED)
		return true;
	if (!lb_reserve(w->stack, w->room, w->n + 1))
		return lb_fail("out of memory for %zu arrays", w->n);
	w->stack[w->n++] = (struct way){ .inputs = r.inputs, .address = address };
	return true;
}

static bool leave(struct walk *w, const struct way *way)
{
	struct lbx_mlx_order *order = w->order;

	place(w, way->address)->depth = way->depth;
	if (way->depth > order->depth)
		order->depth = way->depth;
	if (!lb_reserve(order->list, order->room, order->n + 1))
		return lb_fail("out of memory for %zu arrays", order->n);
	order->list[order->n++] = way->address;
	return true;
}

/* A ring, which only damage makes, ends where it closes. */
static bool go_through(struct walk *w)
{
	while (w->n) {
		struct way *way = &w->stack[w->n - 1];
		if (way->next < way->inputs.n) {
			uint64_t input = lbx_mlx_array_at(w->target, &way->inputs, way->next++);
			if (input && !enter(w, input))
				return false;
			continue;
		}
		struct way done = *way;
		for (uint32_t i = 0; i < done.inputs.n; i++) {
			uint64_t input = lbx_mlx_array_at(w->target, &done.inputs, i);
			const struct seen *seen = input ? place(w, input) : NULL;
			if (seen && seen->address && seen->depth + 1 > done.depth)
				done.depth = seen->depth + 1;
		}
		w->n--;
		if (!leave(w, &done))
			return false;
	}
	return true;
}

bool lbx_mlx_order_find(const struct lbx_mlx_near *near, struct lbx_target *target, const uint64_t *of, size_t n,
			struct lbx_mlx_order *ret)
{
	struct lbx_target *direct = lbx_target_direct(target);
	struct walk w = { .near = near, .target = direct ? direct : target, .order = ret };
	lb_auto_free struct seen *seen = w.seen = calloc(SLOTS, sizeof *seen);
	bool ok = seen || lb_fail("out of memory");

	*ret = (struct lbx_mlx_order){ .n = 0 };
	for (size_t i = 0; i < n && ok; i++)
		ok = enter(&w, of[i]) && go_through(&w);
	free(w.stack);
	return ok;
}

void lbx_mlx_order_free(struct lbx_mlx_order *order)
{
	free(order->list);
	*order = (struct lbx_mlx_order){ .n = 0 };
}
