/* Several threads build and evaluate at once, apart and on shared tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "probe.h"

enum { THREADS = 8, ROUNDS = 60 };

struct job {
	pthread_barrier_t *start;
	lb_tensor *const *shared;
	int n_shared;
	int number;
	int failures; /* read after the join */
};

static void run_together(void *(*work)(void *), lb_tensor *const *shared, int n_shared)
{
	pthread_t threads[THREADS];
	struct job jobs[THREADS];
	pthread_barrier_t start;
	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){ &start, shared, n_shared, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
	}
	int failures = 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		failures += jobs[i].failures;
	}
	pthread_barrier_destroy(&start);
	assert_int_equal(failures, 0);
}

static void *private_graphs(void *argument)
{
	struct job *job = argument;
	pthread_barrier_wait(job->start);
	for (int round = 0; round < ROUNDS; round++)
		LB_SCOPE {
			double k = job->number + round;
			lb_tensor *x = counting(LB_SHAPE(16, 16));
			lb_tensor *y = lb_add(lb_multiply(x, lb_scalar(k)), lb_scalar(1));
			lb_tensor *z = lb_matmul(lb_transpose(y, LB_ALL_AXES), lb_eye(16, 16, 0, LB_F32));
			lb_tensor *s = lb_sum(lb_softmax(z, LB_AXES(0)), LB_ALL_AXES, false);
			job->failures += lb_item(lb_slice(z, LB_AT(3), LB_AT(2))) != (2 * 16 + 3) * k + 1;
			double total = lb_item(s);
			job->failures += !(total > 15.99 && total < 16.01) || !lb_ok();
		}
	return NULL;
}

static void private_work(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	run_together(private_graphs, NULL, 0);
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

/* All ask at once for the same lazy tensors, and for views and results of them. */
static void *shared_graphs(void *argument)
{
	struct job *job = argument;
	pthread_barrier_wait(job->start);
	for (int i = 0; i < job->n_shared; i++)
		LB_SCOPE {
			lb_tensor *x = job->shared[(i + job->number) % job->n_shared];
			lb_tensor *top = lb_max(x, LB_ALL_AXES, false);
			lb_tensor *mine = lb_add(lb_slice(x, LB_AT(1)), lb_scalar(job->number));
			bool right = lb_item(top) == 63 * 2 + 1;
			job->failures += !right || !lb_eval(mine, x);
			job->failures += lb_item(lb_slice(mine, LB_AT(0))) != 8 * 2 + 1 + job->number;
			lb_keep(x);
			lb_release(x);
		}
	job->failures += !lb_ok();
	return NULL;
}

static void shared_work(void **state)
{
	(void)state;
	enum { SHARED = 40 };
	lb_tensor *shared[SHARED];
	int64_t live = live_tensors();
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < SHARED; i++)
			LB_SCOPE {
				lb_tensor *x = lb_multiply(counting(LB_SHAPE(8, 8)), lb_scalar(2));
				shared[i] = lb_keep(lb_add(i ? lb_add(x, lb_multiply(shared[i - 1], lb_scalar(0))) : x,
							   lb_scalar(1)));
			}
		run_together(shared_graphs, shared, SHARED);
		for (int i = 0; i < SHARED; i++)
			lb_release(shared[i]);
	}
	assert_int_equal(live_tensors(), live);
}

/* The last of many references goes on any thread. */
static void *drop(void *argument)
{
	struct job *job = argument;
	pthread_barrier_wait(job->start);
	for (int i = 0; i < job->n_shared; i++)
		lb_release(job->shared[(i * 7 + job->number) % job->n_shared]);
	return NULL;
}

