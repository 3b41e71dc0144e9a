#include "inspect/replay/demand.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/replay/needs.h"

bool lbx_is_view(const struct lbx_graph_node *node)
{
	return !node->is_leaf && node->tensor.op_class == LB_CLASS_VIEW && node->tensor.n_inputs > 0;
}

void lbx_strided_of(const struct lbx_graph_node *node, struct lbx_strided *ret)
{
	const struct lbx_tensor *t = &node->tensor;

	if (!node->is_leaf && !lbx_is_view(node)) {
		lbx_strided_dense(t->rank, lbx_shape(t), ret);
		return;
	}
	*ret = (struct lbx_strided){ .rank = t->rank, .offset = t->offset };
	memcpy(ret->shape, lbx_shape(t), (size_t)t->rank * sizeof *ret->shape);
	memcpy(ret->strides, lbx_strides(t), (size_t)t->rank * sizeof *ret->strides);
}

static void want_all(struct lbx_demand *d, const struct lbx_tensor *t)
{
	d->needed = d->as_it_is = true;
	lbx_region_all(t->rank, lbx_shape(t), &d->region);
}

static void want(struct lbx_demand *d, const struct lbx_tensor *t, const struct lbx_region *region)
{
	if (t->size == 0)
		want_all(d, t);
	else if (d->needed)
		lbx_region_join(&d->region, region, t->rank);
	else
		d->region = *region;
	d->needed = true;
}

static bool same_strides(const struct lbx_strided *a, const struct lbx_strided *b)
{
	for (int i = 0; i < a->rank; i++)
		if (a->shape[i] > 1 && a->strides[i] != b->strides[i])
			return false;
	return true;
}

/* Widens the region of the base until the view has strides of its own in a buffer of that region. Whatever else
 * is wanted of the base does not change them: the axes behind one that the view runs along are whole. */
static bool keep_strides(const struct lbx_strided *view, const struct lbx_region *of_view,
			 const struct lbx_strided *base, struct lbx_region *region)
{
	struct lbx_strided copy, there;

	for (int i = base->rank; i >= 0; i--) {
		if (i < base->rank) {
			region->first[i] = 0;
			region->count[i] = base->shape[i];
			region->step[i] = 1;
		}
		lbx_strided_dense(base->rank, region->count, &copy);
		if (lbx_strided_through(view, of_view, base, region, &copy, &there) && same_strides(view, &there))
			return true;
	}
	return false;
}

static void look_through(const struct lbx_graph *g, struct lbx_demand *all, uint32_t node)
{
	struct lbx_demand *d = &all[node];
	const struct lbx_graph_node *base = &g->nodes[d->base];
	struct lbx_strided view, buffer;
	struct lbx_region region;

	lbx_strided_of(&g->nodes[node], &view);
	lbx_strided_of(base, &buffer);
	bool known = g->nodes[node].tensor.size > 0 && lbx_region_through(&view, &d->region, &buffer, &region);
	if (known && d->as_it_is && base->is_leaf) {
		all[d->base].spans = true;
		for (int i = 0; i < base->tensor.rank; i++)
			lbx_region_fill(&region, i);
	} else if (known && d->as_it_is) {
		known = keep_strides(&view, &d->region, &buffer, &region);
	}
	if (known)
		want(&all[d->base], &base->tensor, &region);
	else
		want_all(&all[d->base], &base->tensor);
}

static void look_at_inputs(const struct lbx_graph *g, struct lbx_demand *all, uint32_t node)
{
	const struct lbx_graph_node *n = &g->nodes[node];
	struct lbx_demand *d = &all[node];
	int64_t at = 0;

	d->in_part = d->op >= 0 && n->tensor.size > 0 && lbx_needs_part(g, node, d->op, &d->region);
	if (!d->in_part)
		lbx_region_all(n->tensor.rank, lbx_shape(&n->tensor), &d->region);
	for (uint32_t i = 0; i < n->tensor.n_inputs; i++) {
		uint32_t input = g->inputs[n->first_input + i];
		struct lbx_need need = { .all = true };
		if (d->in_part)
			lbx_need_of(g, node, d->op, i, &d->region, &at, &need);
		if (need.all)
			want_all(&all[input], &g->nodes[input].tensor);
		else if (!need.nothing)
			want(&all[input], &g->nodes[input].tensor, &need.region);
	}
}

static struct lbx_demand *begin(const struct lbx_graph *g)
{
	struct lbx_demand *all = calloc(g->n, sizeof *all);

	if (!all)
		lb_fail("out of memory for a graph of %u nodes", g->n);
	for (uint32_t i = 0; all && i < g->n; i++) {
		uint32_t node = g->order[i];
		const struct lbx_graph_node *n = &g->nodes[node];
		all[node].base = lbx_is_view(n) ? all[g->inputs[n->first_input]].base : node;
		all[node].op = n->is_leaf ? -1 : lbx_op_number(&n->tensor);
	}
	return all;
}

struct lbx_demand *lbx_demands_of(const struct lbx_graph *g, const struct lbx_region *region)
{
	struct lbx_demand *all = begin(g);

	if (!all)
		return NULL;
	want(&all[0], &g->nodes[0].tensor, region);
	for (uint32_t i = g->n; i-- > 0;) {
		uint32_t node = g->order[i];
		if (!all[node].needed || g->nodes[node].is_leaf || g->nodes[node].tensor.size == 0)
			continue; /* a tensor without elements needs none */
		if (lbx_is_view(&g->nodes[node]))
			look_through(g, all, node);
		else
			look_at_inputs(g, all, node);
	}
	return all;
}

struct lbx_demand *lbx_demand_all(const struct lbx_graph *g)
{
	struct lbx_demand *all = begin(g);

	for (uint32_t i = 0; all && i < g->n; i++)
		want_all(&all[i], &g->nodes[i].tensor);
	return all;
}
