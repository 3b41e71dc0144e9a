/* What a program does around its tensors: forks, calls back, exits, is debugged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* ---- fork ---- */

/* Of a size that several cores share, and a product. */
static bool large_work(void)
{
	bool ok = false;
	LB_SCOPE {
		lb_tensor *x = lb_full(LB_SHAPE(700, 800), 2, LB_F32);
		lb_tensor *turned = lb_transpose(lb_full(LB_SHAPE(800, 700), 2, LB_F32), LB_ALL_AXES);
		lb_tensor *y = lb_sqrt(lb_multiply(x, turned)), *ones = lb_ones(LB_SHAPE(800, 100), LB_F32);
		lb_tensor *m = lb_matmul(lb_slice(y, LB_TO(200)), ones);
		lb_tensor *copy = lb_contiguous(lb_transpose(y, LB_ALL_AXES));
		ok = lb_item(lb_max(copy, LB_ALL_AXES, false)) == 2 &&
		     lb_item(lb_sum(m, LB_ALL_AXES, false)) == 2.0 * 800 * 200 * 100;
	}
	return ok && lb_ok();
}

static bool child_works(bool (*work)(void))
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		alarm(120); /* a hang ends as a failure */
		bool ok = work();
		if (!ok)
			print_error("the child: %s\n", lb_error_message());
		_exit(ok ? 0 : 1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (status != 0)
		print_error("the child ended with status 0x%x\n", (unsigned)status);
	return status == 0;
}

static void fork_after_work(void **state)
{
	(void)state;
	assert_true(large_work());
	assert_true(child_works(large_work));
	assert_true(large_work());
}

static atomic_bool stop;

static void *keep_busy(void *failures)
{
	for (int i = 0; !atomic_load(&stop); i++)
		LB_SCOPE {
			lb_tensor *x = counting(LB_SHAPE(50 + i % 7, 40));
			lb_tensor *y = lb_softmax(lb_exp(lb_negative(x)), LB_AXES(1));
			*(int *)failures += !lb_eval(lb_named("busy", y));
			if (i % 16 == 0)
				lb_clear_cache();
		}
	return NULL;
}

/* The child may be made while other threads hold any of the runtime's locks. */
static void fork_among(void *(*busy)(void *failures), bool (*work)(void), int forks)
{
	enum { BUSY = 3 };
	pthread_t threads[BUSY];
	int failures[BUSY] = { 0 };
	if (is_instrumented()) {
		print_message("skip: a sanitizer's malloc may stay locked in a child\n");
		skip();
	}
	atomic_store(&stop, false);
	for (int i = 0; i < BUSY; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, busy, &failures[i]), 0);
	bool ok = true;
	for (int i = 0; i < forks; i++)
		ok = ok && child_works(work);
	atomic_store(&stop, true);
	for (int i = 0; i < BUSY; i++) {
		pthread_join(threads[i], NULL);
		ok = ok && failures[i] == 0;
	}
	assert_true(ok);
}

static void fork_among_threads(void **state)
{
	(void)state;
	fork_among(keep_busy, large_work, 20);
}

static bool multiply(void)
{
	bool ok = false;
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(500, 500), LB_F32);
		ok = lb_item(lb_max(lb_matmul(x, x), LB_ALL_AXES, false)) == 500;
	}
	return ok && lb_ok();
}

static void *keep_multiplying(void *failures)
{
	while (!atomic_load(&stop))
		*(int *)failures += !multiply();
	return NULL;
}

/* OpenBLAS alone would wait for ever. */
static void fork_among_products(void **state)
{
	(void)state;
	assert_true(multiply());
	fork_among(keep_multiplying, multiply, 10);
}

static lb_compiled *shared;

static bool grow(void *unused, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)unused, (void)n_in, (void)n_out;
	out[0] = in[0];
	for (int i = 0; i < 30; i++)
		out[0] = lb_add(out[0], lb_scalar(1));
	return out[0] != NULL;
}

static bool call_shared(int n)
{
	bool ok = false;
	LB_SCOPE {
		lb_tensor *x = lb_zeros(LB_SHAPE(n), LB_F32), *y;
		ok = lb_call(shared, 1, &x, 1, &y) && lb_item(lb_max(y, LB_ALL_AXES, false)) == 30;
	}
	return ok && lb_ok();
}

