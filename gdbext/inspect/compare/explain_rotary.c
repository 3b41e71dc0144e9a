/* Rotary positions (RoPE, arXiv:2104.09864): pair i of the first `width` elements of a row is turned by
 * position x base^(-2 i / width). Pairs are neighbours, or an element of the first half and one of the second. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inspect/compare/hypothesis.h"
#include "inspect/measure/widen.h"

enum { TURNS = 2, TRIED = 64, AT_FIRST = 12, LEAST_WIDTH = 4, MOST_OFFSET = 1 << 20 };

static const double bases[] = { 1e4, 5e5, 1e6, 1e5, 5e4, 1.5e5, 1.6e5, 5e6, 8e6, 1e7 };
enum { BASES = sizeof bases / sizeof *bases };

struct turn {
	bool is_interleaved;
	double base, per_position, constant; /* the angle is frequency x (per_position x position + constant) */
};

struct rotary {
	int axis;      /* of positions */
	int64_t width; /* of a row, that is turned */
	int n;
	struct turn turns[TURNS]; /* one after the other */
};

static double angle_of(const struct turn *t, int64_t width, int64_t pair, int64_t position)
{
	return pow(t->base, -2 * (double)pair / (double)width) * (t->per_position * (double)position + t->constant);
}

/* Element k of a row after the first n turns. */
static double turned(const struct rotary *r, int n, const double *row, int64_t position, int64_t k)
{
	int64_t half = r->width / 2;

	if (n == 0)
		return row[k];
	const struct turn *t = &r->turns[n - 1];
	bool is_second = t->is_interleaved ? k & 1 : k >= half;
	int64_t pair = t->is_interleaved ? k / 2 : k % half;
	int64_t other = t->is_interleaved ? k ^ 1 : (k + half) % r->width;
	double angle = angle_of(t, r->width, pair, position), mine = turned(r, n - 1, row, position, k),
	       its = turned(r, n - 1, row, position, other);
	return mine * cos(angle) + (is_second ? its : -its) * sin(angle);
}

static int64_t length_of(const struct lbx_explainer *e)
{
	return e->a.shape[e->a.rank - 1];
}

static int64_t position_of(const struct lbx_explainer *e, int axis, int64_t at)
{
	return at / e->a.strides[axis] % e->a.shape[axis];
}

struct search {
	struct lbx_explainer *e;
	double rtol, size;
	double *row;
	int n; /* samples that are looked at */
	int64_t at[TRIED];
	int axis;
	int64_t width;
};

/* Elements that differ, all over; those in places that are turned. */
static void choose_samples(struct search *s)
{
	struct lbx_explainer *e = s->e;
	int from = e->n_samples > e->n_uniform ? e->n_uniform : 0, n = e->n_samples - from;

	s->n = 0;
	for (int i = 0; i < n && s->n < TRIED; i++) {
		int64_t at = e->samples[from + (int)((int64_t)i * 37 % n)];
		if (at % length_of(e) < s->width)
			s->at[s->n++] = at;
	}
}

static bool agrees(const struct search *s, const struct rotary *r, int64_t at)
{
	int64_t n = length_of(s->e), k = at % n;
	double wanted;

	lbx_widen_local(&s->e->b, at - k, n, s->row);
	lbx_widen_local(&s->e->a, at, 1, &wanted);
	double got = turned(r, r->n, s->row, position_of(s->e, r->axis, at), k);
	return fabs(got - wanted) <= s->rtol * (s->size + fabs(wanted));
}

static bool may_be(const struct search *s, const struct rotary *r)
{
	int agree = 0;

	for (int i = 0; i < s->n; i++) {
		agree += agrees(s, r, s->at[i]);
		if (i + 1 == AT_FIRST && agree < AT_FIRST * 3 / 4)
			return false;
	}
	return s->n >= AT_FIRST && agree >= s->n - s->n / 10;
}

static const char *pairs_of(bool is_interleaved)
{
	return is_interleaved ? "neighbours" : "halves";
}

