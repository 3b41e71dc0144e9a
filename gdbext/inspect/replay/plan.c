#include "inspect/replay/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/op.h"
#include "inspect/replay/needs.h"
#include "inspect/replay/planner.h"

static bool plan_leaf(struct lbx_planner *p, uint32_t from)
{
	const struct lbx_graph_node *leaf = &p->graph->nodes[from];
	const struct lbx_demand *d = &p->demands[from];
	const struct lbx_tensor *t = &leaf->tensor;
	int64_t low, high, width = lbx_dtype_bytes(t->dtype);
	struct lbx_wire_node *node = lbx_plan_node_of(p, from, lb_ops[LB_OP_DATA].name);
	struct lbx_plan_data *data = node ? lbx_plan_add_data(p) : NULL;
	struct lbx_strided layout, part, gathered;

	if (!data)
		return false;
	p->plan->memory[p->plan->n - 1] = LBX_NO_MEMORY;
	p->lows[from] = 0;
	lbx_strided_of(leaf, &layout);
	lbx_strided_part(&layout, &d->region, &part);
	data->region = d->region;
	if (t->size == 0) {
		part.offset = 0;
		lbx_wire_layout(node, &part);
		return true;
	}
	if ((!leaf->constant && !lbx_tensor_in_bounds(t)) || !lbx_strided_reach(&part, &low, &high))
		return lbx_fail_bounds(t);
	int64_t size = lbx_region_size(&d->region, t->rank);
	data->gather = !leaf->constant && !d->as_it_is && !d->spans && high - low >= LBX_ANY_GAPS &&
		       (high - low) / LBX_GAPS >= size;
	data->low = low;
	data->nbytes = (uint64_t)((data->gather ? size : high - low + 1) * width);
	lbx_strided_dense(part.rank, part.shape, &gathered);
	part.offset -= low;
	p->lows[from] = data->gather ? 0 : low;
	lbx_wire_layout(node, data->gather ? &gathered : &part);
	if (__builtin_add_overflow(p->plan->leaf_bytes, data->nbytes, &p->plan->leaf_bytes))
		p->plan->leaf_bytes = UINT64_MAX;
	return true;
}

/* ---- views ---- */

/* Over a buffer that is read whole, a view keeps its layout. Its other inputs (those of `depends`) matter only to
 * those who want each node. */
static bool plan_view(struct lbx_planner *p, uint32_t from)
{
	const struct lbx_graph_node *view = &p->graph->nodes[from];
	const struct lbx_demand *d = &p->demands[from], *base = &p->demands[d->base];
	uint32_t of = p->positions[d->base];
	struct lbx_strided layout, buffer, held, part;

	lbx_strided_of(view, &layout);
	if (base->as_it_is) {
		lbx_strided_part(&layout, &d->region, &part);
		if (view->tensor.size == 0)
			part.offset = 0;
		else if (__builtin_sub_overflow(part.offset, p->lows[d->base], &part.offset))
			return lb_fail("tensor #%llu begins at element %lld: its record is damaged",
				       (unsigned long long)view->tensor.id, (long long)view->tensor.offset);
	} else {
		lbx_strided_of(&p->graph->nodes[d->base], &buffer);
		lbx_plan_layout_at(p, of, &held);
		if (!lbx_strided_through(&layout, &d->region, &buffer, &base->region, &held, &part))
			return lb_fail("tensor #%llu: no view of a part of #%llu", (unsigned long long)view->tensor.id,
				       (unsigned long long)p->graph->nodes[d->base].tensor.id);
	}
	if (!p->whole)
		return lbx_plan_view_of(p, from, of, &part);
	struct lbx_wire_node *node = lbx_plan_node_of(p, from, view->tensor.op);
	if (!node)
		return false;
	lbx_wire_layout(node, &part);
	p->plan->memory[p->plan->n - 1] = p->plan->memory[of];
	for (uint32_t i = 0; i < view->tensor.n_inputs; i++)
		if (!lbx_plan_input(p, p->positions[p->graph->inputs[view->first_input + i]]))
			return false;
	return true;
}

/* The node that is the needed region of an input: its own, or a view of that. */
static bool edge(struct lbx_planner *p, uint32_t input, const struct lbx_need *need, uint32_t *ret)
{
	const struct lbx_graph_node *of = &p->graph->nodes[input];
	const struct lbx_region *held = &p->demands[input].region;
	struct lbx_region rest = need->region;
	struct lbx_strided layout, part, dense;

	*ret = p->positions[input];
	if (need->all)
		return true;
	lbx_plan_layout_at(p, *ret, &layout);
	if (!lbx_region_equal(held, &need->region, of->tensor.rank)) {
		for (int i = 0; i < of->tensor.rank; i++) {
			rest.first[i] = (rest.first[i] - held->first[i]) / held->step[i];
			rest.step[i] = rest.count[i] > 1 ? rest.step[i] / held->step[i] : 1;
		}
		lbx_strided_part(&layout, &rest, &part);
		if (!lbx_plan_view_of(p, input, *ret, &part))
			return false;
		*ret = p->plan->n - 1;
		layout = part;
	}
	lbx_strided_dense(layout.rank, layout.shape, &dense);
	bool is_dense = true;
	for (int i = 0; i < layout.rank; i++)
		is_dense &= layout.shape[i] == 1 || layout.strides[i] == dense.strides[i];
	if (!need->dense || is_dense)
		return true;
	struct lbx_wire_node *copy = lbx_plan_node_of(p, input, lb_ops[LB_OP_CONTIGUOUS].name);
	if (!copy)
		return false;
	lbx_wire_layout(copy, &dense);
	if (!lbx_plan_input(p, *ret))
		return false;
	*ret = p->plan->n - 1;
	return true;
}

