/* The worker pool: one job at a time, cut into pieces that the calling thread and
 * the workers take from a common counter. Those who find none watch it for a while before they
 * sleep: kernels follow one another within microseconds, and to be woken takes many. The counter has
 * the job's number in it, so that who comes late can take no piece of a job that is over, and what
 * it reads of a job whose piece it has taken stays as it is until it has done it.
 *
 * Whoever calls lb_parallel() tries to get the pool; who finds it busy (another
 * thread's job, or a nested call) does the work alone, so nobody waits for a job
 * that is not its own and no lock order can arise. Workers are made at the first
 * large job, detached, with all signals blocked, and live as long as the process.
 * They do not survive fork(): a child works alone. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/environment.h"
#include "kernels/kernels.h"

enum { MAX_WIDTH = 256, PIECES_PER_THREAD = 4, STACK_BYTES = 512 << 10 };
enum { WATCH_NS = 200000, LOOKS = 32 /* between two readings of the clock */ };

/* Of a ticket: how many pieces nobody has taken; above, the job's number. */
enum { UNTAKEN = 0xffff, ONE_JOB = 0x10000 };
_Static_assert(MAX_WIDTH *PIECES_PER_THREAD <= UNTAKEN, "pieces fit a ticket");

static struct {
	pthread_mutex_t owner; /* held by the caller whose job runs */
	pthread_mutex_t lock;  /* of the conditions */
	pthread_cond_t start, done;
	int workers;
	bool tried;            /* to make workers */
	_Atomic int asleep;    /* workers that wait for `start` */
	_Atomic bool awaited;  /* the owner waits for `done` */
	/* the job; written by the owner while there is no piece of one */
	void (*work)(void *arg, int64_t begin, int64_t end);
	void *arg;
	int64_t n, pieces;
	_Atomic uint64_t ticket;
	_Atomic int64_t unfinished; /* pieces */
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
	int64_t n = lb_environment_number("LAZYBONES_THREADS", 1, INT32_MAX, lb_cores());
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
#elif defined __aarch64__
	__asm__ volatile("isb");
#endif
}

/* Piece i of p of [0, n) begins at i * n / p, without the product's overflow. */
static int64_t piece_begin(int64_t n, int64_t pieces, int64_t i)
{
	int64_t each = n / pieces, rest = n % pieces;
	return i * each + (i < rest ? i : rest);
}

static bool has_pieces(void)
{
	return atomic_load(&pool.ticket) & UNTAKEN;
}

static bool is_finished(void)
{
	return atomic_load(&pool.unfinished) == 0;
}

/* Looks again and again, for a while; whether it came true. */
static bool watch(bool (*is_so)(void))
{
	uint64_t begin = lb_clock_ns();
	do {
		for (int i = 0; i < LOOKS; i++) {
			if (is_so())
				return true;
			relax();
		}
	} while (lb_clock_ns() - begin < WATCH_NS);
	return false;
}

static void take_pieces(void)
{
	uint64_t ticket = atomic_load(&pool.ticket);
	while (ticket & UNTAKEN) {
		if (!atomic_compare_exchange_weak(&pool.ticket, &ticket, ticket - 1))
			continue;
		int64_t i = pool.pieces - (int64_t)(ticket & UNTAKEN);
		pool.work(pool.arg, piece_begin(pool.n, pool.pieces, i), piece_begin(pool.n, pool.pieces, i + 1));
		/* who sleeps says so before it looks a last time */
		if (atomic_fetch_sub(&pool.unfinished, 1) == 1 && atomic_load(&pool.awaited)) {
			pthread_mutex_lock(&pool.lock);
			pthread_cond_signal(&pool.done);
			pthread_mutex_unlock(&pool.lock);
		}
		ticket = atomic_load(&pool.ticket);
	}
}

static void *worker_main(void *unused)
{
	(void)unused;
	for (;;) {
		if (!watch(has_pieces)) {
			pthread_mutex_lock(&pool.lock);
			atomic_fetch_add(&pool.asleep, 1);
			while (!has_pieces())
				pthread_cond_wait(&pool.start, &pool.lock);
			atomic_fetch_sub(&pool.asleep, 1);
			pthread_mutex_unlock(&pool.lock);
		}
		take_pieces();
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

static void post(int64_t n, int64_t pieces, void (*work)(void *arg, int64_t begin, int64_t end), void *arg)
{
	pool.work = work;
	pool.arg = arg;
	pool.n = n;
	pool.pieces = pieces;
	atomic_store(&pool.unfinished, pieces);
	atomic_store(&pool.ticket, (atomic_load(&pool.ticket) & ~(uint64_t)UNTAKEN) + ONE_JOB + (uint64_t)pieces);
	if (atomic_load(&pool.asleep) == 0)
		return;
	pthread_mutex_lock(&pool.lock);
	pthread_cond_broadcast(&pool.start);
	pthread_mutex_unlock(&pool.lock);
}

static void wait_for_pieces(void)
{
	if (watch(is_finished))
		return;
	pthread_mutex_lock(&pool.lock);
	atomic_store(&pool.awaited, true);
	while (!is_finished())
		pthread_cond_wait(&pool.done, &pool.lock);
	atomic_store(&pool.awaited, false);
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
	post(n, pieces < most ? pieces : most, work, arg);
	take_pieces();
	wait_for_pieces();
	pthread_mutex_unlock(&pool.owner);
}
