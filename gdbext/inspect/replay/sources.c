#include "inspect/replay/sources.h"

#include <string.h>

#include "base/op.h"
#include "inspect/replay/demand.h"
#include "inspect/replay/whole.h"

int lbx_chooser(int op)
{
	if (op == LB_OP_TAKE || op == LB_OP_TAKE_ALONG || lbx_chooses_places(op))
		return 1;
	return op == LB_OP_WHERE ? 0 : -1;
}

bool lbx_chooses_places(int op)
{
	return op == LB_OP_SCATTER_ADD || op == LB_OP_PUT_ALONG;
}

static void one_at(struct lbx_region *region, int axis, int64_t at)
{
	region->first[axis] = at;
	region->count[axis] = region->step[axis] = 1;
}

/* ---- views ---- */

static bool same_order(int op)
{
	return op == LB_OP_RESHAPE || op == LB_OP_FLATTEN || op == LB_OP_EXPAND_DIMS || op == LB_OP_SQUEEZE ||
	       op == LB_OP_STOP_GRADIENT || op == LB_OP_DEPENDS;
}

/* What is the i-th of one shape is the i-th of the other. */
static void by_number(const struct lbx_tensor *t, const int64_t *at, const struct lbx_tensor *x, struct lbx_region *ret)
{
	int64_t number = 0;

	for (int i = 0; i < t->rank; i++)
		number = number * lbx_shape(t)[i] + at[i];
	for (int i = x->rank; i-- > 0; number /= lbx_shape(x)[i])
		one_at(ret, i, number % lbx_shape(x)[i]);
}

static bool repeated(const struct lbx_tensor *t, const int64_t *at, const struct lbx_tensor *x, struct lbx_region *ret)
{
	for (int i = 0; i < x->rank; i++) {
		int axis = t->rank - x->rank + i;
		if (axis < 0 || (lbx_shape(x)[i] != 1 && lbx_shape(x)[i] != lbx_shape(t)[axis]))
			return false;
		one_at(ret, i, lbx_shape(x)[i] == 1 ? 0 : at[axis]);
	}
	return true;
}

/* By its place in the buffer that both look at. */
static bool by_place(const struct lbx_graph_node *view, const struct lbx_region *element,
		     const struct lbx_graph_node *x, struct lbx_region *ret)
{
	struct lbx_strided layout, base;

	if (view->tensor.buffer_id && x->tensor.buffer_id && view->tensor.buffer_id != x->tensor.buffer_id)
		return false;
	lbx_strided_of(view, &layout);
	lbx_strided_of(x, &base);
	for (int i = 0; i < base.rank; i++)
		if (base.strides[i] == 0) /* the axis repeats one element */
			base.shape[i] = 1;
	if (!lbx_region_through(&layout, element, &base, ret))
		return false;
	return lbx_region_size(ret, base.rank) == 1;
}

static void look_through(const struct lbx_graph *g, uint32_t node, int op, const int64_t *at,
			 const struct lbx_region *element, struct lbx_source *ret)
{
	const struct lbx_graph_node *view = &g->nodes[node], *of = &g->nodes[g->inputs[view->first_input]];
	const struct lbx_tensor *t = &view->tensor, *x = &of->tensor;
	struct lbx_region region = { .first = { 0 } };

	for (uint32_t i = 1; i < t->n_inputs; i++)
		ret[i] = (struct lbx_source){ .nothing = true };
	ret->exact = true;
	if (same_order(op) && t->size == x->size)
		by_number(t, at, x, &region);
	else if (op == LB_OP_BROADCAST_TO)
		ret->exact = repeated(t, at, x, &region);
	else
		ret->exact = by_place(view, element, of, &region);
	if (ret->exact)
		ret->region = region;
}

/* ---- closer than what is computed at once ---- */

static bool of_row(int op, const struct lbx_tensor *t, const struct lbx_tensor *x, uint32_t i, const int64_t *at,
		   struct lbx_region *r)
{
	int last = t->rank - 1, axis = x->rank - 1;
	int64_t dims, pair;

	switch (op) {
	case LB_OP_LAYER_NORM:
	case LB_OP_RMS_NORM:
		if (i == 0)
			return true;
		if (x->rank != 1 || lbx_shape(x)[0] != lbx_shape(t)[last])
			return false;
		one_at(r, 0, at[last]);
		return true;
	case LB_OP_ROPE: /* pairs of features turn */
		dims = t->params[0] < 0 ? -t->params[0] : t->params[0];
		if (i || dims < 2 || dims > lbx_shape(t)[last] || dims % 2)
			return false;
		one_at(r, last - 1, at[last - 1]);
		one_at(r, last, at[last]);
		if (at[last] >= dims)
			return true;
		pair = t->params[0] < 0      ? at[last] ^ 1
		       : at[last] < dims / 2 ? at[last] + dims / 2
					     : at[last] - dims / 2;
		r->first[last] = pair < at[last] ? pair : at[last];
		r->step[last] = pair < at[last] ? at[last] - pair : pair - at[last];
		r->count[last] = 2;
		return true;
	case LB_OP_QUANTIZE: /* by groups, of whose words each is made of some */
		if (i)
			return x->size == 1;
		if (t->params[2] < 1 || t->params[3] == 0 || lbx_shape(x)[axis] / t->params[2] != lbx_shape(t)[last])
			return false;
		r->first[axis] = at[last] * t->params[2];
		r->count[axis] = t->params[2];
		return true;
	case LB_OP_DEQUANTIZE: /* a scale and a bias for each group */
		if (i == 0 || x->size == 1)
			return true;
		if (x->rank != t->rank || lbx_shape(t)[last] % lbx_shape(x)[axis])
			return false;
		one_at(r, axis, at[last] / (lbx_shape(t)[last] / lbx_shape(x)[axis]));
		return true;
	default: return op == LB_OP_DECODE;
	}
}

