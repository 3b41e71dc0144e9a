/* Streams, asynchronous evaluation, events. A gate is foreign memory whose release function
 * waits: who computes the last tensor made of it stands still until the gate is opened. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sanitizer.h"
#include "eval/stream.h"
#include "eval/wait.h"
#include "lazybones.h"
#include "memory/thread.h"
#include "publish/flight.h"
#include "publish/records.h"
#include "publish/root.h"

/* ---- gates ---- */

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool reached, open;
	float data[4];
	lb_tensor *tensor; /* two times the data, plus 1: evaluated by who then stands still */
};

static void wait_at_gate(void *data, void *context)
{
	struct gate *gate = context;
	(void)data;
	pthread_mutex_lock(&gate->lock);
	gate->reached = true;
	pthread_cond_broadcast(&gate->changed);
	while (!gate->open)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

static void make_gate(struct gate *gate)
{
	*gate = (struct gate){ .lock = PTHREAD_MUTEX_INITIALIZER,
			       .changed = PTHREAD_COND_INITIALIZER,
			       .data = { 1, 2, 3, 4 } };
	LB_SCOPE {
		lb_tensor *memory =
		    lb_from_memory(gate->data, sizeof gate->data, LB_SHAPE(4), LB_F32, wait_at_gate, gate);
		gate->tensor = lb_keep(lb_add(lb_add(memory, memory), lb_scalar(1)));
	}
	assert_non_null(gate->tensor);
}

static void await_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	while (!gate->reached)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

/* The stream's worker computes the gate's tensor, and stands. */
static void close_stream(struct gate *gate, lb_stream stream)
{
	LB_ON_STREAM(stream)
	make_gate(gate);
	assert_true(lb_async_eval(gate->tensor));
	await_gate(gate);
}

static void open_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

static void end_gate(struct gate *gate)
{
	open_gate(gate);
	assert_true(lb_eval(gate->tensor));
	assert_float_equal(((const float *)lb_data(gate->tensor))[3], 9, 0);
	lb_release(gate->tensor);
}

/* ---- what tests share ---- */

static lb_stream stream_a, stream_b;

static lb_tensor *failing(void)
{
	return lb_take(lb_arange(0, 5, 1, LB_F32), lb_full(LB_SHAPE(1), 9, LB_I32), 0);
}

static double sum(lb_tensor *x)
{
	return lb_item(lb_sum(x, LB_ALL_AXES, false));
}

static bool is_queued(lb_tensor *x)
{
	return lb_tensor_flags(x) & LB_FLAG_QUEUED;
}

static void assert_failed(bool failed, const char *words)
{
	assert_true(failed);
	assert_false(lb_ok());
	if (!strstr(lb_error_message(), words))
		print_error("'%s' does not say '%s'\n", lb_error_message(), words);
	assert_non_null(strstr(lb_error_message(), words));
	lb_clear_error();
}

static const struct lb_stream_record *record_of(lb_stream stream)
{
	const struct lb_stream_record *record;
	for (uint64_t slot = 0; (record = lb_slab_at(LB_KIND_STREAM, slot)); slot++) {
		if (record->generation && record->id == stream.id)
			return record;
	}
	return NULL;
}

/* A field of the stream's record, which its worker may be changing. */
#define READ(stream, field) \
	({ \
		pthread_mutex_lock(&lb_wait.lock); \
		uint64_t value_ = record_of(stream)->field; \
		pthread_mutex_unlock(&lb_wait.lock); \
		value_; \
	})

/* How many threads, workers too, wait on the common condition. */
static int waiters(void)
{
	pthread_mutex_lock(&lb_wait.lock);
	int n = lb_wait.waiting;
	pthread_mutex_unlock(&lb_wait.lock);
	return n;
}

/* Events of a kind that have `number` as their first argument, since number `from`. */
static int events_of(uint64_t from, enum lb_flight_kind kind, uint64_t number)
{
	int n = 0;
	for (uint64_t i = from + 1; i <= __atomic_load_n(&lb_root->flight_used, __ATOMIC_ACQUIRE); i++) {
		struct lb_flight_event *e = &lb_flight_ring[i & (lb_root->flight_capacity - 1)];
		while (__atomic_load_n(&e->number, __ATOMIC_ACQUIRE) != i)
			sched_yield(); /* it is being written */
		n += e->kind == (uint32_t)kind && e->args[0] == number;
	}
	return n;
}

/* However often it is set aside for what another stream computes. */
static void a_job_is_one_evaluation(void **state)
{
	struct gate gate;
	(void)state;
	uint64_t from = lb_root->flight_used, evals = lb_counters.evals;
	close_stream(&gate, stream_a);
	LB_SCOPE {
		LB_ON_STREAM(stream_b)
		{
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

static int teardown(void **state)
{
	(void)state;
	bool clean = lb_ok() && lb_synchronize_all();
	if (!clean)
		print_error("left behind: %s\n", lb_error_message());
	lb_clear_error();
	return clean ? 0 : -1;
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
		LB_ON_STREAM(stream_a)
		{
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
		LB_ON_STREAM(stream_a)
		{
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
		LB_ON_STREAM(stream_a)
		{
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
		LB_ON_STREAM(stream_a)
		{
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
			LB_ON_STREAM(stream_a)
			{
				assert_int_equal(lb_zeros(LB_SHAPE(1), LB_F32)->stream, stream_a.id);
				LB_ON_STREAM(stream_b)
				{
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

/* ---- errors ---- */

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

/* ---- limits, lifetime ---- */

static atomic_int submitted;

static void *submit_many(void *arg)
{
	lb_stream stream = *(lb_stream *)arg;
	for (int i = 0; i < 200; i++) {
		LB_SCOPE {
			LB_ON_STREAM(stream)
			lb_async_eval(lb_full(LB_SHAPE(10), i, LB_F32));
		}
		atomic_fetch_add(&submitted, 1);
	}
	return (void *)(uintptr_t)lb_ok();
}

static void queue_is_limited(void **state)
{
	(void)state;
	struct gate gate;
	pthread_t thread;
	void *ok;
	uint64_t active = lb_active_memory();
	LB_SCOPE {
		close_stream(&gate, stream_a);
		uint64_t done = READ(stream_a, done);
		atomic_store(&submitted, 0);
		pthread_create(&thread, NULL, submit_many, &stream_a);
		while (waiters() == 0)
			sched_yield();
		assert_int_equal(atomic_load(&submitted), 32);
		assert_int_equal(READ(stream_a, queued), 32);
		assert_int_not_equal(READ(stream_a, eval), 0);
		end_gate(&gate);
		pthread_join(thread, &ok);
		assert_non_null(ok);
		assert_true(lb_synchronize(stream_a));
		assert_int_equal(READ(stream_a, done), done + 201);
		assert_int_equal(READ(stream_a, queued), 0);
		assert_int_equal(READ(stream_a, eval), 0);
	}
	assert_int_equal(lb_active_memory(), active);
}

static void freed_roots(void **state)
{
	(void)state;
	uint64_t active = lb_active_memory(), made = 0;
	struct gate gate;
	LB_SCOPE {
		close_stream(&gate, stream_a);
		for (int i = 0; i < 20; i++) {
			LB_SCOPE {
				LB_ON_STREAM(stream_a)
				{
					lb_tensor *x = lb_exp(lb_full(LB_SHAPE(1000), i, LB_F64));
					made += lb_async_eval(lb_add(x, x), x);
				}
			}
		}
		assert_int_equal(made, 20);
		end_gate(&gate);
		assert_true(lb_synchronize(stream_a));
	}
	assert_int_equal(lb_active_memory(), active);
}

static lb_tensor *of_callback;
static bool callback_waited, callback_evaluated, callback_queued;

static void evaluate_inside(void *data, void *context)
{
	(void)data;
	lb_tensor *queued = context;
	callback_waited = lb_synchronize(stream_a);
	lb_clear_error();
	callback_evaluated = lb_eval(queued) && sum(queued) == 6;
	of_callback = lb_keep(lb_add(queued, queued));
	callback_queued = lb_async_eval(of_callback);
}

/* A release callback on a worker may evaluate and queue, not wait. */
static void callbacks_on_a_worker(void **state)
{
	(void)state;
	static float data[2];
	struct gate gate;
	LB_SCOPE {
		lb_tensor *first = NULL, *queued = NULL;
		close_stream(&gate, stream_a);
		LB_ON_STREAM(stream_a)
		{
			queued = lb_full(LB_SHAPE(6), 1, LB_F32);
			LB_SCOPE
				first = lb_keep(lb_negative(lb_from_memory(data, sizeof data, LB_SHAPE(2), LB_F32,
									   evaluate_inside, queued)));
		}
		assert_true(lb_async_eval(first));
		assert_true(lb_async_eval(queued));
		end_gate(&gate);
		assert_true(lb_synchronize(stream_a));
		assert_true(lb_eval(first, of_callback));
		assert_false(callback_waited);
		assert_true(callback_evaluated);
		assert_true(callback_queued);
		assert_float_equal(sum(of_callback), 12, 0);
		lb_release(of_callback);
		lb_release(first);
	}
}

/* ---- debuggers ---- */

static void debugger_evaluates_what_is_queued(void **state)
{
	(void)state;
	struct gate gate;
	LB_SCOPE {
		lb_tensor *x, *y;
		close_stream(&gate, stream_a);
		LB_ON_STREAM(stream_a)
		{
			x = lb_full(LB_SHAPE(6), 2, LB_F32);
			y = lb_add(gate.tensor, gate.tensor);
		}
		assert_true(lb_async_eval(x, y));
		assert_null(lb_debug_eval(lb_id(x)));
		assert_true(lb_is_ready(x));
		assert_non_null(strstr(lb_debug_eval(lb_id(y)), "under way"));
		assert_true(is_queued(y));
		end_gate(&gate);
		assert_true(lb_synchronize(stream_a));
		assert_float_equal(sum(x), 12, 0);
		assert_float_equal(sum(y), 48, 0);
	}
}

static void streams_are_published(void **state)
{
	(void)state;
	const struct lb_stream_record *a = record_of(stream_a);
	assert_non_null(a);
	assert_string_equal((const char *)(uintptr_t)a->name, "a");
	uint64_t failed = a->failed, done = a->done;
	LB_SCOPE {
		LB_ON_STREAM(stream_a)
		lb_async_eval(failing());
		assert_failed(!lb_synchronize(stream_a), "index 9");
	}
	assert_int_equal(a->failed, failed + 1);
	assert_int_equal(a->done, done + 1);
	assert_non_null(strstr((const char *)(uintptr_t)a->error, "index 9"));
	assert_int_not_equal(a->thread, 0);
	assert_int_equal(a->seq & 1, 0);
}

/* ---- processes ---- */

static int status_of(pid_t child)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return status;
}

static void child_of_fork(void **state)
{
	(void)state;
	struct gate gate;
	if (LB_SANITIZES_THREADS)
		skip(); /* it allows no threads in such a child */
	LB_SCOPE {
		lb_tensor *x, *y, *z;
		close_stream(&gate, stream_a);
		LB_ON_STREAM(stream_a)
		{
			x = lb_full(LB_SHAPE(6), 2, LB_F32);
			y = lb_add(x, x);
		}
		LB_ON_STREAM(stream_b)
		z = lb_add(lb_slice(y, LB_TO(4)), gate.tensor);
		assert_true(lb_async_eval(x, y));
		assert_true(lb_async_eval(z)); /* blocked */
		pid_t child = fork();
		if (child == 0) {
			bool ok = !is_queued(x) && !is_queued(y) && !is_queued(z);
			ok = ok && lb_event_is_done(lb_event_record(stream_a)) && lb_synchronize_all();
			ok = ok && READ(stream_a, queued) == 0 && READ(stream_a, thread) == 0;
			ok = ok && sum(x) == 12;
			ok = ok && lb_async_eval(z) && lb_event_wait(lb_event_record(stream_b));
			ok = ok && sum(z) == 4 * 4 + 24 && sum(y) == 24 && lb_ok();
			_exit(ok ? 0 : 1);
		}
		int status = status_of(child);
		bool queued = is_queued(y);
		end_gate(&gate);
		assert_int_equal(status, 0);
		assert_true(queued);
		assert_float_equal(sum(z), 40, 0);
	}
}

/* Registered before the first job, so called after the workers have been stopped. */
static void look_for_work(void)
{
	const struct lb_thread *thread;
	for (uint64_t slot = 0; (thread = lb_slab_at(LB_KIND_THREAD, slot)); slot++) {
		if (thread->tensor)
			_exit(3);
	}
	LB_SCOPE { /* nothing hangs now */
		lb_tensor *x = lb_ones(LB_SHAPE(8), LB_F32);
		if (!lb_async_eval(x) || sum(x) != 8 || lb_tensor_flags(x) & LB_FLAG_QUEUED)
			_exit(4);
	}
}

static void work_long(lb_stream stream)
{
	lb_tensor *x = lb_random_normal(LB_SHAPE(96, 96), LB_F32, lb_key(1));
	LB_ON_STREAM(stream)
	{
		for (int i = 0; i < 20000; i++)
			x = lb_matmul(x, x);
	}
	lb_async_eval(x);
}

/* Otherwise it is given more. */
static bool is_at_work(lb_stream stream)
{
	if (READ(stream, eval))
		return true;
	if (!READ(stream, queued))
		work_long(stream);
	return false;
}

static int exit_at_work(void)
{
	lb_stream stream = lb_stream_new("a");
	atexit(look_for_work);
	work_long(stream);
	work_long(lb_default_stream());
	while (!is_at_work(stream) || !is_at_work(lb_default_stream()))
		sched_yield();
	return 0;
}

static const char *program; /* valgrind cannot run /proc/self/exe */

static void exit_while_workers_work(void **state)
{
	(void)state;
	pid_t child = fork();
	if (child == 0) {
		execl(program, program, "exit", NULL);
		_exit(5);
	}
	assert_int_equal(status_of(child), 0);
}

/* ---- many at once ---- */

enum { THREADS = 4, STREAMS = 5, ROUNDS = 60 };
static lb_stream many[STREAMS];
static lb_tensor *shared[STREAMS];
static atomic_int wrong;

static void one_round(int thread, int round)
{
	lb_tensor *x = lb_full(LB_SHAPE(32, 32), round, LB_F64), *parts[STREAMS];
	for (int i = 0; i < STREAMS; i++) {
		LB_ON_STREAM(many[(i * 3 + thread) % STREAMS])
		{
			x = lb_add(x, shared[(i + round) % STREAMS]);
			if (i % 2)
				x = lb_matmul(x, lb_eye(32, 32, 0, LB_F64));
			parts[i] = x;
		}
	}
	for (int i = STREAMS; i-- > 0 && round % 3;)
		lb_async_eval(parts[i]);
	if (round % 3 == 0)
		lb_async_eval_n(STREAMS, parts);
	LB_ON_STREAM(many[round % STREAMS])
	lb_async_eval(lb_add(failing(), x)); /* nobody's concern */
	double expected = round;
	for (int i = 0; i < STREAMS; i++) {
		expected += (i + round) % STREAMS;
		if ((round + i) % 2 && lb_item(lb_slice(parts[i], LB_AT(3), LB_AT(7))) != expected)
			atomic_fetch_add(&wrong, 1);
	}
	if (sum(x) != expected * 32 * 32 || !lb_ok())
		atomic_fetch_add(&wrong, 1);
	lb_event_is_done(lb_event_record(many[thread]));
	if (round % 8 == 0)
		lb_synchronize(many[thread]);
	lb_clear_error();
}

static void *rounds(void *arg)
{
	int thread = (int)(uintptr_t)arg;
	for (int round = 0; round < ROUNDS; round++) {
		LB_SCOPE
			one_round(thread, round);
	}
	return NULL;
}

static void threads_and_streams(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	for (int i = 0; i < STREAMS; i++) {
		many[i] = lb_stream_new(NULL);
		LB_SCOPE
			LB_ON_STREAM(many[i])
		shared[i] = lb_keep(lb_full(LB_SHAPE(32, 32), i, LB_F64));
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, rounds, (void *)(uintptr_t)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < STREAMS; i++) {
		lb_release(shared[i]);
		while (!lb_synchronize(many[i]))
			lb_clear_error();
	}
	assert_int_equal(wrong, 0);
}

static void streams_are_limited(void **state)
{
	(void)state;
	int n = 0;
	lb_stream stream;
	while (lb_stream_new("one of many"), lb_ok())
		n++;
	assert_failed(true, "already 64 streams");
	assert_true(n > 0 && n < 64);
	stream = lb_stream_new(NULL);
	assert_int_equal(stream.id, 0);
	lb_clear_error();
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1 && strcmp(argv[1], "exit") == 0)
		return exit_at_work();
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
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
		TEST(failure_reaches_the_reader_once),
		TEST(failure_reaches_what_depends_on_it),
		TEST(failure_reaches_who_synchronizes),
		TEST(other_roots_get_their_values),
		TEST(unrelated_work_goes_on),
		TEST(many_failures),
		TEST(queue_is_limited),
		TEST(freed_roots),
		TEST(callbacks_on_a_worker),
		TEST(debugger_evaluates_what_is_queued),
		TEST(streams_are_published),
		TEST(child_of_fork),
		TEST(exit_while_workers_work),
		TEST(threads_and_streams),
		TEST(streams_are_limited),
	};
	stream_a = lb_stream_new("a");
	stream_b = lb_stream_new("b");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
