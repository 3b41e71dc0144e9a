/* lb_probe_NAME(…) fires the probe NAME of probes.def: a nop, and a note that says where
 * its arguments are; and, for an event, puts it into the flight recorder. lb_probe_NAME_on()
 * is true while somebody traces it, for arguments that cost something. Built with
 * LB_PROBES=0, or without <sys/sdt.h>, only the flight recorder remains. */
#ifndef LB_PROBES_H
#define LB_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "publish/flight.h"

#ifndef LB_PROBES
#define LB_PROBES 1
#endif
#if LB_PROBES && !__has_include(<sys/sdt.h>)
#undef LB_PROBES
#define LB_PROBES 0
#endif

#define LB_PROBE_ARGS_(...) __VA_ARGS__

#if LB_PROBES

/* Operands as registers: what gdb, perf and bpftrace can all parse (perf drops constants). */
#define STAP_SDT_ARG_CONSTRAINT r
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define LB_PROBE_FIRE_1(name, ...) STAP_PROBE1(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_2(name, ...) STAP_PROBE2(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_3(name, ...) STAP_PROBE3(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_4(name, ...) STAP_PROBE4(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_5(name, ...) STAP_PROBE5(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_6(name, ...) STAP_PROBE6(lazybones, name, __VA_ARGS__)

#define LB_PROBE_SEMAPHORE_(name) \
	extern volatile unsigned short lazybones_##name##_semaphore __attribute__((visibility("hidden"))); \
	static inline __attribute__((always_inline)) bool lb_probe_##name##_on(void) \
	{ \
		return __builtin_expect(lazybones_##name##_semaphore, 0); \
	}
#define LB_PROBE_FIRE_(name, n, args) LB_PROBE_FIRE_##n(name, LB_PROBE_ARGS_ args)

#else

#define LB_PROBE_SEMAPHORE_(name) \
	static inline bool lb_probe_##name##_on(void) \
	{ \
		return false; \
	}
#define LB_PROBE_FIRE_(name, n, args)

#endif

/* The arguments, and zeros for those that it does not have. */
#define LB_PROBE_RECORD_(kind, ...) LB_PROBE_RECORD_5_(kind, __VA_ARGS__)
#define LB_PROBE_RECORD_5_(kind, a, b, c, d, e, ...) \
	lb_flight_record(kind, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e))

#define LB_PROBE(name, n, params, args, meaning, when, since, rate) \
	LB_PROBE_SEMAPHORE_(name) \
	static inline __attribute__((always_inline)) void lb_probe_##name params \
	{ \
		LB_PROBE_FIRE_(name, n, args); \
	}
#define LB_DETAIL(name, n, params, args, meaning, when, since, rate) \
	LB_PROBE_SEMAPHORE_(name) \
	static inline __attribute__((always_inline)) void lb_probe_##name params \
	{ \
		LB_PROBE_FIRE_(name, n, args); \
		if (lb_event_mode(LB_EVENTS_DETAILED)) \
			LB_PROBE_RECORD_(LB_EVENT_##name, LB_PROBE_ARGS_ args, 0, 0, 0, 0, 0); \
	}
#define LB_EVENT(name, n, params, args, meaning, when, since, rate) \
	LB_PROBE_SEMAPHORE_(name) \
	static inline __attribute__((always_inline)) void lb_probe_##name params \
	{ \
		LB_PROBE_FIRE_(name, n, args); \
		LB_PROBE_RECORD_(LB_EVENT_##name, LB_PROBE_ARGS_ args, 0, 0, 0, 0, 0); \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "probes.def"
#pragma GCC diagnostic pop
#undef LB_EVENT
#undef LB_PROBE

#endif
