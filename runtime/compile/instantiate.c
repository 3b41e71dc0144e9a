#include <stdlib.h>
#include <string.h>

#include "compile/image.h"
#include "graph/shape.h"
#include "probes.h"

/* The graph that one call makes. */
struct instance {
	const struct lb_image *image;
	lb_tensor *const *in;
	struct lb_tensor **made;     /* by node */
	struct lb_tensor **operands; /* of one node */
	bool as_traced;              /* the sizes are those of the trace */
	const void *site;
};

static struct lb_tensor *tensor_of(const struct instance *c, struct lb_value v)
{
	switch ((enum lb_value_kind)v.kind) {
	case LB_VALUE_INPUT: return c->in[v.index];
	case LB_VALUE_CAPTURED: return c->image->captured[v.index];
	default: return c->made[v.index];
	}
}

static struct lb_tensor *copy(const struct lb_node_image *node, struct lb_tensor *const *x)
{
	const struct lb_tensor *like = &node->like;
	bool is_view = lb_op_class(like->op) == LB_CLASS_VIEW;
	struct lb_tensor *t = lb_tensor_begin(like->op, (enum lb_dtype)like->dtype, like->rank, like->shape,
					      (int)node->n_operands, x, (const void *)(uintptr_t)like->site);
	if (!t)
		return NULL;
	memcpy(t->params, like->params, sizeof t->params);
	t->stream = like->stream;
	if (node->program)
		lb_program_retain(node->program);
	if (is_view) {
		memcpy(t->strides, like->strides, sizeof t->strides);
		t->offset = x[0]->offset + like->offset;
	}
	lb_tensor_publish(t);
	if (is_view)
		lb_probe_view(t->id, (uint64_t)(uintptr_t)t, t->site, x[0]->id);
	return t;
}

static bool make(struct instance *c, uint32_t index)
{
	const struct lb_node_image *node = &c->image->nodes[index];
	for (uint32_t i = 0; i < node->n_operands; i++)
		c->operands[i] = tensor_of(c, c->image->operands[node->first_operand + i]);
	const void *site = (const void *)(uintptr_t)node->like.site;
	struct lb_tensor *t = c->as_traced ? copy(node, c->operands) : lb_infer(node, c->operands, site);
	c->made[index] = t;
	if (t && node->name)
		lb_named(node->name, t);
	return t != NULL;
}

/* Results say where the call was; what is inside, where the function made it. */
static bool make_all(struct instance *c, lb_tensor **out)
{
	const struct lb_image *image = c->image;
	for (uint32_t i = 0; i < image->n_nodes; i++) {
		if (!make(c, i))
			return false;
	}
	for (uint32_t i = 0; i < image->n_out; i++) {
		struct lb_tensor *t = tensor_of(c, image->outputs[i]);
		if (image->outputs[i].kind == LB_VALUE_NODE)
			t->site = (uint64_t)(uintptr_t)c->site;
		out[i] = lb_escape(t);
		if (!out[i])
			return false;
	}
	return true;
}

static bool sizes_are_the_same(const struct lb_image *image, lb_tensor *const *in)
{
	for (uint32_t i = 0; image->shapeless && i < image->n_in; i++) {
		const struct lb_tensor *x = in[i], *like = &image->inputs[i];
		if (!lb_same_shape(x->rank, x->shape, like->rank, like->shape) ||
		    memcmp(x->strides, like->strides, x->rank * sizeof *x->strides) != 0)
			return false;
	}
	return true;
}

bool lb_image_instantiate(const struct lb_image *image, lb_tensor *const *in, lb_tensor **out, const void *site)
{
	enum { ON_STACK = 128 };
	struct lb_tensor *few[ON_STACK], **room = few;
	size_t n = (size_t)image->n_nodes + image->most_operands;
	if (n > ON_STACK && !(room = malloc(n * sizeof *room)))
		return lb_fail("compile: out of memory for a graph of %u tensors", image->n_nodes);
	struct instance c = { image, in, room, room + image->n_nodes, sizes_are_the_same(image, in), site };
	lb_scope scope = lb_scope_begin();
	bool ok = make_all(&c, out);
	lb_scope_end(&scope);
	if (room != few)
		free(room);
	for (uint32_t i = 0; !ok && i < image->n_out; i++)
		out[i] = NULL;
	return ok;
}
