/* Buffers: foreign memory, counters, limits, failing allocations, sizes beyond 4 GiB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "probe.h"

enum { MIB = 1 << 20 };

static void count_release(void *data, void *context)
{
	((int *)data)[0] = 77;
	++*(int *)context;
}

static void foreign_memory(void **state)
{
	(void)state;
	int data[6] = { 0, 1, 2, 3, 4, 5 }, released = 0;
	lb_tensor *view = NULL;
	LB_SCOPE {
		lb_tensor *x = lb_from_memory(data, sizeof data, LB_SHAPE(2, 3), LB_I32, count_release, &released);
		const int64_t *strides;
		assert_ptr_equal(lb_strided_data(x, &strides), data);
		assert_ptr_equal(lb_data(x), data);
		view = lb_keep(lb_slice(x, LB_REVERSED, LB_AT(0)));
		assert_true(lb_eval(view));
		lb_tensor *sum = lb_sum(lb_negative(x), LB_ALL_AXES, false);
		assert_int_equal(lb_item_int(sum), -15);
		assert_int_equal(data[5], 5);
	}
	assert_int_equal(released, 0);
	LB_SCOPE
		assert_int_equal(lb_item_int(lb_slice(view, LB_AT(0))), 3);
	lb_release(view);
	assert_int_equal(released, 1);
	assert_int_equal(data[0], 77);
	LB_SCOPE {
		assert_null(lb_from_memory(data, 3, LB_SHAPE(2, 3), LB_I32, count_release, &released));
		lb_clear_error();
		assert_non_null(lb_from_memory(data, sizeof data, LB_SHAPE(6), LB_I32, NULL, NULL));
	}
	assert_int_equal(released, 1);
}

/* As over the memory of another tensor, whose bytes would be counted twice. */
static void foreign_memory_is_not_counted(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(1000), LB_F32);
		assert_true(lb_eval(x));
		uint64_t active = lb_active_memory();
		lb_reset_peak_memory();
		lb_tensor *same = lb_from_memory((void *)lb_raw_data(x), 4000, LB_SHAPE(10, 100), LB_F32, NULL, NULL);
		assert_true(lb_eval(lb_slice(same, LB_AT(3))));
		assert_int_equal(lb_active_memory(), active);
		assert_int_equal(lb_peak_memory(), active);
	}
}

/* Donation must not write into memory that is the program's own. */
static void foreign_memory_is_read_only(void **state)
{
	(void)state;
	float data[64] = { 0 };
	int released = 0;
	lb_tensor *y = NULL;
	LB_SCOPE {
		lb_tensor *x = lb_from_memory(data, sizeof data, LB_SHAPE(64), LB_F32, count_release, &released);
		y = lb_keep(lb_add(x, lb_scalar(1)));
	}
	assert_true(lb_eval(y));
	assert_true(data[63] == 0);
	LB_SCOPE
		assert_true(lb_item(lb_sum(y, LB_ALL_AXES, false)) == 64);
	lb_release(y);
	assert_int_equal(released, 1);
}

static void *release_here(void *x)
{
	lb_release(x);
	return NULL;
}

static void released_by_another_thread(void **state)
{
	(void)state;
	int data[4] = { 0 }, released = 0;
	lb_tensor *x = NULL;
	pthread_t thread;
	LB_SCOPE
		x = lb_keep(lb_from_memory(data, sizeof data, LB_SHAPE(4), LB_I32, count_release, &released));
	assert_int_equal(pthread_create(&thread, NULL, release_here, x), 0);
	pthread_join(thread, NULL);
	assert_int_equal(released, 1);
}

static void counts(void **state)
{
	(void)state;
	lb_clear_cache();
	assert_int_equal(lb_cache_memory(), 0);
	uint64_t active = lb_active_memory();
	lb_reset_peak_memory();
	assert_int_equal(lb_peak_memory(), active);
	LB_SCOPE {
		lb_tensor *x = lb_contiguous(lb_full(LB_SHAPE(MIB), 1, LB_F32));
		assert_int_equal(lb_active_memory(), active);
		assert_true(lb_eval(x));
		assert_true(lb_active_memory() >= active + 4 * MIB);
		assert_true(lb_active_memory() <= active + 5 * MIB);
		assert_true(lb_peak_memory() >= lb_active_memory());
		assert_int_equal(counters()->active_bytes, lb_active_memory());
		assert_int_equal(counters()->peak_bytes, lb_peak_memory());
	}
	assert_int_equal(lb_active_memory(), active);
	assert_true(lb_peak_memory() >= active + 4 * MIB);
	lb_reset_peak_memory();
	assert_int_equal(lb_peak_memory(), active);
}

