#include "inspect/replay/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "inspect/replay/demand.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/describe.h"
#include "tensors/recipe.h"

enum { NONE = UINT32_MAX };

struct lowering {
	const struct lbx_graph *from;
	struct lbx_lowered *to;
	uint32_t max_nodes;
	char **whys; /* by node of `from`: why it has no value, or NULL */
};

bool lbx_needs_lowering(const struct lbx_tensor *t)
{
	return t->of && t->of->ops->recipe;
}

/* ---- nodes ---- */

/* A new node with the name of another runtime's tensor; it has no inputs yet. */
static struct lbx_graph_node *add_node(struct lowering *l, const struct lbx_tensor *named, enum lb_dtype dtype)
{
	struct lbx_graph *g = &l->to->graph;

	if (g->n >= l->max_nodes) {
		lb_fail_because(LB_TOO_LARGE, "the graph has more than %u steps", l->max_nodes);
		return NULL;
	}
	if (!lb_reserve(g->nodes, g->nodes_room, g->n + 1) || !lb_reserve(g->order, g->order_room, g->n + 1)) {
		lb_fail("out of memory for a graph of %u nodes", g->n);
		return NULL;
	}
	struct lbx_graph_node *node = &g->nodes[g->n];
	*node = (struct lbx_graph_node){ .first_input = g->n_inputs };
	struct lbx_tensor *t = &node->tensor;
	*t = (struct lbx_tensor){
		.of = named->of, .id = named->id, .state = named->state, .dtype = dtype, .layout_known = true
	};
	memcpy(t->name, named->name, sizeof t->name);
	g->order[g->n_ordered++] = g->n++;
	return node;
}

static bool add_input(struct lowering *l, uint32_t input)
{
	struct lbx_graph *g = &l->to->graph;

	if (!lb_reserve(g->inputs, g->inputs_room, g->n_inputs + 1))
		return lb_fail("out of memory for a graph of %u nodes", g->n);
	g->inputs[g->n_inputs++] = input;
	g->nodes[g->n - 1].tensor.n_inputs++;
	return true;
}

static void set_layout(struct lbx_tensor *t, int rank, const int64_t *shape, const int64_t *strides, int64_t offset)
{
	t->rank = rank;
	t->size = 1;
	t->offset = offset;
	for (int i = 0; i < rank; i++) {
		t->axes.few.shape[i] = shape[i];
		t->axes.few.strides[i] = strides[i];
		t->size *= shape[i];
	}
}

static void set_operation(struct lbx_tensor *t, int op)
{
	t->op = lb_ops[op].name;
	t->op_class = lb_op_class(op);
}

/* A part of what lies in the program's memory, as elements of a dtype. */
static struct lbx_graph_node *add_leaf(struct lowering *l, const struct lbx_tensor *named, enum lb_dtype dtype)
{
	struct lbx_graph_node *node = add_node(l, named, dtype);

	if (!node)
		return NULL;
	node->is_leaf = true;
	node->tensor.state = LBX_READY;
	node->tensor.data = named->data;
	node->tensor.buffer_id = named->buffer_id;
	node->tensor.buffer_bytes = named->buffer_bytes;
	node->tensor.buffer_capacity = named->buffer_capacity;
	set_operation(&node->tensor, LB_OP_DATA);
	return node;
}

/* ---- leaves ---- */

