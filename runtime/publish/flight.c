#define _GNU_SOURCE
#include "publish/flight.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "publish/marker.h"

__thread struct lb_flight_self lb_flight_self;
struct lb_flight_event *lb_flight_ring;

static const struct lb_event_info events[] = {
#define LB_PROBE(name, n, params, args, meaning, when, since, rate)
#define LB_EVENT(name_, n_, params, args_, meaning, when, since, rate) { .name = #name_, .args = #args_, .n_args = n_ },
#include "probes.def"
#undef LB_EVENT
#undef LB_PROBE
};

#define LB_PROBE(name, n, params, args, meaning, when, since, rate)
#define LB_EVENT(name, n, params, args, meaning, when, since, rate) \
	_Static_assert(n <= LB_EVENT_ARGS, "more arguments than an event of the ring has");
#include "probes.def"
#undef LB_EVENT
#undef LB_PROBE

uint64_t lb_flight_clock(void)
{
	return lb_flight_self.now_ns = lb_clock_ns();
}

uint32_t lb_flight_thread(void)
{
	return lb_flight_self.thread = (uint32_t)syscall(SYS_gettid);
}

static void be_timed(void)
{
	uint64_t until = __atomic_load_n(&lb_root->timed_until, __ATOMIC_RELAXED);

	if (lb_flight_clock() > until && until)
		__atomic_fetch_and(&lb_root->event_mode, ~(uint32_t)(LB_EVENTS_TIMED | LB_EVENTS_DETAILED),
				   __ATOMIC_RELAXED);
}

void lb_flight_special(enum lb_flight_kind kind, const uint64_t args[LB_EVENT_ARGS])
{
	if (lb_event_mode(LB_EVENTS_TIMED))
		be_timed();
	if (lb_event_mode(LB_EVENTS_MARKED))
		lb_marker_write(&events[kind], args);
}

static void after_fork_in_child(void)
{
	lb_flight_self.thread = 0;
}

void lb_flight_start(uint64_t capacity)
{
	uint64_t n = 1;
	while (n < capacity)
		n *= 2;
	lb_root->event_kinds = (uint64_t)(uintptr_t)events;
	lb_root->n_event_kinds = LB_EVENTS;
	lb_root->event_size = sizeof(struct lb_flight_event);
	if (capacity == 0)
		return;
	void *ring = mmap(NULL, n * sizeof(struct lb_flight_event), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ring == MAP_FAILED) /* the program runs on, unrecorded */
		return;
	lb_root->flight_capacity = n;
	lb_root->flight = (uint64_t)(uintptr_t)ring;
	pthread_atfork(NULL, NULL, after_fork_in_child);
	__atomic_store_n(&lb_flight_ring, ring, __ATOMIC_RELEASE);
}

/* The next text that nobody is writing just now; NULL when there is none. */
static struct lb_flight_text *take_text(void)
{
	static struct lb_flight_text texts[LB_FLIGHT_TEXTS];
	static uint64_t used;

	for (int i = 0; i < LB_FLIGHT_TEXTS; i++) {
		struct lb_flight_text *text = &texts[__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED) % LB_FLIGHT_TEXTS];
		if (!__atomic_exchange_n(&text->writing, 1, __ATOMIC_SEQ_CST))
			return text;
	}
	return NULL;
}

const char *lb_flight_text(const char *text)
{
	static const struct lb_flight_text none; /* of no thread */
	struct lb_flight_text *to = take_text();
	size_t i = 0;

	if (!to)
		return none.text;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	to->thread = lb_flight_self.thread ? lb_flight_self.thread : lb_flight_thread();
	to->time_ns = lb_flight_clock();
	for (; text[i] && i < sizeof to->text - 1; i++)
		to->text[i] = text[i];
	to->text[i] = '\0';
	__atomic_store_n(&to->writing, 0, __ATOMIC_RELEASE);
	return to->text;
}
