/* Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", SC'11). A block of four words is a function of
 * the key and the block's number, so element i depends on (key, i) alone: a replay,
 * another number of threads or another machine gives the same values. Scalar libm,
 * and no contraction of products and sums, keep the normal's bits the same too. */
#include <math.h>

#include "kernels/half.h"
#include "kernels/layout.h"
#include "kernels/philox.h"

enum { GRAIN = 1 << 14 };

uint64_t lb_philox_split(uint64_t key, uint64_t index)
{
	struct lb_philox_block block = lb_philox(key, index, LB_PHILOX_KEYS);
	return (uint64_t)block.w[1] << 32 | block.w[0];
}

struct draw {
	void *to;
	enum lb_dtype dtype;
	int64_t n;
	uint64_t key;
	uint64_t skipped; /* elements before the first that is wanted: whole blocks */
	double low, high;
};

static uint64_t word64(const struct lb_philox_block *block, int i)
{
	return (uint64_t)block->w[2 * i + 1] << 32 | block->w[2 * i];
}

/* The largest half below `high`; a half's order is that of its magnitude bits. */
static uint16_t half_below(uint16_t h)
{
	if ((h & 0x7fff) == 0)
		return 0x8001;
	return h & 0x8000 ? h + 1 : h - 1;
}

static void store_uniform(const struct draw *draw, int64_t i, double u)
{
	double low = draw->low, high = draw->high, wide = low + u * (high - low);
	float x = (float)low + (float)u * (float)(high - low);
	if (x >= (float)high && high > low)
		x = nextafterf((float)high, -INFINITY);
	switch (draw->dtype) {
	case LB_F64:
		if (wide >= high && high > low)
			wide = nextafter(high, -(double)INFINITY);
		((double *)draw->to)[i] = wide;
		break;
	case LB_F16: {
		uint16_t h = lb_float_to_f16(x), top = lb_float_to_f16((float)high);
		if (lb_f16_to_float(h) >= (float)high && high > low)
			h = lb_f16_to_float(top) >= (float)high ? half_below(top) : top;
		((uint16_t *)draw->to)[i] = h;
		break;
	}
	default: {
		uint16_t h = lb_float_to_bf16(x), top = lb_float_to_bf16((float)high);
		if (lb_bf16_to_float(h) >= (float)high && high > low)
			h = lb_bf16_to_float(top) >= (float)high ? half_below(top) : top;
		((uint16_t *)draw->to)[i] = h;
		break;
	}
	}
}

enum { BLOCKS = LB_PHILOX_BLOCKS };

/* Uniforms in [0, 1) of BLOCKS blocks: as many as their elements. */
static int uniforms_of(const struct lb_philox_block *blocks, bool wide, double *u)
{
	for (int i = 0; wide && i < BLOCKS; i++)
		for (int k = 0; k < 2; k++)
			u[2 * i + k] = (double)(word64(&blocks[i], k) >> 11) * 0x1p-53;
	for (int i = 0; !wide && i < BLOCKS; i++)
		for (int k = 0; k < 4; k++)
			u[4 * i + k] = (double)(int32_t)(blocks[i].w[k] >> 8) * 0x1p-24;
	return wide ? 2 * BLOCKS : 4 * BLOCKS;
}

/* Element begin + i is u[i] taken to [low, high), for f32; rounding must not reach high. */
static void store_floats(const struct draw *draw, int64_t begin, int64_t n, const double *u)
{
	float low = (float)draw->low, width = (float)draw->high - low, high = (float)draw->high;
	float most = high > low ? nextafterf(high, -INFINITY) : INFINITY;
	float *to = (float *)draw->to + begin;
	for (int64_t i = 0; i < n; i++) {
		float x = low + (float)u[i] * width;
		to[i] = x > most ? most : x;
	}
}

