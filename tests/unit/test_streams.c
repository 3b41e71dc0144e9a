/* Streams and asynchronous evaluation: values, events and their order; streams that need each other. */

#include "streams.h"

/* However often it is set aside for what another stream computes. */
static void a_job_is_one_evaluation(void **state)
{
	struct gate gate;
	(void)state;
	uint64_t from = lb_root->flight_used, evals = lb_counters.evals;
	close_stream(&gate, stream_a);
	LB_SCOPE {
		LB_ON_STREAM(stream_b) {
			lb_tensor *x = lb_multiply(gate.tensor, lb_scalar(2)),
				  *free = lb_exp(lb_arange(0, 4, 1, LB_F32));
			assert_true(lb_async_eval(x));
			uint64_t job = lb_event_record(stream_b).job;
			while (events_of(from, LB_EVENT_async_pause, job) == 0)
				sched_yield();
			/* another overtakes it */
			assert_true(lb_async_eval(free));
			uint64_t second = lb_event_record(stream_b).job;
			while (events_of(from, LB_EVENT_async_done, second) == 0)
				sched_yield();
			assert_int_equal(events_of(from, LB_EVENT_eval_done, job), 0);
			open_gate(&gate);
			assert_true(lb_synchronize(stream_b));
			assert_true(lb_synchronize(stream_a));
			for (uint64_t k = job; k <= second; k++) {
				assert_int_equal(events_of(from, LB_EVENT_async_queue, k), 1);
				assert_int_equal(events_of(from, LB_EVENT_eval_start, k), 1);
				assert_int_equal(events_of(from, LB_EVENT_eval_done, k), 1);
				assert_int_equal(events_of(from, LB_EVENT_async_done, k), 1);
			}
			assert_int_equal(events_of(from, LB_EVENT_async_pause, job),
					 events_of(from, LB_EVENT_async_resume, job));
			/* the gate's job, and these two */
			while (__atomic_load_n(&lb_counters.evals, __ATOMIC_RELAXED) < evals + 3)
				sched_yield();
			assert_true(sum(x) == 2 * (3 + 5 + 7 + 9));
		}
	}
	end_gate(&gate);
}

/* ---- values and order ---- */

static void returns_before_the_value_is_there(void **state)
{
	(void)state;
	struct gate gate;
	LB_SCOPE {
		close_stream(&gate, stream_a);
		assert_false(lb_is_ready(gate.tensor));
		lb_tensor *x;
		LB_ON_STREAM(stream_a)
			x = lb_exp(lb_zeros(LB_SHAPE(3), LB_F32));
		assert_true(lb_async_eval(x));
		assert_true(is_queued(x));
		assert_int_equal(lb_tensor_state(x), LB_STATE_LAZY);
		lb_event event = lb_event_record(stream_a);
		assert_false(lb_event_is_done(event));
		end_gate(&gate);
		assert_true(lb_event_wait(event));
		assert_true(lb_event_is_done(event));
		assert_true(lb_is_ready(x));
		assert_false(is_queued(x));
		assert_float_equal(sum(x), 3, 0);
	}
}

static void *read_first(void *x)
{
	static float first;
	const float *data = lb_data(x);
	first = data ? *data : -1;
	return &first;
}

static int waiting(void)
{
	return __atomic_load_n(&lb_wait.waiting, __ATOMIC_SEQ_CST);
}

static void reading_what_is_queued_is_no_implicit_evaluation(void **state)
{
	(void)state;
	struct gate gate;
	pthread_t reader;
	void *first;
	LB_SCOPE {
		lb_tensor *x;
		close_stream(&gate, stream_a);
		LB_ON_STREAM(stream_a)
			x = lb_full(LB_SHAPE(6), 2.5, LB_F32);
		assert_true(lb_async_eval(x));
		uint64_t before = lb_counters.implicit_evals;
		int waited = waiting();
		pthread_create(&reader, NULL, read_first, x);
		while (waiting() <= waited)
			sched_yield();
		end_gate(&gate);
		pthread_join(reader, &first);
		assert_float_equal(*(float *)first, 2.5, 0);
		assert_int_equal(lb_counters.implicit_evals, before);
	}
}

static void default_stream_works_alike(void **state)
{
	(void)state;
	LB_SCOPE {
		assert_int_equal(lb_default_stream().id, 0);
		lb_tensor *x = lb_arange(0, 10, 1, LB_F32), *y = lb_add(x, x);
		lb_event before = lb_event_record(lb_default_stream());
		assert_true(lb_event_is_done(before));
		assert_true(lb_async_eval(x, y, x));
		assert_true(lb_synchronize(lb_default_stream()));
		assert_true(lb_is_ready(x) && lb_is_ready(y));
		assert_float_equal(sum(y), 90, 0);
		assert_true(lb_async_eval(x, y)); /* nothing left to do */
		assert_true(lb_async_eval_n(0, NULL));
	}
}

