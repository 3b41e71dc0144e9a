/* The worker pool: whoever calls, and whatever the workers do meanwhile, each piece is done once. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_support.h"

#include "kernels/share.h"

enum { THREADS = 8, LONGER_THAN_WATCHED_US = 3000 };

static void count_pieces(void *arg, int64_t begin, int64_t end)
{
	_Atomic int64_t *sum = arg;
	for (int64_t i = begin; i < end; i++)
		atomic_fetch_add(sum, i);
}

static int64_t sum_below(int64_t n)
{
	return n * (n - 1) / 2;
}

static void sizes(void **state)
{
	(void)state;
	assert_int_equal(lb_parallel_width(), THREADS);
	for (int64_t n = 0; n < 3000; n += 7) {
		_Atomic int64_t sum = 0;
		lb_parallel(&exec_all, n, 1 + n % 5, count_pieces, &sum);
		assert_int_equal(sum, sum_below(n));
	}
}

/* Those that have gone to sleep are woken. */
static void after_a_pause(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		_Atomic int64_t sum = 0;
		usleep(LONGER_THAN_WATCHED_US);
		lb_parallel(&exec_all, 100, 1, count_pieces, &sum);
		assert_int_equal(sum, sum_below(100));
	}
}

struct slow {
	_Atomic int64_t sum;
	pthread_t caller;
};

/* The caller leaves pieces for the others, is done before them, and waits. */
static void work_slowly(void *arg, int64_t begin, int64_t end)
{
	struct slow *slow = arg;
	usleep(pthread_equal(pthread_self(), slow->caller) ? 100 : LONGER_THAN_WATCHED_US);
	count_pieces(&slow->sum, begin, end);
}

static void workers_that_are_late(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		struct slow slow = { .caller = pthread_self() };
		lb_parallel(&exec_all, 100, 1, work_slowly, &slow);
		assert_int_equal(slow.sum, sum_below(100));
	}
}

static void nest(void *arg, int64_t begin, int64_t end)
{
	for (int64_t i = begin; i < end; i++)
		lb_parallel(&exec_all, 100, 1, count_pieces, arg);
}

static void nested(void **state)
{
	(void)state;
	_Atomic int64_t sum = 0;
	lb_parallel(&exec_all, 50, 1, nest, &sum);
	assert_int_equal(sum, 50 * sum_below(100));
}

static void *call_often(void *failed)
{
	for (int64_t i = 0; i < 2000; i++) {
		_Atomic int64_t sum = 0;
		lb_parallel(&exec_all, i % 200, 1, count_pieces, &sum);
		if (sum != sum_below(i % 200))
			atomic_store((_Atomic bool *)failed, true);
	}
	return NULL;
}

static void several_callers(void **state)
{
	(void)state;
	_Atomic bool failed = false;
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_often, &failed), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_false(failed);
}

static void child_of_fork(void **state)
{
	(void)state;
	pid_t child = fork();
	if (child == 0) { /* without the workers */
		_Atomic int64_t sum = 0;
		lb_parallel(&exec_all, 1000, 1, count_pieces, &sum);
		_exit(sum == sum_below(1000) ? 0 : 1);
	}
	int status = -1;
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	assert_int_equal(status, 0);
}

/* Whose scratch memory is another's finds another's mark in it. */
struct seats {
	_Atomic int64_t sum;
	_Atomic bool shared;
};

static void sit(void *arg, void *scratch, int64_t task)
{
	struct seats *seats = arg;
	*(_Atomic int64_t *)scratch = task;
	for (int i = 0; i < 100; i++)
		if (atomic_load((_Atomic int64_t *)scratch) != task)
			atomic_store(&seats->shared, true);
	atomic_fetch_add(&seats->sum, task);
}

static void seats_of_their_own(void **state)
{
	(void)state;
	for (int64_t n = 0; n < 2000; n += 37) {
		struct seats seats = { 0 };
		assert_true(lb_share(&exec_all, n, 1 + n % 3, 8, sit, &seats));
		assert_int_equal(seats.sum, sum_below(n));
		assert_false(seats.shared);
	}
}

struct places {
	_Atomic int64_t begun;
	_Atomic int64_t seats[THREADS]; /* of the pieces */
};

/* Nobody is done before each has a piece. */
static void take_place(void *arg, int64_t seat, int64_t begin, int64_t end)
{
	struct places *places = arg;
	atomic_store(&places->seats[begin], end == begin + 1 ? seat : -1);
	for (atomic_fetch_add(&places->begun, 1); places->begun < THREADS;)
		sched_yield();
}

/* The same part of one job after another is done at the same seat, by the same thread. */
static void parts_stay_where_they_are(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct places places = { 0 };
		lb_parallel_seats(&exec_all, THREADS, THREADS, THREADS, take_place, &places);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(places.seats[i], i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sizes, reset),
		cmocka_unit_test_teardown(after_a_pause, reset),
		cmocka_unit_test_teardown(workers_that_are_late, reset),
		cmocka_unit_test_teardown(nested, reset),
		cmocka_unit_test_teardown(several_callers, reset),
		cmocka_unit_test_teardown(child_of_fork, reset),
		cmocka_unit_test_teardown(seats_of_their_own, reset),
		cmocka_unit_test_teardown(parts_stay_where_they_are, reset),
	};

	/* more than most machines have */
	setenv("LAZYBONES_THREADS", "8", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
