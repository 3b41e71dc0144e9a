#include <string.h>

#include "batch/rule.h"
#include "grad/overlap.h"
#include "graph/shape.h"
#include "memory/thread.h"
#include "probes.h"

/* The strides are those of the trace, since each element of the batch lies as what was traced does. */
struct lb_tensor *lb_batch_view(struct lb_batching *b)
{
	const struct lb_tensor *t = b->t, *base = lb_tensor_input(t, 0), *x = b->x[0];
	struct lb_sizes s = lb_batch_sizes(b);
	if (!lb_batch_lies_alike(x, base)) {
		lb_fail("vmap: the batch of what %s is a view of lies otherwise in memory than one element did",
			lb_ops[t->op].name);
		return NULL;
	}
	struct lb_tensor *y = lb_tensor_begin(t->op, (enum lb_dtype)t->dtype, s.n, s.v, (int)t->n_inputs, b->x,
					      (const void *)(uintptr_t)t->site);
	if (!y)
		return NULL;
	y->strides[0] = x->strides[0];
	memcpy(y->strides + 1, t->strides, (size_t)t->rank * sizeof *t->strides);
	y->offset = x->offset + (t->offset - base->offset);
	lb_tensor_publish(y);
	lb_probe_view(y->id, (uint64_t)(uintptr_t)y, y->site, x->id);
	return y;
}

/* Broadcasting goes by the last axes. */
struct lb_tensor *lb_batch_broadcast(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	return lb_broadcast_to(lb_batch_aligned(b, 0, b->t->rank), lb_sizes_list(&s));
}

/* What is computed first may be all that depends on the batch. The result of a call with a rule of its own has its elements
 * in places of their own (grad/overlap.h). */
struct lb_tensor *lb_batch_depends(struct lb_batching *b)
{
	bool is_same = !b->batched[0];
	if (!lb_batch_all(b, 0, 1))
		return NULL;
	if (is_same && lb_self()->trace)
		b->x[0] = lb_own_elements(b->x[0], (const void *)(uintptr_t)b->t->site);
	return b->x[0] ? lb_batch_view(b) : NULL;
}
