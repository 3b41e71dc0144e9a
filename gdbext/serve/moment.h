/* Moments of the clock that nobody sets, for waits that end. */
#ifndef LBX_SERVE_MOMENT_H
#define LBX_SERVE_MOMENT_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline double lbx_moment_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline struct timespec lbx_moment_in(double seconds)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	int64_t ns = at.tv_nsec + (int64_t)(seconds * 1e9);
	at.tv_sec += ns / 1000000000;
	at.tv_nsec = ns % 1000000000;
	return at;
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
