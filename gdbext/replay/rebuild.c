#include "replay/rebuild.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "graph/shape.h"
#include "graph/tensor.h"
#include "kernels/kernels.h"
#include "replay/fused.h"
#include "replay/models.h"
#include "replay/updates.h"

typedef lb_tensor *unary_fn(lb_tensor *);
typedef lb_tensor *binary_fn(lb_tensor *, lb_tensor *);
typedef lb_tensor *reduce_fn(lb_tensor *, lb_list, bool);

static unary_fn *const unary[LB_OPS] = {
	[LB_OP_NEGATIVE] = lb_negative, [LB_OP_ABS] = lb_abs, [LB_OP_EXP] = lb_exp,
	[LB_OP_LOG] = lb_log, [LB_OP_SQRT] = lb_sqrt, [LB_OP_RSQRT] = lb_rsqrt,
	[LB_OP_SIN] = lb_sin, [LB_OP_COS] = lb_cos, [LB_OP_TANH] = lb_tanh,
	[LB_OP_SIGMOID] = lb_sigmoid, [LB_OP_ERF] = lb_erf, [LB_OP_SQUARE] = lb_square,
	[LB_OP_FLOOR] = lb_floor, [LB_OP_CEIL] = lb_ceil, [LB_OP_ROUND] = lb_round,
	[LB_OP_ISNAN] = lb_isnan, [LB_OP_ISINF] = lb_isinf, [LB_OP_LOGICAL_NOT] = lb_logical_not,
	[LB_OP_CONTIGUOUS] = lb_contiguous,
};

static binary_fn *const binary[LB_OPS] = {
	[LB_OP_ADD] = lb_add, [LB_OP_SUBTRACT] = lb_subtract, [LB_OP_MULTIPLY] = lb_multiply,
	[LB_OP_DIVIDE] = lb_divide, [LB_OP_POWER] = lb_power, [LB_OP_MAXIMUM] = lb_maximum,
	[LB_OP_MINIMUM] = lb_minimum, [LB_OP_REMAINDER] = lb_remainder, [LB_OP_EQUAL] = lb_equal,
	[LB_OP_NOT_EQUAL] = lb_not_equal, [LB_OP_LESS] = lb_less, [LB_OP_LESS_EQUAL] = lb_less_equal,
	[LB_OP_GREATER] = lb_greater, [LB_OP_GREATER_EQUAL] = lb_greater_equal,
	[LB_OP_LOGICAL_AND] = lb_logical_and, [LB_OP_LOGICAL_OR] = lb_logical_or,
	[LB_OP_MATMUL] = lb_matmul,
};

static reduce_fn *const reduce[LB_OPS] = {
	[LB_OP_SUM] = lb_sum, [LB_OP_MEAN] = lb_mean, [LB_OP_MAX] = lb_max, [LB_OP_MIN] = lb_min,
	[LB_OP_PROD] = lb_prod, [LB_OP_ALL] = lb_all, [LB_OP_ANY] = lb_any,
	[LB_OP_LOGSUMEXP] = lb_logsumexp, [LB_OP_ARGMAX] = lb_argmax, [LB_OP_ARGMIN] = lb_argmin,
};

static double param_double(const struct lbx_wire_node *node, int i)
{
	double value;
	memcpy(&value, &node->params[i], sizeof value);
	return value;
}

static lb_list shape_of(const struct lbx_wire_node *node)
{
	return (lb_list){ node->rank, node->shape };
}

/* ---- leaves and creation ---- */

static bool leaf(const struct lbx_wire_node *node, void *data, struct lbx_rebuilt *ret)
{
	int64_t n = (int64_t)node->data_bytes / lb_dtypes[node->dtype].bytes;
	ret->flat = lb_from_memory(data, (size_t)(n * lb_dtypes[node->dtype].bytes), LB_SHAPE(n),
				   (lb_dtype)node->dtype, NULL, NULL);
	ret->value = lb_as_strided(ret->flat, shape_of(node), (lb_list){ node->rank, node->strides },
				   node->offset);
	return ret->value != NULL;
}

/* Those whose elements go by their number, perhaps from a later one on. */
static lb_tensor *numbered(int op, const struct lbx_wire_node *node, int rank)
{
	struct lb_tensor *t = NULL;
	if (node->rank != rank || node->params[3] < 0 || node->params[3] > INT64_MAX / 4 ||
	    (op != LB_OP_ARANGE && !lb_dtype_is_float(node->dtype)))
		lb_fail("%.20s: its parameters make no sense", node->op);
	else
		t = lb_tensor_begin(op, (enum lb_dtype)node->dtype, rank, node->shape, 0, NULL, NULL);
	if (t)
		memcpy(t->params, node->params, sizeof t->params);
	return lb_tensor_publish(t);
}

