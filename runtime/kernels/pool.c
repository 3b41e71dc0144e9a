/* The worker pool: one job at a time, cut into pieces that the calling thread and
 * the workers take from a common counter.
 *
 * Whoever calls lb_parallel() tries to get the pool; who finds it busy (another
 * thread's job, or a nested call) does the work alone, so nobody waits for a job
 * that is not its own and no lock order can arise. Workers are made at the first
 * large job, detached, with all signals blocked, and live as long as the process.
 * They do not survive fork(): a child works alone. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/environment.h"
#include "kernels/kernels.h"

enum { MAX_WIDTH = 256, PIECES_PER_THREAD = 4, SPINS = 2000, STACK_BYTES = 512 << 10 };

static struct {
	pthread_mutex_t owner; /* held by the caller whose job runs */
	pthread_mutex_t lock;  /* guards what follows, up to the job */
	pthread_cond_t start, done;
	uint64_t generation;   /* of the job */
	int active;            /* workers inside the current job */
	int workers;
	bool tried;            /* to make workers */
	/* the job; written by the owner while no worker is active */
	void (*work)(void *arg, int64_t begin, int64_t end);
	void *arg;
	int64_t n, pieces;
	_Atomic int64_t next;
	_Atomic uint64_t posted; /* copy of generation, to be watched without the lock */
} pool = {
	.owner = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.start = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
};
static _Atomic bool forked; /* this process is a child of one that had workers */

static _Atomic int width;

static void measure_width(void)
{
	cpu_set_t set;
	int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	int64_t n = lb_environment_number("LAZYBONES_THREADS", 1, INT32_MAX, cores);
	width = n > MAX_WIDTH ? MAX_WIDTH : n < 1 ? 1 : (int)n;
}

int lb_parallel_width(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (atomic_load_explicit(&width, memory_order_relaxed) == 0)
		pthread_once(&once, measure_width);
	return atomic_load_explicit(&width, memory_order_relaxed);
}

static inline void relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* Piece i of p of [0, n) begins at i * n / p, without the product's overflow. */
static int64_t piece_begin(int64_t n, int64_t pieces, int64_t i)
{
	int64_t each = n / pieces, rest = n % pieces;
	return i * each + (i < rest ? i : rest);
}

static void take_pieces(void)
{
	for (;;) {
		int64_t i = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed);
		if (i >= pool.pieces)
			return;
		pool.work(pool.arg, piece_begin(pool.n, pool.pieces, i), piece_begin(pool.n, pool.pieces, i + 1));
	}
}

static void *worker_main(void *unused)
{
	(void)unused;
	uint64_t seen = 0;
	for (;;) {
		for (int i = 0; i < SPINS; i++) {
			if (atomic_load_explicit(&pool.posted, memory_order_relaxed) != seen)
				break;
			relax();
		}
		pthread_mutex_lock(&pool.lock);
		while (pool.generation == seen)
			pthread_cond_wait(&pool.start, &pool.lock);
		seen = pool.generation;
		pool.active++;
		pthread_mutex_unlock(&pool.lock);
		take_pieces();
		pthread_mutex_lock(&pool.lock);
		if (--pool.active == 0)
			pthread_cond_signal(&pool.done);
		pthread_mutex_unlock(&pool.lock);
	}
	return NULL;
}

static void after_fork_in_child(void)
{
	atomic_store(&forked, true);
}

/* With pool.owner held. */
static bool have_workers(void)
{
	if (pool.tried)
		return pool.workers > 0;
	pool.tried = true;
	sigset_t all, old;
	pthread_attr_t attr;
	if (pthread_attr_init(&attr) != 0)
		return false;
	if (pthread_atfork(NULL, NULL, after_fork_in_child) == 0) {
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		pthread_attr_setstacksize(&attr, STACK_BYTES);
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		while (pool.workers < lb_parallel_width() - 1) {
			pthread_t thread;
			if (pthread_create(&thread, &attr, worker_main, NULL) != 0)
				break;
			pool.workers++;
		}
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return pool.workers > 0;
}

static void wait_for_workers(void)
{
	pthread_mutex_lock(&pool.lock);
	/* A worker that comes late finds no piece; it must not find the next job half written. */
	while (pool.active > 0)
		pthread_cond_wait(&pool.done, &pool.lock);
	pool.pieces = 0;
	pthread_mutex_unlock(&pool.lock);
}

void lb_parallel(const struct lb_exec *exec, int64_t n, int64_t grain,
		 void (*work)(void *arg, int64_t begin, int64_t end), void *arg)
{
	if (n <= 0)
		return;
	if (grain < 1)
		grain = 1;
	if (!exec->threads || n / grain < 2 || lb_parallel_width() < 2 || atomic_load(&forked) ||
	    pthread_mutex_trylock(&pool.owner) != 0) {
		work(arg, 0, n);
		return;
	}
	if (!have_workers()) {
		pthread_mutex_unlock(&pool.owner);
		work(arg, 0, n);
		return;
	}
	int64_t pieces = n / grain, most = (int64_t)(pool.workers + 1) * PIECES_PER_THREAD;
	pthread_mutex_lock(&pool.lock);
	while (pool.active > 0) /* workers that came late to the last job */
		pthread_cond_wait(&pool.done, &pool.lock);
	pool.work = work;
	pool.arg = arg;
	pool.n = n;
	pool.pieces = pieces < most ? pieces : most;
	atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
	atomic_store_explicit(&pool.posted, ++pool.generation, memory_order_relaxed);
	pthread_cond_broadcast(&pool.start);
	pthread_mutex_unlock(&pool.lock);
	take_pieces();
	wait_for_workers();
	pthread_mutex_unlock(&pool.owner);
}
