/* Figures and hashes of a tile. Element i goes to lane i % LANES, so that the bits do not depend on the instruction set. */
#include <math.h>

#include "base/mix.h"
#include "kernels/simd/tiles.h"

enum { LANES = 16 };

#define LB_LANE(i, n) _Pragma("omp simd") for (int i = 0; i < (n); i++)

struct lanes {
	double min[LANES], max[LANES], sum[LANES], squares[LANES], finite[LANES], nan[LANES], zero[LANES];
};

static inline __attribute__((always_inline)) void see(struct lanes *l, const double *x, int n)
{
	LB_LANE(i, n)
	{
		double v = x[i];
		bool is = fabs(v) < (double)INFINITY;
		double finite = is ? v : 0, low = is ? v : (double)INFINITY, high = is ? v : -(double)INFINITY;
		l->min[i] = low < l->min[i] ? low : l->min[i];
		l->max[i] = high > l->max[i] ? high : l->max[i];
		l->sum[i] += finite;
		l->squares[i] += finite * finite;
		l->finite[i] += is ? 1 : 0;
		l->nan[i] += v != v ? 1 : 0;
		l->zero[i] += v == 0 ? 1 : 0;
	}
}

static inline __attribute__((always_inline)) void deviate(double *lanes, const double *x, int n, double center)
{
	LB_LANE(i, n)
	{
		double v = fabs(x[i]) < (double)INFINITY ? x[i] - center : 0;
		lanes[i] += v * v;
	}
}

static double total(const double *lanes)
{
	double sum = 0;

	for (int i = 0; i < LANES; i++)
		sum += lanes[i];
	return sum;
}

void LB_ISA_NAME(lb_tile_figures)(int n, const double *x, struct lb_tile_figures *ret)
{
	struct lanes l = { .sum = { 0 } };
	double deviations[LANES] = { 0 };
	int whole = n - n % LANES;

	for (int i = 0; i < LANES; i++) {
		l.min[i] = (double)INFINITY;
		l.max[i] = -(double)INFINITY;
	}
	for (int i = 0; i < whole; i += LANES)
		see(&l, x + i, LANES);
	see(&l, x + whole, n - whole);
	*ret = (struct lb_tile_figures){ .finite = (int64_t)total(l.finite),
					 .nan = (int64_t)total(l.nan),
					 .zero = (int64_t)total(l.zero),
					 .min = l.min[0],
					 .max = l.max[0],
					 .squares = total(l.squares) };
	for (int i = 1; i < LANES; i++) {
		ret->min = l.min[i] < ret->min ? l.min[i] : ret->min;
		ret->max = l.max[i] > ret->max ? l.max[i] : ret->max;
	}
	if (ret->finite == 0)
		return;
	ret->mean = total(l.sum) / (double)ret->finite;
	for (int i = 0; i < whole; i += LANES)
		deviate(deviations, x + i, LANES, ret->mean);
	deviate(deviations, x + whole, n - whole, ret->mean);
	ret->deviations = total(deviations);
}

#define HASH(T) \
	do { \
		const T *x = data; \
		_Pragma("omp simd reduction(+ : in_order, in_any)") for (int64_t i = 0; i < n; i++) \
		{ \
			uint64_t mixed = lb_mix(x[i]); \
			in_any += mixed; \
			in_order += lb_mix(mixed + (first + (uint64_t)i) * LB_MIX_STEP); \
		} \
	} while (0)

void LB_ISA_NAME(lb_tile_hash)(int64_t n, const void *data, int64_t bytes, uint64_t first, uint64_t *hash,
			       uint64_t *bag)
{
	uint64_t in_order = 0, in_any = 0;

	switch (bytes) {
	case 1: HASH(uint8_t); break;
	case 2: HASH(uint16_t); break;
	case 4: HASH(uint32_t); break;
	case 8: HASH(uint64_t); break;
	}
	*hash += in_order;
	*bag += in_any;
}
