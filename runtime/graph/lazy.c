/* Nobody keeps the number of lazy tensors. When a debugger sets a limit they are counted, by a walk
 * over the slots; and counted anew only after as many tensors have been made as were missing then,
 * since fewer cannot have passed the limit. So a program pays for a few walks on its way there. */
#include "graph/lazy.h"

#include "graph/tensor.h"
#include "probes.h"
#include "publish/root.h"

/* The lazy tensor that the thread made last, as far as its scopes hold it. */
static const struct lb_tensor *newest(const struct lb_self *self, const struct lb_tensor *made)
{
	const struct lb_tensor *found = NULL;

	if (lb_tensor_state(made) == LB_STATE_LAZY)
		return made;
	for (size_t i = 0; i < self->n_items; i++)
		if (lb_tensor_state(self->items[i]) == LB_STATE_LAZY && (!found || self->items[i]->id > found->id))
			found = self->items[i];
	return found;
}

void lb_count_lazy(const struct lb_self *self, const struct lb_tensor *made)
{
	static uint64_t counted_for, next; /* the limit; an id */
	uint64_t limit = __atomic_load_n(&lb_root->watch_graph, __ATOMIC_RELAXED);
	if (__builtin_expect(limit == UINT64_MAX, 1))
		return;
	uint64_t last = __atomic_load_n(&lb_root->last_id, __ATOMIC_RELAXED), lazy = 0;
	if (__atomic_load_n(&counted_for, __ATOMIC_RELAXED) == limit &&
	    last < __atomic_load_n(&next, __ATOMIC_RELAXED))
		return;
	const struct lb_tensor *t;
	for (uint64_t slot = 0; (t = lb_slab_at(LB_KIND_TENSOR, slot)); slot++)
		lazy += lb_tensor_state(t) == LB_STATE_LAZY;
	/* once passed, it is told again only when there are twice as many */
	uint64_t missing = lazy > limit ? lazy : limit - lazy;
	__atomic_store_n(&next, missing < UINT64_MAX - last ? last + missing : UINT64_MAX, __ATOMIC_RELAXED);
	__atomic_store_n(&counted_for, limit, __ATOMIC_RELAXED);
	if (lazy <= limit)
		return;
	t = newest(self, made);
	lb_probe_graph(t ? t->id : 0, (uint64_t)(uintptr_t)t, made->site, lazy, 0);
}
