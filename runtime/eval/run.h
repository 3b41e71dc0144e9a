/* Computes one step of a schedule: allocates the result, calls its kernel. */
#ifndef LB_EVAL_RUN_H
#define LB_EVAL_RUN_H

#include "eval/schedule.h"
#include "ops/operation.h"

/* One evaluation under way. `exec` is first: kernels get its address. */
struct lb_run {
	struct lb_exec exec;
	struct lb_arena *arena;
	struct lb_schedule schedule;
	bool plain; /* a debugger's: no locks, no malloc, one thread */
	bool traced; /* what becomes ready keeps its inputs, through which gradients will go */
	void (*drop)(struct lb_buffer *);
	uint32_t step; /* enum lb_step_mode */
	bool stops; /* between two steps, when the program exits */
	struct lb_tensor *failed; /* whose step failed, held unless plain */
	void *stepped; /* the graph that step.c runs it through */
	struct lb_run *outer; /* of this thread: an op's callback may evaluate */
};

/* Of this thread, the one that began last; NULL outside any. A debugger's do not count. */
extern __thread struct lb_run *lb_innermost_run __attribute__((tls_model("initial-exec"), visibility("hidden")));

void lb_run_init(struct lb_run *run, struct lb_arena *arena, bool plain);

/* Computes a tensor that is no elementwise one. */
bool lb_run_single(struct lb_run *run, struct lb_tensor *t);
/* Computes the group headed by this step (eval/chain.c). */
bool lb_run_chain(struct lb_run *run, struct lb_step *head);

/* Computes instruction k of a fused tensor's program, its operands being known; `registers`, of
 * LB_FUSE_REGS, keeps the results for those that follow. The last one is the tensor's value. */
bool lb_run_insn(struct lb_run *run, struct lb_tensor *t, int k, void **registers);

/* ---- where a result lies (eval/result.c) ---- */

/* Memory for t, dense; t->buffer is set. */
bool lb_run_allocate(struct lb_run *run, struct lb_tensor *t);
/* A view has the buffer of what it looks at. */
void lb_run_share_input(struct lb_tensor *t);
/* Computes one of class UPDATE, in a copy of its first input or in that one's memory. */
bool lb_run_update(struct lb_run *run, struct lb_tensor *t, lb_compute_fn *compute);

#endif
