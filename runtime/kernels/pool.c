/* The worker pool: one job at a time, cut into pieces. Each thread has a seat, whose pieces follow one another, and takes those
 * first: what it has written for one kernel it mostly reads for the next, from its own cache. Who has none left takes others'.
 * Those who find none watch for the next job for a while before they sleep: kernels follow one another within microseconds, and
 * to be woken takes many. A seat's ticket has the job's number in it, so that who comes late can take no piece of a job that is
 * over, and what it reads of a job whose piece it has taken stays as it is until it has done it.
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

enum { MAX_WIDTH = 256, PIECES_PER_SEAT = 4, STACK_BYTES = 512 << 10 };
enum { WATCH_NS = 200000, LOOKS = 32 /* between two readings of the clock */ };

/* Numbers of jobs are above these bits, of a ticket: how many pieces nobody has taken; of pool.job: how many have a seat. */
enum { COUNT = 0xffff, ONE_JOB = 0x10000 };

static struct {
	pthread_mutex_t owner; /* held by the caller whose job runs */
	pthread_mutex_t lock; /* of the conditions */
	pthread_cond_t start, done;
	int workers;
	bool tried; /* to make workers */
	_Atomic int asleep; /* workers that wait for `start` */
	_Atomic bool awaited; /* the owner waits for `done` */
	/* the job; written by the owner while there is no piece of one */
	_Alignas(64) lb_seat_work *work;
	void *arg;
	int64_t n, pieces, seats;
	_Atomic uint64_t job;
	_Alignas(64) _Atomic int64_t unfinished; /* pieces */
} pool = {
	.owner = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.start = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
};
/* The owner's, and the workers'. */
static struct {
	_Alignas(64) _Atomic uint64_t ticket;
} seats[MAX_WIDTH];
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

static bool is_finished(uint64_t unused)
{
	(void)unused;
	return atomic_load(&pool.unfinished) == 0;
}

static bool is_another(uint64_t job)
{
	return atomic_load(&pool.job) != job;
}

/* Looks again and again, for a while; whether it came true. */
static bool watch(bool (*is_so)(uint64_t job), uint64_t job)
{
	uint64_t begin = lb_clock_ns();
	do {
		for (int i = 0; i < LOOKS; i++) {
			if (is_so(job))
				return true;
			relax();
		}
	} while (lb_clock_ns() - begin < WATCH_NS);
	return false;
}

/* Does those that are left of a seat. */
static void take_pieces_of(uint64_t job, int64_t seat, int64_t self)
{
	_Atomic uint64_t *at = &seats[seat].ticket;
	uint64_t ticket = atomic_load(at);
	int64_t done = 0;
	while (ticket / ONE_JOB == job / ONE_JOB && ticket & COUNT) {
		if (!atomic_compare_exchange_weak(at, &ticket, ticket - 1))
			continue;
		int64_t i = piece_begin(pool.pieces, pool.seats, seat + 1) - (int64_t)(ticket & COUNT);
		pool.work(pool.arg, self, piece_begin(pool.n, pool.pieces, i), piece_begin(pool.n, pool.pieces, i + 1));
		done++;
		ticket = atomic_load(at);
	}
	/* who sleeps says so before it looks a last time */
	if (done && atomic_fetch_sub(&pool.unfinished, done) == done && atomic_load(&pool.awaited)) {
		pthread_mutex_lock(&pool.lock);
		pthread_cond_signal(&pool.done);
		pthread_mutex_unlock(&pool.lock);
	}
}

/* Its own, and then others'. */
static void take_pieces(uint64_t job, int64_t self)
{
	int64_t n = (int64_t)(job & COUNT);
	for (int64_t i = 0; self < n && i < n; i++)
		take_pieces_of(job, (self + i) % n, self);
}

static void *worker_main(void *seat)
{
	for (uint64_t job = 0;;) {
		if (!watch(is_another, job)) {
			pthread_mutex_lock(&pool.lock);
			atomic_fetch_add(&pool.asleep, 1);
			while (!is_another(job))
				pthread_cond_wait(&pool.start, &pool.lock);
			atomic_fetch_sub(&pool.asleep, 1);
			pthread_mutex_unlock(&pool.lock);
		}
		job = atomic_load(&pool.job);
		take_pieces(job, (intptr_t)seat);
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
			if (pthread_create(&thread, &attr, worker_main, (void *)(intptr_t)(pool.workers + 1)) != 0)
				break;
			pool.workers++;
		}
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return pool.workers > 0;
}

static uint64_t post(int64_t n, int64_t pieces, int64_t n_seats, lb_seat_work *work, void *arg)
{
	uint64_t number = (atomic_load(&pool.job) / ONE_JOB + 1) * ONE_JOB, job = number + (uint64_t)n_seats;
	pool.work = work;
	pool.arg = arg;
	pool.n = n;
	pool.pieces = pieces;
	pool.seats = n_seats;
	atomic_store(&pool.unfinished, pieces);
	for (int64_t i = 0; i < n_seats; i++) {
		int64_t some = piece_begin(pieces, n_seats, i + 1) - piece_begin(pieces, n_seats, i);
		atomic_store(&seats[i].ticket, number + (uint64_t)some);
	}
	atomic_store(&pool.job, job);
	if (atomic_load(&pool.asleep) == 0)
		return job;
	pthread_mutex_lock(&pool.lock);
	pthread_cond_broadcast(&pool.start);
	pthread_mutex_unlock(&pool.lock);
	return job;
}

static void wait_for_pieces(void)
{
	if (watch(is_finished, 0))
		return;
	pthread_mutex_lock(&pool.lock);
	atomic_store(&pool.awaited, true);
	while (!is_finished(0))
		pthread_cond_wait(&pool.done, &pool.lock);
	atomic_store(&pool.awaited, false);
	pthread_mutex_unlock(&pool.lock);
}

static bool take_pool(void)
{
	if (lb_parallel_width() < 2 || atomic_load(&forked) || pthread_mutex_trylock(&pool.owner) != 0)
		return false;
	if (have_workers())
		return true;
	pthread_mutex_unlock(&pool.owner);
	return false;
}

void lb_parallel_seats(const struct lb_exec *exec, int64_t n, int64_t pieces, int64_t n_seats, lb_seat_work *work,
		       void *arg)
{
	pieces = pieces > COUNT ? COUNT : pieces;
	n_seats = n_seats > pieces ? pieces : n_seats;
	if (!exec->threads || n_seats < 2 || !take_pool()) {
		work(arg, 0, 0, n);
		return;
	}
	n_seats = n_seats > pool.workers + 1 ? pool.workers + 1 : n_seats;
	take_pieces(post(n, pieces, n_seats, work, arg), 0);
	wait_for_pieces();
	pthread_mutex_unlock(&pool.owner);
}

struct plain {
	void (*work)(void *arg, int64_t begin, int64_t end);
	void *arg;
};

static void work_anywhere(void *arg, int64_t seat, int64_t begin, int64_t end)
{
	const struct plain *plain = arg;
	(void)seat;
	plain->work(plain->arg, begin, end);
}

void lb_parallel(const struct lb_exec *exec, int64_t n, int64_t grain,
		 void (*work)(void *arg, int64_t begin, int64_t end), void *arg)
{
	if (n <= 0)
		return;
	int64_t n_seats = lb_parallel_width(), pieces = n / (grain < 1 ? 1 : grain), most = n_seats * PIECES_PER_SEAT;
	lb_parallel_seats(exec, n, pieces < most ? pieces : most, n_seats, work_anywhere, &(struct plain){ work, arg });
}
