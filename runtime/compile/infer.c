/* Shapeless functions: a node over operands of other sizes. Only operations that say themselves
 * what becomes of any sizes are allowed; one that was given sizes, or that depends on them in
 * what it does (squeeze), would repeat those of the trace. */
#include <string.h>

#include "base/caller.h"
#include "compile/image.h"
#include "graph/shape.h"

/* The axes of a transposition: views keep strides, not axes. -1: two axes look alike. */
static int axis_of(const struct lb_tensor *base, const struct lb_tensor *t, int i)
{
	int found = -1;
	for (int k = 0; k < base->rank; k++) {
		if (base->shape[k] != t->shape[i] || base->strides[k] != t->strides[i])
			continue;
		if (found >= 0)
			return -1;
		found = k;
	}
	return found;
}

static bool axes_of(const struct lb_tensor *base, const struct lb_tensor *t, int64_t *axes)
{
	for (int i = 0; i < t->rank; i++) {
		axes[i] = axis_of(base, t, i);
		if (axes[i] < 0)
			return false;
	}
	return true;
}

static bool is_allowed(const struct lb_tensor *t)
{
	int64_t axes[LB_MAX_RANK];
	switch (lb_op_class(t->op)) {
	case LB_CLASS_LEAF:
	case LB_CLASS_UNARY:
	case LB_CLASS_BINARY:
	case LB_CLASS_TERNARY:
	case LB_CLASS_REDUCE:
	case LB_CLASS_SOFTMAX:
	case LB_CLASS_MATMUL:
	case LB_CLASS_CONCATENATE:
		return true;
	case LB_CLASS_CREATE:
		return t->size == 1;
	case LB_CLASS_VIEW:
		return t->op == LB_OP_TRANSPOSE && axes_of(lb_tensor_input(t, 0), t, axes);
	default:
		return t->op == LB_OP_TAKE || t->op == LB_OP_RMS_NORM || t->op == LB_OP_LAYER_NORM ||
			t->op == LB_OP_ATTENTION || t->op == LB_OP_ROPE || t->op == LB_OP_CONTIGUOUS;
	}
}

bool lb_infer_allows(const char *name, const struct lb_tensor *t, bool depends)
{
	char where[256], shape[LB_SHAPE_TEXT];
	if (is_allowed(t) || (!depends && lb_op_class(t->op) != LB_CLASS_CREATE))
		return true;
	return lb_fail("compile(%s): a shapeless function cannot have the operation %s at %s, which "
		       "gives %s: it may depend on the sizes in the trace; compile it without the option", name,
		       lb_ops[t->op].name,
		       lb_describe_caller((const void *)(uintptr_t)t->site, where, sizeof where),
		       lb_shape_text(t->rank, t->shape, shape));
}

void lb_infer_prepare(struct lb_node_image *node, const struct lb_tensor *t)
{
	if (t->op == LB_OP_TRANSPOSE)
		axes_of(lb_tensor_input(t, 0), t, node->axes);
}

