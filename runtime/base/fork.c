#include "base/fork.h"

static struct lb_fork_lock *first;

static void before_fork(void)
{
	for (struct lb_fork_lock *entry = first; entry; entry = entry->next)
		pthread_mutex_lock(entry->lock);
}

static void after_fork(void)
{
	for (struct lb_fork_lock *entry = first; entry; entry = entry->next)
		pthread_mutex_unlock(entry->lock);
}

void lb_free_in_child(struct lb_fork_lock *entry)
{
	if (!first)
		pthread_atfork(before_fork, after_fork, after_fork);
	entry->next = first;
	first = entry;
}
