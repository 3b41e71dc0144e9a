#define _GNU_SOURCE
#include "base/alone.h"

#if LB_MAY_BE_ALONE

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct lb_alone_state lb_alone_state;
__thread bool lb_alone_first;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of ends */
static bool joined; /* a thread has been the first */

static void pass(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static bool membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

static void put_barrier(void)
{
	if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
	    (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)))
		return;
	/* a filter of system calls that has come since refuses it: no core keeps a store to itself for so long */
	pass(50000000);
}

/* Sleeps instead of yielding: the first thread may have a lower priority. */
static void end_alone(void)
{
	__atomic_store_n(&lb_alone_state.on, false, __ATOMIC_RELAXED);
	put_barrier();
	while (__atomic_load_n(&lb_alone_state.inside, __ATOMIC_ACQUIRE))
		pass(20000);
}

void lb_alone_join(void)
{
	pthread_mutex_lock(&lock);
	if (!joined && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {
		lb_alone_first = true;
		__atomic_store_n(&lb_alone_state.on, true, __ATOMIC_RELAXED);
	} else if (!lb_alone_first) {
		if (lb_alone_state.on)
			end_alone();
		__atomic_store_n(&lb_alone_state.over, true, __ATOMIC_RELEASE);
	}
	joined = true;
	pthread_mutex_unlock(&lock);
}

/* Once that is over, it is like any other thread, and keeps its hands off what they all read. */
void lb_alone_forget(void)
{
	__atomic_store_n(&lb_alone_state.inside, false, __ATOMIC_RELEASE);
	if (__atomic_load_n(&lb_alone_state.over, __ATOMIC_ACQUIRE))
		lb_alone_first = false;
}

void lb_alone_leave(void)
{
	if (!lb_alone_first)
		return;
	pthread_mutex_lock(&lock);
	__atomic_store_n(&lb_alone_state.on, false, __ATOMIC_RELAXED);
	joined = false;
	lb_alone_first = false;
	pthread_mutex_unlock(&lock);
}

void lb_alone_before_fork(void)
{
	lb_alone_meet();
	pthread_mutex_lock(&lock);
}

void lb_alone_after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

#endif
