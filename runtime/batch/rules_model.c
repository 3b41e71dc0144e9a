/* What models are made of. */
#include "batch/rule.h"
#include "kernels/model.h"

/* ---- norms ---- */

/* What halves are computed in. */
static lb_dtype wide(const struct lb_batching *b)
{
	return b->t->dtype == LB_F64 ? LB_F64 : LB_F32;
}

/* x without a weight. */
static struct lb_tensor *plain_norm(const struct lb_batching *b)
{
	struct lb_tensor *x = lb_astype(b->x[0], wide(b));
	bool centers = b->t->op == LB_OP_LAYER_NORM || b->t->op == LB_OP_LAYER_NORM_GRAD;
	double eps = lb_param_double(b->t, 0);
	return centers ? lb_layer_norm(x, NULL, NULL, eps) : lb_rms_norm(x, NULL, eps);
}

/* Input i, a vector, over x. */
static struct lb_tensor *vector(const struct lb_batching *b, int i)
{
	return lb_astype(lb_batch_aligned(b, i, lb_batch_rank(b, 0)), wide(b));
}

struct lb_tensor *lb_batch_norm(struct lb_batching *b)
{
	const struct lb_tensor *t = b->t;
	struct lb_sizes s = lb_batch_sizes(b);
	bool has_weight = t->params[1] & 1, has_bias = t->params[1] & 2, is_plain = true;
	for (int i = 1; i < (int)t->n_inputs; i++)
		is_plain = is_plain && !b->batched[i];
	if (is_plain)
		return lb_batch_remake(b, t->params, lb_sizes_list(&s));
	struct lb_tensor *y = plain_norm(b);
	if (has_weight)
		y = lb_multiply(y, vector(b, 1));
	if (has_bias)
		y = lb_add(y, vector(b, 1 + has_weight));
	return lb_astype(y, (lb_dtype)t->dtype);
}

/* Sums of (batch, rows …, features) over the rows. */
static struct lb_tensor *over_rows(const struct lb_batching *b, struct lb_tensor *y)
{
	static const int64_t axes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	int n = lb_batch_rank(b, 0) - 1;
	return lb_astype(n ? lb_sum(y, (lb_list){ n, axes }, false) : y, (lb_dtype)b->t->dtype);
}

/* Inputs: x, the result's gradient, and a weight or not. */
struct lb_tensor *lb_batch_norm_grad(struct lb_batching *b)
{
	const struct lb_tensor *t = b->t;
	struct lb_sizes s = lb_batch_sizes(b);
	double eps = lb_param_double(t, 0);
	if (!lb_batch_all(b, 0, 2))
		return NULL;
	struct lb_tensor *g = lb_astype(b->x[1], wide(b));
	switch (t->params[1]) {
	case LB_NORM_WEIGHT: return over_rows(b, lb_multiply(g, plain_norm(b)));
	case LB_NORM_BIAS: return over_rows(b, g);
	}
	if (t->n_inputs < 3 || !b->batched[2])
		return lb_batch_remake(b, t->params, lb_sizes_list(&s));
	g = lb_multiply(g, vector(b, 2));
	struct lb_tensor *x = lb_astype(b->x[0], wide(b));
	lb_norm_grads d =
	    t->op == LB_OP_LAYER_NORM_GRAD ? lb_layer_norm_grad(x, NULL, g, eps) : lb_rms_norm_grad(x, NULL, g, eps);
	return lb_astype(d.x, (lb_dtype)t->dtype);
}

/* ---- what has a batch axis of its own, of four ---- */

/* The batch and axis 0 as one. */
static struct lb_tensor *folded(const struct lb_batching *b, struct lb_tensor *x)
{
	return x ? lb_reshape(x, LB_SHAPE(b->n * x->shape[1], x->shape[2], x->shape[3], x->shape[4])) : NULL;
}

static struct lb_tensor *folded_mask(struct lb_batching *b, int i)
{
	int64_t own = lb_batch_shape(b, 0)[0];
	if (!b->batched[i] && (lb_batch_rank(b, i) < 4 || b->x[i]->shape[0] == 1))
		return b->x[i];
	struct lb_sizes s = { 1, { b->n } };
	lb_sizes_add_ones(&s, 4 - lb_batch_rank(b, i));
	lb_sizes_add(&s, lb_batch_rank(b, i), lb_batch_shape(b, i));
	if (!lb_batch_all(b, i, i + 1))
		return NULL;
	struct lb_tensor *mask = lb_reshape(b->x[i], lb_sizes_list(&s));
	s.v[1] = own;
	mask = lb_broadcast_to(mask, lb_sizes_list(&s));
	return folded(b, mask);
}

/* q, k, v, and of a gradient the result's, up to `mask`, which may be there or not. */
static struct lb_tensor *attend(struct lb_batching *b, int mask)
{
	struct lb_sizes s = lb_batch_sizes(b);
	if (!lb_batch_all(b, 0, mask))
		return NULL;
	if ((int)b->t->n_inputs > mask)
		b->x[mask] = folded_mask(b, mask);
	for (int i = mask; i-- > 0;)
		b->x[i] = folded(b, b->x[i]);
	return lb_batch_remake(b, b->t->params, lb_sizes_list(&s));
}

struct lb_tensor *lb_batch_attention(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	return lb_reshape(attend(b, 3), lb_sizes_list(&s));
}

struct lb_tensor *lb_batch_attention_grad(struct lb_batching *b)
{
	int64_t sizes[3];
	for (int i = 0; i < 3; i++)
		sizes[i] = lb_tensor_input(b->t, (uint32_t)i)->size;
	struct lb_tensor *y = attend(b, 4);
	return y ? lb_batch_interleaved(b, y, 3, sizes) : NULL;
}

/* Of one weight for all. Where each element has its own, convolutions are too large to be worth more than slices. */
struct lb_tensor *lb_batch_conv(struct lb_batching *b)
{
	const struct lb_tensor *t = b->t;
	int image = t->op == LB_OP_CONV2D_INPUT_GRAD ? 1 : 0;
	if (t->op == LB_OP_CONV2D_WEIGHT_GRAD || b->batched[!image])
		return lb_batch_in_slices(b);
	struct lb_sizes s = lb_batch_sizes(b);
	b->x[image] = folded(b, b->x[image]);
	struct lb_tensor *y =
	    lb_batch_remake(b, t->params, LB_SHAPE(b->n * t->shape[0], t->shape[1], t->shape[2], t->shape[3]));
	return lb_reshape(y, lb_sizes_list(&s));
}

/* ---- quantisation ---- */

/* Groups lie along the last axis; the global scale of nvfp4 is one number for a whole tensor. */
struct lb_tensor *lb_batch_quantize(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	if (b->t->n_inputs > 1 && b->batched[1])
		return lb_batch_in_slices(b);
	return lb_batch_remake(b, b->t->params, lb_sizes_list(&s));
}

struct lb_tensor *lb_batch_dequantize(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	int n = (int)b->t->n_inputs, parts = b->t->params[0] == LB_QUANT_AFFINE ? 3 : 2;
	if (n > parts && b->batched[2])
		return lb_batch_in_slices(b);
	return lb_batch_all(b, 0, parts) ? lb_batch_remake(b, b->t->params, lb_sizes_list(&s)) : NULL;
}
