/* What the benchmark programs share. Each prints lines "KEY VALUE"; tests/bench/run takes
 * the median of several runs. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline double bench_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Sorts in place. */
static inline double bench_median(double *seconds, int n)
{
	qsort(seconds, (size_t)n, sizeof *seconds, bench_ascending);
	return seconds[n / 2];
}

#endif
