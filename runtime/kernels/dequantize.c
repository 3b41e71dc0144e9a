#include "kernels/layout.h"
#include "kernels/quant_rows.h"

enum { GRAIN = 1 << 15 };

void lb_quant_matrix_of(const struct lb_quant_view *q, struct lb_quant_matrix *ret)
{
	const struct lb_view *words = &q->words, *scales = &q->scales, *extra = &q->extra;
	int row = words->rank - 2;
	bool affine = q->format.mode == LB_QUANT_AFFINE;
	*ret = (struct lb_quant_matrix){
		.tiles = lb_tiles(),
		.kind = lb_codes_kind(&q->format),
		.group = q->format.group,
		.scale_dtype = scales->dtype,
		.e8m0 = q->format.mode == LB_QUANT_MXFP4 || q->format.mode == LB_QUANT_MXFP8,
		.group_bytes = q->format.group / 8 * q->format.bits,
		.words = words->data,
		.scales = scales->data,
		.biases = affine ? extra->data : NULL,
	};
	if (row >= 0) {
		ret->words_row = words->strides[row] * lb_width_of(words->dtype);
		ret->scales_row = scales->strides[row] * lb_width_of(scales->dtype);
		ret->biases_row = affine ? extra->strides[row] * lb_width_of(extra->dtype) : 0;
	}
	if (q->format.mode != LB_QUANT_NVFP4)
		return;
	ret->e4m3 = extra->data ? *(const float *)extra->data / (LB_E4M3_MAX * LB_E2M1_MAX) : 1;
}

/* n scales or biases of each of some rows, `row` bytes apart; returns where the first are, and the others n floats on. */
static const float *floats(const struct lb_quant_matrix *q, const char *from, int64_t row, int rows, int64_t n,
			   float *store)
{
	int64_t bytes = lb_width_of(q->scale_dtype);
	if (q->scale_dtype == LB_F32 && (rows == 1 || row == n * bytes))
		return (const float *)(const void *)from;
	if (row == n * bytes) {
		n *= rows;
		rows = 1;
	}
	for (int r = 0; r < rows; r++, from += row, store += n) {
		const uint8_t *small = (const uint8_t *)from;
		if (q->scale_dtype != LB_U8)
			q->tiles->convert(LB_F32, q->scale_dtype)(n, store, from, NULL, NULL);
		else if (q->e8m0)
			q->tiles->e8m0(n, store, small);
		else
			q->tiles->e4m3(n, store, small, q->e4m3);
	}
	return store - rows * n;
}

void lb_quant_codes(const struct lb_quant_matrix *q, int64_t row, int rows, int64_t begin, int64_t n,
		    struct lb_quant_scales *store, struct lb_codes *ret)
{
	int64_t at = begin * lb_width_of(q->scale_dtype);
	const float *scales = floats(q, q->scales + row * q->scales_row + at, q->scales_row, rows, n, store->scales);
	const float *biases = NULL;
	if (q->biases)
		biases = floats(q, q->biases + row * q->biases_row + at, q->biases_row, rows, n, store->biases);
	for (int r = 0; r < rows; r++)
		ret[r] = (struct lb_codes){
			.kind = q->kind,
			.group = q->group,
			.words = (const uint8_t *)q->words + (row + r) * q->words_row + begin * q->group_bytes,
			.scales = scales + r * n,
			.biases = biases ? biases + r * n : NULL,
		};
}

void lb_quant_row(const struct lb_quant_matrix *q, int64_t row, int64_t begin, int64_t n, float *to)
{
	for (int64_t end = begin + n; begin < end; begin += LB_QUANT_CHUNK) {
		struct lb_quant_scales store;
		n = end - begin < LB_QUANT_CHUNK ? end - begin : LB_QUANT_CHUNK;
		struct lb_codes codes;
		lb_quant_codes(q, row, 1, begin, n, &store, &codes);
		q->tiles->dequantize(&codes, n, to);
		to += n * q->group;
	}
}

struct dequantize {
	const struct lb_quant_view *q;
	struct lb_quant_matrix matrix;
	char *to;
	int dtype;
	int64_t groups; /* in a row */
};

static void dequantize_rows(void *arg, int64_t begin, int64_t end)
{
	enum { LINE = 2048 };
	const struct dequantize *d = arg;
	const struct lb_view *words = &d->q->words, *scales = &d->q->scales, *extra = &d->q->extra;
	int64_t step = LINE / d->matrix.group, bytes = lb_width_of(d->dtype);
	float line[LINE] __attribute__((aligned(64)));
	for (int64_t i = begin; i < end; i++) {
		int64_t index[LB_MAX_RANK];
		struct lb_quant_matrix row = d->matrix;
		lb_index_of(words->rank - 1, words->shape, i, index);
		row.words += lb_offset_of(words->rank - 1, index, words->strides) * 4;
		row.scales += lb_offset_of(words->rank - 1, index, scales->strides) * lb_width_of(scales->dtype);
		if (row.biases)
			row.biases += lb_offset_of(words->rank - 1, index, extra->strides) * lb_width_of(extra->dtype);
		for (int64_t g = 0; g < d->groups; g += step) {
			int64_t n = d->groups - g < step ? d->groups - g : step;
			char *to = d->to + (i * d->groups + g) * d->matrix.group * bytes;
			if (d->dtype == LB_F32) {
				lb_quant_row(&row, 0, g, n, (float *)(void *)to);
				continue;
			}
			lb_quant_row(&row, 0, g, n, line);
			row.tiles->convert(d->dtype, LB_F32)(n * row.group, to, line, NULL, NULL);
		}
	}
}

bool lb_kernel_dequantize(struct lb_exec *exec, const struct lb_quant_view *q, void *to, enum lb_dtype dtype)
{
	struct dequantize d = { .q = q, .to = to, .dtype = dtype, .groups = q->scales.shape[q->scales.rank - 1] };
	int64_t rows = lb_shape_size(q->words.rank - 1, q->words.shape);
	if (rows == 0 || d.groups == 0)
		return true;
	lb_quant_matrix_of(q, &d.matrix);
	lb_parallel(exec, rows, GRAIN / (d.groups * d.matrix.group) + 1, dequantize_rows, &d);
	return true;
}
