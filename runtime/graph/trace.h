/* A trace: the stretch of a thread's time in which a function of tensors runs to be
 * differentiated. Two things are kept of it:
 *   - which tensors were made in it, by the blocks of ids that the thread took: those alone a
 *     gradient can pass, and they alone are safe to walk, since an older tensor may be evaluated,
 *     and detached from its inputs, by another thread meanwhile;
 *   - that what is evaluated in it stays attached to its inputs (eval/eval.c). */
#ifndef LB_GRAPH_TRACE_H
#define LB_GRAPH_TRACE_H

#include "memory/thread.h"

enum { LB_ID_BLOCK = 256 };

struct lb_trace {
	int depth;            /* traces inside traces share one of these */
	bool incomplete;      /* memory was out for a block */
	uint64_t *blocks;     /* first id of each, ascending */
	size_t n_blocks, capacity;
	struct lb_custom *customs; /* calls with a rule of their own: grad/custom.h */
};

/* Opens a trace on the calling thread, or one inside another. NULL, with an error, on failure. */
struct lb_trace *lb_trace_begin(void);
/* The caller has let go of what the trace's outermost part owned. */
void lb_trace_end(struct lb_trace *trace);
void lb_trace_note_ids(struct lb_trace *trace, uint64_t first);
/* The thread made the tensor of this id in the trace. */
bool lb_trace_has(const struct lb_trace *trace, uint64_t id);

#endif
