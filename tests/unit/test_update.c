/* When an update writes in place, and when it must not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/tensor.h"
#include "probe.h"

enum { ROWS = 64, COLUMNS = 512 };

static double at(lb_tensor *x, int64_t row, int64_t column)
{
	return lb_item(lb_slice(x, LB_AT(row), LB_AT(column)));
}

/* A cache that is kept from evaluation to evaluation stays where it is. */
static void cache_grows_in_place(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	lb_tensor *cache = NULL;
	LB_SCOPE
		cache = lb_keep(lb_zeros(LB_SHAPE(ROWS, COLUMNS), LB_F32));
	const void *place = NULL;
	for (int i = 0; i < ROWS; i++)
		LB_SCOPE {
			lb_replace(&cache, lb_slice_update(cache, lb_full(LB_SHAPE(), i + 1, LB_F32), LB_AT(i)));
			lb_tensor *seen = lb_sum(lb_slice(cache, LB_TO(i + 1)), LB_ALL_AXES, false);
			assert_true(lb_eval(seen, cache));
			assert_int_equal((int)lb_item(seen), COLUMNS * (i + 1) * (i + 2) / 2);
			place = place ? place : lb_data(cache);
			assert_ptr_equal(lb_data(cache), place);
		}
	LB_SCOPE {
		assert_int_equal((int)at(cache, 0, 0), 1);
		assert_int_equal((int)at(cache, ROWS - 1, COLUMNS - 1), ROWS);
	}
	lb_release(cache);
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

/* Other updates do so too, and the memory beside the cache stays small. */
static void every_update_in_place(void **state)
{
	(void)state;
	lb_tensor *cache = NULL;
	LB_SCOPE
		cache = lb_keep(lb_zeros(LB_SHAPE(ROWS, COLUMNS), LB_F32));
	assert_true(lb_eval(cache));
	LB_SCOPE {
		lb_tensor *one = lb_ones(LB_SHAPE(), LB_F32), *index = lb_zeros(LB_SHAPE(1, 1), LB_I32);
		assert_true(lb_eval(one, index));
		const void *place = lb_data(cache);
		lb_replace(&cache, lb_slice_add(cache, one, LB_AT(0)));
		assert_true(lb_eval(cache));
		lb_scope inner = lb_scope_begin();
		lb_tensor *grown = lb_scatter_add(cache, lb_reshape(index, LB_SHAPE(1)), one, 0);
		lb_replace(&cache, grown);
		lb_scope_end(&inner);
		/* the scope still holds the value before that */
		assert_true(lb_eval(cache));
		assert_ptr_not_equal(lb_data(cache), place);
	}
	const void *place = NULL;
	LB_SCOPE
		place = lb_data(cache);
	uint64_t peak;
	for (int i = 0; i < 3; i++)
		LB_SCOPE {
			lb_tensor *index = lb_zeros(LB_SHAPE(1, 1), LB_I32), *one = lb_ones(LB_SHAPE(1), LB_F32);
			lb_reset_peak_memory();
			peak = lb_active_memory();
			lb_replace(&cache, i == 0   ? lb_put_along_axis(cache, index, one, 0, LB_PUT_ADD)
					   : i == 1 ? lb_strided_add(cache, one, LB_STRIDES(1), 0)
						    : lb_scatter_add(cache, lb_reshape(index, LB_SHAPE(1)), one, 0));
			assert_true(lb_eval(cache));
			assert_ptr_equal(lb_data(cache), place);
			assert_true(lb_peak_memory() < peak + (ROWS * COLUMNS * 4) / 4);
		}
	LB_SCOPE
		assert_int_equal((int)at(cache, 0, 0), 5);
	lb_release(cache);
}

/* A chain of updates of an intermediate takes one memory. */
static void intermediates(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_reset_peak_memory();
		uint64_t before = lb_active_memory();
		lb_tensor *x = lb_zeros(LB_SHAPE(ROWS, COLUMNS), LB_F32);
		for (int i = 0; i < 20; i++)
			x = lb_slice_add(x, lb_scalar(i), LB_RANGE(i, ROWS), LB_RANGE(0, COLUMNS, 2));
		assert_true(lb_eval(x));
		assert_true(lb_peak_memory() - before < 2 * ROWS * COLUMNS * 4);
		assert_int_equal((int)at(x, ROWS - 1, 0), 190);
		assert_int_equal((int)at(x, 3, 2), 6);
		assert_int_equal((int)at(x, 3, 3), 0);
	}
}

