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

#define LB_BLOCK(ID, decoder, text, number, n, width, ...) _Static_assert(n <= LBX_BLOCK_MAX, text);
#include "kernels/blocks.def"
#undef LB_BLOCK
#define LB_BLOCK(ID, decoder, text, number, n, width, ...) \
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

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- where elements lie ---- */

int64_t lbx_encoding_period(const struct lbx_encoding *e)
{
	return e->interleave ? e->interleave->rows * e->row_blocks * e->elements : e->elements;
}

bool lbx_encoding_bytes(const struct lbx_encoding *e, int64_t n, int64_t *ret)
{
	int64_t period = lbx_encoding_period(e);

	return n >= 0 && lb_mul(n / period + (n % period != 0), period / e->elements * e->bytes, ret);
}

/* The unit that an element's block is in, counted through the buffer, and the block's row in it. */
static int64_t unit_of(const struct lbx_encoding *e, int64_t element, int *ret_row)
{
	int64_t block = element / e->elements, row = block / e->row_blocks, rows = e->interleave->rows;

	*ret_row = (int)(row % rows);
	return row / rows * e->row_blocks + block % e->row_blocks;
}

int64_t lbx_encoding_at(const struct lbx_encoding *e, int64_t element)
{
	int row;

	if (e->interleave)
		return unit_of(e, element, &row) * e->interleave->rows * e->bytes;
	return element / e->elements * e->bytes;
}

int64_t lbx_encoding_holds(const struct lbx_encoding *e, int64_t byte, int64_t *ret)
{
	int64_t rows = e->interleave ? e->interleave->rows : 1, unit = byte / (rows * e->bytes);

	*ret = byte % (rows * e->bytes);
	if (e->interleave)
		unit = unit / e->row_blocks * rows * e->row_blocks + unit % e->row_blocks;
	return unit * e->elements;
}

int64_t lbx_encoding_span(const struct lbx_encoding *e, int64_t first, int64_t last, int64_t *ret_at)
{
	int64_t unit = e->interleave ? (int64_t)e->interleave->rows * e->bytes : e->bytes;
	int64_t row = e->row_blocks * e->elements, period = lbx_encoding_period(e);

	/* of several rows, the units of all their groups */
	if (e->interleave && first / row != last / row) {
		first = first / period * period;
		last = last / period * period + period - 1;
	}
	*ret_at = lbx_encoding_at(e, first);
	return lbx_encoding_at(e, last) - *ret_at + unit;
}

int64_t lbx_encoding_window(const struct lbx_encoding *e, int64_t element, int64_t bytes, int64_t *ret_first)
{
	int64_t period = lbx_encoding_period(e), of_period = period / e->elements * e->bytes;

	if (of_period <= bytes) {
		int64_t n = bytes / of_period * period;
		*ret_first = element / n * n;
		return n;
	}
	/* a part of a row */
	int64_t row = e->row_blocks * e->elements, within = element % row;
	int64_t n = bytes / ((int64_t)e->interleave->rows * e->bytes) * e->elements;
	*ret_first = element - within % n;
	return smaller(n, row - within / n * n);
}

/* ---- decoding ---- */

enum { AT_ONCE = 64, INTERLEAVED_MAX = 256 /* bytes of a block */ };

/* Blocks from the one that begins with an element on, next to each other: *n of them at most, which becomes how many. */
static const char *blocks_from(const struct lbx_encoding *e, const char *bytes, int64_t at, int64_t element, int64_t *n,
			       char *own)
{
	int row;

	if (!e->interleave)
		return bytes + lbx_encoding_at(e, element) - at;
	const char *unit = bytes + lbx_encoding_at(e, element) - at;
	int64_t rest = e->row_blocks - element / e->elements % e->row_blocks;
	*n = smaller(smaller(*n, rest), AT_ONCE);
	unit_of(e, element, &row);
	lbx_interleave_undo(e->interleave, unit, e->bytes, row, *n, own);
	return own;
}

bool lbx_encoding_has_codes(const struct lbx_encoding *e)
{
	return e->decode == decode_blocks;
}

const void *lbx_encoding_blocks(const struct lbx_encoding *e, const void *bytes, int64_t at, int64_t first, int64_t n,
				void *own)
{
	if (!e->interleave)
		return blocks_from(e, bytes, at, first, &n, NULL);
	for (int64_t i = 0, some; i < n; i += some) {
		some = n - i;
		blocks_from(e, bytes, at, first + i * e->elements, &some, (char *)own + i * e->bytes);
	}
	return own;
}

static void decode_whole(const struct lbx_encoding *e, const char *blocks, int64_t n, char *to)
{
	if (e->decode)
		e->decode(e, blocks, n, (float *)(void *)to);
	else /* bytes */
		memcpy(to, blocks, (size_t)(n * e->bytes));
}

static void decode_run(const struct lbx_encoding *e, const char *bytes, int64_t at, const struct lbx_run *run, char *to)
{
	char own[AT_ONCE * INTERLEAVED_MAX];
	float values[LBX_BLOCK_MAX];
	int64_t width = lbx_dtype_bytes(e->dtype);

	for (int64_t i = 0, n; i < run->n; i += n) {
		int64_t element = run->first + i * run->stride, within = element % e->elements, blocks = 1;
		bool whole = run->stride == 1 && within == 0 && run->n - i >= e->elements;
		if (whole)
			blocks = (run->n - i) / e->elements;
		const char *from = blocks_from(e, bytes, at, element - within, &blocks, own);
		if (whole) {
			n = blocks * e->elements;
			decode_whole(e, from, blocks, to + i * width);
			continue;
		}
		decode_whole(e, from, 1, (char *)values);
		n = run->stride == 1 ? smaller(run->n - i, e->elements - within) : 1;
		memcpy(to + i * width, (char *)values + within * width, (size_t)(n * width));
	}
}

/* As PyTorch dequantises: the integers' difference is exact, then floats are multiplied. */
static void scale_run(const struct lbx_encoding *e, const char *bytes, int64_t at, const struct lbx_run *run, float *to)
{
	for (int64_t i = 0; i < run->n; i++) {
		int64_t q = lbx_element_int(bytes + ((run->first + i * run->stride) * e->bytes - at), e->stored);
		int64_t k = e->axis < 0 ? 0 : run->at + i * run->step;
		int64_t from_zero =
		    (int64_t)((uint64_t)q - (uint64_t)e->zeros[k]); /* what wraps makes no sense anyway */
		to[i] = (float)e->scales[k] * (float)from_zero;
	}
}

void lbx_decode(const struct lbx_encoding *e, const void *bytes, int64_t at, const struct lbx_run *run, void *to)
{
	if (e->n_scales)
		scale_run(e, bytes, at, run, to);
	else
		decode_run(e, bytes, at, run, to);
}
