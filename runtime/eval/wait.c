#include "eval/wait.h"

#include "base/alone.h"

struct lb_wait lb_wait = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
};

void lb_wait_begin(void)
{
	lb_alone_meet();
	__atomic_add_fetch(&lb_wait.waiting, 1, __ATOMIC_SEQ_CST);
}

void lb_wait_end(void)
{
	__atomic_sub_fetch(&lb_wait.waiting, 1, __ATOMIC_SEQ_CST);
}

void lb_wake_waiting(void)
{
	enum lb_alone alone = lb_alone_begin();
	lb_alone_end(alone);
	if (alone)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&lb_wait.waiting, __ATOMIC_SEQ_CST) == 0)
		return;
	pthread_mutex_lock(&lb_wait.lock);
	pthread_cond_broadcast(&lb_wait.done);
	pthread_mutex_unlock(&lb_wait.lock);
}