/* A tensor that is updated with itself cannot lend its memory. */
static void with_itself(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_add(counting(LB_SHAPE(4)), lb_scalar(1));
		assert_int_equal((int)lb_item(lb_sum(lb_slice_add(x, x, LB_ALL), LB_ALL_AXES, false)), 20);
		lb_tensor *i = lb_remainder(lb_arange(0, 4, 1, LB_I32), lb_scalar_int(3));
		lb_tensor *sums = lb_scatter_add(i, i, i, 0);
		assert_int_equal(lb_item_int(lb_slice(sums, LB_AT(1))), 2);
		assert_int_equal(lb_item_int(lb_slice(sums, LB_AT(2))), 4);
		assert_int_equal(lb_item_int(lb_slice(lb_put_along_axis(i, i, i, 0, LB_PUT_ADD), LB_AT(2))), 4);
	}
}

/* Whoever can still ask for the old value gets it. */
static void old_values_stay(void **state)
{
	(void)state;
	lb_tensor *cache = NULL, *old = NULL;
	LB_SCOPE
		cache = lb_keep(counting(LB_SHAPE(ROWS, COLUMNS)));
	assert_true(lb_eval(cache));
	old = lb_keep(cache);
	LB_SCOPE { /* another reference */
		lb_replace(&cache, lb_slice_update(cache, lb_scalar(-1), LB_AT(0)));
		assert_true(lb_eval(cache));
		assert_int_equal((int)at(old, 0, 5), 5);
		assert_int_equal((int)at(cache, 0, 5), -1);
	}
	lb_release(old);
	LB_SCOPE
		old = lb_keep(lb_slice(cache, LB_AT(1)));
	assert_true(lb_eval(old));
	LB_SCOPE { /* a view */
		lb_replace(&cache, lb_slice_update(cache, lb_scalar(-2), LB_AT(1)));
		assert_true(lb_eval(cache));
		assert_int_equal((int)lb_item(lb_slice(old, LB_AT(3))), COLUMNS + 3);
		assert_int_equal((int)at(cache, 1, 3), -2);
	}
	lb_release(old);
	LB_SCOPE { /* a lazy consumer, evaluated afterwards */
		lb_tensor *later = lb_sum(cache, LB_ALL_AXES, false);
		lb_replace(&cache, lb_slice_update(cache, lb_scalar(0)));
		assert_true(lb_eval(cache));
		assert_true(lb_item(later) > 0);
		assert_true(lb_item(lb_sum(cache, LB_ALL_AXES, false)) == 0);
	}
	LB_SCOPE { /* a result that does not stay is computed anew */
		lb_tensor *next = lb_slice_add(cache, lb_scalar(1), LB_AT(0));
		lb_release(cache);
		assert_int_equal((int)lb_item(lb_sum(next, LB_ALL_AXES, false)), COLUMNS);
		assert_int_equal((int)lb_item(lb_max(next, LB_ALL_AXES, false)), 1);
		assert_true(lb_eval(next));
		assert_int_equal((int)at(next, 0, 7), 1);
	}
}

static void program_memory_is_not_written(void **state)
{
	(void)state;
	float memory[4] = { 1, 2, 3, 4 };
	lb_tensor *x = NULL;
	LB_SCOPE
		x = lb_keep(lb_from_memory(memory, sizeof memory, LB_SHAPE(4), LB_F32, NULL, NULL));
	LB_SCOPE {
		lb_replace(&x, lb_slice_update(x, lb_scalar(9), LB_AT(2)));
		assert_true(lb_eval(x));
		assert_true(memory[2] == 3);
	}
	lb_release(x);
}

