/* lb_probe_NAME(…) fires the probe NAME of probes.def: a nop, and a note that says where
 * its arguments are. lb_probe_NAME_on() is true while somebody traces it, for arguments
 * that cost something. Built with LB_PROBES=0, or without <sys/sdt.h>, nothing remains. */
#ifndef LB_PROBES_H
#define LB_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#ifndef LB_PROBES
#define LB_PROBES 1
#endif
#if LB_PROBES && !__has_include(<sys/sdt.h>)
#undef LB_PROBES
#define LB_PROBES 0
#endif

#if LB_PROBES

/* Operands as registers or constants: what gdb, perf and bpftrace can all parse. */
#define STAP_SDT_ARG_CONSTRAINT nr
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define LB_PROBE_ARGS_(...) __VA_ARGS__
#define LB_PROBE_FIRE_1(name, ...) STAP_PROBE1(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_2(name, ...) STAP_PROBE2(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_3(name, ...) STAP_PROBE3(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_4(name, ...) STAP_PROBE4(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_5(name, ...) STAP_PROBE5(lazybones, name, __VA_ARGS__)
#define LB_PROBE_FIRE_6(name, ...) STAP_PROBE6(lazybones, name, __VA_ARGS__)

#define LB_PROBE(name, n, params, args, meaning, when) \
	extern volatile unsigned short lazybones_##name##_semaphore \
		__attribute__((visibility("hidden"))); \
	static inline __attribute__((always_inline)) bool lb_probe_##name##_on(void) \
	{ \
		return __builtin_expect(lazybones_##name##_semaphore, 0); \
	} \
	static inline __attribute__((always_inline)) void lb_probe_##name params \
	{ \
		LB_PROBE_FIRE_##n(name, LB_PROBE_ARGS_ args); \
	}

#else

#define LB_PROBE(name, n, params, args, meaning, when) \
	static inline bool lb_probe_##name##_on(void) { return false; } \
	static inline __attribute__((always_inline)) void lb_probe_##name params \
	{ \
	}

#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "probes.def"
#pragma GCC diagnostic pop
#undef LB_PROBE

#endif
