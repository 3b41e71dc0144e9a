/* Shapeless functions: a node over operands of other sizes. Only operations that say themselves
 * what becomes of any sizes are allowed; one that was given sizes, or that depends on them in
 * what it does (squeeze), would repeat those of the trace. */
#include <string.h>

#include "base/caller.h"
#include "compile/image.h"
#include "graph/shape.h"
#include "ops/operation.h"

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
	case LB_CLASS_CREATE: return t->size == 1;
	case LB_CLASS_VIEW: return t->op == LB_OP_TRANSPOSE && axes_of(lb_tensor_input(t, 0), t, axes);
	default: return lb_operations[t->op].any_sizes;
	}
}

bool lb_infer_allows(const char *name, const struct lb_tensor *t, bool depends)
{
	char where[256], shape[LB_SHAPE_TEXT];
	if (is_allowed(t) || (!depends && lb_op_class(t->op) != LB_CLASS_CREATE))
		return true;
	return lb_fail("compile(%s): a shapeless function cannot have the operation %s at %s, which "
		       "gives %s: it may depend on the sizes in the trace; compile it without .shapeless",
		       name, lb_ops[t->op].name,
		       lb_describe_caller((const void *)(uintptr_t)t->site, where, sizeof where),
		       lb_shape_text(t->rank, t->shape, shape));
}

void lb_infer_prepare(struct lb_node_image *node, const struct lb_tensor *t)
{
	if (t->op == LB_OP_TRANSPOSE)
		axes_of(lb_tensor_input(t, 0), t, node->axes);
}

/* A program that goes through all the elements, whatever their shape. */
static struct lb_tensor *fused(const struct lb_node_image *node, const struct lb_recipe *r)
{
	lb_program_retain(node->program);
	struct lb_tensor *t = lb_remake_broadcast(r);
	if (!t)
		lb_program_release(node->program);
	return t;
}

struct lb_tensor *lb_infer(const struct lb_node_image *node, struct lb_tensor *const *x, const void *site)
{
	const struct lb_tensor *like = &node->like;
	struct lb_recipe r = { .op = like->op,
			       .dtype = (enum lb_dtype)like->dtype,
			       .shape = lb_shape_of(like),
			       .params = like->params,
			       .n = (int)node->n_operands,
			       .x = x,
			       .site = site };
	struct lb_self *self = lb_self();
	uint32_t stream = self->stream;
	self->stream = like->stream;
	struct lb_tensor *t = like->op == LB_OP_FUSED       ? fused(node, &r)
			      : like->op == LB_OP_TRANSPOSE ? lb_transpose(x[0], (lb_list){ like->rank, node->axes })
							    : lb_remake(&r);
	self->stream = stream;
	lb_fail_site(site);
	return t;
}
