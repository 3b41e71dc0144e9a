#include "torch/quantizers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Of a quantizer: the dtype, then what scales: both at::QScheme-specific. Offsets in bytes, from the end of the counts. */
enum { SCALAR_TYPE = 0, SCALE = 8, ZERO = 16, SCALES_MAX = 1 << 20 };
enum { FLOAT64 = 7, INT64 = 4 };
enum { QUANTIZERS_MAX = 1 << 14, ALL_SCALES_MAX = 1 << 24 };

struct reader {
	struct lbx_target *target;
	const struct lbx_cxx_classes *classes;
	const struct lbx_torch_layout *layout;
};

static bool read_word(const struct reader *reader, uint64_t at, uint64_t *ret)
{
	return lbx_target_try_read(reader->target, at, ret, sizeof *ret);
}

/* A dense tensor of one axis, of n elements: its values, bytes of an element by dtype. */
static bool read_vector(const struct reader *reader, uint64_t tensor, int64_t n, unsigned dtype, void *to)
{
	struct lbx_torch_record r;
	struct lbx_torch_storage s;

	return lbx_torch_record_read(reader->target, reader->classes, reader->layout, tensor, &r) &&
	       lbx_torch_kind(r.class) == LBX_TORCH_DENSE && r.rank == 1 && r.size == n && r.dtype == dtype &&
	       (n < 2 || r.strides[0] == 1) && r.device.type == 0 &&
	       lbx_torch_storage_read(reader->target, reader->classes, reader->layout, r.storage, &s) &&
	       s.bytes / 8 >= (uint64_t)n && (uint64_t)r.offset <= s.bytes / 8 - (uint64_t)n &&
	       lbx_target_try_read(reader->target, s.data + (uint64_t)r.offset * 8, to, (size_t)n * 8);
}

static bool are_finite(const double *scales, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(scales[i]) || scales[i] == 0)
			return false;
	return true;
}

static bool take_one(const struct reader *reader, uint64_t at, struct lbx_torch_quantizer *ret)
{
	uint64_t zero;

	if (!lbx_target_try_read(reader->target, at + SCALE, ret->scales, sizeof *ret->scales) ||
	    !read_word(reader, at + ZERO, &zero))
		return false;
	ret->zeros[0] = (int64_t)zero;
	ret->encoding.axis = -1;
	return true;
}

/* Two tensors, and the axis. */
static bool take_many(const struct reader *reader, uint64_t at, const struct lbx_torch_record *r,
		      struct lbx_torch_quantizer *ret)
{
	uint64_t scales, zeros, axis;
	int64_t n = ret->encoding.n_scales;

	if (!read_word(reader, at + SCALE, &scales) || !read_word(reader, at + ZERO, &zeros) ||
	    !read_word(reader, at + ZERO + 8, &axis) || axis >= (uint64_t)r->rank || r->sizes[axis] != n)
		return false;
	ret->encoding.axis = (int)axis;
	return read_vector(reader, scales, n, FLOAT64, ret->scales) && read_vector(reader, zeros, n, INT64, ret->zeros);
}

static void release(struct lbx_torch_quantizer *q)
{
	if (q) {
		free(q->scales);
		free(q->zeros);
	}
	free(q);
}

static struct lbx_torch_quantizer *make(const struct lbx_torch_dtype *dtype, uint64_t address, int64_t n)
{
	struct lbx_torch_quantizer *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	q->address = address;
	q->scales = calloc((size_t)n, sizeof *q->scales);
	q->zeros = calloc((size_t)n, sizeof *q->zeros);
	q->encoding = dtype->encoding;
	q->encoding.n_scales = n;
	q->encoding.scales = q->scales;
	q->encoding.zeros = q->zeros;
	if (q->scales && q->zeros)
		return q;
	release(q);
	return NULL;
}

/* Which of the two it is shows by what fits: a scale is a number, two tensors are tensors. */
static struct lbx_torch_quantizer *read_quantizer(const struct reader *reader, const struct lbx_torch_dtype *dtype,
						  uint64_t address, const struct lbx_torch_record *r)
{
	uint64_t at = address + reader->layout->behind;
	struct lbx_torch_quantizer *q = NULL;
	unsigned char type;

	if (!lbx_target_try_read(reader->target, at + SCALAR_TYPE, &type, 1) || type != r->dtype)
		return NULL;
	for (int axis = 0; axis < r->rank; axis++) {
		if (r->sizes[axis] < 1 || r->sizes[axis] > SCALES_MAX)
			continue;
		q = make(dtype, address, r->sizes[axis]);
		if (q && take_many(reader, at, r, q) && are_finite(q->scales, r->sizes[axis]))
			return q;
		release(q);
	}
	q = make(dtype, address, 1);
	if (q && take_one(reader, at, q) && are_finite(q->scales, 1) && q->scales[0] > 0x1p-200 &&
	    q->scales[0] < 0x1p200 && q->zeros[0] > -(1 << 30) && q->zeros[0] < 1 << 30)
		return q;
	release(q);
	return NULL;
}

const struct lbx_encoding *lbx_torch_quantizer(struct lbx_torch_quantizers *quantizers, struct lbx_target *target,
					       const struct lbx_cxx_classes *classes,
					       const struct lbx_torch_layout *layout,
					       const struct lbx_torch_dtype *dtype, const struct lbx_torch_record *r)
{
	const struct reader reader = { target, classes, layout };
	uint64_t address;

	if (!read_word(&reader, r->address + layout->rank + LBX_TORCH_TENSOR_END, &address) || !address)
		return NULL;
	for (size_t i = 0; i < quantizers->n; i++)
		if (quantizers->list[i]->address == address)
			return quantizers->list[i]->encoding.stored == dtype->encoding.stored
				   ? &quantizers->list[i]->encoding
				   : NULL;
	if (quantizers->n == QUANTIZERS_MAX || quantizers->n_scales > ALL_SCALES_MAX)
		return NULL;
	struct lbx_torch_quantizer *q = read_quantizer(&reader, dtype, address, r);
	if (!q)
		return NULL;
	if (!lb_reserve(quantizers->list, quantizers->room, quantizers->n + 1)) {
		release(q);
		return NULL;
	}
	quantizers->n_scales += q->encoding.n_scales;
	quantizers->list[quantizers->n++] = q;
	return &q->encoding;
}

void lbx_torch_quantizers_free(struct lbx_torch_quantizers *quantizers)
{
	for (size_t i = 0; i < quantizers->n; i++)
		release(quantizers->list[i]);
	free(quantizers->list);
	*quantizers = (struct lbx_torch_quantizers){ .list = NULL };
}
