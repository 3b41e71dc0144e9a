/* Threads that wait for each other. The scene itself goes on: it is played by threads of its own. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER, graph = PTHREAD_MUTEX_INITIALIZER;
static atomic_int holding, left;
static bool in_two_orders;

static void wait_until(atomic_int *count, int n)
{
	while (atomic_load(count) < n)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* Whether the kernel has a thread of this process wait for the word at an address. */
static bool is_waited_for(const void *address)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned long long first;
	char path[64];
	bool found = false;
	long number;

	while (threads && !found && (entry = readdir(threads))) {
		snprintf(path, sizeof path, "/proc/self/task/%.16s/syscall", entry->d_name);
		FILE *file = fopen(path, "r");
		found = file && fscanf(file, "%ld 0x%llx", &number, &first) == 2 && number == SYS_futex &&
			first == (uintptr_t)address;
		if (file)
			fclose(file);
	}
	if (threads)
		closedir(threads);
	return found;
}

static void wait_for_waiter(pthread_mutex_t *mutex)
{
	while (!is_waited_for(mutex))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void *update_cache(void *unused)
{
	pthread_mutex_lock(&cache);
	atomic_fetch_add(&holding, 1);
	if (in_two_orders)
		wait_until(&holding, 2);
	pthread_mutex_lock(&graph);
	pthread_mutex_unlock(&graph);
	pthread_mutex_unlock(&cache);
	atomic_fetch_add(&left, 1);
	return unused;
}

static void *update_graph(void *unused)
{
	pthread_mutex_t *first = in_two_orders ? &graph : &cache, *second = in_two_orders ? &cache : &graph;

	pthread_mutex_lock(first);
	atomic_fetch_add(&holding, 1);
	if (in_two_orders)
		wait_until(&holding, 2);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
	atomic_fetch_add(&left, 1);
	return unused;
}

static pthread_t begin(void *(*run)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	pthread_detach(thread);
	return thread;
}

void play_two_orders(bool sick)
{
	lb_eval(normal(8, 8, 1));
	in_two_orders = sick;
	begin(update_cache);
	begin(update_graph);
	if (!sick) {
		wait_until(&left, 2);
		return;
	}
	wait_for_waiter(&cache);
	wait_for_waiter(&graph);
}

static void *take_cache(void *unused)
{
	pthread_mutex_lock(&cache);
	return unused;
}

static void *end_holding(void *unlocks)
{
	pthread_mutex_lock(&graph);
	if (unlocks)
		pthread_mutex_unlock(&graph);
	return NULL;
}

static void *wait_for_graph(void *unused)
{
	pthread_mutex_lock(&graph);
	pthread_mutex_unlock(&graph);
	atomic_fetch_add(&left, 1);
	return unused;
}

/* A thread returns without unlocking what it has locked. */
void play_ended_owner(bool sick)
{
	pthread_t owner;

	lb_eval(normal(8, 8, 1));
	pthread_create(&owner, NULL, end_holding, sick ? NULL : &left);
	pthread_join(owner, NULL);
	begin(wait_for_graph);
	if (sick)
		wait_for_waiter(&graph);
	else
		wait_until(&left, 1);
}

static void *join_holding(void *waits)
{
	pthread_t other;

	pthread_mutex_lock(&cache);
	pthread_create(&other, NULL, take_cache, NULL);
	if (!waits)
		pthread_mutex_unlock(&cache);
	pthread_join(other, NULL);
	atomic_fetch_add(&left, 1);
	return NULL;
}

/* A thread waits for the end of one that needs what it holds. */
void play_join_while_holding(bool sick)
{
	pthread_t thread;

	lb_eval(normal(8, 8, 1));
	pthread_create(&thread, NULL, join_holding, sick ? &left : NULL);
	pthread_detach(thread);
	if (sick)
		wait_for_waiter(&cache);
	else
		wait_until(&left, 1);
}

/* Waits that end: one works while it holds what another waits for. */
static void *work_long(void *unused)
{
	pthread_mutex_lock(&graph);
	atomic_fetch_add(&holding, 1);
	wait_until(&left, 1); /* for ever, as far as this scene goes */
	return unused;
}

void play_busy_owner(bool sick)
{
	(void)sick;
	lb_eval(normal(8, 8, 1));
	begin(work_long);
	wait_until(&holding, 1);
	begin(wait_for_graph);
	wait_for_waiter(&graph);
}

static bool releases_with_lock;

/* Called by the thread that needs the memory last. */
static void give_back(void *data, void *unused)
{
	(void)data;
	(void)unused;
	if (!releases_with_lock)
		return;
	pthread_mutex_lock(&cache);
	pthread_mutex_unlock(&cache);
}

static void *compute_holding(void *unused)
{
	static float values[16];
	lb_stream stream = lb_stream_new("loader");
	lb_tensor *y = NULL;

	LB_ON_STREAM(stream)
	LB_SCOPE {
		y = lb_keep(lb_sum(lb_from_memory(values, sizeof values, LB_SHAPE(16), LB_F32, give_back, NULL),
				   LB_ALL_AXES, false));
	}
	pthread_mutex_lock(&cache);
	lb_async_eval(y);
	lb_synchronize(stream);
	pthread_mutex_unlock(&cache);
	atomic_fetch_add(&left, 1);
	return unused;
}

/* What waits for each other does not end, and would not let the program end. */
static void leave(void)
{
	_exit(0);
}

/* Waits for a stream's job while holding what that needs to give memory back. */
void play_synchronize_while_holding(bool sick)
{
	releases_with_lock = sick;
	lb_eval(normal(8, 8, 1));
	begin(compute_holding);
	if (!sick) {
		wait_until(&left, 1);
		return;
	}
	wait_for_waiter(&cache);
	atexit(leave);
}
