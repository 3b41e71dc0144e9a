/* Elements out of the bytes of files: plain ones in either byte order, or ggml's blocks. */
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "kernels/grids.h"
#include "kernels/half.h"
#include "kernels/kernels.h"
#include "kernels/tile.h"

enum { LARGEST_BLOCK = 256, GRAIN_BYTES = 1 << 16 };
#define LB_BLOCK(encoding, decoder, name, number, elements, bytes, ...) _Static_assert(elements <= LARGEST_BLOCK, name);
#include "kernels/blocks.def"
#undef LB_BLOCK

const struct lb_block lb_blocks[LB_ENCODINGS] = {
	[LB_LITTLE_ENDIAN] = { "little-endian", .number = -1 },
	[LB_BIG_ENDIAN] = { "big-endian", .number = -1 },
#define LB_BLOCK(ID, decoder, name, number, elements, bytes, group, has_least, lowest, highest, has_sums) \
	[LB_##ID] = { #ID, name, number, elements, bytes, group, lowest, highest, has_least },
#include "kernels/blocks.def"
#undef LB_BLOCK
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
	const struct lb_block_decoder *decoder = lb_tiles()->blocks(job->encoding);
	int64_t width = block->elements * lb_dtypes[job->dtype].bytes;
	if (job->dtype == LB_F32) {
		decoder->values(end - begin, job->from + begin * block->bytes, (float *)(job->to + begin * width));
		return;
	}
	for (int64_t b = begin; b < end; b++) {
		float values[LARGEST_BLOCK];
		decoder->values(1, job->from + b * block->bytes, values);
		store(values, block->elements, job->to + b * width, job->dtype);
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
	lb_grids();
	if (elements)
		lb_parallel(exec, n / elements, GRAIN_BYTES / lb_blocks[encoding].bytes, decode_blocks, &job);
	else
		lb_parallel(exec, n, GRAIN_BYTES / lb_dtypes[dtype].bytes, decode_plain, &job);
	return true;
}
