/* Elements that are right, in places that are wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/compare/hypothesis.h"
#include "inspect/tensor/format.h"

enum { MAX_PERMUTED = 7 /* axes, all of whose orders are tried */, MAX_GROUPS = 64 };

void lbx_layout_axis(struct lbx_layout *l, int64_t n, int64_t stride)
{
	l->shape[l->rank] = n;
	l->strides[l->rank++] = stride;
}

void lbx_layout_parts(const struct lbx_explainer *e, struct lbx_layout *l)
{
	if (e->b.rank > e->b_rank)
		lbx_layout_axis(l, 2, 1);
}

/* ---- the elements of a buffer, read in order whatever the strides ---- */

enum { OF_SECOND, OF_FIRST };

/* As many elements as the view has, from `offset` on, in the order of its buffer. */
static bool raw(const struct lbx_array *given, int64_t offset, struct lbx_array *ret)
{
	int64_t width = lbx_dtype_bytes(given->dtype), end;

	if (given->encoding || !lb_sum_of(offset, given->size, &end) || !lb_mul(end, width, &end) ||
	    (uint64_t)end > given->high - given->low)
		return false;
	*ret = *given;
	ret->rank = 1;
	ret->shape[0] = given->size;
	ret->strides[0] = 1;
	ret->offset = offset;
	return true;
}

static void try_raw(struct lbx_explainer *e, const struct lbx_array *given, int which, int64_t offset)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	struct lbx_array other;
	char *own;

	if (e->b.rank > e->b_rank || !raw(given, offset, &other) || !lbx_explain_dense(e, &other, &own))
		return;
	c.layout = (struct lbx_layout){ .rank = 0 };
	lbx_layout_axis(&c.layout, other.size, 1);
	*(which == OF_FIRST ? &c.a : &c.b) = &other;
	c.n[0] = which;
	lbx_candidate_try(e, &c);
	free(own);
}

static void try_both(struct lbx_explainer *e, bool from_the_start)
{
	const struct lbx_array *given[] = { [OF_SECOND] = &e->given_b, [OF_FIRST] = &e->given_a };

	for (int i = 0; i < 2; i++) {
		int64_t offset = from_the_start ? 0 : given[i]->offset;
		if (!lbx_array_is_dense(given[i]) && (!from_the_start || given[i]->offset))
			try_raw(e, given[i], i, offset);
	}
}

void lbx_generate_storage(struct lbx_explainer *e)
{
	try_both(e, false);
}

void lbx_generate_buffer(struct lbx_explainer *e)
{
	try_both(e, true);
}

/* (…, heads, length, width), stored as (…, length, heads, width). */
static bool is_stored_by_length(const struct lbx_array *a)
{
	int n = a->rank;

	return n >= 3 && a->strides[n - 1] == 1 && a->strides[n - 3] == a->shape[n - 1] &&
	       a->strides[n - 2] == a->shape[n - 1] * a->shape[n - 3];
}

void lbx_phrase_storage(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	bool is_first = c->n[0] == OF_FIRST;
	bool is_of_heads = e->same_shape && is_stored_by_length(is_first ? &e->given_a : &e->given_b);

	snprintf(ret, size, "equal to the %s in the order of its storage: a strided view read raw%s",
		 is_first ? "first" : "second",
		 is_of_heads ? ", or heads split by a reshape alone (the transpose is missing)" : "");
}

void lbx_phrase_buffer(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	snprintf(ret, size, "equal to the %s's buffer from its start on: offset and strides left out",
		 c->n[0] == OF_FIRST ? "first" : "second");
}

/* ---- other shapes ---- */

void lbx_generate_reshape(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);

	if (!e->same_shape)
		lbx_candidate_try(e, &c);
}

static int squeezed(const int64_t *shape, int rank, int64_t *ret)
{
	int n = 0;

	for (int i = 0; i < rank; i++)
		if (shape[i] != 1)
			ret[n++] = shape[i];
	return n;
}

void lbx_phrase_reshape(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	int64_t a[LBX_ARRAY_RANK], b[LBX_ARRAY_RANK];
	int n = squeezed(e->a.shape, e->a_rank, a), m = squeezed(e->b.shape, e->b_rank, b);
	char shape[LBX_LIST_MAX];

	(void)c;
	if (n == m && memcmp(a, b, (size_t)n * sizeof *a) == 0) {
		snprintf(ret, size, "equal but for axes of size 1");
		return;
	}
	lbx_format_list(e->a.shape, e->a_rank, shape, sizeof shape);
	snprintf(ret, size, "equal after reshape%s of the second", shape);
}