static void cache(void **state)
{
	(void)state;
	uint64_t limit = lb_set_cache_limit(64 * MIB);
	lb_clear_cache();
	LB_SCOPE
		assert_true(lb_eval(lb_contiguous(lb_full(LB_SHAPE(MIB), 1, LB_F32))));
	assert_true(lb_cache_memory() >= 4 * MIB);
	assert_int_equal(counters()->cache_bytes, lb_cache_memory());
	lb_clear_cache();
	assert_int_equal(lb_cache_memory(), 0);
	assert_int_equal(lb_set_cache_limit(0), 64 * MIB);
	LB_SCOPE
		assert_true(lb_eval(lb_contiguous(lb_full(LB_SHAPE(MIB), 1, LB_F32))));
	assert_int_equal(lb_cache_memory(), 0);
	lb_set_cache_limit(limit);
}

/* What a sort needs besides its result is a buffer, which the next one finds in the cache. */
static void scratch(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_random_uniform(LB_SHAPE(4 * MIB), 0, 1, LB_F32, lb_key(1));
		assert_true(lb_eval(x));
		lb_clear_cache();
		uint64_t active = lb_active_memory(), result = 16 * MIB;
		lb_reset_peak_memory();
		LB_SCOPE {
			assert_true(lb_eval(lb_argsort(x, 0)));
			assert_true(lb_active_memory() <= active + result);
		}
		assert_int_equal(lb_active_memory(), active);
		uint64_t peak = lb_peak_memory(), kept = lb_cache_memory();
		assert_true(peak >= active + result + 16 * MIB);
		assert_true(kept >= result + 16 * MIB && kept <= peak - active);
		LB_SCOPE
			assert_true(lb_eval(lb_argsort(x, 0)));
		assert_int_equal(lb_cache_memory(), kept); /* nothing more was asked for */
		lb_clear_cache();
		assert_int_equal(lb_cache_memory(), 0);
		uint64_t old = lb_set_memory_limit(active + result + 8 * MIB);
		assert_false(lb_eval(lb_argsort(x, 0)));
		assert_true(error_has("memory limit"));
		lb_set_memory_limit(old);
		assert_int_equal(lb_active_memory(), active);
	}
}

static void limit(void **state)
{
	(void)state;
	lb_clear_cache();
	uint64_t active = lb_active_memory(), old = lb_set_memory_limit(active + 2 * MIB);
	assert_true(old > active);
	LB_SCOPE {
		lb_tensor *x = lb_full(LB_SHAPE(4, MIB), 2, LB_F32);
		lb_tensor *y = lb_contiguous(lb_add(x, lb_eye(4, MIB, 0, LB_F32)));
		assert_false(lb_eval(y));
		assert_true(error_has("memory"));
		lb_tensor *z = lb_full(LB_SHAPE(1000), 2, LB_F32);
		assert_true(lb_item(lb_sum(z, LB_ALL_AXES, false)) == 2000);
		assert_int_equal(lb_set_memory_limit(old), active + 2 * MIB);
		assert_true(lb_eval(y));
		assert_true(lb_item(lb_slice(y, LB_AT(3), LB_AT(3))) == 3);
	}
	assert_int_equal(lb_active_memory(), active);
	lb_clear_cache();
}

/* A bit of everything; each value is known. */
static bool work(void)
{
	bool ok = false;
	LB_SCOPE {
		float host[48];
		for (int i = 0; i < 48; i++)
			host[i] = (float)i;
		lb_tensor *x = lb_from_data(host, sizeof host, LB_SHAPE(6, 8), LB_F32);
		lb_tensor *t = lb_transpose(x, LB_ALL_AXES), *parts[2] = { t, t };
		lb_tensor *m = lb_matmul(x, t), *c = lb_contiguous(t);
		lb_tensor *j = lb_concatenate(2, parts, 1);
		lb_tensor *r = lb_reshape(lb_add(j, lb_scalar(1)), LB_SHAPE(-1));
		lb_tensor *s = lb_softmax(lb_take(x, lb_arange(0, 6, 2, LB_I32), 0), LB_AXES(1));
		lb_tensor *f = lb_astype(lb_exp(lb_multiply(c, lb_scalar(0))), LB_F16);
		if (lb_eval(m, r, s, f) && lb_item(lb_sum(r, LB_ALL_AXES, false)) == 2 * 1128 + 96 &&
		    lb_item(lb_slice(m, LB_AT(0), LB_AT(0))) == 140 && lb_item(lb_sum(f, LB_ALL_AXES, false)) == 48 &&
		    lb_copy_out(t, host, sizeof host) && host[1] == 8)
			ok = lb_ok();
	}
	return ok;
}

/* The memory limit from nothing upwards: each call works or fails with a message. */
static void failing_allocations(void **state)
{
	(void)state;
	uint64_t old = lb_set_memory_limit(UINT64_MAX);
	lb_clear_cache();
	uint64_t active = lb_active_memory();
	int64_t live = live_tensors();
	assert_true(work());
	assert_true(lb_ok());
	bool worked = false;
	int failures = 0;
	for (uint64_t room = 0; !worked && room < 64 * MIB; room += room < 4096 ? 64 : room / 8) {
		lb_clear_cache();
		lb_set_memory_limit(active + room);
		worked = work();
		assert_true(worked == lb_ok());
		if (!worked) {
			failures++;
			assert_true(error_has("memory"));
		}
		assert_int_equal(lb_active_memory(), active);
		assert_int_equal(live_tensors(), live);
	}
	assert_true(worked && failures > 3);
	lb_set_memory_limit(old);
}

