/* ggml's blocks (kernels/decode.c) rearranged for lb_quantized_matmul: codes in the order of their
 * elements, scales and biases apart. What a block says as d * (q - 8) is q * d + (-8 * d): the
 * bias of an f16 step is exact in f16 too, since it is a power of two times it. A step of Q4_K and Q5_K
 * is a product of an f16 and 6 bits, which only f32 holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tensor.h"
#include "io/file.h"
#include "kernels/codes.h"
#include "kernels/kernels.h"

enum { GROUP = 32, NIBBLES = GROUP / 2, K_GROUPS = 8 };

/* What is being made: each points behind what is written already. */
struct parts {
	uint8_t *codes, *scales, *biases;
	bool fits; /* nothing is beyond f16, nor a scale of 2^128, which e8m0 has not */
};

/* How a kind of block comes out. */
struct layout {
	lb_quant how;
	lb_dtype scales;
	int groups; /* of a block */
	void (*block)(const uint8_t *from, struct parts *to);
};

static void put_half(struct parts *to, uint8_t **at, float x)
{
	uint16_t bits = lb_float_to_f16(x);
	to->fits &= isfinite(lb_f16_to_float(bits)) != 0;
	memcpy(*at, &bits, sizeof bits);
	*at += sizeof bits;
}

static void put_float(uint8_t **at, float x)
{
	memcpy(*at, &x, sizeof x);
	*at += sizeof x;
}

/* 16 bytes whose low nibbles are the first half. */
static void put_nibbles(const uint8_t *from, struct parts *to)
{
	for (int i = 0; i < NIBBLES / 2; i++) {
		to->codes[i] = (uint8_t)((from[2 * i] & 15) | from[2 * i + 1] << 4);
		to->codes[NIBBLES / 2 + i] = (uint8_t)(from[2 * i] >> 4 | (from[2 * i + 1] & 0xf0));
	}
	to->codes += NIBBLES;
}

/* A group of codes of 5 bits, without gaps: 8 in 5 bytes. */
static void put_fives(const uint8_t codes[GROUP], struct parts *to)
{
	for (int i = 0; i < GROUP; i += 8) {
		uint64_t word = 0;
		for (int k = 0; k < 8; k++)
			word |= (uint64_t)codes[i + k] << 5 * k;
		for (int k = 0; k < 5; k++)
			*to->codes++ = (uint8_t)(word >> 8 * k);
	}
}

/* The fifth bits of 32 elements, then their low ones as put_nibbles() has them. */
static void put_fifths(const uint8_t *from, struct parts *to)
{
	const uint8_t *low = from + GROUP / 8;
	uint8_t codes[GROUP];
	for (int i = 0; i < GROUP; i++) {
		int fifth = from[i / 8] >> i % 8 & 1;
		codes[i] = (uint8_t)((i < NIBBLES ? low[i] & 15 : low[i - NIBBLES] >> 4) | fifth << 4);
	}
	put_fives(codes, to);
}

static void q4_0(const uint8_t *from, struct parts *to)
{
	float d = lb_f16_at(from);
	put_nibbles(from + 2, to);
	put_half(to, &to->scales, d);
	put_half(to, &to->biases, -8 * d);
}

static void q4_1(const uint8_t *from, struct parts *to)
{
	put_nibbles(from + 4, to);
	put_half(to, &to->scales, lb_f16_at(from));
	put_half(to, &to->biases, lb_f16_at(from + 2));
}

static void q5_0(const uint8_t *from, struct parts *to)
{
	float d = lb_f16_at(from);
	put_fifths(from + 2, to);
	put_half(to, &to->scales, d);
	put_half(to, &to->biases, -16 * d);
}

static void q5_1(const uint8_t *from, struct parts *to)
{
	put_fifths(from + 4, to);
	put_half(to, &to->scales, lb_f16_at(from));
	put_half(to, &to->biases, lb_f16_at(from + 2));
}

static void q8_0(const uint8_t *from, struct parts *to)
{
	float d = lb_f16_at(from);
	for (int i = 0; i < GROUP; i++)
		to->codes[i] = from[2 + i] ^ 0x80;
	to->codes += GROUP;
	put_half(to, &to->scales, d);
	put_half(to, &to->biases, -128 * d);
}

/* The step of each group of a block of 256, and what is taken off. */
static void put_k_scales(const uint8_t *from, struct parts *to)
{
	float d = lb_f16_at(from), dmin = lb_f16_at(from + 2);
	for (int i = 0; i < K_GROUPS; i++) {
		uint8_t scale, min;
		lb_q4_k_scale_and_min(from + 4, i, &scale, &min);
		put_float(&to->scales, d * scale);
		put_float(&to->biases, -(dmin * min));
	}
}

static void q4_k(const uint8_t *from, struct parts *to)
{
	const uint8_t *codes = from + 16;
	put_k_scales(from, to);
	/* 32 bytes are two groups: the low nibbles, then the high ones */
	for (int pair = 0; pair < K_GROUPS / 2; pair++, codes += GROUP) {
		for (int i = 0; i < NIBBLES; i++) {
			uint8_t a = codes[2 * i], b = codes[2 * i + 1];
			to->codes[i] = (uint8_t)((a & 15) | b << 4);
			to->codes[NIBBLES + i] = (uint8_t)(a >> 4 | (b & 0xf0));
		}
		to->codes += 2 * NIBBLES;
	}
}