static void last_references(void **state)
{
	(void)state;
	enum { SHARED = 500 };
	static lb_tensor *shared[SHARED];
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	LB_SCOPE
		for (int i = 0; i < SHARED; i++) {
			shared[i] = lb_add(i ? shared[i - 1] : lb_ones(LB_SHAPE(9), LB_F32), lb_scalar(1));
			if (i % 50 == 49)
				assert_true(lb_eval(shared[i]));
			for (int t = 0; t < THREADS; t++)
				lb_keep(shared[i]);
		}
	run_together(drop, shared, SHARED);
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

/* One thread's errors are not another's. */
static void *own_errors(void *argument)
{
	struct job *job = argument;
	pthread_barrier_wait(job->start);
	for (int round = 0; round < ROUNDS; round++)
		LB_SCOPE {
			lb_tensor *x = counting(LB_SHAPE(4));
			lb_tensor *bad = lb_take(x, lb_full(LB_SHAPE(1), job->number, LB_I32), 0);
			bool fine = lb_eval(bad);
			job->failures += fine != (job->number < 4) || fine != lb_ok();
			job->failures += !fine && !error_has("take");
		}
	return NULL;
}

static void errors_of_threads(void **state)
{
	(void)state;
	run_together(own_errors, NULL, 0);
	assert_true(lb_ok());
}

/* A shared result that cannot be computed fails for each that asks, and hangs none. */
static void *ask_for_bad(void *argument)
{
	struct job *job = argument;
	pthread_barrier_wait(job->start);
	for (int round = 0; round < ROUNDS; round++) {
		job->failures += lb_eval(job->shared[round % job->n_shared]) || !error_has("take");
		LB_SCOPE
			job->failures += lb_item(lb_sum(counting(LB_SHAPE(5)), LB_ALL_AXES, false)) != 10;
	}
	return NULL;
}

static void shared_failure(void **state)
{
	(void)state;
	lb_tensor *bad[4];
	for (int i = 0; i < 4; i++)
		LB_SCOPE
			bad[i] = lb_keep(lb_add(lb_scalar(1), lb_take(counting(LB_SHAPE(4)),
								      lb_full(LB_SHAPE(1), 4 + i, LB_I32), 0)));
	run_together(ask_for_bad, bad, 4);
	for (int i = 0; i < 4; i++)
		lb_release(bad[i]);
	/* a job that another thread has asked for may still end */
	lb_synchronize_all();
	lb_clear_error();
}

/* Large kernels share the worker pool; memory is counted right. */
static void *large_work(void *argument)
{
	struct job *job = argument;
	pthread_barrier_wait(job->start);
	for (int round = 0; round < 3; round++)
		LB_SCOPE {
			lb_tensor *x = lb_full(LB_SHAPE(512, 512), job->number + 1, LB_F32);
			lb_tensor *y = lb_sqrt(lb_add(lb_multiply(x, x), lb_scalar(0)));
			lb_tensor *m = lb_max(lb_transpose(y, LB_ALL_AXES), LB_AXES(1), false);
			job->failures += lb_item(lb_mean(m, LB_ALL_AXES, false)) != job->number + 1;
		}
	return NULL;
}

static void shared_pool(void **state)
{
	(void)state;
	uint64_t active = lb_active_memory();
	run_together(large_work, NULL, 0);
	assert_int_equal(lb_active_memory(), active);
}

/* Without a scope, tensors live until their thread ends. */
static void *without_scope(void *argument)
{
	struct job *job = argument;
	pthread_barrier_wait(job->start);
	lb_tensor *x = counting(LB_SHAPE(10));
	lb_tensor *y = lb_escape(lb_add(x, x));
	job->failures += lb_item(lb_sum(y, LB_ALL_AXES, false)) != 90;
	return NULL;
}

static void threads_end(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	for (int round = 0; round < 20; round++)
		run_together(without_scope, NULL, 0);
	assert_int_equal(live_tensors(), live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(private_work),   TEST(shared_work), TEST(last_references), TEST(errors_of_threads),
		TEST(shared_failure), TEST(shared_pool), TEST(threads_end),
	};
	return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}
