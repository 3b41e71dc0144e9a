/* Each step has at most one region that is looked back from: where several ways lead to it, the regions are joined, and what is in them
 * is then only said to be meant in part. */
#include "inspect/origin/by_recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/op.h"
#include "inspect/replay/demand.h"
#include "inspect/replay/lower.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/slice.h"

enum { MAX_STEPS = 1 << 16 };

struct back {
	struct lbx_search *search;
	const struct lbx_tensor *tensor;
	struct lbx_lowered lowered;
	const struct lbx_graph *steps; /* of it */
	struct lbx_source *sources; /* by step; `exact` and `perhaps` are of the way from the element asked for */
	bool *wanted;
};

/* ---- the recipe alone ---- */

/* A graph of the tensor over inputs that are taken to be ready, in row-major order where they have none yet. */
static bool set_graph(const struct lbx_graph *from, struct lbx_graph *ret)
{
	uint32_t n = from->n;

	*ret = (struct lbx_graph){ .n = n, .n_ordered = n, .n_inputs = n - 1 };
	ret->nodes = calloc(n, sizeof *ret->nodes);
	ret->order = calloc(n, sizeof *ret->order);
	ret->inputs = calloc(n, sizeof *ret->inputs);
	if (!ret->nodes || !ret->order || !ret->inputs) {
		lbx_graph_deinit(ret);
		return lb_fail("out of memory for %u inputs", n);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct lbx_graph_node *node = &ret->nodes[i];
		struct lbx_strided dense;
		node->tensor = from->nodes[i].tensor;
		ret->order[i] = n - 1 - i;
		if (i == 0)
			continue;
		ret->inputs[i - 1] = i;
		node->is_leaf = true;
		node->tensor.state = LBX_READY;
		if (from->nodes[i].is_leaf)
			continue;
		lbx_strided_dense(node->tensor.rank, lbx_shape(&node->tensor), &dense);
		memcpy(node->tensor.axes.few.strides, dense.strides, sizeof dense.strides);
		node->tensor.offset = 0;
	}
	return true;
}

/* ---- values that choose ---- */

/* Of an input; false: the step is none. */
static bool is_input(const struct back *b, uint32_t step, uint32_t *ret)
{
	for (uint32_t i = 0; i < b->tensor->n_inputs; i++)
		if (b->lowered.results[i + 1] == step) {
			*ret = i;
			return true;
		}
	return false;
}

/* The first element of a step's region, as an integer. */
static bool value_of(struct back *b, uint32_t step, const struct lbx_region *region, bool *known,
		     struct lbx_choice *ret)
{
	struct lbx_search *s = b->search;
	struct lbx_replayed replayed = { .map = NULL };
	const struct lbx_tensor *t = &b->steps->nodes[step].tensor;
	struct lbx_region element = *region;
	struct lbx_origin_link input;
	uint64_t bits = 0;
	uint32_t i;

	*known = false;
	if (is_input(b, step, &i))
		return lbx_look_at_input(s, b->tensor, i, &input) && lbx_look_at_choice(s, &input, region, known, ret);
	if (t->dtype >= LB_F16 || t->size == 0)
		return true;
	for (int i = 0; i < t->rank; i++)
		element.count[i] = element.step[i] = 1;
	*known = lbx_replay_recipe_step(s->context, b->tensor, b->steps->n - step, &element, &replayed) &&
		 lbx_array_copy(&replayed.array, 0, 1, &bits);
	if (*known)
		ret->value = lbx_element_int(&bits, t->dtype);
	lbx_replay_release(&replayed);
	if (!*known && lb_error_cause() == LB_INTERRUPTED)
		return false;
	lb_clear_error();
	return true;
}

/* ---- from step to step ---- */

static void want(struct back *b, uint32_t step, const struct lbx_region *region, bool exact, bool perhaps)
{
	struct lbx_source *to = &b->sources[step];
	int rank = b->steps->nodes[step].tensor.rank;

	if (!b->wanted[step]) {
		b->wanted[step] = true;
		*to = (struct lbx_source){ .exact = exact, .perhaps = perhaps, .region = *region };
		return;
	}
	bool is_same = lbx_region_equal(&to->region, region, rank);
	to->exact = is_same && (to->exact || exact);
	to->perhaps = is_same ? to->perhaps && perhaps : true;
	lbx_region_join(&to->region, region, rank);
}

static uint32_t input_of(const struct back *b, uint32_t step, uint32_t i)
{
	return b->steps->inputs[b->steps->nodes[step].first_input + i];
}

static void want_all(struct back *b, uint32_t step)
{
	for (uint32_t i = 0; i < b->steps->nodes[step].tensor.n_inputs; i++) {
		const struct lbx_tensor *x = &b->steps->nodes[input_of(b, step, i)].tensor;
		struct lbx_region all;
		lbx_region_all(x->rank, lbx_shape(x), &all);
		if (x->size)
			want(b, input_of(b, step, i), &all, false, true);
	}
}

/* One element of a step. */
static bool element(struct back *b, uint32_t step, int op)
{
	struct lbx_source from = b->sources[step];
	const struct lbx_tensor *t = &b->steps->nodes[step].tensor;
	lb_auto_free struct lbx_source *sources = calloc(t->n_inputs + 1, sizeof *sources);
	int chooser = lbx_chooser(op);
	struct lbx_choice choice;
	bool known = false;

	if (!sources)
		return lb_fail("out of memory for %u inputs", t->n_inputs);
	lbx_sources_of(b->steps, step, op, from.region.first, NULL, sources);
	if (chooser >= 0 && (uint32_t)chooser < t->n_inputs && sources[chooser].exact && !lbx_chooses_places(op)) {
		if (!value_of(b, input_of(b, step, (uint32_t)chooser), &sources[chooser].region, &known, &choice))
			return false;
		if (known)
			lbx_sources_of(b->steps, step, op, from.region.first, &choice, sources);
	}
	for (uint32_t i = 0; i < t->n_inputs; i++)
		if (!sources[i].nothing && b->steps->nodes[input_of(b, step, i)].tensor.size)
			want(b, input_of(b, step, i), &sources[i].region, from.exact && sources[i].exact,
			     from.perhaps || sources[i].perhaps || sources[i].has_wider);
	return true;
}