/* A chain of kernels needs a few buffers, however long it is. */
static void peak_of_a_chain(void **state)
{
	(void)state;
	enum { BYTES = 4 * MIB };
	lb_clear_cache();
	uint64_t active = lb_active_memory();
	LB_SCOPE {
		lb_tensor *y = lb_zeros(LB_SHAPE(16, MIB / 16), LB_F32);
		for (int i = 0; i < 12; i++)
			y = lb_add(lb_softmax(y, LB_AXES(1)), lb_scalar(1));
		lb_reset_peak_memory();
		assert_true(lb_eval(y));
		assert_true(lb_peak_memory() - active <= 4 * (uint64_t)BYTES);
		assert_true(lb_active_memory() - active <= 2 * (uint64_t)BYTES);
	}
	LB_SCOPE {
		lb_tensor *y = lb_zeros(LB_SHAPE(MIB), LB_F32);
		for (int i = 0; i < 200; i++)
			y = lb_add(lb_multiply(y, lb_scalar(0.5)), lb_scalar(1));
		lb_reset_peak_memory();
		assert_true(lb_eval(y));
		assert_true(lb_peak_memory() - active <= 4 * (uint64_t)BYTES);
	}
	assert_int_equal(lb_active_memory(), active);
}

static void huge_views(void **state)
{
	(void)state;
	const int64_t n = INT64_C(1) << 33;
	LB_SCOPE {
		lb_tensor *x = lb_broadcast_to(lb_full(LB_SHAPE(1), 3, LB_I64), LB_SHAPE(n));
		assert_int_equal(lb_size(x), n);
		assert_int_equal(lb_dim(x, 0), n);
		assert_int_equal(lb_nbytes(x), n * 8);
		assert_true(lb_eval(x));
		assert_int_equal(lb_strides(x)[0], 0);
		lb_tensor *end = lb_slice(x, LB_RANGE(n - 5, LB_END, 2));
		assert_int_equal(lb_size(end), 3);
		assert_int_equal(lb_item_int(lb_sum(end, LB_ALL_AXES, false)), 9);
		lb_tensor *grid = lb_reshape(x, LB_SHAPE(1 << 20, -1));
		assert_int_equal(lb_dim(grid, 1), 1 << 13);
		lb_tensor *rows = lb_slice(grid, LB_RANGE(0, LB_END, 1 << 18));
		assert_int_equal(lb_item_int(lb_sum(rows, LB_ALL_AXES, false)), 3 * 4 * (1 << 13));
		lb_tensor *y = lb_broadcast_to(lb_full(LB_SHAPE(), 1, LB_U8), LB_SHAPE(n, n / 16));
		assert_int_equal(lb_size(y), n * (n / 16));
		assert_null(lb_broadcast_to(lb_full(LB_SHAPE(), 1, LB_U8), LB_SHAPE(n, n)));
		assert_true(error_has("broadcast_to"));
	}
}

static void huge_sum(void **state)
{
	(void)state;
	const int64_t n = (INT64_C(1) << 32) + 5;
	if (is_instrumented()) {
		print_message("skip: 2^32 elements take too long when instrumented\n");
		skip();
	}
	LB_SCOPE {
		lb_tensor *x = lb_broadcast_to(lb_full(LB_SHAPE(), 3, LB_I64), LB_SHAPE(n));
		assert_int_equal(lb_item_int(lb_sum(x, LB_ALL_AXES, false)), 3 * n);
	}
}

static void huge_tensor(void **state)
{
	(void)state;
	const int64_t n = (INT64_C(1) << 32) + 1000;
	if (is_instrumented() || available_memory() < UINT64_C(10) << 30) {
		print_message("skip: a tensor beyond 4 GiB needs 10 GiB of memory, uninstrumented\n");
		skip();
	}
	LB_SCOPE {
		lb_tensor *x = lb_contiguous(lb_full(LB_SHAPE(n), 7, LB_U8));
		assert_true(lb_eval(x));
		const uint8_t *data = lb_data(x);
		assert_true(data[n - 1] == 7 && data[INT64_C(1) << 32] == 7);
		lb_tensor *end = lb_slice(x, LB_RANGE(n - 3, LB_END));
		assert_int_equal(lb_item_int(lb_sum(end, LB_ALL_AXES, false)), 21);
		assert_int_equal(lb_item_int(lb_min(x, LB_ALL_AXES, false)), 7);
	}
	lb_clear_cache();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(foreign_memory),
		TEST(foreign_memory_is_not_counted),
		TEST(foreign_memory_is_read_only),
		TEST(released_by_another_thread),
		TEST(counts),
		TEST(cache),
		TEST(scratch),
		TEST(limit),
		TEST(failing_allocations),
		TEST(peak_of_a_chain),
		TEST(huge_views),
		TEST(huge_sum),
		TEST(huge_tensor),
	};
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
