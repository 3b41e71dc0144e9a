/* A candidate goes through three gates:
 *
 *   1. A sample: elements all over A, and as many of those that differ. It must agree on nine
 *      tenths of each. This costs microseconds, and thousands of candidates can be tried.
 *   2. All elements, at memory speed. They must agree but for one in a hundred, and nine tenths of
 *      those that did not agree before must now.
 *   3. Chance: how often an element agrees with that of another place tells what one agreement is
 *      worth, in bits. What was gained must be worth more than the tries cost: so many bits, and a
 *      margin of 20. Zeros and small integers agree with anything, and prove little. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "inspect/compare/hypothesis.h"

enum {
	MARGIN_BITS = 20,
	EARLY = 24,          /* samples after which a bad candidate is given up */
	SHIFTS = 8,          /* places that each sample is compared with, for chance */
};
static const int64_t most_copied = 1LL << 31; /* bytes of an array that is copied to be searched */

static bool sample_agrees(const struct lbx_explainer *e, const struct lbx_candidate *c)
{
	double a, b;
	int most = e->n_samples;

	for (int from = 0, to = e->n_uniform; from < most; from = to, to = most) {
		int covered = 0, agree = 0;
		for (int i = from; i < to; i++) {
			if (!lbx_candidate_at(c, e->samples[i], &a, &b))
				continue;
			covered++;
			agree += lbx_candidate_agrees(c, a, b);
			if (covered == EARLY && agree * 10 < covered * 7)
				return false;
		}
		if (agree * 10 < covered * 9 || (covered < to - from && !c->speaks_of_a_part) ||
		    covered * 2 < to - from)
			return false;
	}
	return true;
}

/* What one more agreement proves, in bits. */
static double bits_of_one(const struct lbx_explainer *e, const struct lbx_candidate *c)
{
	int from = e->n_samples > e->n_uniform ? e->n_uniform : 0, n = 0, hits = 0, trials = 0;
	double a[LBX_SAMPLES], b[LBX_SAMPLES];

	for (int i = from; i < e->n_samples; i++)
		n += lbx_candidate_at(c, e->samples[i], &a[n], &b[n]);
	for (int shift = 1; shift <= SHIFTS && n > 1; shift++) {
		for (int i = 0; i < n; i++) {
			int other = (i + shift * shift) % n;
			trials += other != i;
			hits += other != i && lbx_candidate_agrees(c, a[i], b[other]);
		}
	}
	return -log2((hits + 1.0) / (trials + 1.0));
}

/* More elements agree; or as many, and fewer do not. */
static bool is_better(const struct lbx_tally *t, const struct lbx_explanation *than)
{
	return t->agree > than->agree || (t->agree == than->agree && t->covered < than->covered);
}

static void keep(struct lbx_explainer *e, const struct lbx_candidate *c, const struct lbx_tally *t, int64_t before)
{
	struct lbx_explanations *f = e->found;
	int at = f->n;

	while (at > 0 && is_better(t, &f->list[at - 1]))
		at--;
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->list[i].kind, e->row->name) == 0 && at > i)
			return; /* one of a kind, the best */
	if (at == LBX_EXPLANATIONS)
		return;
	if (f->n < LBX_EXPLANATIONS)
		f->n++;
	memmove(&f->list[at + 1], &f->list[at], (size_t)(f->n - 1 - at) * sizeof *f->list);
	struct lbx_explanation *x = &f->list[at];
	*x = (struct lbx_explanation){ .kind = e->row->name,
				       .covered = t->covered,
				       .agree = t->agree,
				       .exact = t->exact,
				       .before = before,
				       .rtol = c->rtol,
				       .atol = c->atol };
	e->row->phrase(e, c, x->text, sizeof x->text);
	for (int i = at + 1; i < f->n; i++) {
		if (strcmp(f->list[i].kind, x->kind) != 0)
			continue;
		memmove(&f->list[i], &f->list[i + 1], (size_t)(f->n - 1 - i) * sizeof *f->list);
		f->n--;
	}
}

bool lbx_explained_by(const struct lbx_explainer *e, const char *kind)
{
	for (int i = 0; i < e->found->n; i++)
		if (strcmp(e->found->list[i].kind, kind) == 0)
			return true;
	return false;
}

bool lbx_explain_has_time(struct lbx_explainer *e)
{
	return !e->interrupted && !e->failed && lbx_progress(&e->out, "explaining", e->found->tried, INT64_MAX);
}

bool lbx_candidate_try(struct lbx_explainer *e, const struct lbx_candidate *c)
{
	struct lbx_candidate plain = lbx_candidate_plain(e);
	struct lbx_tally with, without = { .agree = -1 };

	if (e->found->tried++ % 64 == 63 && !lbx_explain_has_time(e))
		return false;
	if (!sample_agrees(e, c))
		return true;
	plain.rtol = c->against_equal ? 0 : c->rtol;
	plain.atol = c->against_equal ? 0 : c->atol;
	if (!lbx_candidate_measure(e, c, &with))
		return false;
	if (e->same_shape && plain.rtol == e->rtol && plain.atol == e->atol)
		without.agree = e->plain_agree;
	else if (e->same_shape && !lbx_candidate_measure(e, &plain, &without))
		return false;
	int64_t size = e->a.size, part = c->speaks_of_a_part ? with.covered : size;
	int64_t gained = with.agree - (without.agree < 0 ? 0 : without.agree);
	double bits = c->tells_of_one ? INFINITY : bits_of_one(e, c) * (double)gained;
	if (with.agree < part - part / 100 || bits < MARGIN_BITS + log2((double)e->found->tried))
		return true;
	double share = c->speaks_of_a_part ? 0.5 : 0.9; /* of what disagreed */
	if (without.agree >= 0 && (double)gained < share * (double)(size - without.agree))
		return true;
	keep(e, c, &with, without.agree);
	return true;
}

/* ---- preparation ---- */

bool lbx_explain_dense(struct lbx_explainer *e, struct lbx_array *a, char **own)
{
	struct lbx_array dense = *a;
	int64_t width = lbx_dtype_bytes(a->dtype), stride = 1, nbytes;

	*own = NULL;
	if (!lb_mul(a->size, width, &nbytes))
		return false;
	dense.local = lbx_array_in_place(a);
	if (!dense.local) {
		if (nbytes > most_copied || !(*own = malloc((size_t)nbytes)))
			return false;
		dense.local = *own;
		if (!lbx_array_gather(a, &e->out, "explaining", *own)) {
			e->failed = !e->interrupted && !e->out_of_time;
			free(*own);
			*own = NULL;
			return false;
		}
	}
	dense.target = NULL;
	dense.encoding = NULL;
	dense.low = (uint64_t)(uintptr_t)dense.local;
	dense.high = dense.low + (uint64_t)nbytes;
	dense.offset = 0;
	for (int axis = a->rank - 1; axis >= 0; axis--) {
		dense.strides[axis] = stride;
		stride *= a->shape[axis];
	}
	*a = dense;
	return true;
}

/* Complex numbers as pairs of floats. */