/* ---- permutations of axes ---- */

/* Axes of B that have more than one index. */
struct axes {
	int n, axis[LBX_ARRAY_RANK];
};

static struct axes long_axes(const struct lbx_explainer *e)
{
	struct axes ret = { .n = 0 };

	for (int i = 0; i < e->b_rank; i++)
		if (e->b.shape[i] != 1)
			ret.axis[ret.n++] = i;
	return ret;
}

static bool try_order(struct lbx_explainer *e, const struct axes *axes, const int *order)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	bool moves = false;

	c.layout = (struct lbx_layout){ .rank = 0 };
	for (int i = 0; i < axes->n; i++) {
		int axis = axes->axis[order[i]];
		lbx_layout_axis(&c.layout, e->b.shape[axis], e->b.strides[axis]);
		c.order[i] = axis;
		moves |= order[i] != i;
	}
	c.n_order = axes->n;
	lbx_layout_parts(e, &c.layout);
	return !moves || lbx_candidate_try(e, &c);
}

/* The first in that order of its axes, row-major, is the second: where the other way round is not an order, too. */
static bool try_turned_order(struct lbx_explainer *e, const struct axes *axes, const int *order)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	int64_t stride = e->b.rank > e->b_rank ? 2 : 1, strides[LBX_ARRAY_RANK];
	bool is_same = true;

	for (int i = axes->n - 1; i >= 0; i--) {
		strides[order[i]] = stride;
		stride *= e->b.shape[axes->axis[order[i]]];
		is_same = is_same && e->b.shape[axes->axis[order[i]]] == e->b.shape[axes->axis[i]];
	}
	if (is_same || !e->same_shape)
		return true;
	c.layout = (struct lbx_layout){ .rank = 0 };
	for (int i = 0; i < axes->n; i++) {
		lbx_layout_axis(&c.layout, e->b.shape[axes->axis[i]], strides[i]);
		c.order[i] = axes->axis[order[i]];
	}
	c.n_order = axes->n;
	c.n[0] = 1;
	lbx_layout_parts(e, &c.layout);
	return lbx_candidate_try(e, &c);
}

/* The next order in the alphabet's sense. */
static bool next_order(int *order, int n)
{
	int i = n - 2, k = n - 1;

	while (i >= 0 && order[i] > order[i + 1])
		i--;
	if (i < 0)
		return false;
	while (order[k] < order[i])
		k--;
	int kept = order[i];
	order[i] = order[k];
	order[k] = kept;
	for (i++, k = n - 1; i < k; i++, k--) {
		kept = order[i];
		order[i] = order[k];
		order[k] = kept;
	}
	return true;
}

void lbx_generate_transpose(struct lbx_explainer *e)
{
	struct axes axes = long_axes(e);
	int order[LBX_ARRAY_RANK];

	for (int i = 0; i < axes.n; i++)
		order[i] = i;
	if (axes.n <= MAX_PERMUTED) {
		while (next_order(order, axes.n) && try_order(e, &axes, order) && try_turned_order(e, &axes, order))
			;
		return;
	}
	for (int i = 0; i < axes.n; i++) {
		for (int k = i + 1; k < axes.n; k++) {
			order[i] = k;
			order[k] = i;
			if (!try_order(e, &axes, order))
				return;
			order[i] = i;
			order[k] = k;
		}
	}
}

/* All axes of B, those of size 1 where A has them; false if their numbers differ. */
static bool whole_order(const struct lbx_explainer *e, const struct lbx_candidate *c, int64_t *ret)
{
	int next = 0, one = 0;

	if (e->a_rank != e->b_rank)
		return false;
	for (int i = 0; i < e->a_rank; i++) {
		if (e->a.shape[i] != 1) {
			if (next == c->n_order || e->b.shape[c->order[next]] != e->a.shape[i])
				return false;
			ret[i] = c->order[next++];
			continue;
		}
		while (one < e->b_rank && e->b.shape[one] != 1)
			one++;
		if (one == e->b_rank)
			return false;
		ret[i] = one++;
	}
	return true;
}

/* (…, heads, length, width), whose elements are in the order of (…, length, heads, width). */
static bool is_of_heads(const struct lbx_explainer *e, const struct lbx_candidate *c)
{
	int n = c->n_order;

	for (int i = 0; i < n - 3; i++)
		if (c->order[i] >= c->order[n - 2] || c->order[i] >= c->order[n - 3])
			return false;
	return e->same_shape && n >= 3 && c->order[n - 1] == e->b_rank - 1 && c->order[n - 3] == c->order[n - 2] + 1;
}

