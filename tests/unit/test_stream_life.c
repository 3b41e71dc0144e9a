/* Streams from their limits to their end: full queues, freed roots, callbacks, debuggers, fork and exit, many threads. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "memory/thread.h"
#include "streams.h"

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
				LB_ON_STREAM(stream_a) {
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
		LB_ON_STREAM(stream_a) {
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
		LB_ON_STREAM(stream_a) {
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
		LB_ON_STREAM(stream_a) {
			x = lb_full(LB_SHAPE(6), 2, LB_F32);
			y = lb_add(x, x);
		}
		LB_ON_STREAM(stream_b)
			z = lb_add(lb_slice(y, LB_TO(4)), gate.tensor);
		assert_true(lb_async_eval(x, y));
		int waiting = waiters();
		assert_true(lb_async_eval(z)); /* blocked */
		/* a thread that begins holds locks of the address sanitizer's, which would be held for ever in the child */
		while (waiters() == waiting)
			sched_yield();
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
	LB_ON_STREAM(stream) {
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
		LB_ON_STREAM(many[(i * 3 + thread) % STREAMS]) {
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
		TEST(queue_is_limited),        TEST(freed_roots),
		TEST(callbacks_on_a_worker),   TEST(debugger_evaluates_what_is_queued),
		TEST(streams_are_published),   TEST(child_of_fork),
		TEST(exit_while_workers_work), TEST(threads_and_streams),
		TEST(streams_are_limited),
	};
	return RUN_TESTS(tests);
}