static void events_come_in_order(void **state)
{
	(void)state;
	enum { N = 20 };
	lb_tensor *xs[N];
	lb_event events[N];
	struct gate gate;
	LB_SCOPE {
		close_stream(&gate, stream_a);
		LB_ON_STREAM(stream_a) {
			for (int i = 0; i < N; i++) {
				xs[i] = lb_full(LB_SHAPE(100), i, LB_F32);
				assert_true(lb_async_eval(xs[i]));
				events[i] = lb_event_record(stream_a);
			}
		}
		for (int i = 0; i < N; i++)
			assert_false(lb_event_is_done(events[i]));
		open_gate(&gate);
		for (int i = 0; i < N; i++) {
			assert_true(lb_event_wait(events[i]));
			for (int k = 0; k <= i; k++)
				assert_true(lb_is_ready(xs[k]) && lb_event_is_done(events[k]));
		}
		assert_float_equal(sum(xs[N - 1]), 100 * (N - 1), 0);
		end_gate(&gate);
	}
}

static lb_tensor *step(lb_tensor *x)
{
	lb_tensor *y = lb_add(lb_multiply(x, lb_scalar(0.5)), lb_scalar(1));
	return lb_matmul(y, lb_eye(16, 16, 0, LB_F64));
}

/* With its worker standing still nothing of this could return if it waited. */
static void next_step_is_built_and_queued_meanwhile(void **state)
{
	(void)state;
	struct gate gate;
	LB_SCOPE {
		close_stream(&gate, lb_default_stream());
		assert_int_equal(lb_tensor_state(gate.tensor), LB_STATE_EVALUATING);
		lb_tensor *next = lb_add(gate.tensor, lb_scalar(1));
		assert_true(lb_async_eval(next));
		lb_tensor *after = lb_slice(lb_multiply(next, gate.tensor), LB_REVERSED);
		assert_true(lb_async_eval(after, gate.tensor));
		open_gate(&gate);
		assert_float_equal(((const float *)lb_data(gate.tensor))[0], 3, 0);
		assert_float_equal(lb_item(lb_slice(after, LB_AT(3))), 12, 0);
		assert_float_equal(sum(next), 28, 0);
		end_gate(&gate);
	}
}

static void double_buffer(void **state)
{
	(void)state;
	enum { STEPS = 200 };
	double expected = 0;
	lb_tensor *y = NULL;
	LB_SCOPE
		y = lb_keep(step(lb_zeros(LB_SHAPE(16, 16), LB_F64)));
	lb_async_eval(y);
	for (int i = 0; i < STEPS; i++) {
		lb_tensor *next = NULL;
		LB_SCOPE
			next = lb_keep(step(y));
		assert_true(lb_async_eval(next));
		expected = expected * 0.5 + 1;
		LB_SCOPE
			assert_float_equal(lb_item(lb_slice(y, LB_AT(3), LB_AT(5))), expected, 0);
		lb_release(y);
		y = next;
	}
	lb_release(y);
}

/* ---- several streams ---- */

/* a1 -> b1 -> a2 -> b2: each of its stream, queued last first. */
static void streams_need_each_other(void **state)
{
	(void)state;
	struct gate gate_a, gate_b;
	for (int order = 0; order < 2; order++) {
		LB_SCOPE {
			lb_tensor *a1, *b1, *a2, *b2;
			close_stream(&gate_a, stream_a);
			close_stream(&gate_b, stream_b);
			LB_ON_STREAM(stream_a)
				a1 = lb_ones(LB_SHAPE(4), LB_F32);
			LB_ON_STREAM(stream_b)
				b1 = lb_add(a1, gate_a.tensor);
			LB_ON_STREAM(stream_a)
				a2 = lb_multiply(b1, gate_b.tensor);
			LB_ON_STREAM(stream_b)
				b2 = lb_subtract(a2, a1);
			if (order == 0) {
				lb_async_eval(b2);
				lb_async_eval(a2);
				lb_async_eval(b1);
				lb_async_eval(a1);
			}
			open_gate(&gate_b);
			open_gate(&gate_a);
			/* (1 + 3) * 3 - 1, …, (1 + 9) * 9 - 1 */
			const float *values = lb_data(b2);
			assert_non_null(values);
			assert_float_equal(values[0], 11, 0);
			assert_float_equal(values[3], 89, 0);
			assert_true(lb_is_ready(b1) && lb_is_ready(a2));
			end_gate(&gate_a);
			end_gate(&gate_b);
		}
	}
}