void lbx_phrase_transpose(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	int64_t order[LBX_ARRAY_RANK], shape[LBX_ARRAY_RANK], a[LBX_ARRAY_RANK];
	char text[LBX_LIST_MAX];

	if (c->n[0]) {
		for (int i = 0; i < c->n_order; i++)
			order[i] = c->order[i];
		lbx_format_list(order, c->n_order, text, sizeof text);
		snprintf(
		    ret, size, "the second is the first transposed to its axes %s and reshaped%s", text,
		    is_of_heads(e, c)
			? ": the second's heads were split by a reshape alone (the transpose is missing), or it is "
			  "a strided view read raw"
			: ": a strided view read raw");
		return;
	}
	if (whole_order(e, c, order)) {
		lbx_format_list(order, e->a_rank, text, sizeof text);
		snprintf(ret, size, "equal after transpose%s of the second", text);
		return;
	}
	for (int i = 0; i < c->n_order; i++) {
		order[i] = c->order[i];
		shape[i] = e->b.shape[c->order[i]];
	}
	lbx_format_list(order, c->n_order, text, sizeof text);
	bool axes_of_one =
	    squeezed(e->a.shape, e->a_rank, a) == c->n_order && memcmp(a, shape, (size_t)c->n_order * sizeof *a) == 0;
	snprintf(ret, size,
		 axes_of_one ? "equal after transpose of the second to its axes %s"
		 : is_of_heads(e, c)
		     ? "equal to the second transposed to its axes %s and reshaped: heads split by a "
		       "reshape alone (the transpose is missing), or a strided view read raw"
		     : "equal to the second transposed to its axes %s and reshaped: a strided view read raw",
		 text);
}

/* ---- along one axis ---- */

static struct lbx_candidate along(const struct lbx_explainer *e, int axis)
{
	struct lbx_candidate c = lbx_candidate_plain(e);

	c.axis = c.layout.axis = axis;
	return c;
}

void lbx_layout_segment(struct lbx_layout *l, int64_t to, int64_t n, int64_t from, int64_t step)
{
	if (n == 0)
		return;
	l->segments[l->n_segments].to = to;
	l->segments[l->n_segments].n = n;
	l->segments[l->n_segments].from = from;
	l->segments[l->n_segments++].step = step;
}

static void reverse(struct lbx_layout *l, int axis)
{
	l->offset += (l->shape[axis] - 1) * l->strides[axis];
	l->strides[axis] = -l->strides[axis];
}

void lbx_generate_flip(struct lbx_explainer *e)
{
	struct lbx_candidate c;
	int rank = e->same_shape ? e->b_rank : 0;

	for (int axis = 0; axis < rank; axis++) {
		c = along(e, axis);
		if (c.layout.shape[axis] < 2)
			continue;
		reverse(&c.layout, axis);
		lbx_candidate_try(e, &c);
		if (c.layout.shape[axis] == 4) { /* RGBA and BGRA */
			c = along(e, axis);
			lbx_layout_segment(&c.layout, 0, 3, 2, -1);
			lbx_layout_segment(&c.layout, 3, 1, 3, 1);
			c.n[0] = 1;
			lbx_candidate_try(e, &c);
		}
		if (axis + 1 < rank) {
			c = along(e, axis);
			reverse(&c.layout, axis);
			reverse(&c.layout, axis + 1);
			c.n[1] = 1;
			lbx_candidate_try(e, &c);
		}
	}
	if (e->b.rank > e->b_rank && e->same_shape) {
		c = along(e, e->b_rank);
		reverse(&c.layout, e->b_rank);
		lbx_candidate_try(e, &c);
	}
}

void lbx_phrase_flip(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	int64_t n = e->b.shape[c->axis];

	if (c->axis == e->b_rank)
		snprintf(ret, size, "equal when real and imaginary parts change places");
	else if (c->n[1])
		snprintf(ret, size, "equal after a flip of axes %d and %d", c->axis, c->axis + 1);
	else if (c->n[0] || (n == 3 && e->b_rank > 2))
		snprintf(ret, size, "equal after a reversal of the %schannels along axis %d (RGB and BGR)",
			 c->n[0] ? "first three " : "", c->axis);
	else
		snprintf(ret, size, "equal after a flip of axis %d", c->axis);
}