/* Turns the second so, and compares all. False: stop. */
static bool try_all(const struct search *s, const struct rotary *r, const char *note)
{
	struct lbx_explainer *e = s->e;
	int64_t n = length_of(e);
	struct lbx_made made;
	bool goes_on = true;

	if (!lbx_explain_make(e, &made))
		return true;
	for (int64_t at = 0; at < e->a.size && goes_on; at += n) {
		int64_t position = position_of(e, r->axis, at);
		lbx_widen_local(&e->b, at, n, s->row);
		for (int64_t k = 0; k < n; k++)
			made.values[at + k] = k < r->width ? turned(r, r->n, s->row, position, k) : s->row[k];
		goes_on = at / n % 256 != 255 || lbx_explain_has_time(e);
	}
	goes_on = goes_on && lbx_candidate_try_made(e, &made, false, s->rtol, note);
	free(made.values);
	return goes_on;
}

/* What is said of where it is: " (base 10000, pairs of halves, positions along axis 2)". */
static void where(const struct rotary *r, int64_t n, char ret[128])
{
	char width[48] = "";

	if (r->width < n)
		snprintf(width, sizeof width, ", of the first %lld elements", (long long)r->width);
	snprintf(ret, 128, "base %.6g, pairs of %s%s, positions along axis %d", r->turns[0].base,
		 pairs_of(r->turns[0].is_interleaved), width, r->axis);
}

/* False: it was found, or there is no time. */
static bool try_rotary(const struct search *s, const struct rotary *r, const char *what)
{
	char place[128], note[LBX_EXPLANATION_TEXT];

	if (!may_be(s, r))
		return true;
	where(r, length_of(s->e), place);
	snprintf(note, sizeof note, "%s (%s)", what, place);
	return try_all(s, r, note) && !lbx_explained_by(s->e, "rotary");
}

/* In one alone; whatever its positions are divided by. */
static bool try_missing(const struct search *s)
{
	for (int i = 0; i < 4 * BASES; i++) {
		struct rotary r = { s->axis, s->width, 1, { { i & 1, bases[i / 4], i & 2 ? -1 : 1, 0 } } };
		if (!try_rotary(s, &r,
				i & 2 ? "the second is the first after RoPE: it is missing in the first"
				      : "the first is the second after RoPE: it is missing in the second"))
			return false;
	}
	return true;
}

static bool try_pairs(const struct search *s)
{
	for (int i = 0; i < 2 * BASES; i++) {
		double base = bases[i / 2];
		struct rotary r = { s->axis, s->width, 2, { { !(i & 1), base, -1, 0 }, { i & 1, base, 1, 0 } } };
		char what[96];
		snprintf(what, sizeof what, "RoPE by other pairs: of %s in the first, of %s in the second",
			 pairs_of(i & 1), pairs_of(!(i & 1)));
		if (!try_rotary(s, &r, what))
			return false;
	}
	return true;
}

static bool try_bases(const struct search *s)
{
	for (int i = 0; i < 2 * BASES * BASES; i++) {
		double first = bases[i / 2 / BASES], second = bases[i / 2 % BASES];
		struct rotary r = { s->axis, s->width, 2, { { i & 1, first, 1, 0 }, { i & 1, second, -1, 0 } } };
		char what[96];
		if (first == second)
			continue;
		snprintf(what, sizeof what, "RoPE by another base: %.6g in the first, %.6g in the second", first,
			 second);
		if (!try_rotary(s, &r, what))
			return false;
	}
	return true;
}

/* Positions divided, as longer contexts are made of short ones (arXiv:2306.15595). */
static bool try_scaled(const struct search *s)
{
	for (int i = 0; i < 12 * BASES; i++) {
		double base = bases[i / 12], factor = 2 << i / 4 % 3;
		bool is_first = i & 2;
		struct rotary r = { s->axis,
				    s->width,
				    2,
				    { { i & 1, base, is_first ? 1 / factor : 1, 0 },
				      { i & 1, base, is_first ? -1 : -1 / factor, 0 } } };
		char what[96];
		snprintf(what, sizeof what, "RoPE by positions that the %s divides by %g",
			 is_first ? "first" : "second", factor);
		if (!try_rotary(s, &r, what))
			return false;
	}
	return true;
}

