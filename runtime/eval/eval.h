/* Evaluation: claims a schedule, runs it step by step, settles what stays.
 *
 * From above: eval.c evaluates for a call, and stream.c for a job; debug.c for a debugger. Each makes
 * attempts (attempt.c), which build a schedule (schedule.c) and have its steps run, by code that can be
 * stepped through (step.c) or without (runner.c). A step is a chain of elementwise operations (chain.c) or a
 * single one (run.c), and its result lies where result.c says. */
#ifndef LB_EVAL_EVAL_H
#define LB_EVAL_EVAL_H

#include "eval/failure.h"
#include "graph/tensor.h"
#include "kernels/kernels.h"
#include "memory/arena.h"

struct lb_run;
struct lb_arena;
struct lb_thread;

/* An evaluation, on the calling thread, which may need several attempts. */
struct lb_evaluation {
	uint64_t number;
	uint32_t streams[2];       /* as in struct lb_schedule, like the next three */
	bool takes_queued, takes_all;
	bool traced;               /* a gradient will go through what it computes */
	struct lb_bad *bad;
	struct lb_arena *arena;
	struct lb_thread *record;
	uint64_t ops;              /* that its schedules had */
	/* in the arena, after LB_BLOCKED: what is in the way, each held */
	struct lb_tensor **blockers;
	uint32_t n_blockers;
	/* after LB_FAILED: of this evaluation, or the one kept for what it needs; else NULL */
	const struct lb_failure *failure;
	struct lb_failure kept;
};

enum lb_outcome {
	LB_DONE,
	LB_BLOCKED,
	LB_FAILED,  /* the thread has the error, unless it is a failure that was kept */
	LB_STOPPED, /* the program exits */
};

uint64_t lb_evaluation_number(void); /* the next */
void lb_evaluation_init(struct lb_evaluation *e, uint64_t number, struct lb_arena *arena, struct lb_thread *record);
/* Computes the roots, or says why not; no claim is left. */
enum lb_outcome lb_attempt(struct lb_evaluation *e, int n, struct lb_tensor *const *roots);
/* Gives back what the last attempt holds. */
void lb_evaluation_drop_blockers(struct lb_evaluation *e);
void lb_evaluation_end(struct lb_evaluation *e);

/* Computes the roots on behalf of the call that returns to `site`, and waits for those that
 * others compute. If some cannot be computed, the others are nevertheless. */
bool lb_evaluate(int n, struct lb_tensor *const *roots, const void *site);

/* Once: what is under way is given up in the child of a fork (eval/fork.c). */
void lb_watch_forks(void);

/* Runs a schedule that has been built, on the thread with this record. */
bool lb_run_schedule(struct lb_run *run, struct lb_thread *record);

/* Computes the group whose head is this step, and settles it; a failure is noted in the run. */
bool lb_run_group(struct lb_run *run, uint32_t step, struct lb_thread *record);

/* An op while it runs. */
struct lb_under_way {
	int steps, members;
	bool apart; /* the operations of a fused tensor, for a debugger */
	uint64_t start; /* 0: not timed */
	struct lb_arena_mark mark;
};
/* The same for instruction k of a fused tensor alone; they must follow each other, with the same
 * last two arguments (`registers` as lb_run_insn() has it). */
bool lb_run_group_insn(struct lb_run *run, uint32_t step, int k, struct lb_thread *record,
		       struct lb_under_way *under_way, void **registers);

/* For reading values: evaluates x if it is not ready, and says that it had to. */
bool lb_ensure_ready(struct lb_tensor *x, const void *site);

#endif
