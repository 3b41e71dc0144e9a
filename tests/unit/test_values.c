/* Which values stay when an evaluation has ended, and how often one is computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/tensor.h"
#include "probe.h"

enum { READS = 20 };

static lb_tensor *product(void)
{
	lb_tensor *x = lb_random_normal(LB_SHAPE(8, 8), LB_F32, lb_key(1));
	lb_eval(x);
	return lb_matmul(x, x);
}

static uint64_t ops(void)
{
	return counters()->ops;
}

static void slices_of_one_product(void **state)
{
	(void)state;
	for (int nested = 0; nested < 2; nested++)
		LB_SCOPE {
			lb_tensor *y = product();
			uint64_t before = ops();
			for (int i = 0; i < READS; i++) {
				lb_scope inner = nested ? lb_scope_begin() : (lb_scope){ 0 };
				lb_item(lb_slice(y, LB_AT(i % 8), LB_AT(i / 8)));
				lb_scope_end(&inner);
			}
			assert_int_equal(ops() - before, READS + 1); /* the slices, and one product */
			assert_true(lb_is_ready(y));
		}
	assert_true(lb_ok());
}

static void a_view_of_a_view(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *y = product(), *turned = lb_transpose(y, LB_ALL_AXES);
		lb_item(lb_slice(turned, LB_AT(1), LB_AT(2)));
		assert_true(lb_is_ready(y) && lb_is_ready(turned));
	}
}

static void a_name_keeps_a_value(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *y = lb_named("y", product()), *nameless = product();
		uint64_t before = ops();
		for (int i = 0; i < READS; i++)
			lb_item(lb_sum(y, LB_ALL_AXES, false));
		assert_int_equal(ops() - before, READS + 1);
		lb_item(lb_sum(nameless, LB_ALL_AXES, false));
		assert_false(lb_is_ready(nameless));
	}
}

/* Whoever asks for it by whatever call: then it is no temporary. */
static void a_kept_value_is_asked_for(void **state)
{
	(void)state;
	LB_SCOPE {
		for (int i = 0; i < 2; i++) {
			lb_tensor *y = lb_named("y", product());
			lb_item(lb_sum(y, LB_ALL_AXES, false));
			assert_true(lb_tensor_flags(y) & LB_FLAG_UNASKED);
			assert_true(i ? lb_eval(y) : lb_data(y) != NULL);
			assert_false(lb_tensor_flags(y) & LB_FLAG_UNASKED);
		}
	}
}

/* What nobody names is dropped after its last use in an evaluation, and computed once more. */
static void the_second_time_it_stays(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *first = product(), *second = lb_matmul(first, first);
		uint64_t before = ops();
		for (int i = 0; i < READS; i++)
			lb_item(lb_sum(second, LB_ALL_AXES, false));
		assert_int_equal(ops() - before, READS + 4);
		assert_true(lb_is_ready(second));
		assert_false(lb_is_ready(first)); /* only `second` was asked for again */
	}
}

static void a_chain_swallows_a_value_once(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = product();
		lb_eval(x);
		lb_tensor *inner = lb_named("inner", lb_exp(x)), *last = NULL;
		for (int i = 0; i < READS; i++) {
			uint64_t before = ops();
			last = lb_add(inner, lb_scalar(i));
			assert_true(lb_eval(last));
			assert_int_equal(ops() - before, i < 2 ? 2 : 1);
			assert_int_equal(lb_is_ready(inner), i > 0);
		}
	}
}

/* A chain of temporaries holds no more than two of them at a time. */
static void temporaries_go(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_contiguous(lb_full(LB_SHAPE(256, 256), 0.001, LB_F32));
		lb_eval(x);
		uint64_t active = lb_active_memory();
		lb_reset_peak_memory();
		lb_tensor *y = x;
		for (int i = 0; i < 100; i++)
			y = lb_matmul(y, x);
		lb_item(lb_sum(y, LB_ALL_AXES, false));
		assert_true(lb_peak_memory() < active + 4 * 256 * 256 * 4);
		assert_true(lb_active_memory() < active + 256 * 256 * 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slices_of_one_product),    TEST(a_view_of_a_view),
		TEST(a_name_keeps_a_value),     TEST(a_kept_value_is_asked_for),
		TEST(the_second_time_it_stays), TEST(a_chain_swallows_a_value_once),
		TEST(temporaries_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
