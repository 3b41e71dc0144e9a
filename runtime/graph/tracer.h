/* Tracers: what a function of tensors gets for its inputs while it is traced. A tracer has a shape
 * and a dtype and is lazy for ever: who asks for a value that depends on one is told so.
 *
 * Meanwhile the thread has a trace number, which no evaluation has, and a tensor that it makes
 * carries that in `eval` until some evaluation claims it. So the tensors of a trace can be told
 * from older ones, whose inputs another thread may be letting go of. */
#ifndef LB_GRAPH_TRACER_H
#define LB_GRAPH_TRACER_H

#include "graph/tensor.h"
#include "memory/thread.h"

struct lb_tracing {
	const char *name; /* of the function */
	const void *site; /* of the call that had it traced */
	uint64_t number;
};

/* From the first on, what the thread makes belongs to the trace. No traces inside traces. */
void lb_tracing_begin(struct lb_self *self, struct lb_tracing *tracing, const char *name, const void *site);
void lb_tracing_end(struct lb_self *self);

/* Input i, made like x: shape, strides, dtype. */
struct lb_tensor *lb_tracer_new(const struct lb_tracing *tracing, int i, const struct lb_tensor *x);

/* Made in the trace and lazy since: its inputs can be looked at. */
static inline bool lb_is_traced(const struct lb_tracing *tracing, const struct lb_tensor *t)
{
	return lb_tensor_state(t) == LB_STATE_LAZY && __atomic_load_n(&t->eval, __ATOMIC_RELAXED) == tracing->number;
}

/* Whether the thread may hand these to another to be computed: not what it makes in a trace. */
bool lb_tracing_may_queue(const struct lb_self *self, int n, struct lb_tensor *const *xs);

/* Fails for the evaluation that came to this tracer. `plain`: a debugger's, no locks. */
bool lb_tracer_refuse(const struct lb_tensor *t, bool plain);

#endif
