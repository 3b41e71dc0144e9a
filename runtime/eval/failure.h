/* Failures of work that nobody waited for, kept for whoever asks.
 *
 * A job that cannot compute a tensor leaves a failure under the tensor's id, in its stream's short
 * list, and LB_FLAG_FAILED on the tensor. The list is what counts: the flag only says that a look
 * is worth it. Who evaluates the tensor, or what is made of it, gets the message and forgets
 * the failure; so do lb_event_wait() and lb_synchronize() with the oldest of their stream. One
 * failure that went on to other tensors has one origin, and is forgotten everywhere at once. When
 * a list is full its oldest but one goes: then the tensor is merely lazy, and fails anew. */
#ifndef LB_EVAL_FAILURE_H
#define LB_EVAL_FAILURE_H

#include "base/error.h"
#include "graph/tensor.h"

struct lb_failure {
	uint64_t id;      /* of the tensor */
	uint64_t origin;
	uint64_t job;
	const void *site; /* where the op that failed was made */
	char text[LB_ERROR_MAX];
};

/* An op that has failed in an evaluation that is still under way. */
struct lb_bad {
	struct lb_bad *next;
	struct lb_tensor *tensor; /* held */
	struct lb_failure failure;
};

/* A number that no failure has had yet. */
uint64_t lb_failure_origin(void);

/* All these hold lb_wait.lock. */

/* Keeps the failure for t, whose id it gets. */
void lb_failure_keep(struct lb_tensor *t, const struct lb_failure *failure);
/* The failure kept for t, or NULL; then the flag goes. Valid while the lock is held. */
const struct lb_failure *lb_failure_of(struct lb_tensor *t);
/* The oldest of a stream's jobs up to number `upto`, or NULL. */
const struct lb_failure *lb_failure_oldest(uint32_t stream, uint64_t upto);
void lb_failure_forget(uint64_t origin);

#endif