/* Without what a view repeats. */
static int64_t places_of(const struct lbx_strided *view, const struct lbx_region *region)
{
	struct lbx_region apart = *region;

	for (int i = 0; i < view->rank; i++)
		if (view->strides[i] == 0)
			apart.count[i] = 1;
	return lbx_region_size(&apart, view->rank);
}

static void through(struct back *b, uint32_t step)
{
	const struct lbx_source *from = &b->sources[step];
	uint32_t base = input_of(b, step, 0);
	struct lbx_strided view, under;
	struct lbx_region region;

	lbx_strided_of(&b->steps->nodes[step], &view);
	lbx_strided_of(&b->steps->nodes[base], &under);
	for (int i = 0; i < under.rank; i++)
		if (under.strides[i] == 0)
			under.shape[i] = 1;
	if (!lbx_region_through(&view, &from->region, &under, &region)) {
		want_all(b, step);
		return;
	}
	bool exact = lbx_region_size(&region, under.rank) == places_of(&view, &from->region);
	want(b, base, &region, from->exact && exact, from->perhaps || !exact);
}

/* Several elements of a step: what each of them needs, at least. */
static bool several(struct back *b, uint32_t step, int op)
{
	struct lbx_source from = b->sources[step];
	const struct lbx_tensor *t = &b->steps->nodes[step].tensor;
	struct lbx_region region = from.region;
	struct lbx_choice choice;
	struct lbx_need need;
	int64_t at = 0;
	bool known = false;

	if (op < 0 || !lbx_comes_from_part(b->steps, step, op, &region)) {
		want_all(b, step);
		return true;
	}
	bool exact = from.exact && op != LB_OP_WHERE && op != LB_OP_FUSED && op != LB_OP_CUMSUM && op != LB_OP_SCAN &&
		     lbx_region_equal(&region, &from.region, t->rank);
	if (op == LB_OP_TAKE) {
		lbx_need_of(b->steps, step, op, 1, &region, &at, &need);
		if (lbx_region_size(&need.region, b->steps->nodes[input_of(b, step, 1)].tensor.rank) == 1 &&
		    !value_of(b, input_of(b, step, 1), &need.region, &known, &choice))
			return false;
	}
	at = 0;
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		const struct lbx_tensor *x = &b->steps->nodes[input_of(b, step, i)].tensor;
		lbx_need_of(b->steps, step, op, i, &region, &at, &need);
		if (need.nothing || x->size == 0)
			continue;
		bool is_known = op != LB_OP_TAKE || i == 1;
		if (!is_known && known && choice.value < lbx_shape(x)[t->params[0]] && choice.value >= 0) {
			need.region.first[t->params[0]] = choice.value;
			need.region.count[t->params[0]] = need.region.step[t->params[0]] = 1;
			is_known = true;
		}
		want(b, input_of(b, step, i), &need.region, exact && is_known, from.perhaps || !exact || !is_known);
	}
	return true;
}

static bool look_back(struct back *b, const int64_t *at)
{
	struct lbx_region first = { .first = { 0 } };
	const struct lbx_tensor *t = &b->steps->nodes[0].tensor;

	for (int i = 0; i < t->rank; i++) {
		first.first[i] = at[i];
		first.count[i] = first.step[i] = 1;
	}
	want(b, 0, &first, true, false);
	for (uint32_t i = b->steps->n_ordered; i-- > 0;) {
		uint32_t step = b->steps->order[i];
		const struct lbx_graph_node *node = &b->steps->nodes[step];
		int op = lbx_op_number(&node->tensor);
		if (!b->wanted[step] || node->is_leaf || node->tensor.n_inputs == 0)
			continue;
		if (lbx_region_size(&b->sources[step].region, node->tensor.rank) == 1) {
			if (!element(b, step, op))
				return false;
		} else if (lbx_is_view(node)) {
			through(b, step);
		} else if (!several(b, step, op)) {
			return false;
		}
	}
	return true;
}

bool lbx_sources_by_recipe(struct lbx_search *search, const struct lbx_graph *around, const int64_t *at,
			   struct lbx_source *ret)
{
	struct back b = { .search = search, .tensor = &around->nodes[0].tensor };
	struct lbx_graph graph;
	bool ok = true;

	if (!set_graph(around, &graph))
		return false;
	if (lbx_lower(&graph, MAX_STEPS, &b.lowered)) {
		b.steps = &b.lowered.graph;
		b.sources = calloc(b.steps->n, sizeof *b.sources);
		b.wanted = calloc(b.steps->n, sizeof *b.wanted);
		ok = (b.sources && b.wanted) || lb_fail("out of memory for %u steps", b.steps->n);
		ok = ok && look_back(&b, at);
		for (uint32_t i = 1; ok && i < around->n; i++) {
			uint32_t step = b.lowered.results[i];
			bool is_meant = step < b.steps->n && b.wanted[step];
			ret[i - 1] = is_meant ? b.sources[step] : (struct lbx_source){ .nothing = true };
		}
		lbx_lowered_deinit(&b.lowered);
	} else {
		lb_clear_error();
	}
	free(b.sources);
	free(b.wanted);
	lbx_graph_deinit(&graph);
	return ok;
}