/* Blocks are read as bytes, and decoded there: they must lie along the last axis. */
static bool add_blocks(struct lowering *l, const struct lbx_tensor *t, int rank, const int64_t *shape,
		       const int64_t *strides, int64_t offset, uint32_t *ret)
{
	const struct lbx_encoding *e = t->encoding;
	int64_t bytes[LB_MAX_RANK], apart[LB_MAX_RANK];
	int last = rank - 1;

	if (!e->decode || e->elements < 2)
		return lb_fail("tensor #%llu is %s: a replay cannot decode it", (unsigned long long)t->id, e->name);
	if (rank < 1 || rank > LB_MAX_RANK || strides[last] != 1 || shape[last] % e->elements || offset % e->elements)
		return lb_fail("tensor #%llu: its blocks do not lie along its last axis", (unsigned long long)t->id);
	for (int i = 0; i < rank; i++) {
		if (i < last && shape[i] > 1 && strides[i] % e->elements)
			return lb_fail("tensor #%llu: its rows do not begin where blocks do",
				       (unsigned long long)t->id);
		bytes[i] = i < last ? shape[i] : shape[i] / e->elements * e->bytes;
		apart[i] = i < last ? strides[i] / e->elements * e->bytes : 1;
	}
	struct lbx_graph_node *leaf = add_leaf(l, t, LB_U8);
	if (!leaf)
		return false;
	set_layout(&leaf->tensor, rank, bytes, apart, offset / e->elements * e->bytes);
	leaf->tensor.encoding = e->as_bytes;
	struct lbx_graph_node *decoded = add_node(l, t, LB_F32);
	if (!decoded)
		return false;
	struct lbx_strided dense;
	lbx_strided_dense(rank, shape, &dense);
	set_layout(&decoded->tensor, rank, shape, dense.strides, 0);
	set_operation(&decoded->tensor, LB_OP_DECODE);
	decoded->tensor.params[0] = e->kernel;
	*ret = l->to->graph.n - 1;
	return add_input(l, l->to->graph.n - 2);
}

static bool add_memory(struct lowering *l, const struct lbx_tensor *t, int rank, const int64_t *shape,
		       const int64_t *strides, int64_t offset, uint32_t *ret)
{
	if (t->encoding)
		return add_blocks(l, t, rank, shape, strides, offset, ret);
	struct lbx_graph_node *leaf = add_leaf(l, t, t->dtype);
	if (leaf) {
		set_layout(&leaf->tensor, rank, shape, strides, offset);
		leaf->constant = t->local;
	}
	*ret = l->to->graph.n - 1;
	return leaf != NULL;
}

/* ---- recipes ---- */

static void describe_input(const struct lowering *l, uint32_t node, struct lbx_step *ret)
{
	const struct lbx_graph_node *from = &l->from->nodes[node];
	struct lbx_strided layout;

	*ret = (struct lbx_step){ .op = LB_OP_DATA, .memory = &from->tensor, .why = l->whys[node] };
	if (ret->why)
		return;
	const struct lbx_graph_node *to = &l->to->graph.nodes[l->to->results[node]];
	ret->doubt = to->doubt;
	lbx_strided_of(to, &layout);
	ret->dtype = to->tensor.dtype;
	ret->rank = layout.rank;
	ret->offset = layout.offset;
	memcpy(ret->shape, layout.shape, sizeof ret->shape);
	memcpy(ret->strides, layout.strides, sizeof ret->strides);
	if (!from->is_leaf)
		ret->memory = NULL;
}

static bool add_constant(struct lowering *l, const struct lbx_tensor *t, struct lbx_step *s)
{
	struct lbx_lowered *to = l->to;

	if (!lb_reserve(to->constants, to->constants_room, to->n_constants + 1))
		return lb_fail("out of memory for a graph of %u nodes", to->graph.n);
	struct lbx_graph_node *node = add_leaf(l, t, s->dtype);
	if (!node)
		return false;
	node->constant = to->constants[to->n_constants++] = s->constant;
	s->constant = NULL;
	set_layout(&node->tensor, s->rank, s->shape, s->strides, 0);
	node->tensor.data = 0;
	node->tensor.buffer_bytes = node->tensor.size * lbx_dtype_bytes(s->dtype);
	return true;
}