/* ---- offsets ---- */

/* By how much a pair was turned from the second to the first, of the sampled rows: the mean of the directions. */
static double turned_by(const struct search *s, bool is_interleaved, int64_t pair, double *agreement)
{
	int64_t n = length_of(s->e), half = s->width / 2, p = is_interleaved ? 2 * pair : pair,
		q = is_interleaved ? 2 * pair + 1 : pair + half;
	double along = 0, across = 0, weight = 0;

	for (int i = 0; i < s->n; i++) {
		int64_t at = s->at[i] - s->at[i] % n;
		lbx_widen_local(&s->e->b, at, n, s->row);
		double x = s->row[p], y = s->row[q];
		lbx_widen_local(&s->e->a, at, n, s->row);
		along += s->row[p] * x + s->row[q] * y;
		across += s->row[q] * x - s->row[p] * y;
		weight += x * x + y * y;
	}
	*agreement = weight > 0 ? hypot(along, across) / weight : 0;
	return atan2(across, along);
}

/* From the slowest pair, which has turned less than once, to the fastest, which tells it exactly. */
static double offset_by(const struct search *s, bool is_interleaved, double base)
{
	double offset = 0, agreement;
	int64_t half = s->width / 2;

	for (int64_t pair = half - 1; pair >= 0; pair--) {
		double frequency = pow(base, -2 * (double)pair / (double)s->width);
		double angle = turned_by(s, is_interleaved, pair, &agreement);
		if (agreement < 0.9 || agreement > 1.1)
			return 0;
		double turns = rint((offset * frequency - angle) / (2 * M_PI));
		offset = (angle + 2 * M_PI * turns) / frequency;
	}
	return rint(offset);
}

static bool try_offsets(const struct search *s)
{
	for (int i = 0; i < 2 * BASES; i++) {
		double base = bases[i / 2], offset = offset_by(s, i & 1, base);
		struct rotary r = { s->axis, s->width, 1, { { i & 1, base, 0, offset } } };
		char what[96];
		if (offset == 0 || fabs(offset) > MOST_OFFSET)
			continue;
		snprintf(what, sizeof what, "RoPE by other positions: those of the first are %g %s", fabs(offset),
			 offset > 0 ? "further on" : "behind");
		if (!try_rotary(s, &r, what))
			return false;
	}
	return true;
}

/* ---- the search ---- */

/* Errors of an angle grow with the position: programs compute it in float32. */
static double tolerance(const struct lbx_explainer *e, int axis)
{
	return fmax(e->rtol, 2e-5 + 2e-7 * (double)e->a.shape[axis]);
}

static bool search_axis(struct search *s)
{
	static bool (*const tries[])(const struct search *) = { try_offsets, try_missing, try_pairs, try_bases,
								try_scaled };
	int64_t n = length_of(s->e);

	s->rtol = tolerance(s->e, s->axis);
	for (int64_t width = n; width >= LEAST_WIDTH && width >= n / 4 && width % 2 == 0; width /= 2) {
		s->width = width;
		choose_samples(s);
		for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
			if (!lbx_explain_has_time(s->e) || !tries[i](s))
				return false;
	}
	return true;
}

void lbx_generate_rotary(struct lbx_explainer *e)
{
	enum { MOST_WIDTH = 1 << 14 };
	int rank = e->a.rank;

	if (!e->same_shape || rank < 2 || rank != e->a_rank || e->a.dtype < LB_F16 || e->b.dtype < LB_F16 ||
	    length_of(e) < LEAST_WIDTH || length_of(e) > MOST_WIDTH || e->found->n > 0)
		return;
	struct search s = { .e = e, .size = lbx_explain_size(e, &e->a) };
	s.row = malloc((size_t)length_of(e) * sizeof *s.row);
	for (s.axis = rank - 2; s.row && s.axis >= 0 && s.axis >= rank - 3; s.axis--)
		if (!search_axis(&s))
			break;
	free(s.row);
}