/* One job of a has two roots, of which one is needed by the job of b that the other needs. */
static void jobs_need_each_other(void **state)
{
	(void)state;
	struct gate gate_a, gate_b;
	LB_SCOPE {
		lb_tensor *first, *between, *last;
		close_stream(&gate_a, stream_a);
		close_stream(&gate_b, stream_b);
		LB_ON_STREAM(stream_a)
			first = lb_exp(lb_zeros(LB_SHAPE(4), LB_F32));
		LB_ON_STREAM(stream_b)
			between = lb_add(first, first);
		LB_ON_STREAM(stream_a)
			last = lb_add(between, first);
		assert_true(lb_async_eval(last, first));
		assert_true(lb_async_eval(between));
		end_gate(&gate_a);
		end_gate(&gate_b);
		assert_true(lb_synchronize(stream_a));
		assert_true(lb_is_ready(last) && lb_is_ready(between));
		assert_float_equal(sum(last), 12, 0);
	}
}

/* What waits for a stream that stands still does not hold up the jobs behind it. */
static void job_that_waits_is_set_aside(void **state)
{
	(void)state;
	struct gate gate;
	LB_SCOPE {
		lb_tensor *waits, *goes;
		close_stream(&gate, stream_b);
		LB_ON_STREAM(stream_a) {
			waits = lb_add(gate.tensor, lb_scalar(1));
			goes = lb_ones(LB_SHAPE(7), LB_F32);
		}
		assert_true(lb_async_eval(waits));
		lb_event event = lb_event_record(stream_a);
		assert_true(lb_async_eval(goes));
		assert_float_equal(sum(goes), 7, 0);
		assert_false(lb_is_ready(waits));
		assert_false(lb_event_is_done(event));
		end_gate(&gate);
		assert_true(lb_event_wait(event));
		assert_float_equal(sum(waits), 28, 0);
	}
}

/* A plain evaluation has other streams' tensors computed there, its own here. */
static void evaluation_meets_other_streams(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *base = lb_arange(0, 6, 1, LB_F32), *there, *view, *mine;
		LB_ON_STREAM(stream_a) {
			there = lb_add(base, base);
			view = lb_slice(base, LB_REVERSED);
		}
		uint64_t done = READ(stream_a, done);
		assert_float_equal(lb_item(lb_slice(view, LB_AT(0))), 5, 0);
		assert_int_equal(READ(stream_a, done), done);
		mine = lb_multiply(there, lb_scalar(10));
		assert_true(lb_eval(mine));
		assert_float_equal(sum(mine), 300, 0);
		assert_true(lb_is_ready(there));
		assert_true(lb_synchronize(stream_a));
		assert_int_equal(READ(stream_a, done), done + 1);
		LB_ON_STREAM(stream_a) {
			lb_tensor *x = lb_exp(lb_zeros(LB_SHAPE(2), LB_F32));
			assert_float_equal(sum(x), 2, 0);
		}
		assert_int_equal(READ(stream_a, done), done + 1);
	}
}

static void blocks_restore_the_stream(void **state)
{
	(void)state;
	LB_SCOPE {
		for (int i = 0; i < 2; i++) {
			LB_ON_STREAM(stream_a) {
				assert_int_equal(lb_zeros(LB_SHAPE(1), LB_F32)->stream, stream_a.id);
				LB_ON_STREAM(stream_b) {
					assert_int_equal(lb_scalar(1)->stream, stream_b.id);
					if (i == 0)
						continue;
				}
				assert_int_equal(lb_scalar(1)->stream, stream_a.id);
				if (i == 1)
					break;
			}
			assert_int_equal(lb_scalar(1)->stream, 0);
		}
		assert_int_equal(lb_set_stream(stream_b).id, 0);
		assert_int_equal(lb_set_stream(lb_default_stream()).id, stream_b.id);
	}
}

static void calls_with_nonsense(void **state)
{
	(void)state;
	lb_stream none = { 12345 };
	assert_failed(lb_set_stream(none).id == 0, "set_stream: there is no stream 12345");
	assert_failed(lb_event_record(none).job == 0, "event_record: there is no stream 12345");
	assert_failed(!lb_synchronize(none), "synchronize: there is no stream 12345");
	assert_failed(!lb_event_wait((lb_event){ none, 1 }), "event_wait: there is no stream");
	assert_failed(!lb_event_is_done((lb_event){ none, 1 }), "event_is_done: there is no stream");
	assert_failed(!lb_async_eval_n(-1, NULL), "a list of -1 tensors");
	assert_failed(!lb_async_eval_n(2, NULL), "is NULL");
	assert_failed(!lb_async_eval(NULL), "tensor 0 of 1");
	assert_true(lb_ok());
	lb_on_stream_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_is_one_evaluation),
		TEST(returns_before_the_value_is_there),
		TEST(reading_what_is_queued_is_no_implicit_evaluation),
		TEST(default_stream_works_alike),
		TEST(events_come_in_order),
		TEST(next_step_is_built_and_queued_meanwhile),
		TEST(double_buffer),
		TEST(streams_need_each_other),
		TEST(jobs_need_each_other),
		TEST(job_that_waits_is_set_aside),
		TEST(evaluation_meets_other_streams),
		TEST(blocks_restore_the_stream),
		TEST(calls_with_nonsense),
	};
	return RUN_TESTS(tests);
}
