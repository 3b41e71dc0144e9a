/* Evaluation: claims a schedule, runs it step by step, settles what stays. */
#ifndef LB_EVAL_EVAL_H
#define LB_EVAL_EVAL_H

#include "graph/tensor.h"

/* Computes the roots on behalf of the call that returns to `site`. */
bool lb_evaluate(int n, struct lb_tensor *const *roots, const void *site);

struct lb_run;
struct lb_thread;
/* Runs a schedule that has been built, on the thread with this record. */
bool lb_run_schedule(struct lb_run *run, struct lb_thread *record);

/* For reading values: evaluates x if it is not ready, and says that it had to. */
bool lb_ensure_ready(struct lb_tensor *x, const void *site);

#endif
