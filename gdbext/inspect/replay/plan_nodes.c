/* What every way of planning puts together: nodes, their inputs, their data. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "base/vector.h"
#include "inspect/replay/planner.h"

/* Room for one more node. */
static bool reserve_node(struct lbx_plan *plan)
{
	if (plan->n >= LBX_WIRE_NODES)
		return lb_fail("the replay has more than %d nodes", LBX_WIRE_NODES);
	return (lb_reserve(plan->nodes, plan->nodes_room, plan->n + 1) &&
		lb_reserve(plan->from, plan->from_room, plan->n + 1) &&
		lb_reserve(plan->memory, plan->memory_room, plan->n + 1)) ||
	       lb_fail("out of memory for a replay of %u nodes", plan->n);
}

struct lbx_wire_node *lbx_plan_node_of(struct lbx_planner *p, uint32_t from, const char *op)
{
	struct lbx_plan *plan = p->plan;
	const struct lbx_tensor *t = &p->graph->nodes[from].tensor;
	uint32_t n = plan->n;

	if (!reserve_node(plan))
		return NULL;
	plan->from[n] = from;
	plan->memory[n] = n;
	struct lbx_wire_node *node = &plan->nodes[plan->n++];
	*node = (struct lbx_wire_node){
		.dtype = (uint8_t)t->dtype, .rank = (uint8_t)t->rank, .id = t->id, .inputs = plan->n_inputs
	};
	strncpy(node->op, op, sizeof node->op - 1);
	return node;
}

bool lbx_plan_input(struct lbx_planner *p, uint32_t input)
{
	struct lbx_plan *plan = p->plan;

	if (!lb_reserve(plan->inputs, plan->inputs_room, plan->n_inputs + 1))
		return lb_fail("out of memory for a replay of %u nodes", plan->n);
	plan->inputs[plan->n_inputs++] = input;
	plan->nodes[plan->n - 1].n_inputs++;
	return true;
}

struct lbx_plan_data *lbx_plan_add_data(struct lbx_planner *p)
{
	struct lbx_plan *plan = p->plan;

	if (!lb_reserve(plan->data, plan->data_room, plan->n_data + 1)) {
		lb_fail("out of memory for a replay of %u nodes", plan->n);
		return NULL;
	}
	struct lbx_plan_data *data = &plan->data[plan->n_data++];
	*data = (struct lbx_plan_data){ .node = plan->n - 1 };
	return data;
}

void lbx_wire_layout(struct lbx_wire_node *node, const struct lbx_strided *layout)
{
	node->rank = (uint8_t)layout->rank;
	memcpy(node->shape, layout->shape, sizeof node->shape);
	memcpy(node->strides, layout->strides, sizeof node->strides);
	node->offset = layout->offset;
}

void lbx_plan_layout_at(const struct lbx_planner *p, uint32_t position, struct lbx_strided *ret)
{
	const struct lbx_wire_node *node = &p->plan->nodes[position];

	*ret = (struct lbx_strided){ .rank = node->rank, .offset = node->offset };
	memcpy(ret->shape, node->shape, sizeof ret->shape);
	memcpy(ret->strides, node->strides, sizeof ret->strides);
}

bool lbx_plan_view_of(struct lbx_planner *p, uint32_t from, uint32_t of, const struct lbx_strided *layout)
{
	struct lbx_wire_node *node = lbx_plan_node_of(p, from, lb_ops[LB_OP_AS_STRIDED].name);

	if (!node)
		return false;
	lbx_wire_layout(node, layout);
	p->plan->memory[p->plan->n - 1] = p->plan->memory[of];
	return lbx_plan_input(p, of);
}

/* ---- ready tensors ---- */

bool lbx_fail_bounds(const struct lbx_tensor *t)
{
	return lb_fail("tensor #%llu reaches out of its buffer: its record is damaged", (unsigned long long)t->id);
}

void lbx_plan_deinit(struct lbx_plan *plan)
{
	free(plan->nodes);
	free(plan->from);
	free(plan->memory);
	free(plan->inputs);
	free(plan->data);
	*plan = (struct lbx_plan){ .graph = plan->graph };
}
