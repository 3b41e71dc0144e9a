/* What the runtime does while a debugger watches: extremes of values, guarded copies. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sanitizer.h"
#include "graph/tensor.h"
#include "kernels/kernels.h"
#include "publish/root.h"

static int clean(void **state)
{
	(void)state;
	lb_clear_error();
	lb_root->watch_all = 0;
	return 0;
}

static void an_ordered_double_comes_back(void **state)
{
	static const double values[] = { -(double)INFINITY, -1e300,     -1.5, -1e-310, 0.0, 1e-310, 1.5, 1e300,
					 (double)INFINITY,  (double)NAN };
	(void)state;
	assert_int_equal(lb_order_double(-0.0), lb_order_double(0.0));
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		double back = lb_ordered_double(lb_order_double(values[i]));
		assert_true(isnan(values[i]) ? isnan(back) : back == values[i]);
		if (i > 0)
			assert_true(lb_order_double(values[i - 1]) < lb_order_double(values[i]));
	}
}

static void check_extremes(lb_tensor *x, double low, double high)
{
	const struct lb_tensor *t = x;
	struct lb_view view = { .dtype = (enum lb_dtype)t->dtype, .rank = t->rank };
	double found_low, found_high;
	assert_true(lb_eval(x));
	view.data = lb_tensor_data(t);
	memcpy(view.shape, t->shape, sizeof view.shape);
	memcpy(view.strides, t->strides, sizeof view.strides);
	lb_find_extremes(&view, &found_low, &found_high);
	assert_true(found_low == low);
	assert_true(isnan(high) ? isnan(found_high) : found_high == high);
}

static void extremes_of_any_layout(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_reshape(lb_arange(-5, 19, 1, LB_F32), LB_SHAPE(2, 3, 4));
		check_extremes(x, -5, 18);
		check_extremes(lb_transpose(x, LB_ALL_AXES), -5, 18);
		check_extremes(lb_slice(x, LB_AT(1), LB_REVERSED, LB_RANGE(1, 3)), 8, 17);
		check_extremes(lb_broadcast_to(lb_slice(x, LB_AT(0), LB_AT(0)), LB_SHAPE(7, 4)), -5, -2);
		check_extremes(lb_astype(x, LB_I8), -5, 18);
		check_extremes(lb_astype(x, LB_BF16), -5, 18);
		check_extremes(lb_astype(x, LB_BOOL), 0, 1);
		check_extremes(lb_full(LB_SHAPE(), 2.5, LB_F64), 2.5, 2.5);
		check_extremes(lb_zeros(LB_SHAPE(3, 0), LB_F32), (double)INFINITY, -(double)INFINITY);
		check_extremes(lb_log(lb_minimum(x, lb_scalar(1))), -(double)INFINITY, (double)NAN);
	}
	assert_true(lb_ok());
}

/* ---- guards ---- */

static bool is_guard(const void *p)
{
	return (uintptr_t)p - LB_GUARD_BASE < LB_GUARDS * LB_GUARD_STRIDE;
}

static const struct lb_guard *guard_of(const void *p)
{
	const struct lb_guard *table = (const struct lb_guard *)(uintptr_t)LB_GUARD_BASE;
	return &table[((uintptr_t)p - LB_GUARD_BASE) >> LB_GUARD_SHIFT];
}

static lb_tensor *rows(int64_t n)
{
	lb_tensor *x = lb_transpose(lb_reshape(lb_arange(0, (double)n * 3, 1, LB_F32), LB_SHAPE(3, n)), LB_ALL_AXES);
	assert_true(lb_eval(x));
	return x;
}

static void a_guard_opens_at_the_first_touch(void **state)
{
	(void)state;
	if (LB_SANITIZES_THREADS) /* there are none */
		skip();
	LB_SCOPE {
		lb_tensor *x = rows(2000), *base = lb_contiguous(x);
		const float *data = lb_raw_data(x);
		assert_false(is_guard(data));
		lb_root->watch_all = LB_WATCH_ACCESS;
		const float *raw = lb_raw_data(x);
		assert_true(is_guard(raw));
		assert_int_equal(guard_of(raw)->id, ((struct lb_tensor *)x)->id);
		assert_int_equal(guard_of(raw)->data, (uintptr_t)raw);
		assert_int_equal(guard_of(raw)->closed, 1);
		assert_true(raw[5999] == 5999);
		assert_int_equal(guard_of(raw)->closed, 0);
		assert_memory_equal(raw, data, 6000 * sizeof *raw);
		/* the same pointer, closed again */
		assert_ptr_equal(lb_raw_data(x), raw);
		assert_int_equal(guard_of(raw)->closed, 1);
		assert_true(raw[1] == 1);
		/* who is right is not disturbed */
		assert_true(lb_eval(base));
		assert_false(is_guard(lb_raw_data(base)));
		assert_false(is_guard(lb_data(x)));
		assert_false(is_guard(lb_strided_data(x, NULL)));
		assert_int_equal(guard_of(raw)->closed, 0);
	}
	assert_true(lb_ok());
}

