/* A child of fork() has one thread: a lock that another one held would be held for ever in it. */
#ifndef LB_BASE_FORK_H
#define LB_BASE_FORK_H

#include <pthread.h>

struct lb_fork_lock {
	pthread_mutex_t *lock;
	struct lb_fork_lock *next;
};

/* A child finds this lock free: fork() waits for whoever holds it. For constructors; the entry stays for ever. Nobody
 * takes one of these locks while he holds another. */
void lb_free_in_child(struct lb_fork_lock *entry);

#endif
