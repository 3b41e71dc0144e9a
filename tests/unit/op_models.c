/* The operations that models are made of, by name. */
#include <stdlib.h>
#include <string.h>

#include "op_table.h"

static lb_tensor *run_layer_norm(const struct call *c)
{
	return lb_layer_norm(c->in[0], c->in[1], c->in[2], args_double(c->args, "eps", 0));
}

static lb_tensor *run_rms_norm(const struct call *c)
{
	return lb_rms_norm(c->in[0], c->in[1], args_double(c->args, "eps", 0));
}

static lb_tensor *run_rope(const struct call *c)
{
	return lb_rope(c->in[0], args_int(c->args, "dims", 0), args_int(c->args, "traditional", 0),
		       args_double(c->args, "base", 10000), args_double(c->args, "scale", 1),
		       args_int(c->args, "offset", 0));
}

#define UNARY_OPS(X) X(silu) X(gelu) X(gelu_tanh)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0]); \
	}
UNARY_OPS(X)
#undef X

static lb_tensor *run_linear(const struct call *c)
{
	return lb_linear(c->in[0], c->in[1], c->in[2]);
}

static lb_tensor *run_embedding(const struct call *c)
{
	return lb_embedding(c->in[0], c->in[1]);
}

static lb_tensor *run_one_hot(const struct call *c)
{
	return lb_one_hot(c->in[0], args_int(c->args, "n", 0), args_dtype(c->args));
}

static lb_tensor *run_attention(const struct call *c)
{
	return lb_attention(c->in[0], c->in[1], c->in[2], args_double(c->args, "scale", 1),
			    args_int(c->args, "causal", 0), c->in[3]);
}

static lb_tensor *run_sort(const struct call *c)
{
	return lb_sort(c->in[0], (int)args_int(c->args, "axis", -1));
}

static lb_tensor *run_argsort(const struct call *c)
{
	return lb_argsort(c->in[0], (int)args_int(c->args, "axis", -1));
}

static lb_tensor *run_topk(const struct call *c)
{
	return lb_topk(c->in[0], args_int(c->args, "k", 0), (int)args_int(c->args, "axis", -1));
}

static lb_tensor *run_cumsum(const struct call *c)
{
	return lb_cumsum(c->in[0], (int)args_int(c->args, "axis", -1), args_int(c->args, "reverse", 0),
			 args_int(c->args, "inclusive", 1));
}

static lb_tensor *run_scan(const struct call *c)
{
	return lb_scan(c->in[0], (lb_scan_kind)args_int(c->args, "kind", 0), (int)args_int(c->args, "axis", -1),
		       args_int(c->args, "reverse", 0), args_int(c->args, "inclusive", 1));
}

static lb_tensor *run_partition(const struct call *c)
{
	return lb_partition(c->in[0], args_int(c->args, "kth", 0), (int)args_int(c->args, "axis", -1));
}

static lb_tensor *run_argpartition(const struct call *c)
{
	return lb_argpartition(c->in[0], args_int(c->args, "kth", 0), (int)args_int(c->args, "axis", -1));
}

static lb_tensor *run_matmul_in_steps(const struct call *c)
{
	return lb_matmul_in_steps(c->in[0], c->in[1]);
}

static lb_tensor *run_block_masked_mm(const struct call *c)
{
	return lb_block_masked_mm(c->in[0], c->in[1], args_int(c->args, "block", 0), c->in[2], c->in[3], c->in[4]);
}

static lb_tensor *run_segmented_mm(const struct call *c)
{
	return lb_segmented_mm(c->in[0], c->in[1], c->in[2]);
}

static lb_tensor *run_searchsorted(const struct call *c)
{
	return lb_searchsorted(c->in[0], c->in[1], args_int(c->args, "right", 0));
}

static lb_tensor *run_to_fp8(const struct call *c)
{
	return lb_to_fp8(c->in[0]);
}

static lb_tensor *run_from_fp8(const struct call *c)
{
	return lb_from_fp8(c->in[0], args_dtype(c->args));
}

static lb_tensor *run_bitcast(const struct call *c)
{
	return lb_bitcast(c->in[0], args_dtype(c->args));
}

