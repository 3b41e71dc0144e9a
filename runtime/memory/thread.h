/* What the runtime keeps for each thread: magazines of free slots, a block of ids, the
 * scopes, and the record that tells debuggers what the thread evaluates. */
#ifndef LB_MEMORY_THREAD_H
#define LB_MEMORY_THREAD_H

#include <stddef.h>

#include "memory/arena.h"
#include "memory/slab.h"
#include "publish/records.h"

struct lb_self {
	struct lb_magazine magazines[LB_KINDS];
	uint64_t next_id, end_id;
	struct lb_thread *record;
	uint32_t stream; /* of the tensors that it makes */
	/* the open scopes: these four are a struct lb_scopes, which debuggers read */
	struct lb_tensor **items;
	size_t n_items;
	struct lb_scope_mark *marks;
	size_t n_marks;
	size_t items_capacity, marks_capacity;
	/* gives the items back when the thread ends; set by who adds the first */
	void (*end_scopes)(struct lb_self *self);
	/* set while a function is traced to be compiled: graph/tracer.h */
	struct lb_tracing *tracing;
	uint64_t trace_number; /* which the tensors made meanwhile carry; 0 without */
	/* set while a gradient is traced on this thread: graph/trace.h */
	struct lb_trace *trace;
	/* scratch of the evaluation that this thread runs */
	struct lb_arena arena;
	bool arena_busy;
};

#define LB_SAME_PLACE(field) \
	(offsetof(struct lb_self, field) - offsetof(struct lb_self, items) == offsetof(struct lb_scopes, field))
_Static_assert(LB_SAME_PLACE(n_items) && LB_SAME_PLACE(marks) && LB_SAME_PLACE(n_marks), "as readers expect it");
#undef LB_SAME_PLACE

/* The calling thread's; made at its first use. NULL, with an error, when memory is out. */
struct lb_self *lb_self_slow(void);

extern __thread struct lb_self *lb_self_pointer __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline struct lb_self *lb_self(void)
{
	struct lb_self *self = lb_self_pointer;
	return __builtin_expect(self != NULL, 1) ? self : lb_self_slow();
}

#endif