static lb_tensor *create(int op, const struct lbx_wire_node *node)
{
	lb_dtype dtype = (lb_dtype)node->dtype;
	lb_random_key key = { (uint64_t)node->params[0] };
	switch (op) {
	case LB_OP_SCALAR: {
		double element[2] = { 0 };
		if (node->params[2])
			lb_store_int(element, dtype, node->params[1]);
		else
			lb_store_double(element, dtype, param_double(node, 0));
		return lb_from_data(element, lb_dtypes[dtype].bytes, LB_SHAPE(), dtype);
	}
	case LB_OP_FULL:
		return lb_full(shape_of(node), param_double(node, 0), dtype);
	case LB_OP_ARANGE: /* its length is in the shape: start and step may not give stop back exactly */
		return numbered(op, node, 1);
	case LB_OP_EYE:
		if (node->rank != 2)
			break;
		return lb_eye(node->shape[0], node->shape[1], node->params[0], dtype);
	case LB_OP_UNIFORM:
		if (node->params[3])
			return numbered(op, node, 1);
		return lb_random_uniform(shape_of(node), param_double(node, 1), param_double(node, 2), dtype,
					 key);
	case LB_OP_NORMAL:
		if (node->params[3])
			return numbered(op, node, 1);
		return lb_random_normal(shape_of(node), dtype, key);
	}
	lb_fail("%.20s: its parameters make no sense", node->op);
	return NULL;
}

/* ---- the rest ---- */

/* A view is laid over its input's whole buffer, since strides and offset are the buffer's. */
static lb_tensor *view(const struct lbx_wire_node *node, struct lbx_rebuilt *input, struct lbx_rebuilt *ret)
{
	if (!input->flat)
		input->flat = lb_reshape(input->value, LB_SHAPE(-1));
	ret->flat = input->flat;
	return lb_as_strided(input->flat, shape_of(node), (lb_list){ node->rank, node->strides },
			     node->offset);
}

static lb_list axes_of(uint32_t mask, int64_t axes[32])
{
	int n = 0;
	for (int i = 0; i < 32; i++) {
		if (mask & 1u << i)
			axes[n++] = i;
	}
	return (lb_list){ n, axes };
}

static lb_tensor *reduction(int op, const struct lbx_wire_node *node, lb_tensor *x)
{
	int64_t storage[32];
	bool keepdims = node->params[1] != 0;
	if (op == LB_OP_ARGMAX || op == LB_OP_ARGMIN)
		return reduce[op](x, node->params[0] < 0 ? LB_ALL_AXES : LB_AXES(node->params[0]), keepdims);
	lb_list axes = axes_of((uint32_t)node->params[0], storage);
	if (op == LB_OP_VAR)
		return lb_var(x, axes, keepdims, (int)node->params[2]);
	if (op == LB_OP_SOFTMAX)
		return lb_softmax(x, axes);
	return reduce[op](x, axes, keepdims);
}

static lb_tensor *concatenate(const struct lbx_wire_node *node, int n, struct lbx_rebuilt *const *inputs)
{
	lb_tensor **xs = malloc((size_t)n * sizeof *xs);
	if (!xs) {
		lb_fail("out of memory for %d inputs", n);
		return NULL;
	}
	for (int i = 0; i < n; i++)
		xs[i] = inputs[i]->value;
	lb_tensor *result = lb_concatenate(n, xs, (int)node->params[0]);
	free(xs);
	return result;
}

/* Quantised operations have a further input or not: biases (affine), a global scale (nvfp4). */
static int quant_inputs_needed(int op, int given)
{
	int least = op == LB_OP_QUANTIZE ? 1 : op == LB_OP_DEQUANTIZE ? 2 : 3;
	return given == least + 1 ? given : least;
}

static lb_tensor *quant(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	const int64_t *p = node->params;
	if (p[0] < LB_QUANT_AFFINE || p[0] > LB_QUANT_NVFP4 || p[1] < 0 || p[1] > 8 || p[2] < 0 || p[2] > 128 ||
	    p[3] < 0 || p[3] > 2) {
		lb_fail("%.20s: its parameters make no sense", node->op);
		return NULL;
	}
	lb_quant how = { (lb_quant_mode)p[0], (int)p[1], (int)p[2] };
	if (op == LB_OP_QUANTIZE) {
		lb_quantized q = lb_quantize(x[0], how, n == 2 ? x[1] : NULL);
		lb_tensor *const parts[] = { q.w, q.scales, q.biases };
		if (q.w && !parts[p[3]])
			lb_fail("%.20s: its parameters make no sense", node->op);
		return parts[p[3]];
	}
	int first = op == LB_OP_QUANTIZED_MATMUL, extra = first + 2;
	lb_quantized q = { .w = x[first], .scales = x[first + 1] };
	if (n > extra)
		*(how.mode == LB_QUANT_AFFINE ? &q.biases : &q.global_scale) = x[extra];
	if (op == LB_OP_DEQUANTIZE)
		return lb_dequantize(q, how, (lb_dtype)node->dtype);
	return lb_quantized_matmul(x[0], q, how, p[3] != 0);
}

