/* Waiting for tensors that others compute: one lock and one condition for the process. Whoever
 * ends an evaluation, or a job, wakes those who wait; without any that costs a load. */
#ifndef LB_EVAL_WAIT_H
#define LB_EVAL_WAIT_H

#include <pthread.h>

#include "graph/tensor.h"

extern struct lb_wait {
	pthread_mutex_t lock; /* of this, of the streams' queues, and of the failures */
	pthread_cond_t done;
	int waiting;
	bool stopping;        /* the program exits: no job runs any more */
} lb_wait __attribute__((visibility("hidden")));

static inline bool lb_stopping(void)
{
	return __atomic_load_n(&lb_wait.stopping, __ATOMIC_RELAXED);
}

static inline bool lb_is_computed_now(const struct lb_tensor *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_SEQ_CST) == LB_STATE_EVALUATING;
}

/* True while somebody computes t, or a job is to. */
static inline bool lb_is_blocking(const struct lb_tensor *t)
{
	uint8_t state = __atomic_load_n(&t->state, __ATOMIC_SEQ_CST);
	return state == LB_STATE_EVALUATING ||
	       (state == LB_STATE_LAZY && (lb_tensor_flags(t) & LB_FLAG_QUEUED) && !lb_stopping());
}

static inline bool lb_any_blocking(uint32_t n, struct lb_tensor *const *list)
{
	for (uint32_t i = 0; i < n; i++) {
		if (lb_is_blocking(list[i]))
			return true;
	}
	return false;
}

/* With the lock held: between the two, `done` is signalled for every change of a state, so a
 * condition found false after begin may be waited for. */
void lb_wait_begin(void);
void lb_wait_end(void);
/* After states have changed. The lock is not held. */
void lb_wake_waiting(void);

#endif
