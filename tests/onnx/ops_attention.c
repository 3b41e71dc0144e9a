/* Attention and what surrounds it: rotary positions, a cache that is written in place. */
#include <math.h>
#include <string.h>

#include "ops.h"

/* (batch, n, heads * size) as (batch, heads, n, size) */
static lb_tensor *apart(lb_tensor *x, int64_t heads)
{
	x = lb_reshape(x, LB_SHAPE(lb_dim(x, 0), lb_dim(x, 1), heads, lb_dim(x, 2) / heads));
	return lb_transpose(x, LB_AXES(0, 2, 1, 3));
}

static lb_tensor *together(lb_tensor *x)
{
	x = lb_transpose(x, LB_AXES(0, 2, 1, 3));
	return lb_reshape(x, LB_SHAPE(lb_dim(x, 0), lb_dim(x, 1), -1));
}

/* Each head `times` over, one after the other: several heads of queries share one of keys. */
static lb_tensor *shared(lb_tensor *x, int64_t times)
{
	int64_t batch = lb_dim(x, 0), heads = lb_dim(x, 1), n = lb_dim(x, 2), size = lb_dim(x, 3);
	x = lb_broadcast_to(lb_expand_dims(x, LB_AXES(2)), LB_SHAPE(batch, heads, times, n, size));
	return lb_reshape(x, LB_SHAPE(batch, heads * times, n, size));
}

static lb_tensor *after(lb_tensor *past, lb_tensor *x)
{
	return past ? lb_concatenate(2, (lb_tensor *[]){ past, x }, 2) : x;
}

/* 0 where it is allowed, -INFINITY elsewhere */
static lb_tensor *only(lb_tensor *allowed, lb_dtype dtype)
{
	return lb_astype(lb_where(allowed, lb_scalar(0), lb_scalar(-INFINITY)), dtype);
}

/* The mask as what is added to the scores of `keys` keys; it may be of fewer. */
static lb_tensor *mask_of(lb_tensor *mask, int64_t keys, lb_dtype dtype)
{
	if (lb_dtype_of(mask) == LB_BOOL)
		mask = only(mask, dtype);
	int64_t low[LB_MAX_RANK] = { 0 }, high[LB_MAX_RANK] = { 0 };
	int rank = lb_rank(mask);
	high[rank - 1] = keys - lb_dim(mask, -1);
	return lb_pad(mask, (lb_list){ rank, low }, (lb_list){ rank, high }, -INFINITY);
}

static lb_tensor *bias_of(struct onnx_call *c, int64_t queries, int64_t keys, lb_dtype dtype)
{
	lb_tensor *bias = c->in[3] ? mask_of(c->in[3], keys, dtype) : lb_zeros(LB_SHAPE(), dtype);
	lb_tensor *key = onnx_iota(keys), *query = lb_expand_dims(onnx_iota(queries), LB_AXES(1));
	if (onnx_int(c, "is_causal", 0)) {
		lb_tensor *past = lb_scalar_int(c->in[4] ? lb_dim(c->in[4], 2) : 0);
		bias = lb_add(bias, only(lb_less_equal(key, lb_add(query, past)), dtype));
	}
	if (c->in[6]) { /* how many keys each of the batch has */
		lb_tensor *lengths = lb_reshape(c->in[6], LB_SHAPE(-1, 1, 1, 1));
		bias = lb_add(bias, only(lb_less(key, lengths), dtype));
	}
	return bias;
}