static void reading_beyond_the_storage_meets_zeros(void **state)
{
	(void)state;
	if (LB_SANITIZES_THREADS) /* there are none */
		skip();
	LB_SCOPE {
		lb_tensor *x = lb_slice(rows(3), LB_REVERSED, LB_REVERSED);
		lb_tensor *wide = lb_broadcast_to(lb_full(LB_SHAPE(), 7, LB_F32), LB_SHAPE(1000, 1000));
		assert_true(lb_eval(x, wide));
		lb_root->watch_all = LB_WATCH_ACCESS;
		const float *raw = lb_raw_data(x), *sevens = lb_raw_data(wide);
		assert_true(is_guard(raw) && is_guard(sevens));
		assert_true(raw[0] == 8 && raw[-8] == 0 && raw[1] == 0 && raw[8] == 0);
		assert_true(sevens[0] == 7 && sevens[999999] == 0);
	}
	assert_true(lb_ok());
}

static void guards_are_used_again(void **state)
{
	(void)state;
	if (LB_SANITIZES_THREADS) /* there are none */
		skip();
	lb_root->watch_all = LB_WATCH_ACCESS;
	for (int i = 0; i < 3 * LB_GUARDS; i++)
		LB_SCOPE {
			const float *raw = lb_raw_data(rows(5 + i * 100));
			assert_true(is_guard(raw));
			assert_true(raw[1] == 1);
		}
	LB_SCOPE {
		for (int i = 1; i < LB_GUARDS; i++)
			assert_true(is_guard(lb_raw_data(rows(4))));
		/* there are no more: the storage itself */
		const float *raw = lb_raw_data(rows(4));
		assert_false(is_guard(raw));
		assert_true(raw[1] == 1);
	}
	assert_true(lb_ok());
}

static void *read_first(void *context)
{
	const float **raw = context;
	return raw[0][2] == 2 ? context : NULL;
}

static void many_threads_may_meet_a_closed_guard(void **state)
{
	enum { THREADS = 8, ROUNDS = 20 };
	pthread_t threads[THREADS];
	void *ok;
	(void)state;
	if (LB_SANITIZES_THREADS) /* there are none */
		skip();
	LB_SCOPE {
		lb_tensor *x = rows(100);
		lb_root->watch_all = LB_WATCH_ACCESS;
		for (int round = 0; round < ROUNDS; round++) {
			const float *raw = lb_raw_data(x);
			for (int i = 0; i < THREADS; i++)
				assert_int_equal(pthread_create(&threads[i], NULL, read_first, &raw), 0);
			for (int i = 0; i < THREADS; i++) {
				pthread_join(threads[i], &ok);
				assert_non_null(ok);
			}
		}
	}
}

/* Where no guard can be had the pointer is the storage. */
static void the_same_bytes_with_or_without_a_guard(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = rows(50);
		lb_root->watch_all = LB_WATCH_ACCESS;
		assert_memory_equal(lb_raw_data(x), lb_strided_data(x, NULL), 150 * sizeof(float));
	}
}

static struct sigaction earlier;
static int *handled; /* shared with a child */

/* As crash reporters do: tells, and passes on. */
static void report(int signal, siginfo_t *info, void *context)
{
	if (++*handled == 100)
		_exit(3);
	earlier.sa_sigaction(signal, info, context);
}

/* One that was set after the first guard stands behind the guards' own, and passes on to it. */
static void a_crash_reaches_a_chain_of_handlers_once(void **state)
{
	struct sigaction ours = { .sa_sigaction = report, .sa_flags = SA_SIGINFO };
	int status;
	(void)state;
	if (LB_SANITIZES_THREADS)
		skip();
	handled = mmap(NULL, sizeof *handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *closed = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(handled != MAP_FAILED && closed != MAP_FAILED);
	LB_SCOPE {
		lb_root->watch_all = LB_WATCH_ACCESS;
		assert_true(is_guard(lb_raw_data(rows(10))));
		pid_t child = fork();
		if (child == 0) {
			sigaction(SIGSEGV, NULL, &earlier);
			sigaction(SIGSEGV, &ours, NULL);
			const float *raw = lb_raw_data(rows(10));
			if (raw[1] != 1) /* guards work as before */
				_exit(1);
			*(volatile int *)closed = 3;
			_exit(2);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(LB_SANITIZES_ADDRESSES || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
		assert_int_equal(*handled, 1);
	}
	munmap(closed, 1);
	munmap(handled, sizeof *handled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, clean)
		TEST(an_ordered_double_comes_back),
		TEST(extremes_of_any_layout),
		TEST(a_guard_opens_at_the_first_touch),
		TEST(reading_beyond_the_storage_meets_zeros),
		TEST(guards_are_used_again),
		TEST(many_threads_may_meet_a_closed_guard),
		TEST(the_same_bytes_with_or_without_a_guard),
		TEST(a_crash_reaches_a_chain_of_handlers_once),
	};
	/* the first guard, before cmocka has handlers of its own */
	LB_SCOPE {
		lb_root->watch_all = LB_WATCH_ACCESS;
		lb_raw_data(rows(2));
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
