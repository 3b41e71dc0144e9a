/* What fails on a stream: who is told, and what goes on. */

#include <stdio.h>

#include "streams.h"

static void failure_reaches_the_reader_once(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *bad = failing(), *root = lb_add(bad, lb_scalar(1));
		assert_true(lb_async_eval(root));
		lb_event event = lb_event_record(lb_default_stream());
		while (!lb_event_is_done(event))
			sched_yield();
		assert_true(lb_ok());
		assert_true(lb_tensor_flags(root) & LB_FLAG_FAILED);
		uint64_t ops = READ(lb_default_stream(), done);
		double value = lb_item(root);
		assert_true(value != value);
		assert_ptr_equal(lb_error_site(), (const void *)(uintptr_t)bad->site);
		assert_failed(true, "take: index 9 is out of range for axis 0 of size 5");
		/* it has been said */
		assert_true(lb_synchronize(lb_default_stream()));
		assert_int_equal(READ(lb_default_stream(), done), ops);
		/* and is tried again */
		assert_failed(!lb_eval(root), "index 9");
		assert_false(lb_tensor_flags(root) & LB_FLAG_FAILED);
		assert_failed(!lb_eval(root), "index 9");
	}
}

static void failure_reaches_what_depends_on_it(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *root = lb_add(failing(), lb_scalar(1)), *above, *elsewhere;
		lb_async_eval(root);
		above = lb_exp(root);
		LB_ON_STREAM(stream_a)
			elsewhere = lb_negative(above);
		lb_async_eval(above);
		lb_async_eval(elsewhere);
		while (!lb_event_is_done(lb_event_record(stream_a)))
			sched_yield();
		assert_failed(!lb_eval(elsewhere), "index 9");
		/* one failure, told once */
		assert_true(lb_synchronize_all());
		assert_failed(!lb_eval(above), "index 9");
	}
}

static void failure_reaches_who_synchronizes(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *root;
		LB_ON_STREAM(stream_a)
			root = failing();
		lb_event before = lb_event_record(stream_a);
		assert_true(lb_async_eval(root));
		lb_event event = lb_event_record(stream_a);
		assert_true(lb_event_wait(before));
		assert_failed(!lb_event_wait(event), "index 9");
		assert_true(lb_event_wait(event));
		assert_true(lb_synchronize(stream_a));
		assert_true(lb_async_eval(root));
		assert_true(lb_synchronize(stream_b));
		assert_failed(!lb_synchronize_all(), "index 9");
		assert_true(lb_async_eval(root));
		assert_failed(!lb_synchronize(stream_a), "index 9");
	}
	/* of a tensor that nobody has any more */
	LB_SCOPE
		lb_async_eval(lb_add(failing(), failing()));
	assert_failed(!lb_synchronize(lb_default_stream()), "index 9");
}

static void other_roots_get_their_values(void **state)
{
	(void)state;
	for (int queued = 0; queued < 2; queued++) {
		LB_SCOPE {
			lb_tensor *x = lb_arange(0, 4, 1, LB_F32), *bad = failing();
			lb_tensor *bad_sum = lb_add(x, lb_reshape(bad, LB_SHAPE(1)));
			lb_tensor *fused = lb_add(x, lb_scalar(1)), *both = lb_add(fused, bad);
			lb_tensor *other = lb_take(x, lb_full(LB_SHAPE(1), -7, LB_I32), 0);
			lb_tensor *product = lb_matmul(x, fused);
			if (queued) {
				assert_true(lb_async_eval(bad_sum, both, fused, other, product, bad));
				assert_true(lb_eval(fused, product));
			} else {
				assert_failed(!lb_eval(bad_sum, both, fused, other, product, bad), "index 9");
			}
			assert_true(lb_is_ready(fused) && lb_is_ready(product));
			assert_false(lb_is_ready(both) || lb_is_ready(bad_sum));
			assert_false(lb_is_ready(bad) || lb_is_ready(other));
			assert_float_equal(sum(product), 20, 0);
			assert_failed(!lb_eval(other), "index -7");
			assert_failed(!lb_eval(bad), "index 9");
			assert_true(lb_synchronize(lb_default_stream()));
		}
	}
}

/* What follows a failed job on its stream is none the worse. */
static void unrelated_work_goes_on(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *good[8];
		for (int i = 0; i < 8; i++) {
			assert_true(lb_async_eval(failing()));
			good[i] = lb_full(LB_SHAPE(8), i, LB_F32);
			assert_true(lb_async_eval(good[i]));
		}
		for (int i = 0; i < 8; i++)
			assert_float_equal(sum(good[i]), 8 * i, 0);
		assert_true(lb_ok());
		int failures = 0;
		while (!lb_synchronize(lb_default_stream())) {
			failures++;
			assert_failed(true, "index 9");
		}
		assert_int_equal(failures, 8);
	}
}

/* More than are kept: what is not kept fails anew when it is read. */
static void many_failures(void **state)
{
	(void)state;
	enum { N = 100 };
	lb_tensor *roots[N];
	LB_SCOPE {
		for (int i = 0; i < N; i++) {
			roots[i] = lb_take(lb_arange(0, 5, 1, LB_F32), lb_full(LB_SHAPE(1), 1000 + i, LB_I32), 0);
			assert_true(lb_async_eval(roots[i]));
		}
		while (!lb_event_is_done(lb_event_record(lb_default_stream())))
			sched_yield();
		for (int i = 0; i < N; i++) {
			char words[32];
			snprintf(words, sizeof words, "index %d is", 1000 + i);
			assert_failed(!lb_eval(roots[i]), words);
		}
		assert_true(lb_synchronize(lb_default_stream()));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(failure_reaches_the_reader_once),  TEST(failure_reaches_what_depends_on_it),
		TEST(failure_reaches_who_synchronizes), TEST(other_roots_get_their_values),
		TEST(unrelated_work_goes_on),           TEST(many_failures),
	};
	return RUN_TESTS(tests);
}