static int inputs_needed(int op, int given)
{
	switch (lb_op_class(op)) {
	case LB_CLASS_LEAF:
	case LB_CLASS_CREATE:
		return 0;
	case LB_CLASS_BINARY:
	case LB_CLASS_GATHER:
		return 2;
	case LB_CLASS_TERNARY:
		return 3;
	case LB_CLASS_MATMUL:
		return op == LB_OP_ADDMM ? 3 : 2;
	case LB_CLASS_CONCATENATE:
	case LB_CLASS_KERNEL:
	case LB_CLASS_FUSED:
		return given;
	case LB_CLASS_VIEW: /* the further inputs of `depends` come first, and that is all */
		return op == LB_OP_DEPENDS && given > 1 ? given : 1;
	case LB_CLASS_QUANT:
		return quant_inputs_needed(op, given);
	case LB_CLASS_UPDATE:
		return op == LB_OP_SLICE_UPDATE || op == LB_OP_SLICE_ADD ? 2 : 3;
	default:
		return 1;
	}
}

lb_tensor *lbx_rebuild_elementwise(int op, lb_dtype dtype, lb_tensor *const *x)
{
	switch (op) {
	case LB_OP_ASTYPE:
		return lb_astype(x[0], dtype);
	case LB_OP_WHERE:
		return lb_where(x[0], x[1], x[2]);
	case LB_OP_CLIP:
		return lb_clip(x[0], x[1], x[2]);
	default:
		return unary[op] ? unary[op](x[0]) : binary[op](x[0], x[1]);
	}
}

static lb_tensor *compute(int op, const struct lbx_wire_node *node, int n, struct lbx_rebuilt *const *inputs,
			  struct lbx_rebuilt *ret)
{
	lb_tensor *x[LBX_MODEL_INPUTS] = { 0 };
	for (int i = 0; i < n && i < LBX_MODEL_INPUTS; i++)
		x[i] = inputs[i]->value;
	if (unary[op] || binary[op] || lb_op_is_elementwise(op))
		return lbx_rebuild_elementwise(op, (lb_dtype)node->dtype, x);
	switch (op) {
	case LB_OP_TRACER:
		lb_fail("it stands for an input of a function that was traced, and never has a value");
		return NULL;
	case LB_OP_DECODE:
		return lb_decode(x[0], (lb_encoding)node->params[0], shape_of(node), (lb_dtype)node->dtype);
	case LB_OP_ADDMM:
		return lb_addmm(x[2], x[0], x[1], param_double(node, 0), param_double(node, 1));
	case LB_OP_TAKE:
		return lb_take(x[0], x[1], (int)node->params[0]);
	case LB_OP_TAKE_ALONG:
		return lb_take_along_axis(x[0], x[1], (int)node->params[0]);
	}
	switch (lb_op_class(op)) {
	case LB_CLASS_CREATE:
		return create(op, node);
	case LB_CLASS_VIEW:
		return view(node, inputs[0], ret);
	case LB_CLASS_REDUCE:
	case LB_CLASS_SOFTMAX:
		return reduction(op, node, x[0]);
	case LB_CLASS_CONCATENATE:
		return concatenate(node, n, inputs);
	case LB_CLASS_KERNEL:
		return lbx_rebuild_model(op, node, n, x);
	case LB_CLASS_QUANT:
		return quant(op, node, n, x);
	case LB_CLASS_UPDATE:
		return lbx_rebuild_update(op, node, x);
	default:
		lb_fail("%.20s: a replay cannot compute it", node->op);
		return NULL;
	}
}

int lbx_op_by_name(const char *name)
{
	for (int op = 0; op < LB_OPS; op++) {
		if (strncmp(lb_ops[op].name, name, sizeof lb_ops[op].name) == 0)
			return op;
	}
	return -1;
}

bool lbx_rebuild(const struct lbx_wire_node *node, void *data, int n_inputs,
		 struct lbx_rebuilt *const *inputs, struct lbx_rebuilt *ret)
{
	int op = lbx_op_by_name(node->op);
	if (op < 0)
		return lb_fail("%.20s: this version of the replay does not know the operation", node->op);
	*ret = (struct lbx_rebuilt){ 0 };
	if (op == LB_OP_DATA)
		return leaf(node, data, ret);
	if (n_inputs != inputs_needed(op, n_inputs))
		return lb_fail("%.20s: %d input%s no sense", node->op, n_inputs, LB_PLURAL(n_inputs, " makes", "s make"));
	ret->value = op == LB_OP_FUSED ? lbx_rebuild_fused(node, data, n_inputs, inputs)
				       : compute(op, node, n_inputs, inputs, ret);
	if (!ret->value)
		return false;
	const struct lb_tensor *t = ret->value;
	if (t->dtype == node->dtype && lb_same_shape(t->rank, t->shape, node->rank, node->shape))
		return true;
	char got[LB_SHAPE_TEXT], claimed[LB_SHAPE_TEXT];
	return lb_fail("%.20s: its inputs give %s %s, its record says %s %s: the record is damaged", node->op,
		       lb_dtypes[t->dtype].name, lb_shape_text(t->rank, t->shape, got),
		       lb_dtypes[node->dtype].name, lb_shape_text(node->rank, node->shape, claimed));
}
