#include "tensors/encoding.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/op.h"
#include "kernels/kernels.h"

int64_t lbx_dtype_bytes(enum lb_dtype dtype)
{
	return (unsigned)dtype < LB_DTYPES ? lb_dtypes[dtype].bytes : 0;
}

const char *lbx_dtype_name(enum lb_dtype dtype)
{
	return (unsigned)dtype < LB_DTYPES ? lb_dtypes[dtype].name : "?";
}

bool lbx_dtype_parse(const char *text, enum lb_dtype *ret)
{
	static const char *const names[LB_DTYPES] = {
		"bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64",
	};

	for (int i = 0; i < LB_DTYPES; i++)
		if (strcmp(lbx_dtype_name((enum lb_dtype)i), text) == 0 || strcmp(names[i], text) == 0) {
			*ret = (enum lb_dtype)i;
			return true;
		}
	return false;
}

int64_t lbx_element_int(const void *element, enum lb_dtype dtype)
{
	union {
		uint8_t u8;
		int8_t i8;
		uint16_t u16;
		int16_t i16;
		uint32_t u32;
		int32_t i32;
		int64_t i64;
	} v = { .i64 = 0 };

	memcpy(&v, element, (size_t)lbx_dtype_bytes(dtype));
	switch (dtype) {
	case LB_BOOL: return v.u8 != 0;
	case LB_U8: return v.u8;
	case LB_U16: return v.u16;
	case LB_U32: return v.u32;
	case LB_I8: return v.i8;
	case LB_I16: return v.i16;
	case LB_I32: return v.i32;
	default: return v.i64;
	}
}

/* The runtime decodes the blocks of files; they are the same in ggml's memory. */
static void decode_blocks(const struct lbx_encoding *e, const void *blocks, int64_t n, float *to)
{
	struct lb_exec exec = { .threads = false };

	lb_kernel_decode(&exec, e->kernel, blocks, n * e->elements, to, LB_F32);
}

#define LB_BLOCK(ID, decoder, text, number, n, width) _Static_assert(n <= LBX_BLOCK_MAX, text);
#include "kernels/blocks.def"
#undef LB_BLOCK
#define LB_BLOCK(ID, decoder, text, number, n, width) \
	{ .name = text, .dtype = LB_F32, .elements = n, .bytes = width, .decode = decode_blocks, .kernel = LB_##ID },
static const struct lbx_encoding rows[] = {
#include "kernels/blocks.def"
};
#undef LB_BLOCK
enum { N_BLOCKS = sizeof rows / sizeof *rows };

struct lbx_encoding lbx_encoding_of_dtype(enum lb_dtype dtype)
{
	return (struct lbx_encoding){
		.name = lbx_dtype_name(dtype), .dtype = dtype, .elements = 1, .bytes = (int)lbx_dtype_bytes(dtype)
	};
}

const struct lbx_encoding *lbx_encoding_of_blocks(const char *name)
{
	for (size_t i = 0; i < N_BLOCKS; i++)
		if (strcasecmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

const char *lbx_blocks_name(size_t i)
{
	return i < N_BLOCKS ? rows[i].name : NULL;
}

bool lbx_is_encoding(const char *text)
{
	enum lb_dtype dtype;

	return lbx_dtype_parse(text, &dtype) || lbx_encoding_of_blocks(text);
}

bool lbx_encoding_bytes(const struct lbx_encoding *e, int64_t n, int64_t *ret)
{
	return n >= 0 && lb_mul(n / e->elements + (n % e->elements != 0), e->bytes, ret);
}

int64_t lbx_encoding_at(const struct lbx_encoding *e, int64_t element)
{
	return element / e->elements * e->bytes;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void decode_run(const struct lbx_encoding *e, const char *blocks, const struct lbx_run *run, float *to)
{
	float values[LBX_BLOCK_MAX];

	for (int64_t i = 0, n; i < run->n; i += n) {
		int64_t element = run->first + i * run->stride, within = element % e->elements;
		const char *block = blocks + lbx_encoding_at(e, element);
		if (run->stride == 1 && within == 0 && run->n - i >= e->elements) {
			n = (run->n - i) / e->elements * e->elements;
			e->decode(e, block, n / e->elements, to + i);
			continue;
		}
		e->decode(e, block, 1, values);
		n = run->stride == 1 ? smaller(run->n - i, e->elements - within) : 1;
		memcpy(to + i, values + within, (size_t)n * sizeof *values);
	}
}

/* As PyTorch dequantises: the integers' difference is exact, then floats are multiplied. */
static void scale_run(const struct lbx_encoding *e, const char *stored, const struct lbx_run *run, float *to)
{
	for (int64_t i = 0; i < run->n; i++) {
		int64_t q = lbx_element_int(stored + (run->first + i * run->stride) * e->bytes, e->stored);
		int64_t at = e->axis < 0 ? 0 : run->at + i * run->step;
		int64_t from_zero =
		    (int64_t)((uint64_t)q - (uint64_t)e->zeros[at]); /* what wraps makes no sense anyway */
		to[i] = (float)e->scales[at] * (float)from_zero;
	}
}

void lbx_decode(const struct lbx_encoding *e, const void *blocks, const struct lbx_run *run, void *to)
{
	if (e->n_scales)
		scale_run(e, blocks, run, to);
	else
		decode_run(e, blocks, run, to);
}