/* Step i, over nodes that the steps before it have become. */
static bool add_step(struct lowering *l, const struct lbx_tensor *t, struct lbx_recipe *r, uint32_t i, uint32_t *nodes)
{
	struct lbx_step *s = &r->steps[i];

	if (s->op == LB_OP_DATA) {
		bool ok = s->constant ? add_constant(l, t, s)
				      : add_memory(l, s->memory, s->rank, s->shape, s->strides, s->offset, &nodes[i]);
		nodes[i] = l->to->graph.n - 1;
		return ok;
	}
	struct lbx_graph_node *node = add_node(l, t, s->dtype);
	if (!node)
		return false;
	nodes[i] = l->to->graph.n - 1;
	node->doubt = (uint8_t)s->doubt;
	set_operation(&node->tensor, s->op);
	memcpy(node->tensor.params, s->params, sizeof s->params);
	set_layout(&node->tensor, s->rank, s->shape, s->strides, s->offset);
	for (uint32_t k = 0; k < s->n_inputs; k++)
		if (!add_input(l, nodes[r->inputs[s->first_input + k]]))
			return false;
	return true;
}

static bool add_inputs(const struct lowering *l, const struct lbx_graph_node *node, struct lbx_recipe *r)
{
	struct lbx_step input;

	for (uint32_t i = 0; i < node->tensor.n_inputs; i++) {
		describe_input(l, l->from->inputs[node->first_input + i], &input);
		if (!lbx_recipe_add_input(r, &input))
			return false;
	}
	return true;
}

/* The steps of one node; *ret: which node of the new graph is its value. */
static bool add_steps(struct lowering *l, const struct lbx_graph_node *node, struct lbx_recipe *r, uint32_t *ret)
{
	const struct lbx_tensor *t = &node->tensor;
	int result;

	if (!add_inputs(l, node, r) || !t->of->ops->recipe(t->of, t, r, &result) || result == LBX_FAIL)
		return false;
	lbx_recipe_settle(r);
	lb_auto_free uint32_t *nodes = malloc((r->n + 1) * sizeof *nodes);
	if (!nodes)
		return lb_fail("out of memory for a recipe of %u steps", r->n);
	for (uint32_t i = 0; i < r->n; i++) {
		if (i < t->n_inputs)
			nodes[i] = l->to->results[l->from->inputs[node->first_input + i]];
		else if (!add_step(l, t, r, i, nodes))
			return false;
	}
	*ret = nodes[result];
	return true;
}

/* ---- the whole ---- */

/* What would help. */
static const char *advice(enum lbx_state state)
{
	return state == LBX_OVERWRITTEN ? ": stop the program before that, or node by node"
	       : state == LBX_UNSURE    ? ": let that end, and look again"
					: "";
}

static bool lower_leaf(struct lowering *l, const struct lbx_tensor *t, uint32_t *ret)
{
	char why[256], name[256];

	if (t->state != LBX_READY) {
		lbx_describe(t, name, sizeof name);
		lbx_describe_state(t, why, sizeof why);
		return lb_fail("it needs %s, which %s%s", name, why, advice(t->state));
	}
	if (t->rank > LB_MAX_RANK)
		return lb_fail("tensor #%llu has %d axes: a replay takes at most %d", (unsigned long long)t->id,
			       t->rank, LB_MAX_RANK);
	return add_memory(l, t, t->rank, lbx_shape(t), lbx_strides(t), t->offset, ret);
}

/* What is the runtime's stays as it is, over what its inputs have become. */
static bool copy_node(struct lowering *l, const struct lbx_graph_node *node, uint32_t *ret)
{
	struct lbx_graph_node *copy;

	for (uint32_t i = 0; i < node->tensor.n_inputs; i++) {
		uint32_t input = l->from->inputs[node->first_input + i];
		if (l->whys[input])
			return lb_fail("%s", l->whys[input]);
	}
	if (!lbx_can_replay(&node->tensor))
		return false;
	copy = add_node(l, &node->tensor, node->tensor.dtype);
	if (!copy)
		return false;
	copy->tensor = node->tensor;
	copy->tensor.n_inputs = 0;
	*ret = l->to->graph.n - 1;
	for (uint32_t i = 0; i < node->tensor.n_inputs; i++)
		if (!add_input(l, l->to->results[l->from->inputs[node->first_input + i]]))
			return false;
	return true;
}

