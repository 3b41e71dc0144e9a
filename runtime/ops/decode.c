#include "ops/decode.h"

#include "base/plural.h"
#include "graph/shape.h"
#include "kernels/kernels.h"
#include "ops/operation.h"

bool lb_encoded_bytes(const char *op, enum lb_encoding encoding, lb_list shape, enum lb_dtype dtype, int64_t *ret)
{
	int64_t size;
	char text[LB_SHAPE_TEXT];
	if ((unsigned)encoding >= LB_ENCODINGS || (unsigned)dtype >= LB_DTYPES)
		return lb_fail("%s: encoding %d of dtype %d does not exist", op, (int)encoding, (int)dtype);
	if (!lb_check_shape(op, shape.n, shape.v, dtype, &size))
		return false;
	const struct lb_block *block = &lb_blocks[encoding];
	if (block->elements == 0) {
		*ret = size * lb_dtypes[dtype].bytes;
		return true;
	}
	if (dtype != LB_F32 && dtype != LB_F16 && dtype != LB_BF16)
		return lb_fail("%s: %s gives float32, float16 or bfloat16, not %s", op, block->name,
			       lb_dtypes[dtype].name);
	if (shape.n == 0 || shape.v[shape.n - 1] % block->elements)
		return lb_fail("%s: the last axis of %s must be a multiple of %d, the block of %s", op,
			       lb_shape_text(shape.n, shape.v, text), block->elements, block->name);
	*ret = size / block->elements * block->bytes;
	return true;
}

struct lb_tensor *lb_decode_at(struct lb_tensor *bytes, enum lb_encoding encoding, lb_list shape, enum lb_dtype dtype,
			       const void *site)
{
	int64_t nbytes;
	char text[LB_SHAPE_TEXT];
	if (bytes->dtype != LB_U8) {
		lb_fail("decode: bytes are uint8, not %s", lb_dtypes[bytes->dtype].name);
		return NULL;
	}
	if (!lb_encoded_bytes("decode", encoding, shape, dtype, &nbytes))
		return NULL;
	if (nbytes != bytes->size) {
		lb_fail("decode: %s of %s takes %lld byte%s, there are %lld", lb_shape_text(shape.n, shape.v, text),
			lb_blocks[encoding].name, (long long)nbytes, LB_S(nbytes), (long long)bytes->size);
		return NULL;
	}
	if (!lb_is_row_major(bytes->rank, bytes->shape, bytes->strides)) {
		bytes = lb_node(LB_OP_CONTIGUOUS, LB_U8, bytes->rank, bytes->shape, 1, &bytes, site);
		if (!bytes)
			return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(LB_OP_DECODE, dtype, shape.n, shape.v, 1, &bytes, site);
	if (t)
		t->params[0] = encoding;
	return lb_tensor_publish(t);
}

lb_tensor *lb_decode(lb_tensor *bytes, lb_encoding encoding, lb_list shape, lb_dtype dtype)
{
	LB_ENTER();
	return LB_GIVEN("decode", bytes) ? lb_decode_at(bytes, encoding, shape, dtype, site) : NULL;
}

/* The last axis has as many bytes as before. */
lb_tensor *lb_bitcast(lb_tensor *x, lb_dtype dtype)
{
	LB_ENTER();
	int64_t shape[LB_MAX_RANK], bytes;
	char text[LB_SHAPE_TEXT];
	if (!LB_GIVEN("bitcast", x))
		return NULL;
	if ((unsigned)dtype >= LB_DTYPES) {
		lb_fail("bitcast: %d is not a dtype", (int)dtype);
		return NULL;
	}
	int from = lb_dtypes[x->dtype].bytes, to = lb_dtypes[dtype].bytes, last = x->rank - 1;
	for (int i = 0; i < x->rank; i++)
		shape[i] = x->shape[i];
	if (from != to && (last < 0 || !lb_mul(x->shape[last], from, &bytes) || bytes % to)) {
		lb_fail("bitcast: the last axis of %s %s is no whole number of %s", lb_dtypes[x->dtype].name,
			lb_shape_text(x->rank, x->shape, text), lb_dtypes[dtype].name);
		return NULL;
	}
	if (from != to)
		shape[last] = bytes / to;
	return lb_node(LB_OP_BITCAST, dtype, x->rank, shape, 1, &x, site);
}

struct lb_tensor *lb_remake_bitcast(const struct lb_recipe *r)
{
	return lb_bitcast(r->x[0], r->dtype);
}

/* A copy in row-major order, of elements as they were. */
bool lb_compute_bitcast(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0), to = x;
	int64_t size = 1;
	to.data = lb_tensor_data(t);
	for (int i = to.rank; i-- > 0; size *= to.shape[i])
		to.strides[i] = size;
	return lb_kernel_copy(exec, &to, &x);
}

struct lb_tensor *lb_remake_decode(const struct lb_recipe *r)
{
	return lb_decode_at(r->x[0], (enum lb_encoding)r->params[0], r->shape, r->dtype, r->site);
}

bool lb_compute_decode(struct lb_exec *exec, struct lb_tensor *t)
{
	return lb_kernel_decode(exec, (enum lb_encoding)t->params[0], lb_tensor_data(lb_tensor_input(t, 0)), t->size,
				lb_tensor_data(t), (enum lb_dtype)t->dtype);
}
