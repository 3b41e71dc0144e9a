/* Elements out of the bytes of files. The blocks are ggml's (ggml-common.h, ggml-quants.c):
 *
 *	Q4_0   f16 d | 16 bytes                      (q - 8) * d
 *	Q4_1   f16 d, m | 16 bytes                   q * d + m
 *	Q8_0   f16 d | 32 int8                       q * d
 *	Q4_K   f16 d, min | 12 bytes | 128 bytes     d * scale * q - min * m, a scale and an m for
 *	                                             32 elements, 6 bits each
 *	Q6_K   128 bytes | 64 bytes | 16 int8 | f16 d   d * scale * (q - 32), a scale for 16; the
 *	                                             low 4 bits of q are in the first part
 *	MXFP4  u8 e | 16 bytes                       e2m1 * 2^(e - 127)
 *
 * In blocks of 32 with 16 bytes of nibbles the low nibbles are elements 0 … 15. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "kernels/codes.h"
#include "kernels/kernels.h"

enum { LARGEST_BLOCK = 256, GRAIN_BYTES = 1 << 16 };

const struct lb_block lb_blocks[LB_ENCODINGS] = {
	[LB_LITTLE_ENDIAN] = { "little-endian", 0, 0 },
	[LB_BIG_ENDIAN] = { "big-endian", 0, 0 },
	[LB_Q4_0] = { "Q4_0", 32, 18 },
	[LB_Q4_1] = { "Q4_1", 32, 20 },
	[LB_Q8_0] = { "Q8_0", 32, 34 },
	[LB_Q4_K] = { "Q4_K", 256, 144 },
	[LB_Q6_K] = { "Q6_K", 256, 210 },
	[LB_MXFP4] = { "MXFP4", 32, 17 },
};

static void q4_0(const uint8_t *block, float *to)
{
	float d = lb_f16_at(block);
	for (int i = 0; i < 16; i++) {
		to[i] = (float)((block[2 + i] & 15) - 8) * d;
		to[i + 16] = (float)((block[2 + i] >> 4) - 8) * d;
	}
}

static void q4_1(const uint8_t *block, float *to)
{
	float d = lb_f16_at(block), m = lb_f16_at(block + 2);
	for (int i = 0; i < 16; i++) {
		to[i] = (float)(block[4 + i] & 15) * d + m;
		to[i + 16] = (float)(block[4 + i] >> 4) * d + m;
	}
}

static void q8_0(const uint8_t *block, float *to)
{
	float d = lb_f16_at(block);
	for (int i = 0; i < 32; i++)
		to[i] = (float)(int8_t)block[2 + i] * d;
}

static void q4_k(const uint8_t *block, float *to)
{
	float d = lb_f16_at(block), dmin = lb_f16_at(block + 2);
	const uint8_t *q = block + 16;
	for (int k = 0; k < 8; k++, to += 32) {
		uint8_t scale, min;
		lb_q4_k_scale_and_min(block + 4, k, &scale, &min);
		float step = d * scale, from = dmin * min;
		for (int i = 0; i < 32; i++)
			to[i] = step * (float)(q[i] >> (k & 1 ? 4 : 0) & 15) - from;
		q += k & 1 ? 32 : 0;
	}
}

static void q6_k(const uint8_t *block, float *to)
{
	const uint8_t *low = block, *high = block + 128;
	const int8_t *scales = (const int8_t *)block + 192;
	float d = lb_f16_at(block + 208);
	for (int k = 0; k < 8; k++, to += 32) {
		/* half of the block, and within it a quarter: two low nibbles, then two high ones */
		int half = k / 4, quarter = k % 4;
		const uint8_t *l = low + half * 64 + quarter % 2 * 32, *h = high + half * 32;
		for (int i = 0; i < 32; i++) {
			int q = (l[i] >> (quarter / 2 * 4) & 15) | (h[i] >> (quarter * 2) & 3) << 4;
			to[i] = d * scales[k * 2 + i / 16] * (float)(q - 32);
		}
	}
}

static void mxfp4(const uint8_t *block, float *to)
{
	/* doubled, so that half the scale is finite for every e */
	static const float e2m1[16] = { 0, 1, 2, 3, 4, 6, 8, 12, -0.f, -1, -2, -3, -4, -6, -8, -12 };
	float half = ldexpf(1, block[0] - 128);
	for (int i = 0; i < 16; i++) {
		to[i] = e2m1[block[1 + i] & 15] * half;
		to[i + 16] = e2m1[block[1 + i] >> 4] * half;
	}
}

static void (*const decoders[LB_ENCODINGS])(const uint8_t *, float *) = {
	[LB_Q4_0] = q4_0, [LB_Q4_1] = q4_1, [LB_Q8_0] = q8_0, [LB_Q4_K] = q4_k, [LB_Q6_K] = q6_k, [LB_MXFP4] = mxfp4,
};

struct job {
	const uint8_t *from;
	uint8_t *to;
	enum lb_encoding encoding;
	enum lb_dtype dtype;
};

static void store(const float *values, int n, uint8_t *to, enum lb_dtype dtype)
{
	for (int i = 0; i < n; i++) {
		uint16_t bits = dtype == LB_F16 ? lb_float_to_f16(values[i]) : lb_float_to_bf16(values[i]);
		memcpy(to + i * 2, &bits, sizeof bits);
	}
}

static void decode_blocks(void *arg, int64_t begin, int64_t end)
{
	const struct job *job = arg;
	const struct lb_block *block = &lb_blocks[job->encoding];
	int64_t width = lb_dtypes[job->dtype].bytes;
	for (int64_t b = begin; b < end; b++) {
		float values[LARGEST_BLOCK];
		uint8_t *to = job->to + b * block->elements * width;
		decoders[job->encoding](job->from + b * block->bytes, values);
		if (job->dtype == LB_F32)
			memcpy(to, values, (size_t)block->elements * sizeof *values);
		else
			store(values, block->elements, to, job->dtype);
	}
}

/* A complex number is two: each is turned by itself. */
static void swap_bytes(uint8_t *to, const uint8_t *from, int64_t n, int64_t width)
{
	for (int64_t i = 0; i < n; i++, to += width, from += width) {
		for (int64_t k = 0; k < width; k++)
			to[k] = from[width - 1 - k];
	}
}

static void decode_plain(void *arg, int64_t begin, int64_t end)
{
	const struct job *job = arg;
	int64_t width = lb_dtypes[job->dtype].bytes, n = end - begin;
	const uint8_t *from = job->from + begin * width;
	uint8_t *to = job->to + begin * width;
	bool complex = job->dtype == LB_C64;
	if (job->dtype == LB_BOOL) {
		for (int64_t i = 0; i < n; i++)
			to[i] = from[i] != 0;
	} else if (job->encoding == LB_BIG_ENDIAN && width > 1) {
		swap_bytes(to, from, complex ? n * 2 : n, complex ? width / 2 : width);
	} else {
		memcpy(to, from, (size_t)(n * width));
	}
}

bool lb_kernel_decode(struct lb_exec *exec, enum lb_encoding encoding, const void *bytes, int64_t n, void *to,
		      enum lb_dtype dtype)
{
	struct job job = { .from = bytes, .to = to, .encoding = encoding, .dtype = dtype };
	int64_t elements = lb_blocks[encoding].elements;
	if (n == 0)
		return true;
	if (elements)
		lb_parallel(exec, n / elements, GRAIN_BYTES / lb_blocks[encoding].bytes, decode_blocks, &job);
	else
		lb_parallel(exec, n, GRAIN_BYTES / lb_dtypes[dtype].bytes, decode_plain, &job);
	return true;
}