static bool call_once(void)
{
	return call_shared(3) && call_shared(100);
}

static void *keep_calling(void *failures)
{
	for (int i = 0; !atomic_load(&stop); i++)
		*(int *)failures += !call_shared(1 + i % 7);
	return NULL;
}

static void fork_among_calls(void **state)
{
	(void)state;
	shared = lb_compile("grow", grow, NULL, (lb_compile_options){ .limit = 3 });
	fork_among(keep_calling, call_once, 60);
	lb_compiled_free(shared);
}

/* A callback inside an evaluation evaluates; inside that, another forks. */
static void fork_here(void *data, void *child)
{
	(void)data;
	*(pid_t *)child = fork();
}

static void evaluate_here(void *data, void *child)
{
	LB_SCOPE {
		lb_tensor *x = lb_from_memory(data, 16, LB_SHAPE(4), LB_F32, fork_here, child);
		lb_eval(lb_negative(lb_sum(x, LB_ALL_AXES, false)));
	}
}

static void fork_inside_evaluations(void **state)
{
	static float outer[4] = { 1, 2, 3, 4 }, inner[4] = { 4, 3, 2, 1 };
	pid_t child = -1;
	double sum = 0;
	int status;

	(void)state;
	for (int mode = LB_STEP_OFF; mode <= LB_STEP_OPS; mode++) {
		lb_set_step_mode((lb_step_mode)mode);
		LB_SCOPE {
			lb_tensor *first = lb_sort(lb_exp(lb_from_data(inner, 16, LB_SHAPE(4), LB_F32)), 0);
			lb_tensor *second = lb_from_memory(outer, 16, LB_SHAPE(4), LB_F32, evaluate_here, &child);
			sum = lb_item(lb_sum(lb_add(first, lb_sort(second, 0)), LB_ALL_AXES, false));
		}
		bool ok = sum > 84 && sum < 95 && lb_ok(); /* e + e^2 + e^3 + e^4 + 10 = 94.79 */
		if (child == 0)
			_exit(ok ? 0 : 1);
		assert_true(ok);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	lb_set_step_mode(LB_STEP_OFF);
}

static lb_tensor *inherited;

static bool use_inherited(void)
{
	return lb_item(lb_sum(inherited, LB_ALL_AXES, false)) == 4950 && !lb_is_ready(NULL);
}

static void child_has_the_tensors(void **state)
{
	(void)state;
	LB_SCOPE {
		inherited = counting(LB_SHAPE(100));
		assert_true(child_works(use_inherited));
		assert_true(lb_eval(inherited));
		assert_true(child_works(use_inherited));
	}
}

/* ---- callbacks ---- */

static void release_that_works(void *data, void *context)
{
	int *calls = context;
	LB_SCOPE {
		lb_tensor *x = lb_from_data(data, 16, LB_SHAPE(4), LB_F32);
		x = lb_exp(lb_multiply(x, lb_scalar(0)));
		*calls += lb_item(lb_sum(x, LB_ALL_AXES, false)) == 4;
	}
}

static void release_evaluates(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	float data[4] = { 1, 2, 3, 4 };
	int calls = 0;
	LB_SCOPE
		lb_from_memory(data, sizeof data, LB_SHAPE(4), LB_F32, release_that_works, &calls);
	assert_int_equal(calls, 1);
	/* dropped in the middle of an evaluation, whose result holds the last use of it */
	lb_tensor *y = NULL;
	LB_SCOPE {
		lb_tensor *x = lb_from_memory(data, sizeof data, LB_SHAPE(4), LB_F32, release_that_works, &calls);
		y = lb_keep(lb_add(lb_softmax(x, LB_ALL_AXES), lb_scalar(1)));
	}
	assert_int_equal(calls, 1);
	LB_SCOPE {
		assert_true(lb_eval(lb_square(y), y));
		double total = lb_item(lb_sum(y, LB_ALL_AXES, false));
		assert_true(total > 4.99 && total < 5.01);
	}
	lb_release(y);
	assert_int_equal(calls, 2);
	assert_true(lb_ok());
	assert_int_equal(live_tensors(), live);
}

struct question {
	lb_tensor *y;
	bool refused;
};

static void release_that_asks(void *data, void *context)
{
	struct question *question = context;
	(void)data;
	question->refused = !lb_eval(question->y) && error_has("eval computed");
}

/* A callback that asks for what is being computed around it is refused, and does not hang. */
static void release_asks_for_the_result(void **state)
{
	(void)state;
	float data[4] = { 1, 2, 3, 4 };
	struct question question = { NULL, false };
	LB_SCOPE {
		lb_tensor *x = lb_from_memory(data, sizeof data, LB_SHAPE(4), LB_F32, release_that_asks, &question);
		question.y = lb_keep(lb_add(lb_softmax(x, LB_ALL_AXES), lb_scalar(1)));
	}
	assert_true(lb_eval(question.y));
	assert_true(question.refused && lb_ok());
	LB_SCOPE
		assert_true(lb_item(lb_max(question.y, LB_ALL_AXES, false)) > 1);
	lb_release(question.y);
}

/* ---- for a debugger ---- */

static void debug_eval(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(30, 40));
		lb_tensor *y = lb_add(lb_matmul(lb_transpose(x, LB_ALL_AXES), x), lb_scalar(1));
		lb_tensor *total = lb_max(y, LB_ALL_AXES, false), *view = lb_slice(y, LB_AT(-1));
		lb_tensor *bad = lb_take(x, lb_full(LB_SHAPE(1), 99, LB_I32), 0);
		assert_null(lb_debug_eval(lb_id(total)));
		assert_true(lb_is_ready(total));
		assert_null(lb_debug_eval(lb_id(total)));
		assert_null(lb_debug_eval(lb_id(view)));
		assert_true(lb_is_ready(view));
		assert_non_null(lb_debug_eval(UINT64_MAX));
		const char *why = lb_debug_eval(lb_id(bad));
		assert_non_null(why);
		assert_non_null(strstr(why, "99"));
		assert_true(lb_ok());
		/* the value is the one that the program computes */
		double seen = lb_item(total), again = lb_item(lb_max(y, LB_ALL_AXES, false));
		assert_true(seen == again && lb_ok());
	}
}