/* A failing update leaves what it would have written to. */
static void failure_gives_the_memory_back(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	lb_tensor *x = NULL;
	LB_SCOPE
		x = lb_keep(counting(LB_SHAPE(8, 8)));
	assert_true(lb_eval(x));
	LB_SCOPE {
		lb_tensor *bad = lb_full(LB_SHAPE(1), 8, LB_I32);
		lb_replace(&x, lb_scatter_add(x, bad, lb_ones(LB_SHAPE(1, 8), LB_F32), 0));
		for (int i = 0; i < 2; i++) {
			assert_false(lb_eval(x));
			assert_true(error_has("scatter_add 8 axis"));
		}
	}
	lb_release(x);
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

/* As a child of fork() has it, if another thread was writing in place just then. */
static void cut_off_by_a_fork(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(8));
		assert_true(lb_eval(x));
		lb_tensor *t = lb_slice_update(x, lb_scalar(1), LB_AT(0));
		((struct lb_tensor *)x)->state = LB_STATE_FREED;
		assert_false(lb_eval(t));
		assert_true(error_has("eval no longer exists"));
		((struct lb_tensor *)x)->state = LB_STATE_READY;
		assert_true(lb_eval(t));
	}
}

static void refused(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(3, 4)), *i = lb_zeros(LB_SHAPE(2), LB_I32);
		assert_null(lb_slice_update(x, x, LB_AT(0)));
		assert_true(error_has("slice_update (3,4) (4)"));
		assert_null(lb_slice_add(x, x, LB_AT(3)));
		assert_true(error_has("slice_add 3 axis 0"));
		assert_null(lb_scatter_add(x, x, x, 0));
		assert_true(error_has("scatter_add integers float32"));
		assert_null(lb_scatter_add(x, i, x, 0));
		assert_true(error_has("scatter_add (3,4) (2,4)"));
		assert_null(lb_scatter_add(x, i, x, 2));
		assert_true(error_has("scatter_add axis 2"));
		assert_null(lb_put_along_axis(x, i, x, 0, LB_PUT_ADD));
		assert_true(error_has("put_along_axis (2) (3,4)"));
		assert_null(lb_put_along_axis(x, lb_zeros(LB_SHAPE(3, 1), LB_I8), x, 1, LB_PUT_ADD));
		assert_true(error_has("put_along_axis (3,4) (3,1)"));
		assert_null(lb_put_along_axis(x, lb_zeros(LB_SHAPE(3, 1), LB_I8), i, 1, (lb_put)7));
		assert_true(error_has("put_along_axis 7"));
		assert_null(lb_strided_add(x, i, LB_STRIDES(1, 1), 0));
		assert_true(error_has("strided_add 2 1"));
		assert_null(lb_strided_add(x, i, LB_STRIDES(12), 0));
		assert_true(error_has("strided_add 12"));
		assert_null(lb_strided_add(x, i, LB_STRIDES(INT64_MAX), INT64_MAX));
		assert_true(error_has("strided_add"));
		assert_null(lb_slice_update(NULL, x, LB_AT(0)));
		assert_true(error_has("slice_update: x is NULL"));
		assert_null(lb_scatter_add(x, i, NULL, 0));
		assert_true(error_has("scatter_add: updates is NULL"));
		assert_null(lb_replace(&(lb_tensor *){ x }, NULL));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(cache_grows_in_place),
		TEST(every_update_in_place),
		TEST(intermediates),
		TEST(with_itself),
		TEST(old_values_stay),
		TEST(program_memory_is_not_written),
		TEST(failure_gives_the_memory_back),
		TEST(cut_off_by_a_fork),
		TEST(refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
