#include "fp4.h"

#include <math.h>

/* One head's codes and scales, by token. */
struct groups {
	const uint8_t *codes, *scales;
	int64_t codes_step, scales_step; /* bytes from a token to the next */
};

/* A cache as (HEADS, tokens, …): how attention wants it. */
struct by_head {
	const uint8_t *codes, *scales;
	int64_t codes_strides[2], scales_strides[2]; /* bytes from a head, a token, to the next */
	lb_tensor *codes_view, *scales_view;         /* keep the bytes alive */
};

/* OCP Microscaling Formats 1.0: e4m3 (5.3.1), e8m0 (5.4.1). */
static float e4m3(uint8_t code)
{
	int exponent = code >> 3 & 15, mantissa = code & 7;
	float magnitude = exponent ? ldexpf((float)(8 + mantissa), exponent - 10)
				   : ldexpf((float)mantissa, -9);

	if ((code & 0x7f) == 0x7f)
		return NAN;
	return code & 0x80 ? -magnitude : magnitude;
}

static float e8m0(uint8_t code)
{
	return code == 255 ? NAN : ldexpf(1, code - 127);
}

static bool locate(lb_tensor *view, bool raw, const uint8_t **data, int64_t strides[2])
{
	int64_t width = lb_dtype_bytes(lb_dtype_of(view));
	const int64_t *elements = NULL;

	if (raw) {
		*data = lb_raw_data(view);
		strides[1] = lb_dim(view, 2) * width;
		strides[0] = lb_dim(view, 1) * strides[1];
		return *data != NULL;
	}
	*data = lb_strided_data(view, &elements);
	if (!*data)
		return false;
	strides[0] = elements[0] * width;
	strides[1] = elements[1] * width;
	return true;
}

static bool open_cache(const struct cache *cache, bool raw, struct by_head *ret)
{
	ret->codes_view = lb_transpose(cache->codes, LB_AXES(1, 0, 2));
	ret->scales_view = lb_transpose(cache->scales, LB_AXES(1, 0, 2));
	return lb_eval(ret->codes_view, ret->scales_view) &&
	       locate(ret->codes_view, raw, &ret->codes, ret->codes_strides) &&
	       locate(ret->scales_view, raw, &ret->scales, ret->scales_strides);
}

static struct groups head_of(const struct by_head *cache, int head)
{
	return (struct groups){
		cache->codes + head * cache->codes_strides[0],
		cache->scales + head * cache->scales_strides[0],
		cache->codes_strides[1], cache->scales_strides[1],
	};
}

/* One token's key or value. */
static void decode(const struct groups *groups, int64_t token, float ret[HEAD_SIZE])
{
	const uint8_t *codes = groups->codes + token * groups->codes_step;
	float scale = e8m0(groups->scales[token * groups->scales_step]);

	for (int i = 0; i < HEAD_SIZE; i++)
		ret[i] = e4m3(codes[i]) * scale;
}

static void attend_one(const struct groups *keys, const struct groups *values, int64_t tokens,
		       const float *q, float *out)
{
	float part[HEAD_SIZE], weight[TOKENS], largest = -INFINITY, total = 0;

	for (int64_t t = 0; t < tokens; t++) {
		decode(keys, t, part);
		weight[t] = 0;
		for (int i = 0; i < HEAD_SIZE; i++)
			weight[t] += q[i] * part[i] / sqrtf(HEAD_SIZE);
		largest = fmaxf(largest, weight[t]);
	}
	for (int64_t t = 0; t < tokens; t++)
		total += weight[t] = expf(weight[t] - largest);
	for (int i = 0; i < HEAD_SIZE; i++)
		out[i] = 0;
	for (int64_t t = 0; t < tokens; t++) {
		decode(values, t, part);
		for (int i = 0; i < HEAD_SIZE; i++)
			out[i] += weight[t] / total * part[i];
	}
}

bool attend(const struct cache *keys, const struct cache *values, const float *q, int queries,
	    bool raw, float *out)
{
	int64_t tokens = lb_dim(keys->codes, 0);
	struct by_head k, v;

	if (!open_cache(keys, raw, &k) || !open_cache(values, raw, &v))
		return false;
	for (int i = 0; i < queries; i++) {
		for (int head = 0; head < HEADS; head++) {
			struct groups of_k = head_of(&k, head), of_v = head_of(&v, head);
			int at = i * WIDTH + head * HEAD_SIZE;
			attend_one(&of_k, &of_v, tokens - queries + i + 1, q + at, out + at);
		}
	}
	return true;
}
