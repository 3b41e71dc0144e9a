/* Several threads build, evaluate, share and drop tensors at once, and while the program exits.
 * Made to run under ThreadSanitizer; without it, what is checked are the values. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lazybones.h"

enum { THREADS = 6, ROUNDS = 60 };

struct work {
	void (*body)(struct work *work, int thread, int round);
	lb_tensor *shared[4];
	pthread_barrier_t barrier;
	atomic_int wrong;
};

struct worker {
	struct work *work;
	int thread;
};

/* cmocka's assertions belong to the main thread: workers count what is wrong. */
static void expect(struct work *work, bool ok, const char *what, int thread, int round)
{
	if (ok)
		return;
	if (atomic_fetch_add(&work->wrong, 1) < 10)
		print_message("# thread %d, round %d: %s: %s\n", thread, round, what, lb_error_message());
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	for (int round = 0; round < ROUNDS; round++) {
		LB_SCOPE
			worker->work->body(worker->work, worker->thread, round);
		expect(worker->work, lb_ok(), "an error", worker->thread, round);
		lb_clear_error();
	}
	return NULL;
}

static void run_threads(struct work *work)
{
	pthread_t threads[THREADS];
	struct worker workers[THREADS];
	pthread_barrier_init(&work->barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ work, i };
		assert_int_equal(pthread_create(&threads[i], NULL, worker_main, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&work->barrier);
	assert_int_equal(work->wrong, 0);
	assert_true(lb_ok());
}

/* Graphs of their own, over memory that all take from the same caches. */
static void private_graphs(struct work *work, int thread, int round)
{
	int64_t n = 1000 + 37 * thread + round;
	lb_tensor *x = lb_named("x", lb_arange(0, (double)n, 1, LB_F64));
	lb_tensor *y = lb_add(lb_multiply(x, lb_scalar(2)), lb_scalar(1));
	lb_tensor *reversed = lb_slice(y, LB_REVERSED);
	/* the sum of the first n odd numbers */
	expect(work, lb_item(lb_sum(reversed, LB_ALL_AXES, false)) == (double)(n * n), "sum", thread, round);
	lb_tensor *square = lb_reshape(lb_slice(x, LB_TO(900)), LB_SHAPE(30, 30));
	lb_tensor *product = lb_matmul(square, lb_eye(30, 30, 0, LB_F64));
	expect(work, lb_item_int(lb_all(lb_equal(product, square), LB_ALL_AXES, false)) == 1,
	       "product with the identity", thread, round);
}

static void test_private_graphs(void **state)
{
	(void)state;
	struct work work = { .body = private_graphs };
	run_threads(&work);
}

/* One lazy tensor, which all evaluate at the same moment, in a part of the rounds through
 * tensors that depend on it. */
static void shared_lazy(struct work *work, int thread, int round)
{
	if (thread == 0) {
		lb_tensor *base = lb_random_uniform(LB_SHAPE(64, 64), 0, 1, LB_F32, lb_key((uint64_t)round));
		work->shared[0] = lb_keep(lb_exp(lb_transpose(base, LB_ALL_AXES)));
		work->shared[1] = lb_keep(lb_sum(work->shared[0], LB_ALL_AXES, false));
	}
	pthread_barrier_wait(&work->barrier);
	lb_tensor *mine = lb_add(work->shared[0], lb_scalar(thread));
	if (round % 2)
		lb_eval(work->shared[0], mine);
	else
		lb_eval(mine);
	lb_tensor *difference = lb_subtract(mine, work->shared[0]);
	double mean = lb_item(lb_mean(difference, LB_ALL_AXES, false));
	expect(work, mean > thread - 1e-3 && mean < thread + 1e-3, "mean", thread, round);
	double total = lb_item(work->shared[1]);
	expect(work, total > 64 * 64 && total < 64 * 64 * 2.72, "total", thread, round);
	pthread_barrier_wait(&work->barrier);
	if (thread == THREADS - 1) {
		lb_release(work->shared[0]);
		lb_release(work->shared[1]);
	}
	pthread_barrier_wait(&work->barrier);
}

static void test_shared_lazy(void **state)
{
	(void)state;
	struct work work = { .body = shared_lazy };
	run_threads(&work);
}

/* Some threads give names to what others evaluate. */
static void shared_names(struct work *work, int thread, int round)
{
	if (thread == 0) {
		lb_tensor *rows = lb_sum(lb_ones(LB_SHAPE(30, 30), LB_F32), LB_AXES(0), false);
		work->shared[1] = lb_keep(lb_sum(rows, LB_AXES(0), false));
		work->shared[0] = rows; /* by thread 0's scope alone: nothing else makes it stay */
	}
	pthread_barrier_wait(&work->barrier);
	if (thread % 2)
		lb_named("rows", work->shared[0]);
	expect(work, lb_item(work->shared[1]) == 900, "sum", thread, round);
	pthread_barrier_wait(&work->barrier);
	if (thread == 0)
		lb_release(work->shared[1]);
}

static void test_shared_names(void **state)
{
	(void)state;
	struct work work = { .body = shared_names };
	run_threads(&work);
}

/* The last reference goes in any thread. */
static void shared_references(struct work *work, int thread, int round)
{
	if (thread == round % THREADS) {
		lb_tensor *x = lb_full(LB_SHAPE(128), round, LB_I32);
		for (int i = 0; i < THREADS; i++)
			lb_keep(x);
		work->shared[0] = x;
	}
	pthread_barrier_wait(&work->barrier);
	lb_tensor *view = lb_slice(work->shared[0], LB_RANGE(thread, 128, 3));
	lb_release(work->shared[0]);
	expect(work, lb_item_int(lb_max(view, LB_ALL_AXES, false)) == round, "value", thread, round);
	pthread_barrier_wait(&work->barrier);
}

static void test_shared_references(void **state)
{
	(void)state;
	struct work work = { .body = shared_references };
	run_threads(&work);
}

/* Large enough for the worker pool, which one thread at a time can have. */
static void large_work(struct work *work, int thread, int round)
{
	if (round >= 4)
		return;
	lb_tensor *x = lb_full(LB_SHAPE(1 << 20), thread + 1, LB_F32);
	lb_tensor *y = lb_sqrt(lb_square(x));
	expect(work, lb_item(lb_sum(y, LB_ALL_AXES, false)) == (double)(thread + 1) * (1 << 20),
	       "sum of a large tensor", thread, round);
}

static void test_large_work(void **state)
{
	(void)state;
	struct work work = { .body = large_work };
	run_threads(&work);
}

/* A failure is known to the thread that failed alone. */
static void errors(struct work *work, int thread, int round)
{
	lb_tensor *x = lb_zeros(LB_SHAPE(2, 3), LB_F32);
	if (thread % 2) {
		expect(work, !lb_matmul(x, x), "a product that cannot be", thread, round);
		expect(work, !lb_ok() && *lb_error_message(), "its message", thread, round);
		lb_clear_error();
	}
	pthread_barrier_wait(&work->barrier);
	expect(work, lb_item(lb_sum(x, LB_ALL_AXES, false)) == 0, "sum", thread, round);
}

static void test_errors(void **state)
{
	(void)state;
	struct work work = { .body = errors };
	run_threads(&work);
}

/* Counters, names and caches are read and emptied while others work. */
static void housekeeping(struct work *work, int thread, int round)
{
	char name[32];
	snprintf(name, sizeof name, "t%d.%d", thread, round);
	lb_tensor *x = lb_named(name, lb_ones(LB_SHAPE(256), LB_F32));
	lb_eval(x);
	if (thread == 0)
		lb_clear_cache();
	if (thread == 1)
		lb_reset_peak_memory();
	expect(work, lb_active_memory() >= 1024, "active memory", thread, round);
	(void)lb_peak_memory();
	(void)lb_cache_memory();
	expect(work, lb_name(x) && lb_name(x)[1] == '0' + thread, "name", thread, round);
}

static void test_housekeeping(void **state)
{
	(void)state;
	struct work work = { .body = housekeeping };
	run_threads(&work);
	assert_true(lb_active_memory() < 1 << 20);
}

/* ---- the program exits while its threads multiply ---- */

enum { MULTIPLYING = 4, EXITS = 8, SIDE = 100 };

static const char *program;
static atomic_int products[MULTIPLYING];

static void multiply_once(void)
{
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(SIDE, SIDE), LB_F32);
		if (lb_item(lb_sum(lb_matmul(x, x), LB_ALL_AXES, false)) != SIDE * SIDE * SIDE)
			abort();
	}
}