void lbx_generate_parts(struct lbx_explainer *e)
{
	int rank = e->same_shape ? e->b_rank : 0;

	for (int axis = 0; axis < rank; axis++) {
		for (int m = 2; m <= LBX_SEGMENTS; m++) {
			int order[LBX_SEGMENTS] = { 0, 1, 2, 3 };
			int64_t n = e->b.shape[axis];
			if (n % m || n < m)
				continue;
			while (next_order(order, m)) {
				struct lbx_candidate c = along(e, axis);
				bool is_flip = n == m;
				for (int i = 0; i < m; i++) {
					is_flip = is_flip && order[i] == m - 1 - i;
					lbx_layout_segment(&c.layout, i * (n / m), n / m, order[i] * (n / m), 1);
					c.order[i] = order[i];
				}
				c.n_order = m;
				if (!is_flip && !lbx_candidate_try(e, &c))
					return;
			}
		}
	}
}

void lbx_phrase_parts(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	int64_t order[LBX_SEGMENTS], n = e->b.shape[c->axis];
	char text[64];

	if (c->n_order == 2) {
		snprintf(ret, size, "equal after a swap of the halves along axis %d (%lld and %lld)", c->axis,
			 (long long)n / 2, (long long)n / 2);
		return;
	}
	for (int i = 0; i < c->n_order; i++)
		order[i] = c->order[i];
	lbx_format_list(order, c->n_order, text, sizeof text);
	snprintf(ret, size, "equal with the second's %s along axis %d in the order %s",
		 n == c->n_order   ? "indices"
		 : c->n_order == 3 ? "thirds"
				   : "quarters",
		 c->axis, text);
}

/* An axis taken as (n / m, m) where it is (m, n / m): pairs and halves, heads and their widths. */
void lbx_generate_regroup(struct lbx_explainer *e)
{
	int rank = e->same_shape ? e->b_rank : 0;

	for (int axis = 0; axis < rank; axis++) {
		int64_t n = e->b.shape[axis], stride = e->b.strides[axis];
		int groups = 0;
		for (int64_t m = 2; m * 2 <= n && m <= 4096 && groups < MAX_GROUPS; m++) {
			struct lbx_candidate c = lbx_candidate_plain(e);
			if (n % m)
				continue;
			groups++;
			c.layout.rank = 0;
			for (int i = 0; i < e->b_rank; i++) {
				if (i == axis)
					lbx_layout_axis(&c.layout, n / m, stride);
				lbx_layout_axis(&c.layout, i == axis ? m : e->b.shape[i],
						i == axis ? stride * (n / m) : e->b.strides[i]);
			}
			lbx_layout_parts(e, &c.layout);
			c.axis = axis;
			c.n[0] = m;
			c.n[1] = n / m;
			if (!lbx_candidate_try(e, &c))
				return;
		}
	}
}

void lbx_phrase_regroup(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	snprintf(ret, size, "equal with axis %d of the second taken as (%lld, %lld) and transposed%s", c->axis,
		 (long long)c->n[0], (long long)c->n[1],
		 c->n[0] == 2   ? ": halves, interleaved"
		 : c->n[1] == 2 ? ": pairs, taken apart"
				: "");
}

/* One index in the place of all. */
void lbx_generate_repeat(struct lbx_explainer *e)
{
	int rank = e->same_shape ? e->b_rank : 0;

	for (int axis = 0; axis < rank; axis++) {
		struct lbx_candidate c = along(e, axis);
		if (e->b.shape[axis] < 2)
			continue;
		for (int last = 0; last < 2; last++) {
			c = along(e, axis);
			c.n[0] = last ? c.layout.shape[axis] - 1 : 0;
			c.layout.offset += c.n[0] * c.layout.strides[axis];
			c.layout.strides[axis] = 0;
			if (!lbx_candidate_try(e, &c))
				return;
			int64_t index = c.n[0];
			c = along(e, axis);
			lbx_candidate_turn(e, &c);
			c.n[0] = index;
			c.n[1] = 1;
			c.layout.offset += index * c.layout.strides[axis];
			c.layout.strides[axis] = 0;
			if (!lbx_candidate_try(e, &c))
				return;
		}
	}
}

void lbx_phrase_repeat(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	if (c->n[1])
		snprintf(ret, size, "every index of the second's axis %d holds the first's index %lld", c->axis,
			 (long long)c->n[0]);
	else
		snprintf(ret, size, "every index of axis %d holds the second's index %lld", c->axis,
			 (long long)c->n[0]);
}
