/* Elements that are right, a few places further on. */
#include <stdio.h>
#include <stdlib.h>

#include "inspect/compare/hypothesis.h"

enum { WINDOW = 8, NEEDLES = 3, TRY_ALL = 32, HITS = 8 };
static const int64_t longest_line = 1LL << 22;

/* Candidates over the axis of a layout, and how their phrase names it: -1, all in row-major order. */
struct line {
	struct lbx_candidate plain;
	int axis, named;
	int64_t n, stride; /* of A */
};

static bool try_shift(struct lbx_explainer *e, const struct line *line, int64_t k)
{
	struct lbx_candidate c = line->plain;
	struct lbx_layout *l = &c.layout;
	int64_t n = line->n, m = (k % n + n) % n;

	if (m == 0)
		return true;
	l->axis = line->axis;
	c.axis = line->named;
	/* the nearer way round is the one to tell */
	c.n[0] = m > n / 2 ? m - n : m;
	lbx_layout_segment(l, 0, m, n - m, 1);
	lbx_layout_segment(l, m, n - m, 0, 1);
	if (!lbx_candidate_try(e, &c))
		return false;
	c.n[1] = 1;
	c.speaks_of_a_part = true;
	l->n_segments = 0;
	if (c.n[0] > 0)
		lbx_layout_segment(l, c.n[0], n - c.n[0], 0, 1);
	else
		lbx_layout_segment(l, 0, n + c.n[0], -c.n[0], 1);
	return lbx_candidate_try(e, &c);
}

static bool line_agrees(const struct lbx_candidate *c, int64_t i, int64_t k)
{
	double a, b, ignored;

	lbx_candidate_at(c, i, &a, &ignored);
	lbx_candidate_at(c, k, &ignored, &b);
	return a == b ||
	       (a - b <= c->atol + c->rtol * (b < 0 ? -b : b) && b - a <= c->atol + c->rtol * (b < 0 ? -b : b));
}

/* Where along its line A's elements around the i-th are found in B. */
static bool search_line(struct lbx_explainer *e, const struct line *line, int64_t i)
{
	int64_t n = line->n, at = i / line->stride % n, first = i - at * line->stride;
	int64_t window = n < WINDOW ? n : WINDOW, from = at > n - window ? n - window : at;
	int hits = 0;

	for (int64_t q = 0; q < n && hits < HITS; q++) {
		int64_t k = 0;
		while (k < window &&
		       line_agrees(&line->plain, first + (from + k) * line->stride, first + (q + k) % n * line->stride))
			k++;
		if (k < window || q == from)
			continue;
		hits++;
		if (!try_shift(e, line, from - q))
			return false;
	}
	return true;
}

static bool try_line(struct lbx_explainer *e, const struct line *line)
{
	int from = e->n_samples > e->n_uniform ? e->n_uniform : 0, n = e->n_samples - from;

	if (line->n < 2)
		return true;
	if (line->n <= TRY_ALL) {
		for (int64_t k = 1; k < line->n; k++)
			if (!try_shift(e, line, k))
				return false;
		return true;
	}
	for (int i = 0; i < NEEDLES && i < n && line->n <= longest_line; i++)
		if (!search_line(e, line, e->samples[from + (2 * i + 1) * n / (2 * NEEDLES)]))
			return false;
	return true;
}

void lbx_generate_shift(struct lbx_explainer *e)
{
	struct line line = { .plain = lbx_candidate_plain(e), .stride = e->b.size };
	int axes = e->same_shape ? e->b_rank : 0;

	for (int axis = 0; axis < axes; axis++) {
		line.axis = line.named = axis;
		line.n = e->b.shape[axis];
		line.stride /= line.n;
		if (!try_line(e, &line))
			return;
	}
	if (axes < 2)
		return;
	line.plain.layout = (struct lbx_layout){ .rank = 0 };
	line.stride = e->b.rank > e->b_rank ? 2 : 1;
	line.n = e->b.size / line.stride;
	lbx_layout_axis(&line.plain.layout, line.n, line.stride);
	lbx_layout_parts(e, &line.plain.layout);
	line.axis = 0;
	line.named = -1;
	try_line(e, &line);
}

void lbx_phrase_shift(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	char where[48];

	(void)e;
	snprintf(where, sizeof where, c->axis < 0 ? "in row-major order" : "along axis %d", c->axis);
	if (c->n[1])
		snprintf(ret, size, "equal after a shift by %+lld %s, but for the %lld at its end", (long long)c->n[0],
			 where, (long long)llabs(c->n[0]));
	else
		snprintf(ret, size, "equal after roll by %+lld %s", (long long)c->n[0], where);
}
