/* Tracing. The function runs once on tracers, under a scope of its own; then the graph from its
 * results down to the tracers is copied out of the tensors' records, and the tensors go.
 *
 * Of the tensors of the trace (graph/order.h), the ones that depend on no tracer are captured as they
 * are, together with what they need, like any older tensor: their value is computed at most once,
 * and stays, since the image holds them. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "compile/image.h"
#include "graph/order.h"

struct capture {
	struct lb_image *image;
	const struct lb_tracing *tracing;
	bool shapeless;
	struct lb_order order;
	uint32_t captured_room, nodes_room, operands_room;
};

static bool no_memory(const struct capture *c)
{
	return lb_fail("compile: out of memory for a graph of %u tensors", c->order.n);
}

static void note(struct lb_met *met, struct lb_value v)
{
	met->value = v.index << 2 | v.kind;
	met->has_value = true;
}

/* The value of a tensor that has been walked to; an independent one is captured now. */
static bool value_of(struct capture *c, struct lb_tensor *t, struct lb_value *ret)
{
	struct lb_image *image = c->image;
	struct lb_met *met = lb_order_find(&c->order, t);
	if (lb_is_tracer_of(c->tracing, t)) {
		*ret = (struct lb_value){ LB_VALUE_INPUT, (uint32_t)t->params[0] };
		return true;
	}
	if (!met->has_value) {
		if (!lb_reserve(image->captured, c->captured_room, image->n_captured + 1))
			return no_memory(c);
		lb_tensor_retain(t, LB_ONE_REF);
		note(met, (struct lb_value){ LB_VALUE_CAPTURED, image->n_captured });
		image->captured[image->n_captured++] = t;
	}
	*ret = (struct lb_value){ met->value & 3, met->value >> 2 };
	return true;
}

static bool add_node(struct capture *c, struct lb_tensor *t)
{
	struct lb_image *image = c->image;
	if (!lb_reserve(image->nodes, c->nodes_room, image->n_nodes + 1))
		return no_memory(c);
	struct lb_node_image *node = &image->nodes[image->n_nodes];
	*node = (struct lb_node_image){ .like = *t, .first_operand = image->n_operands, .n_operands = t->n_inputs };
	if (lb_op_class(t->op) == LB_CLASS_VIEW)
		node->like.offset -= lb_tensor_input(t, 0)->offset;
	if (c->shapeless)
		lb_infer_prepare(node, t);
	if (lb_name(t) && !(node->name = strdup(lb_name(t))))
		return lb_fail("compile: out of memory for a name");
	note(lb_order_find(&c->order, t), (struct lb_value){ LB_VALUE_NODE, image->n_nodes++ });
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		if (!lb_reserve(image->operands, c->operands_room, image->n_operands + 1))
			return no_memory(c);
		if (!value_of(c, lb_tensor_input(t, i), &image->operands[image->n_operands]))
			return false;
		image->n_operands++;
	}
	return true;
}

static bool check_output(const struct capture *c, int i, struct lb_tensor *t)
{
	const char *name = c->tracing->name;
	if (!t)
		return lb_ok() ? lb_fail("compile(%s): output %d is NULL", name, i) : false;
	if (lb_is_traced(c->tracing, t))
		return true;
	const char *own = lb_name(t);
	return lb_fail("compile(%s): output %d, tensor #%llu%s%s (%s), is not a lazy tensor that "
		       "this call of the function made",
		       name, i, (unsigned long long)t->id, own ? " " : "", own ? own : "", lb_ops[t->op].name);
}

static bool capture(struct capture *c, int n_out, lb_tensor *const *out)
{
	struct lb_image *image = c->image;
	for (int i = 0; i < n_out; i++) {
		if (!check_output(c, i, out[i]) || !lb_order_add(&c->order, out[i]))
			return false;
	}
	image->n_traced = c->order.n;
	for (uint32_t i = 0; i < c->order.n; i++) {
		struct lb_tensor *t = c->order.list[i];
		bool depends = lb_order_find(&c->order, t)->depends;
		if (c->shapeless && !lb_infer_allows(c->tracing->name, t, depends))
			return false;
		if (depends && !add_node(c, t))
			return false;
	}
	for (int i = 0; i < n_out; i++) {
		if (!value_of(c, out[i], &image->outputs[i]))
			return false;
	}
	return true;
}