static bool of_sum(const struct lbx_tensor *t, const int64_t *at, struct lbx_source *s)
{
	int axis = (int)t->params[0];
	int64_t own = t->params[2] ? 1 : 0; /* inclusive */

	s->region.first[axis] = t->params[1] ? at[axis] + 1 - own : 0;
	s->region.count[axis] = t->params[1] ? lbx_shape(t)[axis] - s->region.first[axis] : at[axis] + own;
	s->nothing = s->region.count[axis] == 0;
	return true;
}

static bool chosen(const struct lbx_tensor *t, const struct lbx_tensor *x, const struct lbx_choice *choice,
		   struct lbx_region *r)
{
	int axis = (int)t->params[0];
	int64_t size = lbx_shape(x)[axis];

	if (!choice || choice->value >= size || choice->value < -size)
		return false;
	one_at(r, axis, choice->value < 0 ? choice->value + size : choice->value);
	return true;
}

static bool has_factor(const struct lbx_tensor *t, int i)
{
	double factor;

	memcpy(&factor, &t->params[i], sizeof factor);
	return factor != 0;
}

/* Returns whether the element depends on all of the source's region. */
static bool refine(const struct lbx_tensor *t, const struct lbx_tensor *x, int op, uint32_t i, const int64_t *at,
		   const struct lbx_choice *choice, struct lbx_source *s)
{
	switch (op) {
	case LB_OP_FUSED: /* there may be a condition in it */ s->perhaps = true; return false;
	case LB_OP_WHERE:
		s->nothing = i && choice && (choice->value != 0) != (i == 1);
		s->perhaps = i && !choice;
		return i == 0 || choice;
	case LB_OP_TAKE:
	case LB_OP_TAKE_ALONG: return i == 1 || chosen(t, x, choice, &s->region);
	case LB_OP_CUMSUM:
	case LB_OP_SCAN: return of_sum(t, at, s);
	case LB_OP_MATMUL:
	case LB_OP_ADDMM: /* alpha and beta */ return has_factor(t, i == 2);
	}
	return lb_op_needs[op] != LB_NEEDS_ROW || of_row(op, t, x, i, at, &s->region);
}

/* ---- an update of a slice ---- */

/* Its parameters: the numbers in x of the first element, and of the steps, each less one. */
static bool update_slice(const struct lbx_graph *g, uint32_t node, int op, const int64_t *at, struct lbx_source *ret)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;
	const struct lbx_tensor *x = &g->nodes[g->inputs[g->nodes[node].first_input]].tensor;
	const struct lbx_tensor *u = &g->nodes[g->inputs[g->nodes[node].first_input + 1]].tensor;
	int64_t first = t->params[0], steps = t->params[1];
	bool inside = true;

	if (u->rank != t->rank || first < 0 || steps < 0)
		return false;
	for (int i = t->rank; i-- > 0; first /= lbx_shape(t)[i], steps /= lbx_shape(t)[i]) {
		int64_t step = steps % lbx_shape(t)[i] + 1, distance = at[i] - first % lbx_shape(t)[i];
		inside &= distance >= 0 && distance % step == 0 && distance / step < lbx_shape(u)[i];
		one_at(&ret[1].region, i, inside ? distance / step : 0);
	}
	if (!repeated(t, at, x, &ret[0].region) || x->rank != t->rank)
		return false;
	ret[0].exact = ret[1].exact = true;
	ret[0].nothing = inside && op == LB_OP_SLICE_UPDATE;
	ret[1].nothing = !inside;
	return true;
}

void lbx_sources_of(const struct lbx_graph *g, uint32_t node, int op, const int64_t *at,
		    const struct lbx_choice *choice, struct lbx_source *ret)
{
	const struct lbx_graph_node *n = &g->nodes[node];
	const struct lbx_tensor *t = &n->tensor;
	struct lbx_region element = { .first = { 0 } };
	struct lbx_need need;
	int64_t cursor = 0;

	for (int i = 0; i < t->rank; i++)
		one_at(&element, i, at[i]);
	bool has_elements = t->size > 0;
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		const struct lbx_tensor *x = &g->nodes[g->inputs[n->first_input + i]].tensor;
		ret[i] = (struct lbx_source){ .exact = false };
		lbx_region_all(x->rank, lbx_shape(x), &ret[i].region);
		has_elements &= x->size > 0;
	}
	if (op < 0 || !has_elements || t->n_inputs == 0)
		return;
	if (lbx_is_view(n)) {
		look_through(g, node, op, at, &element, ret);
		return;
	}
	if ((op == LB_OP_SLICE_UPDATE || op == LB_OP_SLICE_ADD) && t->n_inputs == 2) {
		struct lbx_source both[2] = { ret[0], ret[1] };
		if (update_slice(g, node, op, at, both))
			memcpy(ret, both, sizeof both);
		return;
	}
	if (lbx_sources_of_whole(g, node, op, at, choice, ret) || !lbx_comes_from_part(g, node, op, &element))
		return;
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		const struct lbx_tensor *x = &g->nodes[g->inputs[n->first_input + i]].tensor;
		lbx_need_of(g, node, op, i, &element, &cursor, &need);
		ret[i].nothing = need.nothing;
		ret[i].region = need.region;
		if (!need.nothing)
			ret[i].exact = refine(t, x, op, i, at, choice, &ret[i]);
	}
	if (op == LB_OP_PAD) /* what is put around it */
		ret[1].nothing = !ret[0].nothing;
}
