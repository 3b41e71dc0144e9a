#include "target/window.h"

#include <string.h>

enum { LEAST = 1 << 12 };

/* A smaller one may fit where memory ends. */
static bool fill(struct lbx_window *w, uint64_t address, size_t n)
{
	for (size_t size = LBX_WINDOW; size > n && size >= LEAST; size /= LBX_WINDOW / LEAST) {
		if (!lbx_target_read_ahead(w->of, address, size) ||
		    !lbx_target_try_read(w->of, address, w->bytes, size))
			continue;
		w->at = address;
		w->n = size;
		return true;
	}
	return false;
}

/* Reads ahead once a read lies not far behind the one before. */
static bool window_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct lbx_window *w = (struct lbx_window *)target;

	if (address < w->at || address - w->at > w->n || n > w->n - (address - w->at)) {
		bool in_order = address >= w->next && address - w->next < LBX_WINDOW;
		w->next = address + n;
		w->n = 0;
		if (!in_order || !fill(w, address, n))
			return lbx_target_read(w->of, address, to, n);
	}
	memcpy(to, w->bytes + (address - w->at), n);
	w->next = address + n;
	return true;
}

void lbx_window_init(struct lbx_window *window, struct lbx_target *of)
{
	static const struct lbx_target_ops ops = { .read = window_read };

	window->target = (struct lbx_target){ .ops = &ops, .liveness = of->liveness };
	window->of = of;
	window->at = window->next = 0;
	window->n = 0;
}

void lbx_walk_begin(struct lbx_walk *walk, struct lbx_target *of)
{
	lbx_window_init(&walk->window, of);
	walk->next = 0;
}

struct lbx_target *lbx_walk_target(struct lbx_walk *walk, struct lbx_target *of, uint64_t i)
{
	if (walk->next != i || !walk->window.of)
		return of;
	walk->next++;
	return &walk->window.target;
}
