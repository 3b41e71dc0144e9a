/* Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", SC'11). A block of four words is a function of
 * the key and the block's number, so element i depends on (key, i) alone: a replay,
 * another number of threads or another machine gives the same values. The normal's logarithm and sine are sums and
 * products of our own (simd/random.c), for f64 those of scalar libm, so that its bits are the same, too. */
#include <math.h>

#include "kernels/half.h"
#include "kernels/layout.h"
#include "kernels/philox.h"
#include "kernels/tile.h"

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

static uint64_t word64(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
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

/* Uniforms in [0, 1) of the words: as many as their elements. */
static int uniforms_of(const uint32_t *words, bool wide, double *u)
{
	int n = wide ? LB_PHILOX_WORDS / 2 : LB_PHILOX_WORDS;
	for (int i = 0; wide && i < n; i++)
		u[i] = (double)(word64(words + 2 * i) >> 11) * 0x1p-53;
	for (int i = 0; !wide && i < n; i++)
		u[i] = (double)(int32_t)(words[i] >> 8) * 0x1p-24;
	return n;
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
	uint32_t words[LB_PHILOX_WORDS];
	double u[LB_PHILOX_WORDS];
	int per_block = draw->dtype == LB_F64 ? 2 : 4;
	while (begin < end) {
		int64_t skip = begin % per_block;
		lb_tiles()->random_words(draw->key, (draw->skipped + (uint64_t)begin) / (uint64_t)per_block,
					 LB_PHILOX_ELEMENTS, words);
		int64_t n = uniforms_of(words, draw->dtype == LB_F64, u) - skip;
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
static void normals_f64(const struct draw *draw, uint64_t block, double *to)
{
	const double tau = 6.283185307179586476925;
	uint32_t words[LB_PHILOX_WORDS];
	lb_tiles()->random_words(draw->key, block, LB_PHILOX_ELEMENTS, words);
	for (int i = 0; i < LB_PHILOX_WORDS; i += 4) {
		double u = (double)((word64(words + i) >> 11) + 1) * 0x1p-53;
		double angle = tau * ((double)(word64(words + i + 2) >> 11) * 0x1p-53);
		double radius = sqrt(-2 * log(u));
		*to++ = radius * cos(angle);
		*to++ = radius * sin(angle);
	}
}

/* Ranges are of as many elements as the tile functions make at a time. */
static void normal_range(void *arg, int64_t begin, int64_t end)
{
	const struct draw *draw = arg;
	int per_block = draw->dtype == LB_F64 ? 2 : 4, each = per_block * LB_PHILOX_BLOCKS;
	int64_t width = lb_width_of(draw->dtype);
	for (int64_t i = begin; i < end; i++) {
		float floats[LB_PHILOX_WORDS] __attribute__((aligned(64)));
		char some[LB_PHILOX_WORDS * sizeof(double)] __attribute__((aligned(64)));
		int64_t at = i * each, n = draw->n - at < each ? draw->n - at : each;
		uint64_t block = (draw->skipped + (uint64_t)at) / (uint64_t)per_block;
		char *to = (char *)draw->to + at * width;
		if (draw->dtype == LB_F64) {
			normals_f64(draw, block, (double *)(void *)some);
		} else if (draw->dtype == LB_F32 && n == each) {
			lb_tiles()->normals(draw->key, block, (float *)(void *)to);
			continue;
		} else {
			lb_tiles()->normals(draw->key, block, floats);
			lb_tiles()->convert(draw->dtype, LB_F32)(n, some, floats, NULL, NULL);
		}
		memcpy(to, some, (size_t)(n * width));
	}
}

bool lb_kernel_normal(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t first, int64_t n, uint64_t key)
{
	struct draw draw = { .to = to, .dtype = dtype, .n = n, .key = key, .skipped = (uint64_t)first };
	if (!check_random("random_normal", dtype, first))
		return false;
	int64_t each = (dtype == LB_F64 ? 2 : 4) * LB_PHILOX_BLOCKS;
	lb_parallel(exec, n / each + (n % each > 0), GRAIN / each, normal_range, &draw);
	return true;
}
