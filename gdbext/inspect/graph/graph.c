#include "inspect/graph/graph.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/number_map.h"
#include "base/vector.h"

enum { NOT_YET = UINT32_MAX };

struct frame {
	uint32_t node;
	uint32_t next; /* input to visit */
};

struct walk {
	struct lbx_context *context;
	struct lbx_graph *graph;
	uint32_t max_nodes;
	struct lbx_number_map known; /* to indices of nodes */
	bool *done; /* by node: all its inputs are in the order */
	uint64_t done_room;
	struct frame *stack;
	uint32_t depth;
	uint64_t stack_room;
};

static bool has_recipes(const struct lbx_tensor *t)
{
	return t->of && t->of->ops->recipe;
}

/* Nothing can give its value again. */
static bool is_gone(const struct lbx_tensor *t)
{
	bool never_computed = t->op_class == LB_CLASS_LEAF && t->state < LBX_READY && has_recipes(t);

	return t->n_inputs == 0 && (t->state > LBX_READY || never_computed);
}

static bool check_tensor(const struct lbx_tensor *t)
{
	unsigned long long id = t->id;
	char why[256];

	if (t->torn)
		return lb_fail("tensor #%llu was being changed: its record cannot be trusted", id);
	if (t->state != LBX_READY && t->state != LBX_FREED && (t->flags & LB_FLAG_DETACHED))
		return lb_fail("tensor #%llu has neither a value nor inputs: its record is damaged", id);
	if (is_gone(t) && !has_recipes(t)) {
		lbx_describe_state(t, why, sizeof why);
		return lb_fail("tensor #%llu %s", id, why);
	}
	return true;
}

/* Room among `inputs` for those of a node; which ones they are is filled in on the way. */
static bool reserve_inputs(struct lbx_graph *g, uint32_t n)
{
	if (!lb_reserve(g->inputs, g->inputs_room, g->n_inputs + n))
		return lb_fail("out of memory for %llu inputs", (unsigned long long)g->n_inputs + n);
	for (uint32_t i = 0; i < n; i++)
		g->inputs[g->n_inputs++] = NOT_YET;
	return true;
}

/* A new node, whose inputs are to be walked. */
static bool push(struct walk *w, const struct lbx_tensor *t)
{
	struct lbx_graph *g = w->graph;
	if (g->n == w->max_nodes)
		return lb_fail_because(LB_TOO_LARGE, "the graph has more than %u nodes", w->max_nodes);
	if (!check_tensor(t))
		return false;
	if (!lb_reserve(g->nodes, g->nodes_room, g->n + 1) || !lb_reserve(g->order, g->order_room, g->n + 1) ||
	    !lb_reserve(w->done, w->done_room, g->n + 1) || !lb_reserve(w->stack, w->stack_room, w->depth + 1))
		return lb_fail("out of memory for a graph of %u nodes", g->n);
	struct lbx_graph_node *node = &g->nodes[g->n];
	node->tensor = *t;
	node->is_leaf = t->state == LBX_READY || is_gone(t);
	node->constant = NULL;
	node->first_input = g->n_inputs;
	if (!node->is_leaf && !reserve_inputs(g, t->n_inputs))
		return false;
	w->done[g->n] = false;
	w->stack[w->depth++] = (struct frame){ g->n++, 0 };
	return g->n % 4096 != 0 || lbx_progress(w->context->out, "reading the graph", g->n, 0);
}

/* Looks at the next input of the topmost node: known, or a node to walk first. */
static bool descend(struct walk *w)
{
	struct frame *frame = &w->stack[w->depth - 1];
	const struct lbx_graph_node *node = &w->graph->nodes[frame->node];
	uint32_t i = frame->next++;
	struct lbx_tensor input;
	if (!lbx_tensor_input(&node->tensor, i, &input)) {
		if (lb_ok())
			lb_fail("it is gone");
		lb_fail_within("input %u of #%llu (%s)", i, (unsigned long long)node->tensor.id, node->tensor.op);
		return false;
	}
	bool is_new;
	struct lbx_number *known = lbx_number_of_tensor(&w->known, &input, &is_new);
	if (!known)
		return false;
	if (!is_new && !w->done[known->value])
		return lb_fail("the graph leads from #%llu back to itself: its records are damaged",
			       (unsigned long long)input.id);
	if (is_new)
		known->value = w->graph->n;
	w->graph->inputs[node->first_input + i] = known->value;
	return !is_new || push(w, &input);
}

static bool walk(struct walk *w, const struct lbx_tensor *t)
{
	bool is_new;
	if (!lbx_number_of_tensor(&w->known, t, &is_new) || !push(w, t))
		return false;
	while (w->depth) {
		const struct frame *frame = &w->stack[w->depth - 1];
		const struct lbx_graph_node *node = &w->graph->nodes[frame->node];
		if (!node->is_leaf && frame->next < node->tensor.n_inputs) {
			if (!descend(w))
				return false;
			continue;
		}
		w->done[frame->node] = true;
		w->graph->order[w->graph->n_ordered++] = frame->node;
		w->depth--;
	}
	return true;
}

bool lbx_graph_collect(struct lbx_context *context, const struct lbx_tensor *t, uint32_t max_nodes,
		       struct lbx_graph *ret)
{
	*ret = (struct lbx_graph){ 0 };
	struct walk w = { .context = context, .graph = ret, .max_nodes = max_nodes };
	bool ok = walk(&w, t);
	lbx_number_map_deinit(&w.known);
	free(w.done);
	free(w.stack);
	if (!ok)
		lbx_graph_deinit(ret);
	return ok;
}

void lbx_graph_deinit(struct lbx_graph *graph)
{
	free(graph->nodes);
	free(graph->order);
	free(graph->inputs);
	*graph = (struct lbx_graph){ 0 };
}
