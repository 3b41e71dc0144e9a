/* Streams: queues of evaluations, and the threads that run them. See stream.c. */
#ifndef LB_EVAL_STREAM_H
#define LB_EVAL_STREAM_H

#include "graph/tensor.h"

enum { LB_STREAMS = 64 };

/* Queues jobs for the tensors that are not ready (`only_lazy`: nor under way) and have none yet,
 * each on its own stream. `traced`: what they compute keeps its inputs. Never waits. */
bool lb_submit(int n, struct lb_tensor *const *xs, const void *site, bool only_lazy, bool traced);
/* Waits while the queue of a stream of these is full. */
void lb_await_room(int n, struct lb_tensor *const *xs);

/* With lb_wait.lock held: the number of a stream's newest job, and whether all jobs up to one
 * have ended. */
uint64_t lb_stream_newest(uint32_t stream);
bool lb_stream_has_done(uint32_t stream, uint64_t job);
/* The job that a queued tensor is a root of; 0 if there is none. With lb_wait.lock held. */
uint64_t lb_stream_job_of(const struct lb_tensor *t);

/* In the child of a fork, with lb_wait.lock held, which it releases: no stream has a thread or a job but the one
 * whose worker has forked. */
void lb_streams_after_fork(void);
/* A new stream's number; false with an error when there are LB_STREAMS. */
bool lb_stream_make(const char *name, uint32_t *ret);
/* Numbers below this are streams. */
uint32_t lb_stream_count(void);

#endif