static void uniform_range(void *arg, int64_t begin, int64_t end)
{
	const struct draw *draw = arg;
	struct lb_philox_block blocks[BLOCKS];
	double u[4 * BLOCKS];
	int per_block = draw->dtype == LB_F64 ? 2 : 4;
	while (begin < end) {
		int64_t skip = begin % per_block;
		lb_philox_blocks(draw->key, (draw->skipped + (uint64_t)begin) / (uint64_t)per_block, LB_PHILOX_ELEMENTS,
				 blocks);
		int64_t n = uniforms_of(blocks, draw->dtype == LB_F64, u) - skip;
		n = n < end - begin ? n : end - begin;
		if (draw->dtype == LB_F32)
			store_floats(draw, begin, n, u + skip);
		for (int64_t i = 0; draw->dtype != LB_F32 && i < n; i++)
			store_uniform(draw, begin + i, u[skip + i]);
		begin += n;
	}
}

static bool check_dtype(const char *op, enum lb_dtype dtype)
{
	return lb_dtype_is_float(dtype) ||
	       lb_fail("%s: %s is not a floating dtype; use float16, bfloat16, float32 or float64", op,
		       lb_dtypes[dtype].name);
}

static bool check_random(const char *op, enum lb_dtype dtype, int64_t first)
{
	return check_dtype(op, dtype) && ((first >= 0 && first % LB_PHILOX_ELEMENTS_EACH == 0) ||
					  lb_fail("%s: cannot begin with element %lld", op, (long long)first));
}

bool lb_kernel_uniform(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t first, int64_t n, uint64_t key,
		       double low, double high)
{
	struct draw draw = {
		.to = to, .dtype = dtype, .key = key, .skipped = (uint64_t)first, .low = low, .high = high
	};
	if (!check_random("random_uniform", dtype, first))
		return false;
	lb_parallel(exec, n, GRAIN, uniform_range, &draw);
	return true;
}

/* Box and Muller: two uniforms give two normals; the first uniform is in (0, 1]. */
static void normal_pair(const struct draw *draw, const struct lb_philox_block *block, int pair, double *pairs)
{
	const double tau = 6.283185307179586476925;
	if (draw->dtype == LB_F64) {
		double u = (double)((word64(block, 0) >> 11) + 1) * 0x1p-53;
		double angle = tau * ((double)(word64(block, 1) >> 11) * 0x1p-53);
		double radius = sqrt(-2 * log(u));
		pairs[0] = radius * cos(angle);
		pairs[1] = radius * sin(angle);
		return;
	}
	float u = (float)((block->w[2 * pair] >> 8) + 1) * 0x1p-24f;
	float angle = (float)tau * ((float)(block->w[2 * pair + 1] >> 8) * 0x1p-24f);
	float radius = sqrtf(-2 * logf(u));
	pairs[0] = (double)(radius * cosf(angle));
	pairs[1] = (double)(radius * sinf(angle));
}

static void store_normal(const struct draw *draw, int64_t i, double value)
{
	if (draw->dtype == LB_F64)
		((double *)draw->to)[i] = value;
	else if (draw->dtype == LB_F32)
		((float *)draw->to)[i] = (float)value;
	else if (draw->dtype == LB_F16)
		((uint16_t *)draw->to)[i] = lb_float_to_f16((float)value);
	else
		((uint16_t *)draw->to)[i] = lb_float_to_bf16((float)value);
}

/* Ranges are of pairs. */
static void normal_range(void *arg, int64_t begin, int64_t end)
{
	const struct draw *draw = arg;
	struct lb_philox_block blocks[BLOCKS];
	int per_block = draw->dtype == LB_F64 ? 1 : 2, at = BLOCKS;
	for (int64_t pair = begin; pair < end; pair++) {
		int half = (int)(pair % per_block);
		if (at == BLOCKS) {
			lb_philox_blocks(draw->key, (draw->skipped / 2 + (uint64_t)pair) / (uint64_t)per_block,
					 LB_PHILOX_ELEMENTS, blocks);
			at = 0;
		}
		double values[2];
		normal_pair(draw, &blocks[at], half, values);
		at += half == per_block - 1;
		for (int k = 0; k < 2 && 2 * pair + k < draw->n; k++)
			store_normal(draw, 2 * pair + k, values[k]);
	}
}

bool lb_kernel_normal(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t first, int64_t n, uint64_t key)
{
	struct draw draw = { .to = to, .dtype = dtype, .n = n, .key = key, .skipped = (uint64_t)first };
	if (!check_random("random_normal", dtype, first))
		return false;
	lb_parallel(exec, n / 2 + n % 2, GRAIN / 4, normal_range, &draw);
	return true;
}
