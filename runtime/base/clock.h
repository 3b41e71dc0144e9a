/* The clock that nobody sets: CLOCK_MONOTONIC. */
#ifndef LB_BASE_CLOCK_H
#define LB_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t lb_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline int64_t lb_clock_ms(void)
{
	return (int64_t)(lb_clock_ns() / 1000000);
}

static inline double lb_clock_seconds(void)
{
	return 1e-9 * (double)lb_clock_ns();
}

#endif
