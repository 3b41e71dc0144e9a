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
	if (affine)
		return;
	float decode = 1;
	if (extra->data)
		decode = *(const float *)extra->data / (LB_E4M3_MAX * LB_E2M1_MAX);
	for (int i = 0; i < 256; i++)
		ret->table[i] = q->format.mode == LB_QUANT_NVFP4 ? lb_e4m3_to_float((uint8_t)i) * decode
								 : lb_e8m0_to_float((uint8_t)i);
}

static const float *floats(const struct lb_quant_matrix *q, const char *from, int64_t n, float *store)
{
	if (q->scale_dtype == LB_F32)
		return (const float *)(const void *)from;
	q->tiles->convert(LB_F32, q->scale_dtype)(n, store, from, NULL, NULL);
	return store;
}

struct lb_codes lb_quant_codes(const struct lb_quant_matrix *q, int64_t row, int64_t begin, int64_t n,
			       struct lb_quant_scales *store)
{
	struct lb_codes codes = {
		.kind = q->kind,
		.group = q->group,
		.words = (const uint8_t *)q->words + row * q->words_row + begin * q->group_bytes,
		.scales = store->scales,
	};
	int64_t bytes = lb_width_of(q->scale_dtype);
	const char *scales = q->scales + row * q->scales_row + begin * bytes;
	if (q->biases) {
		codes.scales = floats(q, scales, n, store->scales);
		codes.biases = floats(q, q->biases + row * q->biases_row + begin * bytes, n, store->biases);
		return codes;
	}
	for (int64_t i = 0; i < n; i++)
		store->scales[i] = q->table[(uint8_t)scales[i]];
	return codes;
}

void lb_quant_row(const struct lb_quant_matrix *q, int64_t row, int64_t begin, int64_t n, float *to)
{
	for (int64_t end = begin + n; begin < end; begin += LB_QUANT_CHUNK) {
		struct lb_quant_scales store;
		n = end - begin < LB_QUANT_CHUNK ? end - begin : LB_QUANT_CHUNK;
		struct lb_codes codes = lb_quant_codes(q, row, begin, n, &store);
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
