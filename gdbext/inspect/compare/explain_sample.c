#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "inspect/compare/hypothesis.h"
#include "inspect/measure/pairs.h"
#include "inspect/measure/widen.h"

enum { UNIFORM = LBX_SAMPLES / 2 };

/* The coarser dtype's rounding, a few times; of numbers near 0, that of the others' size. */
static void choose_tolerance(struct lbx_explainer *e, const struct lbx_explain_options *options)
{
	enum lb_dtype p = e->a.dtype, q = e->b.dtype;

	e->rtol = options->rtol;
	e->atol = options->atol;
	if (e->rtol < 0)
		e->rtol = fmax(lbx_rounding_of(p), lbx_rounding_of(q));
	if (e->atol < 0)
		e->atol = e->rtol * lbx_explain_size(e, &e->b);
}

/* Of the elements that disagree those whose indices mix to the smallest numbers: a sample that does
 * not depend on how the walk is cut into parts. */
struct bottom {
	const struct lbx_candidate *candidate;
	int n, last; /* which of them has the largest number */
	struct {
		uint64_t key;
		int64_t index;
	} kept[LBX_SAMPLES - UNIFORM];
};

static void bottom_add(struct bottom *b, int64_t index)
{
	uint64_t key = lb_mix((uint64_t)index + LB_MIX_STEP);
	int most = (int)(sizeof b->kept / sizeof *b->kept), at = b->n;

	if (b->n == most && key >= b->kept[b->last].key)
		return;
	if (b->n == most)
		at = b->last;
	else
		b->n++;
	b->kept[at].key = key;
	b->kept[at].index = index;
	for (int i = b->last = 0; i < b->n; i++)
		if (b->kept[i].key > b->kept[b->last].key)
			b->last = i;
}

static void bottom_piece(void *part, const void *x, const void *y, int n, int64_t first)
{
	struct bottom *b = part;
	double error[LBX_PAIRS], size[LBX_PAIRS];
	const struct lbx_candidate *c = b->candidate;

	lbx_errors(c->a->dtype, x, c->b->dtype, y, n, error, size);
	for (int i = 0; i < n; i++)
		if (!(error[i] == 0 || (error[i] < INFINITY && error[i] <= c->atol + c->rtol * size[i])))
			bottom_add(b, first + i);
}

static void bottom_join(void *total, const void *part)
{
	const struct bottom *p = part;

	for (int i = 0; i < p->n; i++)
		bottom_add(total, p->kept[i].index);
}

/* At random, where many disagree: false if they are few, or would come twice. */
static bool probe(struct lbx_explainer *e, const struct lbx_candidate *plain)
{
	enum { PROBES = 4096 };
	double a, b;

	if (e->a.size < 16 * PROBES)
		return false;
	for (uint64_t i = 0; i < PROBES && e->n_samples < e->n_uniform + UNIFORM; i++) {
		int64_t at = (int64_t)(lb_mix(i + UNIFORM + LB_MIX_STEP) % (uint64_t)e->a.size);
		lbx_candidate_at(plain, at, &a, &b);
		if (!lbx_candidate_agrees(plain, a, b))
			e->samples[e->n_samples++] = at;
	}
	if (e->n_samples == e->n_uniform + UNIFORM)
		return true;
	e->n_samples = e->n_uniform;
	return false;
}

static bool sample_differing(struct lbx_explainer *e, double rtol, double atol)
{
	struct lbx_candidate plain = lbx_candidate_plain(e);
	struct bottom b = { .candidate = &plain };

	plain.rtol = rtol;
	plain.atol = atol;
	if (probe(e, &plain))
		return true;
	if (!lbx_pairs_walk(&(struct lbx_pairs){ .a = &e->a,
						 .b = &e->b,
						 .doing = "explaining",
						 .total = &b,
						 .nbytes = sizeof b,
						 .add = bottom_piece,
						 .join = bottom_join },
			    &e->out)) {
		e->failed = !e->interrupted && !e->out_of_time;
		return false;
	}
	for (int i = 0; i < b.n; i++)
		e->samples[e->n_samples++] = b.kept[i].index;
	return true;
}

static int compare_indices(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* All of a small array; of a large one each at a place of its own. */
static void sample_uniform(struct lbx_explainer *e)
{
	int64_t size = e->a.size;

	e->n_uniform = size < UNIFORM ? (int)size : UNIFORM;
	for (int i = 0; i < e->n_uniform; i++) {
		int64_t from = (int64_t)((__int128)size * i / e->n_uniform);
		int64_t room = (int64_t)((__int128)size * (i + 1) / e->n_uniform) - from;
		e->samples[i] = from + (int64_t)(lb_mix((uint64_t)i + LB_MIX_STEP) % (uint64_t)room);
	}
	e->n_samples = e->n_uniform;
}

bool lbx_explain_sample(struct lbx_explainer *e, const struct lbx_explain_options *options, bool *all_close)
{
	struct lbx_candidate plain;
	struct lbx_tally t;

	*all_close = false;
	sample_uniform(e);
	choose_tolerance(e, options);
	if (!e->same_shape)
		return true;
	plain = lbx_candidate_plain(e);
	if (!lbx_candidate_measure(e, &plain, &t))
		return false;
	e->plain_agree = t.agree;
	*all_close = t.agree == t.covered;
	if (!sample_differing(e, *all_close ? 0 : e->rtol, *all_close ? 0 : e->atol))
		return false;
	qsort(e->samples + e->n_uniform, (size_t)(e->n_samples - e->n_uniform), sizeof *e->samples, compare_indices);
	return true;
}