/* An operation that broadcasts its operands, whatever it computes. */
static struct lb_tensor *elementwise(const struct lb_node_image *node, struct lb_tensor *const *x,
				     const void *site)
{
	const struct lb_tensor *like = &node->like;
	int rank = 0;
	int64_t shape[LB_MAX_RANK];
	for (uint32_t i = 0; i < node->n_operands; i++) {
		if (!lb_broadcast(lb_ops[like->op].name, rank, shape, x[i]->rank, x[i]->shape, &rank, shape))
			return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(like->op, (enum lb_dtype)like->dtype, rank, shape,
					      (int)node->n_operands, x, site);
	if (!t)
		return NULL;
	memcpy(t->params, like->params, sizeof t->params);
	if (node->program)
		lb_program_retain(node->program);
	return lb_tensor_publish(t);
}

static lb_tensor *reduction(const struct lb_tensor *like, lb_tensor *x)
{
	typedef lb_tensor *reduce_fn(lb_tensor *, lb_list, bool);
	static reduce_fn *const functions[LB_OPS] = {
		[LB_OP_SUM] = lb_sum, [LB_OP_MEAN] = lb_mean, [LB_OP_MAX] = lb_max, [LB_OP_MIN] = lb_min,
		[LB_OP_PROD] = lb_prod, [LB_OP_ALL] = lb_all, [LB_OP_ANY] = lb_any,
		[LB_OP_LOGSUMEXP] = lb_logsumexp, [LB_OP_ARGMAX] = lb_argmax, [LB_OP_ARGMIN] = lb_argmin,
	};
	int64_t axes[LB_MAX_RANK];
	int n = 0;
	bool keepdims = like->params[1] != 0;
	if (like->op == LB_OP_ARGMAX || like->op == LB_OP_ARGMIN)
		return functions[like->op](x, like->params[0] < 0 ? LB_ALL_AXES : LB_AXES(like->params[0]),
					   keepdims);
	for (int i = 0; i < LB_MAX_RANK; i++) {
		if (like->params[0] & (int64_t)1 << i)
			axes[n++] = i;
	}
	if (like->op == LB_OP_SOFTMAX)
		return lb_softmax(x, (lb_list){ n, axes });
	if (like->op == LB_OP_VAR)
		return lb_var(x, (lb_list){ n, axes }, keepdims, (int)like->params[2]);
	return functions[like->op](x, (lb_list){ n, axes }, keepdims);
}

static lb_tensor *norm(const struct lb_tensor *like, struct lb_tensor *const *x)
{
	lb_tensor *weight = like->params[1] & 1 ? x[1] : NULL;
	lb_tensor *bias = like->params[1] & 2 ? x[weight ? 2 : 1] : NULL;
	if (like->op == LB_OP_RMS_NORM)
		return lb_rms_norm(x[0], weight, lb_param_double(like, 0));
	return lb_layer_norm(x[0], weight, bias, lb_param_double(like, 0));
}

static lb_tensor *infer(const struct lb_node_image *node, struct lb_tensor *const *x)
{
	const struct lb_tensor *like = &node->like;
	const int64_t *params = like->params;
	switch (like->op) {
	case LB_OP_MATMUL:
		return lb_matmul(x[0], x[1]);
	case LB_OP_ADDMM:
		return lb_addmm(x[2], x[0], x[1], lb_param_double(like, 0), lb_param_double(like, 1));
	case LB_OP_CONCATENATE:
		return lb_concatenate((int)node->n_operands, x, (int)params[0]);
	case LB_OP_TRANSPOSE:
		return lb_transpose(x[0], (lb_list){ like->rank, node->axes });
	case LB_OP_CONTIGUOUS:
		return lb_contiguous(x[0]);
	case LB_OP_TAKE:
		return lb_take(x[0], x[1], (int)params[0]);
	case LB_OP_RMS_NORM:
	case LB_OP_LAYER_NORM:
		return norm(like, x);
	case LB_OP_ROPE:
		return lb_rope(x[0], params[0] < 0 ? -params[0] : params[0], params[0] < 0,
			       lb_param_double(like, 1), lb_param_double(like, 2), params[3]);
	case LB_OP_ATTENTION:
		return lb_attention(x[0], x[1], x[2], lb_param_double(like, 0), params[1] != 0,
				    node->n_operands > 3 ? x[3] : NULL);
	default:
		return reduction(like, x[0]);
	}
}

struct lb_tensor *lb_infer(const struct lb_node_image *node, struct lb_tensor *const *x,
			   const void *site)
{
	struct lb_self *self = lb_self();
	uint32_t stream = self->stream;
	self->stream = node->like.stream;
	bool broadcasts = lb_op_is_elementwise(node->like.op) || node->like.op == LB_OP_FUSED;
	struct lb_tensor *t = broadcasts ? elementwise(node, x, site) : infer(node, x);
	self->stream = stream;
	lb_fail_site(site);
	return t;
}