/* ---- operations ---- */

/* Inputs, of which there may be views to make, before the node itself. */
static bool plan_inputs(struct lbx_planner *p, uint32_t from, uint32_t *inputs, uint32_t *n)
{
	const struct lbx_graph *g = p->graph;
	const struct lbx_graph_node *node = &g->nodes[from];
	const struct lbx_demand *d = &p->demands[from];
	int64_t at = 0;

	*n = 0;
	for (uint32_t i = 0; i < node->tensor.n_inputs; i++) {
		struct lbx_need need = { .all = true };
		if (d->in_part)
			lbx_need_of(g, from, d->op, i, &d->region, &at, &need);
		if (need.nothing)
			continue;
		if (!edge(p, g->inputs[node->first_input + i], &need, &inputs[*n]))
			return false;
		++*n;
	}
	return true;
}

/* A part that lies in the padding alone. */
static bool plan_padding(struct lbx_planner *p, uint32_t from, uint32_t value)
{
	const struct lbx_demand *d = &p->demands[from];
	struct lbx_strided layout, dense;

	lbx_plan_layout_at(p, value, &layout);
	lbx_strided_dense(p->graph->nodes[from].tensor.rank, d->region.count, &dense);
	dense.offset = layout.offset;
	layout = dense;
	memset(layout.strides, 0, sizeof layout.strides);
	if (!lbx_plan_view_of(p, from, value, &layout))
		return false;
	uint32_t view = p->plan->n - 1;
	struct lbx_wire_node *copy = lbx_plan_node_of(p, from, lb_ops[LB_OP_CONTIGUOUS].name);
	if (!copy)
		return false;
	dense.offset = 0;
	lbx_wire_layout(copy, &dense);
	return lbx_plan_input(p, view);
}

static bool plan_operation(struct lbx_planner *p, uint32_t from)
{
	const struct lbx_tensor *t = &p->graph->nodes[from].tensor;
	const struct lbx_demand *d = &p->demands[from];
	struct lbx_strided layout;
	uint32_t n;

	if (d->in_part && (d->op == LB_OP_ARANGE || d->op == LB_OP_UNIFORM || d->op == LB_OP_NORMAL) &&
	    !lbx_region_is_all(&d->region, t->rank, lbx_shape(t)))
		return lbx_plan_numbered(p, from);
	lb_auto_free uint32_t *inputs = malloc((t->n_inputs + 1) * sizeof *inputs);
	if (!inputs)
		return lb_fail("out of memory for %u inputs", t->n_inputs);
	bool ok = plan_inputs(p, from, inputs, &n);
	if (ok && d->in_part && d->op == LB_OP_PAD && n == 1)
		return plan_padding(p, from, inputs[0]);
	struct lbx_wire_node *node = ok ? lbx_plan_node_of(p, from, t->op) : NULL;
	if (node) {
		lbx_strided_dense(t->rank, d->region.count, &layout);
		lbx_wire_layout(node, &layout);
		memcpy(node->params, t->params, sizeof node->params);
		if (d->in_part)
			lbx_narrow_params(t, d->op, &d->region, node->params);
	}
	ok = ok && node;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = lbx_plan_input(p, inputs[i]);
	if (!ok || t->op_class != LB_CLASS_FUSED)
		return ok;
	struct lbx_plan_data *data = lbx_plan_add_data(p);
	if (!data)
		return false;
	data->is_program = true;
	data->nbytes = sizeof(struct lbx_wire_program);
	return true;
}

/* ---- the whole ---- */

static bool plan_node(struct lbx_planner *p, uint32_t from)
{
	bool empty = p->graph->nodes[from].tensor.size == 0 && !p->whole;
	bool ok = p->graph->nodes[from].is_leaf || empty ? plan_leaf(p, from)
		  : lbx_is_view(&p->graph->nodes[from])  ? plan_view(p, from)
							 : plan_operation(p, from);

	p->positions[from] = p->plan->n - 1;
	return ok;
}

/* All of the graph; or the region of its first node. */
static bool plan(const struct lbx_graph *graph, struct lbx_demand *demands, const struct lbx_region *region,
		 uint64_t max_memory, struct lbx_plan *ret)
{
	struct lbx_need asked = { .all = !region };
	uint32_t last;

	*ret = (struct lbx_plan){ .graph = graph };
	struct lbx_planner p = {
		.graph = graph, .demands = demands, .plan = ret, .whole = !region, .max_memory = max_memory
	};
	p.positions = calloc(graph->n, sizeof *p.positions);
	p.lows = calloc(graph->n, sizeof *p.lows);
	bool ok = demands && p.positions && p.lows;
	if (!ok && demands)
		lb_fail("out of memory for a graph of %u nodes", graph->n);
	for (uint32_t i = 0; ok && i < graph->n; i++)
		if (demands[graph->order[i]].needed)
			ok = plan_node(&p, graph->order[i]);
	if (region)
		asked.region = *region;
	/* an operation may have computed a little more */
	ok = ok && edge(&p, 0, &asked, &last) && lbx_plan_check_memory(&p);
	free(p.positions);
	free(p.lows);
	free(demands);
	if (!ok)
		lbx_plan_deinit(ret);
	return ok;
}

bool lbx_plan_region(const struct lbx_graph *graph, const struct lbx_region *region, uint64_t max_memory,
		     struct lbx_plan *ret)
{
	return plan(graph, lbx_demands_of(graph, region), region, max_memory, ret);
}

bool lbx_plan_whole(const struct lbx_graph *graph, uint64_t max_memory, struct lbx_plan *ret)
{
	return plan(graph, lbx_demand_all(graph), NULL, max_memory, ret);
}
