/* Moments of the clock that nobody sets, for waits that end. */
#ifndef LBX_SERVE_MOMENT_H
#define LBX_SERVE_MOMENT_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

static inline struct timespec lbx_moment_in(double seconds)
{
	uint64_t at = lb_clock_ns() + (uint64_t)(int64_t)(seconds * 1e9);

	return (struct timespec){ .tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000) };
}

/* A condition whose waits go by that clock. */
static inline void lbx_moment_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

#endif