static void *multiply_for_ever(void *count)
{
	for (;;) {
		multiply_once();
		atomic_fetch_add((atomic_int *)count, 1);
	}
	return NULL;
}

static void exit_now(int signal)
{
	(void)signal;
	exit(0);
}

/* Its status is 0, unless a product is wrong or the end does not come. */
static int exit_while_multiplying(const char *how)
{
	pthread_t thread;

	alarm(120);
	signal(SIGUSR1, exit_now);
	if (strcmp(how, "handler") == 0)
		atexit(multiply_once);
	for (int i = 0; i < MULTIPLYING; i++)
		if (pthread_create(&thread, NULL, multiply_for_ever, &products[i]) != 0)
			return 1;
	for (int i = 0; i < MULTIPLYING; i++)
		while (atomic_load(&products[i]) == 0)
			sched_yield();
	if (strcmp(how, "signal") == 0)
		pthread_kill(thread, SIGUSR1);
	while (strcmp(how, "signal") == 0)
		pause();
	return 0;
}

static void test_exit(void **state)
{
	static const char *const ways[] = { "return", "handler", "signal" };
	static const char *const widths[] = { "1", "4" };

	(void)state;
	for (int i = 0; i < 3 * 2 * EXITS; i++) {
		const char *how = ways[i % 3], *width = widths[i / 3 % 2];
		int status = -1;
		pid_t child = fork();
		if (child == 0) {
			setenv("OPENBLAS_NUM_THREADS", width, 1);
			execl(program, program, "--exit", how, NULL);
			_exit(127);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status != 0)
			print_message("# %s, OPENBLAS_NUM_THREADS=%s: status %d\n", how, width, status);
		assert_int_equal(status, 0);
	}
}

/* ---- the program has taken all keys of threads ---- */

static int compute_without_keys(void)
{
	static pthread_key_t keys[4096];
	int n = 0, wrong = 0;

	while (n < 4096 && pthread_key_create(&keys[n], NULL) == 0)
		n++;
	for (int i = 0; i < n; i++)
		pthread_setspecific(keys[i], &keys[i]);
	multiply_once();
	for (int i = 0; i < n; i++)
		wrong += pthread_getspecific(keys[i]) != &keys[i];
	return wrong;
}

static void test_no_keys(void **state)
{
	int status = -1;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		execl(program, program, "--keys", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1 && strcmp(argv[1], "--keys") == 0)
		return compute_without_keys();
	if (argc > 2 && strcmp(argv[1], "--exit") == 0)
		return exit_while_multiplying(argv[2]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_private_graphs), cmocka_unit_test(test_shared_lazy),
		cmocka_unit_test(test_shared_names),   cmocka_unit_test(test_shared_references),
		cmocka_unit_test(test_large_work),     cmocka_unit_test(test_errors),
		cmocka_unit_test(test_housekeeping),   cmocka_unit_test(test_exit),
		cmocka_unit_test(test_no_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