/* Runs the function; its tensors belong to the scope that the caller has opened. */
static bool run_traced(struct capture *c, lb_function *fn, void *context, int n_in, lb_tensor *const *in, int n_out,
		       lb_tensor **out)
{
	lb_auto_free lb_tensor **tracers = malloc(((size_t)n_in + 1) * sizeof *tracers);
	if (!tracers)
		return lb_fail("compile: out of memory for %d inputs", n_in);
	bool ok = true;
	for (int i = 0; i < n_in && ok; i++) {
		/* a weak scalar is part of the key with its value: the function may have the thing itself */
		tracers[i] = lb_tensor_flags(in[i]) & LB_FLAG_WEAK ? in[i] : lb_tracer_new(c->tracing, i, in[i]);
		ok = tracers[i] != NULL;
	}
	if (ok) {
		bool was_ok = lb_ok();
		ok = fn(context, n_in, tracers, n_out, out);
		lb_fail_site(c->tracing->site);
		if (!ok && lb_ok())
			lb_fail("compile(%s): the function failed, and did not say why", c->tracing->name);
		/* a failed call in it, whose result was not looked at, may have gone wrong unseen */
		ok = ok && (lb_ok() || !was_ok);
		ok = ok && capture(c, n_out, out);
	}
	return ok;
}

/* Of an input that another thread may be evaluating. */
static void copy_layout(struct lb_tensor *to, const struct lb_tensor *x)
{
	to->dtype = x->dtype;
	to->rank = x->rank;
	memcpy(to->shape, x->shape, sizeof to->shape);
	memcpy(to->strides, x->strides, sizeof to->strides);
}

bool lb_image_trace(struct lb_image *ret, const struct lb_image_source *from)
{
	int n_in = from->n_in, n_out = from->n_out;
	struct lb_self *self = lb_self();
	*ret = (struct lb_image){ .n_in = (uint32_t)n_in, .n_out = (uint32_t)n_out, .shapeless = from->shapeless };
	if (!self)
		return false;
	struct lb_tracing tracing = { .call = "compile", .name = from->name, .site = from->site };
	struct capture c = {
		.image = ret, .tracing = &tracing, .shapeless = from->shapeless, .order.tracing = &tracing
	};
	lb_auto_free lb_tensor **out = calloc((size_t)n_out + 1, sizeof *out);
	ret->outputs = calloc((size_t)n_out + 1, sizeof *ret->outputs);
	ret->inputs = calloc((size_t)n_in + 1, sizeof *ret->inputs);
	bool ok = out && ret->outputs && ret->inputs;
	if (!ok)
		lb_fail("compile: out of memory for %d inputs and %d outputs", n_in, n_out);
	for (int i = 0; ok && i < n_in; i++)
		copy_layout(&ret->inputs[i], from->in[i]);
	if (ok) {
		lb_scope scope = lb_scope_begin();
		lb_tracing_begin(self, &tracing);
		ok = run_traced(&c, from->fn, from->context, n_in, from->in, n_out, out);
		lb_tracing_end(self);
		lb_scope_end(&scope);
	}
	lb_order_deinit(&c.order);
	if (!ok)
		lb_image_deinit(ret);
	return ok;
}

void lb_image_deinit(struct lb_image *image)
{
	for (uint32_t i = 0; i < image->n_captured; i++)
		lb_tensor_drop(image->captured[i], LB_ONE_REF);
	for (uint32_t i = 0; i < image->n_nodes; i++) {
		free(image->nodes[i].name);
		if (image->nodes[i].program)
			lb_program_release(image->nodes[i].program);
	}
	free(image->captured);
	free(image->nodes);
	free(image->operands);
	free(image->outputs);
	free(image->inputs);
	*image = (struct lb_image){ 0 };
}