static lb_tensor *attention(struct onnx_call *c)
{
	lb_tensor *q = c->in[0], *k = c->in[1], *v = c->in[2];
	lb_dtype dtype = lb_dtype_of(q), precise = dtype;
	const char *name;
	bool flat = lb_rank(q) == 3;
	int64_t q_heads = onnx_int(c, "q_num_heads", lb_dim(q, 1));
	int64_t kv_heads = onnx_int(c, "kv_num_heads", lb_dim(k, 1));
	if (flat) {
		q = apart(q, q_heads);
		k = apart(k, kv_heads);
		v = apart(v, kv_heads);
	}
	if (onnx_has(c, "softmax_precision") && !onnx_dtype(onnx_int(c, "softmax_precision", 0), &precise, &name))
		return onnx_refuse(c, "dtype %s", name);
	lb_tensor *root = lb_scalar(sqrt(onnx_float(c, "scale", 1 / sqrt((double)lb_dim(q, 3)))));
	c->out[1] = k = after(c->in[4], k);
	c->out[2] = v = after(c->in[5], v);
	k = shared(lb_multiply(k, root), q_heads / kv_heads);
	/* the scores as they become: scaled, masked, capped, normalised */
	lb_tensor *scores[4];
	double cap = onnx_float(c, "softcap", 0);
	scores[0] = lb_matmul(lb_multiply(q, root), lb_transpose(k, LB_AXES(0, 1, 3, 2)));
	scores[1] = lb_add(scores[0], bias_of(c, lb_dim(q, 2), lb_dim(k, 2), dtype));
	scores[2] = scores[1];
	if (cap > 0)
		scores[2] = lb_multiply(lb_tanh(lb_divide(scores[1], lb_scalar(cap))), lb_scalar(cap));
	scores[3] = lb_softmax(lb_astype(scores[2], precise), LB_AXES(-1));
	c->out[3] = lb_astype(scores[onnx_int(c, "qk_matmul_output_mode", 0) & 3], dtype);
	lb_tensor *y = lb_astype(lb_matmul(scores[3], shared(v, q_heads / kv_heads)), dtype);
	return flat ? together(y) : y;
}

/* Pairs of features turn by angles whose cosines and sines are given: halves of the first `dims`
 * features, or neighbours. */
static lb_tensor *rotary_embedding(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *cos = c->in[1], *sin = c->in[2];
	bool flat = lb_rank(x) == 3, neighbours = onnx_int(c, "interleaved", 0);
	int64_t dims = onnx_int(c, "rotary_embedding_dim", 0), heads = onnx_int(c, "num_heads", 0);
	if (flat)
		x = apart(x, heads);
	int64_t size = lb_dim(x, 3);
	dims = dims ? dims : size;
	if (c->in[3]) {
		cos = lb_take(cos, c->in[3], 0);
		sin = lb_take(sin, c->in[3], 0);
	}
	cos = lb_expand_dims(cos, LB_AXES(1));
	sin = lb_expand_dims(sin, LB_AXES(1));
	lb_tensor *rest = onnx_part(x, 3, dims, size), *y;
	lb_tensor *a =
	    neighbours ? lb_slice(x, LB_ALL, LB_ALL, LB_ALL, LB_RANGE(0, dims, 2)) : onnx_part(x, 3, 0, dims / 2);
	lb_tensor *b =
	    neighbours ? lb_slice(x, LB_ALL, LB_ALL, LB_ALL, LB_RANGE(1, dims, 2)) : onnx_part(x, 3, dims / 2, dims);
	lb_tensor *turned[2] = { lb_subtract(lb_multiply(cos, a), lb_multiply(sin, b)),
				 lb_add(lb_multiply(sin, a), lb_multiply(cos, b)) };
	if (neighbours)
		y = lb_flatten(lb_stack(2, turned, 4), 3, 4);
	else
		y = lb_concatenate(2, turned, 3);
	y = lb_concatenate(2, (lb_tensor *[]){ y, rest }, 3);
	return flat ? together(y) : y;
}

/* Writes the update into a cache from a place on, which may be another for each of the batch. */
static lb_tensor *tensor_scatter(struct onnx_call *c)
{
	lb_tensor *cache = c->in[0], *update = c->in[1];
	int rank = lb_rank(cache), axis = onnx_axis(onnx_int(c, "axis", -2), rank);
	int64_t starts[LB_MAX_RANK], steps[LB_MAX_RANK];
	for (int k = 0; k < rank; k++)
		starts[k] = steps[k] = 1;
	starts[0] = lb_dim(cache, 0);
	steps[axis] = lb_dim(update, axis);
	lb_tensor *at = lb_reshape(onnx_iota(steps[axis]), (lb_list){ rank, steps });
	if (c->in[2])
		at = lb_add(at, lb_reshape(c->in[2], (lb_list){ rank, starts }));
	if (strcmp(onnx_text(c, "mode", "linear"), "circular") == 0)
		at = lb_remainder(at, lb_scalar_int(lb_dim(cache, axis)));
	return lb_put_along_axis(cache, at, update, axis, LB_PUT_ASSIGN);
}

const struct onnx_op onnx_attention[] = {
	{ "Attention", .run = attention },
	{ "RotaryEmbedding", .run = rotary_embedding },
	{ "TensorScatter", .run = tensor_scatter },
	{ .name = NULL },
};
