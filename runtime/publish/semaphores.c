/* One counter a probe: tracers raise it while they listen. */
#include "probes.h"

#if LB_PROBES
#define LB_PROBE(name, n, params, args, meaning, when, since, rate) \
	volatile unsigned short lazybones_##name##_semaphore \
	    __attribute__((visibility("hidden"), section(".probes"), used));
#include "probes.def"
#undef LB_PROBE
#endif