/* An evaluation by a debugger leaves the program's own error alone. */
static void debug_eval_after_an_error(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(3));
		assert_null(lb_reshape(x, LB_SHAPE(5)));
		lb_tensor *y = lb_exp(x), *bad = lb_take(x, lb_full(LB_SHAPE(1), 99, LB_I32), 0);
		assert_null(lb_debug_eval(lb_id(y)));
		assert_non_null(lb_debug_eval(lb_id(bad)));
		assert_true(error_has("reshape (3) (5)"));
	}
}

/* ---- exit ---- */

/* No products: OpenBLAS 0.3.21 waits for ever when a program exits while one runs. */
static void *evaluate_for_ever(void *unused)
{
	for (;;)
		LB_SCOPE {
			lb_tensor *x = lb_full(LB_SHAPE(700, 800), 2, LB_F32);
			lb_eval(lb_softmax(lb_exp(lb_add(x, x)), LB_AXES(0)));
		}
	return unused;
}

static int exit_main(void)
{
	pthread_t thread;
	lb_tensor *kept = lb_keep(lb_named("kept", counting(LB_SHAPE(1000, 1000))));
	counting(LB_SHAPE(7));
	if (pthread_create(&thread, NULL, evaluate_for_ever, NULL) != 0)
		return 1;
	pthread_detach(thread);
	return lb_eval(kept) && large_work() ? 0 : 1;
}

static const char *program;

/* A program may end while tensors live and another thread evaluates. */
static void exit_in_the_middle(void **state)
{
	(void)state;
	if (is_instrumented()) {
		print_message("skip: leak and race checks end before the threads do\n");
		skip();
	}
	for (int i = 0; i < 10; i++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			alarm(120);
			execl(program, program, "--exit", NULL);
			_exit(127);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1 && strcmp(argv[1], "--exit") == 0)
		return exit_main();
	const struct CMUnitTest tests[] = {
		TEST(fork_after_work),           TEST(fork_among_threads),          TEST(fork_among_products),
		TEST(fork_among_calls),          TEST(fork_inside_evaluations),     TEST(child_has_the_tensors),
		TEST(release_evaluates),         TEST(release_asks_for_the_result), TEST(debug_eval),
		TEST(debug_eval_after_an_error), TEST(exit_in_the_middle),
	};
	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