static lb_tensor *run_random_bits(const struct call *c)
{
	int64_t shape[LB_MAX_RANK];
	return lb_random_bits(c->in[0], args_list(c->args, "shape", shape), args_dtype(c->args));
}

static lb_tensor *run_categorical(const struct call *c)
{
	lb_random_key key = { strtoull(args_find(c->args, "key"), NULL, 10) };
	return lb_categorical(c->in[0], (int)args_int(c->args, "axis", -1), key);
}

static lb_conv_options conv_options(const struct call *c)
{
	lb_conv_options o = { .groups = args_int(c->args, "groups", 0) };
	const char *stride = args_find(c->args, "stride"), *padding = args_find(c->args, "padding");
	const char *dilation = args_find(c->args, "dilation");
	if (stride)
		list_parse(stride, 2, o.stride);
	if (padding)
		list_parse(padding, 2, o.padding);
	if (dilation)
		list_parse(dilation, 2, o.dilation);
	return o;
}

static lb_tensor *run_conv1d(const struct call *c)
{
	return lb_conv1d(c->in[0], c->in[1], conv_options(c));
}

static lb_tensor *run_conv2d(const struct call *c)
{
	return lb_conv2d(c->in[0], c->in[1], conv_options(c));
}

static lb_tensor *run_pad(const struct call *c)
{
	int64_t low[LB_MAX_RANK], high[LB_MAX_RANK];
	return lb_pad(c->in[0], args_list(c->args, "low", low), args_list(c->args, "high", high),
		      args_double(c->args, "value", 0));
}

static lb_tensor *run_einsum(const struct call *c)
{
	return lb_einsum(args_find(c->args, "spec"), c->n, c->in);
}

static lb_tensor *run_layer_norm_grad(const struct call *c)
{
	lb_norm_grads g = lb_layer_norm_grad(c->in[0], c->in[1], c->in[2], args_double(c->args, "eps", 0));
	lb_tensor *const parts[] = { g.x, g.weight, g.bias };
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_rms_norm_grad(const struct call *c)
{
	lb_norm_grads g = lb_rms_norm_grad(c->in[0], c->in[1], c->in[2], args_double(c->args, "eps", 0));
	lb_tensor *const parts[] = { g.x, g.weight, g.bias };
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_attention_grad(const struct call *c)
{
	lb_attention_grads g = lb_attention_grad(c->in[0], c->in[1], c->in[2], args_double(c->args, "scale", 1),
						 args_int(c->args, "causal", 0), c->in[3], c->in[4]);
	lb_tensor *const parts[] = { g.q, g.k, g.v };
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_conv2d_input_grad(const struct call *c)
{
	int64_t shape[LB_MAX_RANK];
	return lb_conv2d_input_grad(args_list(c->args, "shape", shape), c->in[0], c->in[1], conv_options(c));
}

static lb_tensor *run_conv2d_weight_grad(const struct call *c)
{
	int64_t shape[LB_MAX_RANK];
	return lb_conv2d_weight_grad(c->in[0], args_list(c->args, "shape", shape), c->in[1], conv_options(c));
}

#define GRADS(X) X(layer_norm_grad) X(rms_norm_grad) X(attention_grad) X(conv2d_input_grad) X(conv2d_weight_grad)
/* clang-format off */
#define OPS(X) GRADS(X) \
	X(einsum) X(conv1d) X(conv2d) X(pad) X(cumsum) X(scan) X(partition) X(argpartition) X(matmul_in_steps) X(bitcast) X(random_bits) \
	X(block_masked_mm) X(segmented_mm) X(searchsorted) X(to_fp8) X(from_fp8) \
	X(categorical) X(sort) X(argsort) \
	X(topk) X(attention) UNARY_OPS(X) X(linear) X(embedding) X(one_hot) X(layer_norm) X(rms_norm) X(rope)
/* clang-format on */

op_function op_find_model(const char *name)
{
	static const struct op_row rows[] = {
#define X(name) { #name, run_##name },
		OPS(X)
#undef X
	};
	return op_find_among(rows, sizeof rows / sizeof *rows, name);
}
