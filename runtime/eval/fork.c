/* What becomes of evaluations in the child of a fork. */
#include <unistd.h>

#include "eval/eval.h"
#include "eval/journal.h"
#include "eval/run.h"
#include "eval/step.h"
#include "eval/stream.h"
#include "eval/wait.h"
#include "graph/lazy.h"
#include "memory/thread.h"

static bool is_own(uint64_t eval)
{
	for (const struct lb_run *run = lb_innermost_run; run; run = run->outer)
		if (run->schedule.eval == eval)
			return true;
	return false;
}

/* The other threads' evaluations do not go on in the child: what they had claimed is lazy
 * again. Their buffers are lost; giving them back would take locks. */
static void after_fork_in_child(void)
{
	struct lb_thread *own = lb_self_pointer ? lb_self_pointer->record : NULL, *thread;
	struct lb_tensor *t;

	for (uint64_t slot = 0; (t = lb_slab_at(LB_KIND_TENSOR, slot)); slot++) {
		if (lb_tensor_state(t) != LB_STATE_EVALUATING || is_own(t->eval))
			continue;
		if (t->seq & 1)
			lb_record_end(&t->seq);
		if (lb_tensor_flags(t) & LB_FLAG_DETACHED) { /* it was only being settled */
			__atomic_store_n(&t->state, LB_STATE_READY, __ATOMIC_RELEASE);
			continue;
		}
		t->buffer = 0;
		lb_tensor_to_lazy(t, lb_buffer_drop);
	}
	for (uint64_t slot = 0; (thread = lb_slab_at(LB_KIND_THREAD, slot)); slot++) {
		if (thread == own)
			thread->id = (uint64_t)getpid(); /* the one thread's number */
		else
			thread->id = thread->eval = thread->tensor = thread->waits_for = thread->scopes = 0;
	}
	lb_lazy_after_fork();
	lb_journal_after_fork_in_child();
	lb_step_after_fork();
	lb_streams_after_fork();
}

static void before_fork(void)
{
	pthread_mutex_lock(&lb_wait.lock);
	lb_step_lock();
	lb_journal_before_fork();
}

static void after_fork(void)
{
	lb_journal_after_fork();
	lb_step_unlock();
	pthread_mutex_unlock(&lb_wait.lock);
}

void lb_watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