static bool lower_node(struct lowering *l, uint32_t i)
{
	const struct lbx_graph_node *node = &l->from->nodes[i];
	struct lbx_graph *g = &l->to->graph;
	uint32_t n = g->n, n_ordered = g->n_ordered, n_constants = l->to->n_constants;
	uint64_t n_inputs = g->n_inputs;
	struct lbx_recipe r = { 0 };

	bool ok = node->is_leaf                       ? lower_leaf(l, &node->tensor, &l->to->results[i])
		  : lbx_needs_lowering(&node->tensor) ? add_steps(l, node, &r, &l->to->results[i])
						      : copy_node(l, node, &l->to->results[i]);
	lbx_recipe_deinit(&r);
	if (ok)
		return true;
	enum lb_cause cause = lb_error_cause();
	if (cause == LB_TOO_LARGE || i == 0)
		return false;
	/* it may not be needed */
	l->to->results[i] = NONE;
	l->whys[i] = strdup(lb_error_message());
	if (!l->whys[i])
		return false;
	lb_clear_error();
	g->n = n;
	g->n_ordered = n_ordered;
	g->n_inputs = n_inputs;
	while (l->to->n_constants > n_constants)
		free(l->to->constants[--l->to->n_constants]);
	return true;
}

/* Plans begin at node 0: the last one, which no other one has for an input. */
static bool put_first(struct lowering *l)
{
	struct lbx_graph *g = &l->to->graph;
	const struct lbx_tensor *t = &l->from->nodes[0].tensor;
	uint32_t result = l->to->results[0];
	struct lbx_strided layout;

	lbx_strided_of(&g->nodes[result], &layout);
	enum lb_dtype dtype = g->nodes[result].tensor.dtype;
	uint8_t doubt = g->nodes[result].doubt;
	struct lbx_graph_node *node = add_node(l, t, dtype);
	if (!node)
		return false;
	node->doubt = doubt;
	set_operation(&node->tensor, LB_OP_AS_STRIDED);
	set_layout(&node->tensor, layout.rank, layout.shape, layout.strides, layout.offset);
	if (!add_input(l, result))
		return false;
	g->nodes[0] = g->nodes[--g->n];
	g->order[g->n_ordered - 1] = 0;
	l->to->results[0] = 0;
	return true;
}

bool lbx_lower(const struct lbx_graph *graph, uint32_t max_nodes, struct lbx_lowered *ret)
{
	struct lowering l = { .from = graph, .to = ret, .max_nodes = max_nodes };

	*ret = (struct lbx_lowered){ .results = calloc(graph->n, sizeof *ret->results) };
	l.whys = calloc(graph->n, sizeof *l.whys);
	bool ok = (ret->results && l.whys) || lb_fail("out of memory for a graph of %u nodes", graph->n);
	ok = ok && add_node(&l, &graph->nodes[0].tensor, LB_F32); /* the place of the first */
	ret->graph.n_ordered = 0;
	for (uint32_t i = 0; ok && i < graph->n; i++)
		ok = lower_node(&l, graph->order[i]);
	ok = ok && put_first(&l);
	for (uint32_t i = 0; l.whys && i < graph->n; i++)
		free(l.whys[i]);
	free(l.whys);
	if (!ok)
		lbx_lowered_deinit(ret);
	return ok;
}

bool lbx_lowered_choose(struct lbx_lowered *lowered, uint32_t from_end)
{
	struct lbx_graph *g = &lowered->graph;
	struct lbx_tensor *first = &g->nodes[0].tensor;
	struct lbx_strided layout;

	if (from_end == 0 || from_end >= g->n)
		return false;
	uint32_t node = g->n - from_end;
	lbx_strided_of(&g->nodes[node], &layout);
	first->dtype = g->nodes[node].tensor.dtype;
	set_layout(first, layout.rank, layout.shape, layout.strides, layout.offset);
	g->inputs[g->nodes[0].first_input] = node;
	return true;
}

void lbx_lowered_deinit(struct lbx_lowered *lowered)
{
	lbx_graph_deinit(&lowered->graph);
	for (uint32_t i = 0; i < lowered->n_constants; i++)
		free(lowered->constants[i]);
	free(lowered->constants);
	free(lowered->results);
	*lowered = (struct lbx_lowered){ 0 };
}
