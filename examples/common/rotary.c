#include "common/rotary.h"

#include <math.h>

enum { PAIRS_MOST = 1 << 12 };

/* The number of the pair that turns so often within the context. */
static double pair_of(const struct rotary *r, int64_t size, double turns)
{
	return (double)size * log((double)r->yarn.context / (turns * 2 * M_PI)) /
	       (2 * log(r->base));
}

/* YaRN (arXiv 2309.00071): how much of pair i is scaled, 1 to 0. */
static double scaled_part(const struct rotary *r, int64_t size, int64_t i)
{
	double first = fmax(0, floor(pair_of(r, size, r->yarn.fast)));
	double last = fmin((double)size - 1, ceil(pair_of(r, size, r->yarn.slow)));

	return fmin(1, fmax(0, ((double)i - first) / fmax(0.001, last - first)));
}

/* What a pair turns by from position to position. */
static lb_tensor *speeds(const struct rotary *r, lb_tensor *divisors, int64_t size)
{
	double speed[PAIRS_MOST];
	int64_t pairs = size / 2 < PAIRS_MOST ? size / 2 : PAIRS_MOST;

	for (int64_t i = 0; i < pairs; i++) {
		double scaled = r->yarn.context ? scaled_part(r, size, i) : 1;
		speed[i] = pow(r->base, -2 * (double)i / (double)size) *
			   (r->scale * scaled + 1 - scaled);
	}
	lb_tensor *x = lb_from_data(speed, (size_t)pairs * sizeof(*speed), LB_SHAPE(pairs), LB_F64);
	return divisors ? lb_divide(x, divisors) : x;
}

/* The two features of each pair as tensors of their own (…, positions, pairs). */
static void take_pairs(const struct rotary *r, lb_tensor *x, int64_t size, lb_tensor **a,
		       lb_tensor **b)
{
	if (r->traditional) {
		*a = lb_slice(x, LB_REST, LB_RANGE(0, size, 2));
		*b = lb_slice(x, LB_REST, LB_RANGE(1, size, 2));
	} else {
		*a = lb_slice(x, LB_REST, LB_TO(size / 2));
		*b = lb_slice(x, LB_REST, LB_RANGE(size / 2, size));
	}
}

static lb_tensor *join_pairs(const struct rotary *r, lb_tensor *a, lb_tensor *b)
{
	if (!r->traditional)
		return lb_concatenate(2, (lb_tensor *[]){a, b}, -1);
	lb_tensor *pairs = lb_stack(2, (lb_tensor *[]){a, b}, -1);
	return pairs ? lb_flatten(pairs, -2, -1) : NULL;
}

lb_tensor *rotary_turn(const struct rotary *r, lb_tensor *divisors, lb_tensor *x, int64_t position)
{
	int64_t features = lb_dim(x, -1), size = r->size ? r->size : features;

	if (!divisors && !r->yarn.context)
		return lb_rope(x, size, r->traditional, r->base, r->scale, position);
	double end = (double)(position + lb_dim(x, -2));
	lb_tensor *at = lb_expand_dims(lb_arange((double)position, end, 1, LB_F64), LB_AXES(1));
	lb_tensor *angles = lb_multiply(at, speeds(r, divisors, size));
	/* YaRN makes what is turned a little larger */
	lb_tensor *length = lb_scalar(r->yarn.context ? 1 - 0.1 * log(r->scale) : 1);
	lb_tensor *cosines = lb_astype(lb_multiply(lb_cos(angles), length), LB_F32);
	lb_tensor *sines = lb_astype(lb_multiply(lb_sin(angles), length), LB_F32);
	lb_tensor *a, *b;

	take_pairs(r, x, size, &a, &b);
	lb_tensor *turned = join_pairs(
		r, lb_subtract(lb_multiply(a, cosines), lb_multiply(b, sines)),
		lb_add(lb_multiply(a, sines), lb_multiply(b, cosines)));
	if (size == features)
		return turned;
	return lb_concatenate(2, (lb_tensor *[]){turned, lb_slice(x, LB_REST, LB_FROM(size))}, -1);
}
