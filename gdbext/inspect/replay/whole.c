#include "inspect/replay/whole.h"

#include "base/error.h"
#include "base/op.h"
#include "ops/conv.h"
#include "lazybones.h"

struct whole {
	const struct lbx_tensor *t, *in[5];
	uint32_t n;
	const int64_t *at;
	struct lbx_source *ret;
};

static void one_at(struct lbx_region *region, int axis, int64_t at)
{
	region->first[axis] = at;
	region->count[axis] = region->step[axis] = 1;
}

static void range(struct lbx_region *region, int axis, int64_t first, int64_t count)
{
	region->first[axis] = first;
	region->count[axis] = count;
	region->step[axis] = 1;
}

static bool same_shape(const struct lbx_tensor *a, const struct lbx_tensor *b)
{
	if (a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (lbx_shape(a)[i] != lbx_shape(b)[i])
			return false;
	return true;
}

/* ---- updates by index: inputs are x, the indices and what is put there ---- */

static void same_element(const struct whole *w)
{
	for (int i = 0; i < w->t->rank; i++)
		one_at(&w->ret[0].region, i, w->at[i]);
	w->ret[0].exact = true;
}

/* Updates have the axes of x, with those of the indices in place of one. */
static bool scatter(const struct whole *w, const struct lbx_choice *choice)
{
	const struct lbx_tensor *t = w->t, *indices = w->in[1], *u = w->in[2];
	int64_t axis = t->params[0], number = choice ? choice->first : 0;
	struct lbx_region *r = &w->ret[2].region;

	if (axis < 0 || axis >= t->rank || !same_shape(t, w->in[0]) || u->rank != t->rank - 1 + indices->rank)
		return false;
	for (int i = 0; i < u->rank; i++) {
		bool indexed = i >= axis && i < axis + indices->rank;
		int from = i < axis ? i : i - indices->rank + 1;
		if (lbx_shape(u)[i] != (indexed ? lbx_shape(indices)[i - axis] : lbx_shape(t)[from]))
			return false;
		if (!indexed)
			one_at(r, i, w->at[from]);
	}
	same_element(w);
	w->ret[1].exact = true;
	w->ret[2].perhaps = !choice;
	w->ret[2].nothing = choice && choice->n == 0;
	w->ret[2].exact = choice && choice->n == 1;
	for (int i = indices->rank; w->ret[2].exact && i-- > 0; number /= lbx_shape(indices)[i])
		one_at(r, (int)axis + i, number % lbx_shape(indices)[i]);
	return true;
}

static bool put(const struct whole *w, const struct lbx_choice *choice)
{
	const struct lbx_tensor *t = w->t, *indices = w->in[1], *values = w->in[2];
	bool adds = t->params[1] != LB_PUT_ASSIGN; /* or multiplies, … */
	int64_t axis = t->params[0];

	if (axis < 0 || axis >= t->rank || !same_shape(t, w->in[0]) || indices->rank != t->rank ||
	    values->rank != t->rank || lbx_shape(values)[axis] != lbx_shape(indices)[axis])
		return false;
	for (int i = 0; i < t->rank; i++) {
		if (i == axis)
			continue;
		if ((lbx_shape(indices)[i] != 1 && lbx_shape(indices)[i] != lbx_shape(t)[i]) ||
		    lbx_shape(values)[i] != lbx_shape(t)[i])
			return false;
		one_at(&w->ret[1].region, i, lbx_shape(indices)[i] == 1 ? 0 : w->at[i]);
		one_at(&w->ret[2].region, i, w->at[i]);
	}
	same_element(w);
	w->ret[1].exact = true;
	w->ret[2].perhaps = !choice;
	w->ret[0].exact = adds || choice;
	w->ret[0].perhaps = !w->ret[0].exact;
	if (!choice)
		return true;
	w->ret[0].nothing = !adds && choice->n;
	w->ret[2].nothing = choice->n == 0;
	w->ret[2].exact = choice->n && (!adds || choice->n == 1); /* of several the last stays */
	if (w->ret[2].exact)
		one_at(&w->ret[2].region, (int)axis, choice->last);
	return true;
}

/* ---- convolutions: x (batch, rows, columns, channels), w (outputs, rows, columns, channels of a group) ---- */

/* The taps of an output that are inside of x. Those beside it are zeros, which a product with NaN
 * does not leave alone: so perhaps they count. */
static bool taps_along(const struct whole *w, int i)
{
	const struct lbx_tensor *t = w->t, *x = w->in[0], *taps = w->in[1];
	int64_t stride = lb_conv_param(t->params[0], i), padding = lb_conv_param(t->params[1], i);
	int64_t dilation = lb_conv_param(t->params[2], i), axis = i + 1, from, first, last;

	if (dilation < 1 || !lb_mul(w->at[axis], stride, &from) || from > INT64_MAX / 4)
		return false;
	from -= padding;
	first = from < 0 ? (-from + dilation - 1) / dilation : 0;
	last = lbx_shape(x)[axis] > from ? (lbx_shape(x)[axis] - 1 - from) / dilation : -1;
	last = last < lbx_shape(taps)[axis] - 1 ? last : lbx_shape(taps)[axis] - 1;
	w->ret[0].nothing |= first > last;
	if (first > last)
		return true;
	range(&w->ret[0].region, (int)axis, from + first * dilation, last - first + 1);
	w->ret[0].region.step[axis] = dilation;
	range(&w->ret[1].region, (int)axis, first, last - first + 1);
	w->ret[1].has_wider |= last - first + 1 < lbx_shape(taps)[axis];
	return true;
}

static bool convolution(const struct whole *w)
{
	const struct lbx_tensor *t = w->t, *x = w->in[0], *taps = w->in[1];
	int64_t groups = t->params[3];

	if (t->rank != 4 || x->rank != 4 || taps->rank != 4 || groups < 1 || lbx_shape(t)[3] % groups ||
	    lbx_shape(x)[3] % groups || lbx_shape(taps)[3] != lbx_shape(x)[3] / groups ||
	    lbx_shape(taps)[0] != lbx_shape(t)[3] || lbx_shape(x)[0] != lbx_shape(t)[0])
		return false;
	if (!taps_along(w, 0) || !taps_along(w, 1))
		return false;
	one_at(&w->ret[0].region, 0, w->at[0]);
	range(&w->ret[0].region, 3, w->at[3] / (lbx_shape(t)[3] / groups) * lbx_shape(taps)[3], lbx_shape(taps)[3]);
	w->ret[1].wider = w->ret[1].region;
	one_at(&w->ret[1].region, 0, w->at[3]);
	one_at(&w->ret[1].wider, 0, w->at[3]);
	for (int i = 1; i < 3; i++)
		range(&w->ret[1].wider, i, 0, lbx_shape(taps)[i]);
	w->ret[0].exact = true;
	w->ret[1].exact = !w->ret[0].nothing;
	w->ret[1].perhaps = w->ret[0].nothing;
	return true;
}

/* ---- attention: each (batch, heads, positions, features) ---- */

/* Of a row of the mask, the keys that are seen. */
static bool mask_of(const struct whole *w, int64_t keys, int64_t seen)
{
	const struct lbx_tensor *mask = w->in[3];

	for (int i = 0; i < mask->rank; i++) {
		int axis = 4 - mask->rank + i;
		int64_t size = axis == 3 ? keys : axis >= 0 ? lbx_shape(w->t)[axis] : 0;
		if (lbx_shape(mask)[i] != 1 && lbx_shape(mask)[i] != size)
			return false;
		if (axis < 3)
			one_at(&w->ret[3].region, i, lbx_shape(mask)[i] == 1 ? 0 : w->at[axis]);
		else if (lbx_shape(mask)[i] != 1)
			range(&w->ret[3].region, i, 0, seen);
	}
	w->ret[3].exact = true;
	return true;
}

static bool attention(const struct whole *w)
{
	const struct lbx_tensor *t = w->t, *q = w->in[0], *k = w->in[1], *v = w->in[2];
	int64_t keys = lbx_shape(k)[2], seen = keys;

	if (t->rank != 4 || q->rank != 4 || k->rank != 4 || v->rank != 4 || lbx_shape(q)[0] != lbx_shape(t)[0] ||
	    lbx_shape(q)[1] != lbx_shape(t)[1] || lbx_shape(q)[2] != lbx_shape(t)[2] ||
	    lbx_shape(v)[3] != lbx_shape(t)[3] || lbx_shape(k)[0] != lbx_shape(t)[0] ||
	    lbx_shape(v)[0] != lbx_shape(t)[0] || lbx_shape(q)[3] != lbx_shape(k)[3] ||
	    lbx_shape(v)[1] != lbx_shape(k)[1] || lbx_shape(v)[2] != keys || lbx_shape(q)[1] % lbx_shape(k)[1])
		return false;
	if (t->params[1])
		seen = w->at[2] - lbx_shape(q)[2] + keys + 1;
	if (seen < 1 || seen > keys) /* zeros, however they are computed */
		return false;
	if (w->n > 3 && !mask_of(w, keys, seen))
		return false;
	bool hides = w->n > 3 && w->in[3]->dtype == LB_BOOL;
	for (int i = 0; i < 3; i++) {
		struct lbx_source *s = &w->ret[i];
		one_at(&s->region, 0, w->at[0]);
		one_at(&s->region, 1, i ? w->at[1] / (lbx_shape(q)[1] / lbx_shape(k)[1]) : w->at[1]);
		if (i == 0)
			one_at(&s->region, 2, w->at[2]);
		if (i == 2)
			one_at(&s->region, 3, w->at[3]);
		s->wider = s->region;
		if (i)
			range(&s->region, 2, 0, seen);
		s->exact = i != 1 || !hides;
	}
	/* some values that are not seen are multiplied by 0; which ones is not known */
	w->ret[2].has_wider = seen < keys;
	return true;
}

/* ---- gradients of norms: inputs are x, grad, and perhaps the weight ---- */

static bool norm_gradient(const struct whole *w)
{
	const struct lbx_tensor *t = w->t, *x = w->in[0];
	int last = x->rank - 1;
	bool of_x = t->params[1] == 0;

	if (x->rank < 1 || !same_shape(x, w->in[1]) ||
	    (of_x ? !same_shape(x, t) : t->rank != 1 || lbx_shape(t)[0] != lbx_shape(x)[last]) ||
	    (w->n > 2 && (w->in[2]->rank != 1 || lbx_shape(w->in[2])[0] != lbx_shape(x)[last])))
		return false;
	for (uint32_t k = 0; k < w->n; k++)
		w->ret[k].exact = true;
	for (int i = 0; of_x && i < last; i++) {
		one_at(&w->ret[0].region, i, w->at[i]);
		one_at(&w->ret[1].region, i, w->at[i]);
	}
	if (of_x)
		return true;
	one_at(&w->ret[1].region, last, w->at[0]); /* a column of grad; of each row of x, what norms it */
	w->ret[0].nothing = t->params[1] == 2;
	if (w->n > 2)
		w->ret[2].nothing = true;
	return true;
}

bool lbx_sources_of_whole(const struct lbx_graph *g, uint32_t node, int op, const int64_t *at,
			  const struct lbx_choice *choice, struct lbx_source *ret)
{
	const struct lbx_graph_node *n = &g->nodes[node];
	struct whole w = { .t = &n->tensor, .n = n->tensor.n_inputs, .at = at, .ret = ret };

	if (w.n > sizeof w.in / sizeof *w.in)
		return false;
	for (uint32_t i = 0; i < w.n; i++)
		w.in[i] = &g->nodes[g->inputs[n->first_input + i]].tensor;
	switch (op) {
	case LB_OP_SCATTER_ADD: return w.n == 3 && scatter(&w, choice);
	case LB_OP_PUT_ALONG: return w.n == 3 && put(&w, choice);
	case LB_OP_CONV2D: return w.n == 2 && convolution(&w);
	case LB_OP_ATTENTION: return (w.n == 3 || w.n == 4) && attention(&w);
	case LB_OP_LAYER_NORM_GRAD:
	case LB_OP_RMS_NORM_GRAD: return (w.n == 2 || w.n == 3) && norm_gradient(&w);
	}
	return false;
}
