#include <math.h>
#include <string.h>

#include "inspect/compare/hypothesis.h"
#include "inspect/measure/pairs.h"
#include "inspect/measure/widen.h"

struct lbx_candidate lbx_candidate_plain(const struct lbx_explainer *e)
{
	struct lbx_candidate c = { .a = &e->a, .b = &e->b, .rtol = e->rtol, .atol = e->atol, .axis = -1, .factor = 1 };

	c.layout.rank = e->b.rank;
	memcpy(c.layout.shape, e->b.shape, sizeof e->b.shape);
	memcpy(c.layout.strides, e->b.strides, sizeof e->b.strides);
	c.layout.offset = e->b.offset;
	return c;
}

void lbx_candidate_turn(const struct lbx_explainer *e, struct lbx_candidate *c)
{
	c->a = &e->b;
	c->b = &e->a;
	memcpy(c->layout.strides, e->a.strides, sizeof e->a.strides);
	c->layout.offset = e->a.offset;
	c->n[0] = 1;
}

/* Where B has the element for A's i-th; -1: nowhere. */
static int64_t layout_at(const struct lbx_layout *l, int64_t i)
{
	int64_t at = l->offset;

	for (int axis = l->rank - 1; axis >= 0; axis--) {
		int64_t n = l->shape[axis], k = i % n;
		i /= n;
		if (l->n_segments && axis == l->axis) {
			int s = 0;
			while (s < l->n_segments &&
			       (k < l->segments[s].to || k - l->segments[s].to >= l->segments[s].n))
				s++;
			if (s == l->n_segments)
				return -1;
			k = l->segments[s].from + (k - l->segments[s].to) * l->segments[s].step;
		}
		at += k * l->strides[axis];
	}
	return at;
}

/* In place; the bytes of complex numbers' parts, too, which come as floats. */
static void swap_bytes(char *bytes, int64_t n, int64_t width)
{
	for (int64_t i = 0; i < n; i++, bytes += width) {
		for (int64_t k = 0; k < width / 2; k++) {
			char byte = bytes[k];
			bytes[k] = bytes[width - 1 - k];
			bytes[width - 1 - k] = byte;
		}
	}
}

/* B's elements as numbers, changed. */
static void change(const struct lbx_candidate *c, const void *elements, int n, double *to)
{
	char bytes[LBX_PAIRS * 8];
	int64_t width = lbx_dtype_bytes(c->b->dtype);

	if (c->change == LBX_SWAP_BYTES) {
		swap_bytes(memcpy(bytes, elements, (size_t)(n * width)), n, width);
		elements = bytes;
	}
	lbx_widen(c->change == LBX_REINTERPRET ? c->as : c->b->dtype, elements, n, to);
	switch (c->change) {
	case LBX_LINEAR:
		for (int i = 0; i < n; i++)
			to[i] = (c->factor == 0 ? 0 : to[i] * c->factor) + c->offset;
		break;
	case LBX_ABSOLUTE:
		for (int i = 0; i < n; i++)
			to[i] = fabs(to[i]);
		break;
	case LBX_RECIPROCAL:
		for (int i = 0; i < n; i++)
			to[i] = 1 / to[i];
		break;
	case LBX_ROUND:
		for (int i = 0; i < n; i++)
			to[i] = lbx_round(c->rounding, to[i]);
		break;
	default: break;
	}
}

static const char *element_of(const struct lbx_array *a, int64_t at)
{
	return a->local + at * lbx_dtype_bytes(a->dtype);
}

bool lbx_candidate_at(const struct lbx_candidate *c, int64_t i, double *a, double *b)
{
	int64_t at = layout_at(&c->layout, i);

	if (at < 0)
		return false;
	lbx_widen(c->a->dtype, element_of(c->a, c->a->offset + i), 1, a);
	change(c, element_of(c->b, at), 1, b);
	return true;
}

bool lbx_candidate_agrees(const struct lbx_candidate *c, double a, double b)
{
	return a == b || (isnan(a) && isnan(b)) ||
	       (fabs(a - b) < INFINITY && fabs(a - b) <= c->atol + c->rtol * fabs(b));
}

/* ---- all elements ---- */

static void add(void *part, const void *x, const void *y, int n, int64_t first)
{
	struct lbx_tally *t = part;
	double a[LBX_PAIRS], b[LBX_PAIRS], rtol = t->candidate->rtol, atol = t->candidate->atol;
	int64_t exact = 0, close = 0;

	(void)first;
	lbx_widen(t->candidate->a->dtype, x, n, a);
	change(t->candidate, y, n, b);
	for (int i = 0; i < n; i++) {
		double d = fabs(a[i] - b[i]);
		bool equal = (a[i] == b[i]) | ((a[i] != a[i]) & (b[i] != b[i]));
		exact += equal;
		close += equal | ((d < INFINITY) & (d <= atol + rtol * fabs(b[i])));
	}
	t->covered += n;
	t->agree += close;
	t->exact += exact;
}

static void join(void *total, const void *part)
{
	struct lbx_tally *t = total;
	const struct lbx_tally *p = part;

	t->covered += p->covered;
	t->agree += p->agree;
	t->exact += p->exact;
}

/* One segment of a layout, or all of one without, as two views; false if they have too many axes. */
static bool views(const struct lbx_candidate *c, int segment, struct lbx_array *a, struct lbx_array *b)
{
	const struct lbx_layout *l = &c->layout;
	int64_t stride = 1;
	int n = 0;

	*a = *c->a;
	*b = *c->b;
	a->size = 1;
	b->offset = l->offset;
	int64_t shape[LBX_LAYOUT_RANK], of_a[LBX_LAYOUT_RANK], of_b[LBX_LAYOUT_RANK];
	for (int axis = l->rank - 1; axis >= 0; axis--) {
		shape[axis] = l->shape[axis];
		of_a[axis] = stride;
		of_b[axis] = l->strides[axis];
		stride *= l->shape[axis];
		if (!l->n_segments || axis != l->axis)
			continue;
		shape[axis] = l->segments[segment].n;
		a->offset += l->segments[segment].to * of_a[axis];
		b->offset += l->segments[segment].from * of_b[axis];
		of_b[axis] *= l->segments[segment].step;
	}
	for (int axis = 0; axis < l->rank; axis++) {
		a->size *= shape[axis];
		if (shape[axis] == 1)
			continue;
		if (n == LBX_ARRAY_RANK)
			return false;
		a->shape[n] = b->shape[n] = shape[axis];
		a->strides[n] = of_a[axis];
		b->strides[n++] = of_b[axis];
	}
	a->rank = b->rank = n;
	b->size = a->size;
	return true;
}

bool lbx_candidate_measure(struct lbx_explainer *e, const struct lbx_candidate *c, struct lbx_tally *ret)
{
	struct lbx_array a, b;

	*ret = (struct lbx_tally){ .candidate = c };
	for (int s = 0; s < c->layout.n_segments || s == 0; s++) {
		struct lbx_tally part = { .candidate = c };
		if (!views(c, s, &a, &b))
			return true;
		if (!lbx_pairs_walk(&(struct lbx_pairs){ .a = &a,
							 .b = &b,
							 .doing = "explaining",
							 .total = &part,
							 .nbytes = sizeof part,
							 .add = add,
							 .join = join },
				    &e->out)) {
			e->failed = !e->interrupted && !e->out_of_time;
			return false;
		}
		join(ret, &part);
	}
	return true;
}
