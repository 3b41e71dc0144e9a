/* The flight recorder: a ring of the program's last events, always on, for whoever looks at
 * a program that stopped or died. An event is a probe of probes.def (those that say LB_EVENT
 * there) with its arguments; lb_probe_NAME() records it.
 *
 * The whole program shares one ring, so the events' numbers are their order. A writer takes the
 * next number, marks the slot as unfinished (number 0), fills it in and sets the number last:
 * a reader that finds another number than the slot's turn asks for has met an event half
 * written, and skips it. Nothing waits, nothing is called: events may come from a signal
 * handler. Two writers would meet in a slot only if one slept while all others were used; then
 * that one event may be a mixture.
 *
 * Reading a clock costs several times what the rest does. An event carries the time that its
 * thread read last: at the start of an evaluation, and after each long operation. Who wants
 * the time of every event asks for it (the root's event_mode). */
#ifndef LB_PUBLISH_FLIGHT_H
#define LB_PUBLISH_FLIGHT_H

#include "publish/root.h"

enum lb_flight_kind {
#define LB_PROBE(name, n, params, args, meaning, when, since, rate)
#define LB_EVENT(name, n, params, args, meaning, when, since, rate) LB_EVENT_##name,
#include "probes.def"
#undef LB_EVENT
#undef LB_PROBE
	LB_EVENTS
};

/* What the calling thread puts into its events. */
struct lb_flight_self {
	uint64_t now_ns; /* CLOCK_MONOTONIC when it was read last */
	uint32_t thread; /* kernel thread id; 0 before the first event */
};

extern __thread struct lb_flight_self lb_flight_self __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* NULL while nothing is recorded. */
extern struct lb_flight_event *lb_flight_ring __attribute__((visibility("hidden")));

/* Reserves the ring, of `capacity` events (rounded up to a power of two); 0: none. */
void lb_flight_start(uint64_t capacity);
/* Reads CLOCK_MONOTONIC, for the calling thread's next events, and for the caller. */
uint64_t lb_flight_clock(void);
/* The calling thread's number. */
uint32_t lb_flight_thread(void);
/* What the root's event_mode, which is not 0, asks of an event. */
__attribute__((cold)) void lb_flight_special(enum lb_flight_kind kind, const uint64_t args[LB_EVENT_ARGS]);
/* True while the root's event_mode asks for one of these. */
static inline bool lb_event_mode(uint32_t bits)
{
	return __builtin_expect(__atomic_load_n(&lb_root->event_mode, __ATOMIC_RELAXED) & bits, 0);
}
/* Copies a text to where the calling thread's next events may point; returns the copy. It outlives
 * LB_FLIGHT_TEXTS - 1 others, and who reads it later sees whether it is still that (struct lb_flight_text). */
const char *lb_flight_text(const char *text);

static inline void lb_flight_record(enum lb_flight_kind kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
				    uint64_t e)
{
	if (lb_event_mode(~0U))
		lb_flight_special(kind, (uint64_t[]){ a, b, c, d, e });
	struct lb_flight_event *ring = __atomic_load_n(&lb_flight_ring, __ATOMIC_RELAXED);
	if (!ring)
		return;
	uint32_t thread = lb_flight_self.thread;
	if (__builtin_expect(thread == 0, 0))
		thread = lb_flight_thread();
	enum lb_alone alone = lb_alone_begin();
	uint64_t number = lb_fetch_add(alone, &lb_root->flight_used, 1) + 1;
	lb_alone_end(alone);
	struct lb_flight_event *to = &ring[number & (lb_root->flight_capacity - 1)];
#define SET(field, value) __atomic_store_n(&to->field, value, __ATOMIC_RELAXED)
	SET(number, 0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	SET(time_ns, lb_flight_self.now_ns);
	SET(thread, thread);
	SET(kind, (uint32_t)kind);
	SET(args[0], a);
	SET(args[1], b);
	SET(args[2], c);
	SET(args[3], d);
	SET(args[4], e);
#undef SET
	__atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
}

#endif