/* Likewise; bit i of 32 bytes in front is the fifth of group i. */
static void q5_k(const uint8_t *from, struct parts *to)
{
	const uint8_t *fifths = from + 16, *low = fifths + GROUP;
	uint8_t codes[GROUP];
	put_k_scales(from, to);
	for (int i = 0; i < K_GROUPS; i++) {
		for (int k = 0; k < GROUP; k++)
			codes[k] = (uint8_t)((low[i / 2 * GROUP + k] >> 4 * (i % 2) & 15) | (fifths[k] >> i & 1) << 4);
		put_fives(codes, to);
	}
}

static void mxfp4(const uint8_t *from, struct parts *to)
{
	to->fits &= from[0] != 255;
	*to->scales++ = from[0];
	put_nibbles(from + 1, to);
}

static const struct layout layouts[LB_ENCODINGS] = {
	[LB_Q4_0] = { { .mode = LB_QUANT_AFFINE, .bits = 4, .group = GROUP }, LB_F16, 1, q4_0 },
	[LB_Q4_1] = { { .mode = LB_QUANT_AFFINE, .bits = 4, .group = GROUP }, LB_F16, 1, q4_1 },
	[LB_Q5_0] = { { .mode = LB_QUANT_AFFINE, .bits = 5, .group = GROUP }, LB_F16, 1, q5_0 },
	[LB_Q5_1] = { { .mode = LB_QUANT_AFFINE, .bits = 5, .group = GROUP }, LB_F16, 1, q5_1 },
	[LB_Q8_0] = { { .mode = LB_QUANT_AFFINE, .bits = 8, .group = GROUP }, LB_F16, 1, q8_0 },
	[LB_Q4_K] = { { .mode = LB_QUANT_AFFINE, .bits = 4, .group = GROUP }, LB_F32, K_GROUPS, q4_k },
	[LB_Q5_K] = { { .mode = LB_QUANT_AFFINE, .bits = 5, .group = GROUP }, LB_F32, K_GROUPS, q5_k },
	[LB_MXFP4] = { { .mode = LB_QUANT_MXFP4, .bits = 4, .group = GROUP }, LB_U8, 1, mxfp4 },
};

static void free_bytes(void *data, void *context)
{
	(void)context;
	free(data);
}

/* A tensor of rows of `row` elements that takes over the memory; NULL stays NULL. */
static lb_tensor *adopt(uint8_t *bytes, const struct lb_array *array, int64_t row, lb_dtype dtype, const char *name,
			const char *suffix)
{
	int64_t shape[LB_MAX_RANK], n = 1;
	char full[256];
	if (!bytes)
		return NULL;
	for (int i = 0; i < array->rank; i++)
		n *= shape[i] = i == array->rank - 1 ? row : array->shape[i];
	lb_tensor *t = lb_from_memory(bytes, (size_t)(n * lb_dtypes[dtype].bytes), (lb_list){ array->rank, shape },
				      dtype, free_bytes, NULL);
	if (!t)
		free(bytes);
	snprintf(full, sizeof full, "%s%s", name, suffix);
	return lb_named(full, t);
}

bool lb_file_get_quantized(lb_file *file, const char *name, lb_quantized *ret, lb_quant *how)
{
	static const char op[] = "file_get_quantized";
	LB_ENTER();
	(void)site;
	if (!LB_GIVEN(op, ret) || !LB_GIVEN(op, how))
		return false;
	*ret = (lb_quantized){ 0 };
	if (!LB_GIVEN(op, file) || !LB_GIVEN(op, name))
		return false;
	const struct lb_entry *entry = lb_file_find(file, name);
	if (!entry)
		return false;
	const struct lb_array *array = &entry->array;
	const struct layout *layout = &layouts[array->encoding];
	const struct lb_block *block = &lb_blocks[array->encoding];
	if (entry->unknown || !layout->block || array->nbytes == 0)
		return true;
	*how = layout->how;
	/* a block makes no more bytes than twice its own; the file has nbytes of them */
	size_t blocks = array->nbytes / (size_t)block->bytes, groups = blocks * (size_t)layout->groups;
	size_t width = (size_t)lb_dtypes[layout->scales].bytes;
	bool affine = how->mode == LB_QUANT_AFFINE;
	uint8_t *codes = malloc(groups * GROUP / 8 * (size_t)how->bits), *scales = malloc(groups * width);
	uint8_t *biases = affine ? malloc(groups * width) : NULL;
	struct parts parts = { codes, scales, biases, true };
	bool room = codes && scales && (biases || !affine);
	const uint8_t *from = file->mapping->data + array->at;
	for (size_t i = 0; room && i < blocks; i++, from += block->bytes)
		layout->block(from, &parts);
	if (!room || !parts.fits) {
		free(codes);
		free(scales);
		free(biases);
		return room || lb_fail("%s: tensor '%.64s': out of memory for %zu groups", file->mapping->path,
				       entry->name, groups);
	}
	int64_t row = array->shape[array->rank - 1];
	ret->w = adopt(codes, array, row * how->bits / 32, LB_U32, name, "");
	ret->scales = adopt(scales, array, row / GROUP, layout->scales, name, ".scales");
	ret->biases = adopt(biases, array, row / GROUP, layout->scales, name, ".biases");
	if (ret->w && ret->scales && (ret->biases || !affine))
		return true;
	*ret = (lb_quantized){ 0 };
	return false;
}
