/* The public side of streams: what is promised is in lazybones.h, how it works in stream.c. */
#include "eval/eval.h"
#include "eval/stream.h"
#include "eval/wait.h"
#include "graph/tracer.h"
#include "memory/thread.h"
#include "probes.h"

static bool is_stream(const char *what, lb_stream stream)
{
	return stream.id < lb_stream_count() || lb_fail("%s: there is no stream %u", what, stream.id);
}

lb_stream lb_default_stream(void)
{
	return (lb_stream){ 0 };
}

lb_stream lb_stream_new(const char *name)
{
	LB_ENTER();
	(void)site;
	lb_stream stream = { 0 };
	lb_stream_make(name, &stream.id);
	return stream;
}

lb_stream lb_set_stream(lb_stream stream)
{
	LB_ENTER();
	(void)site;
	struct lb_self *self = lb_self();
	if (!self)
		return lb_default_stream();
	lb_stream before = { self->stream };
	if (is_stream("set_stream", stream))
		self->stream = stream.id;
	return before;
}

lb_on_stream lb_on_stream_begin(lb_stream stream)
{
	return (lb_on_stream){ lb_set_stream(stream) };
}

void lb_on_stream_end(lb_on_stream *on)
{
	if (on)
		lb_set_stream(on->before);
}

bool lb_async_eval_n(int n, lb_tensor *const *xs)
{
	LB_ENTER();
	if (n < 0)
		return lb_fail("async_eval: a list of %d tensors", n);
	if (!LB_GIVEN_LIST("async_eval", n, xs))
		return false;
	for (int i = 0; i < n; i++) {
		if (!xs[i])
			return lb_fail_null_at("async_eval", i, n);
		if (lb_tensor_state(xs[i]) == LB_STATE_FREED)
			return lb_fail_dead("async_eval", xs[i]);
	}
	struct lb_self *self = lb_self();
	if (!self || !lb_tracing_may_queue(self, n, xs))
		return false;
	if (!self->arena_busy) /* inside an evaluation nothing may wait */
		lb_await_room(n, xs);
	return lb_submit(n, xs, site, false, self->trace != NULL);
}

/* ---- events ---- */

static lb_event newest(lb_stream stream)
{
	pthread_mutex_lock(&lb_wait.lock);
	lb_event event = { stream, lb_stream_newest(stream.id) };
	pthread_mutex_unlock(&lb_wait.lock);
	return event;
}

lb_event lb_event_record(lb_stream stream)
{
	LB_ENTER();
	(void)site;
	return is_stream("event_record", stream) ? newest(stream) : (lb_event){ lb_default_stream(), 0 };
}

bool lb_event_is_done(lb_event event)
{
	LB_ENTER();
	(void)site;
	if (!is_stream("event_is_done", event.stream))
		return false;
	pthread_mutex_lock(&lb_wait.lock);
	bool done = lb_stream_has_done(event.stream.id, event.job);
	pthread_mutex_unlock(&lb_wait.lock);
	return done;
}

/* With the lock held. */
static bool wait_until_done(lb_event event)
{
	struct lb_self *self = lb_self();
	if (lb_stream_has_done(event.stream.id, event.job))
		return true;
	if (!self || self->arena_busy)
		return lb_fail("event_wait: code that runs inside an evaluation cannot wait "
			       "for a stream");
	lb_wait_begin();
	self->record->waits_for = event.job;
	lb_flight_clock();
	lb_probe_wait_start(0, event.job, 0);
	while (!lb_stream_has_done(event.stream.id, event.job) && !lb_stopping())
		pthread_cond_wait(&lb_wait.done, &lb_wait.lock);
	lb_flight_clock();
	lb_probe_wait_done(0, event.job, 0);
	self->record->waits_for = 0;
	lb_wait_end();
	return !lb_stopping() || lb_fail("event_wait: the program is exiting, and its streams have stopped");
}

static bool wait_for_event(lb_event event)
{
	pthread_mutex_lock(&lb_wait.lock);
	bool ok = wait_until_done(event);
	const struct lb_failure *failure = lb_failure_oldest(event.stream.id, event.job);
	if (ok && failure) {
		lb_fail_again(failure->site, failure->text);
		lb_failure_forget(failure->origin);
		ok = false;
	}
	pthread_mutex_unlock(&lb_wait.lock);
	return ok;
}

bool lb_event_wait(lb_event event)
{
	LB_ENTER();
	(void)site;
	return is_stream("event_wait", event.stream) && wait_for_event(event);
}

bool lb_synchronize(lb_stream stream)
{
	LB_ENTER();
	(void)site;
	return is_stream("synchronize", stream) && wait_for_event(newest(stream));
}

bool lb_synchronize_all(void)
{
	LB_ENTER();
	(void)site;
	bool ok = true;
	for (uint32_t id = 0; id < lb_stream_count(); id++)
		ok &= wait_for_event(newest((lb_stream){ id }));
	return ok;
}
