/* What the tests of streams share. A gate is foreign memory whose release function waits: who computes the last tensor
 * made of it stands still until the gate is opened. */
#ifndef TESTS_STREAMS_H
#define TESTS_STREAMS_H

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eval/stream.h"
#include "eval/wait.h"
#include "lazybones.h"
#include "memory/slab.h"
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

static inline void wait_at_gate(void *data, void *context)
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

static inline void make_gate(struct gate *gate)
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

static inline void await_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	while (!gate->reached)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

/* The stream's worker computes the gate's tensor, and stands. */
static inline void close_stream(struct gate *gate, lb_stream stream)
{
	LB_ON_STREAM(stream)
		make_gate(gate);
	assert_true(lb_async_eval(gate->tensor));
	await_gate(gate);
}

static inline void open_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

static inline void end_gate(struct gate *gate)
{
	open_gate(gate);
	assert_true(lb_eval(gate->tensor));
	assert_float_equal(((const float *)lb_data(gate->tensor))[3], 9, 0);
	lb_release(gate->tensor);
}

/* ---- what tests share ---- */

static lb_stream stream_a, stream_b;

static inline lb_tensor *failing(void)
{
	return lb_take(lb_arange(0, 5, 1, LB_F32), lb_full(LB_SHAPE(1), 9, LB_I32), 0);
}

static inline double sum(lb_tensor *x)
{
	return lb_item(lb_sum(x, LB_ALL_AXES, false));
}

static inline bool is_queued(lb_tensor *x)
{
	return lb_tensor_flags(x) & LB_FLAG_QUEUED;
}

static inline void assert_failed(bool failed, const char *words)
{
	assert_true(failed);
	assert_false(lb_ok());
	if (!strstr(lb_error_message(), words))
		print_error("'%s' does not say '%s'\n", lb_error_message(), words);
	assert_non_null(strstr(lb_error_message(), words));
	lb_clear_error();
}

static inline const struct lb_stream_record *record_of(lb_stream stream)
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
static inline int waiters(void)
{
	pthread_mutex_lock(&lb_wait.lock);
	int n = lb_wait.waiting;
	pthread_mutex_unlock(&lb_wait.lock);
	return n;
}

/* Events of a kind that have `number` as their first argument, since number `from`. */
static inline int events_of(uint64_t from, enum lb_flight_kind kind, uint64_t number)
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

static inline int end_streams(void **state)
{
	(void)state;
	bool clean = lb_ok() && lb_synchronize_all();
	if (!clean)
		print_error("left behind: %s\n", lb_error_message());
	lb_clear_error();
	return clean ? 0 : -1;
}

/* The tests of a file, each of which leaves nothing behind. */
#define TEST(name) cmocka_unit_test_teardown(name, end_streams)
#define RUN_TESTS(tests) \
	(stream_a = lb_stream_new("a"), stream_b = lb_stream_new("b"), cmocka_run_group_tests(tests, NULL, NULL))

#endif
