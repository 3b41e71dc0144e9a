/* Tracers: what a function of tensors gets for its inputs while it is traced, to be compiled or mapped over a batch. A
 * tracer has a shape and a dtype and is lazy for ever: who asks for a value that depends on one is told so.
 *
 * Meanwhile the thread has a trace number, which no evaluation has, and a tensor that it makes
 * carries that in `eval` until some evaluation claims it. So the tensors of a trace can be told
 * from older ones, whose inputs another thread may be letting go of. A trace inside another shares its number, since
 * what is made there belongs to both, and knows its own tensors by their ids: a thread's ids ascend. */
#ifndef LB_GRAPH_TRACER_H
#define LB_GRAPH_TRACER_H

#include "graph/tensor.h"
#include "memory/thread.h"

enum { LB_TRACING_TEXT = LB_NAME_MAX + 32 };

struct lb_tracing {
	const char *call; /* by what it is traced: "compile", "vmap" */
	const char *name; /* of the function; NULL without */
	const void *site; /* of the call that had it traced */
	struct lb_tracing *outer; /* the trace that this one runs in */
	uint64_t number;  /* of the outermost one */
	uint64_t own;     /* of this one, which its tracers carry */
	uint64_t since;   /* the id of no tensor of it is lower */
};

/* From the first on, what the thread makes belongs to the trace. Of `tracing` call, name and site are given. */
void lb_tracing_begin(struct lb_self *self, struct lb_tracing *tracing);
void lb_tracing_end(struct lb_self *self);
/* "compile(step)", for errors; returns text. */
const char *lb_tracing_label(const struct lb_tracing *tracing, char text[LB_TRACING_TEXT]);

/* Input i, made like x: shape, strides, dtype. */
struct lb_tensor *lb_tracer_new(const struct lb_tracing *tracing, int i, const struct lb_tensor *x);

/* Made in the trace and lazy since: its inputs can be looked at. */
static inline bool lb_is_traced(const struct lb_tracing *tracing, const struct lb_tensor *t)
{
	return lb_tensor_state(t) == LB_STATE_LAZY && __atomic_load_n(&t->eval, __ATOMIC_RELAXED) == tracing->number &&
	       t->id >= tracing->since;
}

/* One of its inputs, not of a trace inside it. */
static inline bool lb_is_tracer_of(const struct lb_tracing *tracing, const struct lb_tensor *t)
{
	return t->op == LB_OP_TRACER && (uint64_t)t->params[1] == tracing->own;
}

/* Whether the thread may hand these to another to be computed: not what it makes in a trace. */
bool lb_tracing_may_queue(const struct lb_self *self, int n, struct lb_tensor *const *xs);

/* Fails for the evaluation that came to this tracer. `plain`: a debugger's, no locks. */
bool lb_tracer_refuse(const struct lb_tensor *t, bool plain);

#endif
