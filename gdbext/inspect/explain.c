/* A candidate goes through three gates:
 *
 *   1. A sample: elements all over A, and as many of those that differ. It must agree on nine
 *      tenths of each. This costs microseconds, and thousands of candidates can be tried.
 *   2. All elements, at memory speed. They must agree but for one in a hundred, and nine tenths of
 *      those that did not agree before must now.
 *   3. Chance: how often an element agrees with that of another place tells what one agreement is
 *      worth, in bits. What was gained must be worth more than the tries cost: so many bits, and a
 *      margin of 20. Zeros and small integers agree with anything, and prove little.
 *
 * The order of the rows decides between those that explain as much. */
#include "inspect/hypothesis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "inspect/pairs.h"
#include "inspect/widen.h"

#define ROW(name, text) { text, lbx_generate_##name, lbx_phrase_##name, false }
#define ROW_OF_ROUNDING(name, text) { text, lbx_generate_##name, lbx_phrase_##name, true }
static const struct lbx_hypothesis hypotheses[] = {
	ROW(constant, "constant"),
	ROW(storage, "storage order"),
	ROW(reshape, "reshape"),
	ROW_OF_ROUNDING(rounded, "rounded"),
	ROW(transpose, "transpose"),
	ROW(flip, "flip"),
	ROW(parts, "parts"),
	ROW(factor, "factor"),
	ROW(offset, "offset"),
	ROW(repeat, "repeat"),
	ROW(shift, "shift"),
	ROW(regroup, "regroup"),
	ROW(linear, "linear"),
	ROW(absolute, "absolute"),
	ROW(bytes, "bytes"),
	ROW_OF_ROUNDING(precision, "precision"),
};
#undef ROW
#undef ROW_OF_ROUNDING
enum { HYPOTHESES = sizeof hypotheses / sizeof *hypotheses };

enum {
	UNIFORM = LBX_SAMPLES / 2,
	MARGIN_BITS = 20,
	EARLY = 24,          /* samples after which a bad candidate is given up */
	SHIFTS = 8,          /* places that each sample is compared with, for chance */
};
static const int64_t most_copied = 1LL << 31; /* bytes of an array that is copied to be searched */

/* ---- a candidate's elements ---- */

struct lbx_candidate lbx_candidate_plain(const struct lbx_explainer *e)
{
	struct lbx_candidate c = { .a = &e->a, .b = &e->b, .rtol = e->rtol, .atol = e->atol, .axis = -1,
				   .factor = 1 };

	c.layout.rank = e->b.rank;
	memcpy(c.layout.shape, e->b.shape, sizeof e->b.shape);
	memcpy(c.layout.strides, e->b.strides, sizeof e->b.strides);
	c.layout.offset = e->b.offset;
	return c;
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
			while (s < l->n_segments && (k < l->segments[s].to ||
						     k - l->segments[s].to >= l->segments[s].n))
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
	case LBX_ROUND:
		for (int i = 0; i < n; i++)
			to[i] = lbx_round(c->rounding, to[i]);
		break;
	default:
		break;
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

static bool agrees(const struct lbx_candidate *c, double a, double b)
{
	return a == b || (isnan(a) && isnan(b)) ||
	       (fabs(a - b) < INFINITY && fabs(a - b) <= c->atol + c->rtol * fabs(b));
}

/* ---- all elements ---- */

struct tally {
	const struct lbx_candidate *candidate;
	int64_t covered, agree, exact;
};

static void add(void *part, const void *x, const void *y, int n, int64_t first)
{
	struct tally *t = part;
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
	struct tally *t = total;
	const struct tally *p = part;

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

static bool measure(struct lbx_explainer *e, const struct lbx_candidate *c, struct tally *ret)
{
	struct lbx_array a, b;

	*ret = (struct tally){ .candidate = c };
	for (int s = 0; s < c->layout.n_segments || s == 0; s++) {
		struct tally part = { .candidate = c };
		if (!views(c, s, &a, &b))
			return true;
		if (!lbx_pairs_walk(&(struct lbx_pairs){ .a = &a, .b = &b, .doing = "explaining",
							 .total = &part, .nbytes = sizeof part, .add = add,
							 .join = join }, &e->out)) {
			e->failed = !e->interrupted && !e->out_of_time;
			return false;
		}
		join(ret, &part);
	}
	return true;
}

/* ---- the gates ---- */

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
			agree += agrees(c, a, b);
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
			hits += other != i && agrees(c, a[i], b[other]);
		}
	}
	return -log2((hits + 1.0) / (trials + 1.0));
}

/* More elements agree; or as many, and fewer do not. */
static bool is_better(const struct tally *t, const struct lbx_explanation *than)
{
	return t->agree > than->agree || (t->agree == than->agree && t->covered < than->covered);
}

static void keep(struct lbx_explainer *e, const struct lbx_candidate *c, const struct tally *t,
		 int64_t before)
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
	*x = (struct lbx_explanation){ .kind = e->row->name, .covered = t->covered, .agree = t->agree,
				       .exact = t->exact, .before = before, .rtol = c->rtol, .atol = c->atol };
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

static bool has_time(struct lbx_explainer *e)
{
	return !e->interrupted && !e->failed && lbx_progress(&e->out, "explaining", e->found->tried, INT64_MAX);
}

bool lbx_candidate_try(struct lbx_explainer *e, const struct lbx_candidate *c)
{
	struct lbx_candidate plain = lbx_candidate_plain(e);
	struct tally with, without = { .agree = -1 };

	if (e->found->tried++ % 64 == 63 && !has_time(e))
		return false;
	if (!sample_agrees(e, c))
		return true;
	plain.rtol = c->against_equal ? 0 : c->rtol;
	plain.atol = c->against_equal ? 0 : c->atol;
	if (!measure(e, c, &with) || (e->same_shape && !measure(e, &plain, &without)))
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

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	struct lbx_explainer *e = out->context;

	if (e->deadline > 0 && now() > e->deadline) {
		e->out_of_time = true;
		return false;
	}
	e->interrupted = e->interrupted || !lbx_progress(e->user_out, what, done, total);
	return !e->interrupted;
}

static bool copy_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	const struct lbx_array *to = context;
	int64_t width = lbx_dtype_bytes(to->dtype);

	memcpy((char *)(uintptr_t)to->local + first * width, elements, (size_t)(n * width));
	return true;
}

bool lbx_explain_dense(struct lbx_explainer *e, struct lbx_array *a, char **own)
{
	enum { PIECE = 1 << 18 };
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
		if (!lbx_array_walk(a, &e->out, "explaining", PIECE, copy_piece, &dense)) {
			e->failed = !e->interrupted && !e->out_of_time;
			free(*own);
			*own = NULL;
			return false;
		}
	}
	dense.target = NULL;
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
static void take_apart(struct lbx_array *a)
{
	for (int axis = 0; axis < a->rank; axis++)
		a->strides[axis] *= 2;
	a->shape[a->rank] = 2;
	a->strides[a->rank++] = 1;
	a->dtype = LB_F32;
	a->size *= 2;
}

static double rounding_of(enum lb_dtype dtype)
{
	return dtype == LB_BF16 ? 0x1p-6 : dtype == LB_F16 ? 0x1p-9 : dtype == LB_F64 ? 1e-9 : 1e-5;
}

/* The coarser dtype's rounding, a few times; of numbers near 0, that of the others' size. */
static void choose_tolerance(struct lbx_explainer *e, const struct lbx_explain_options *options)
{
	double squares = 0, b;
	enum lb_dtype p = e->a.dtype, q = e->b.dtype;
	int n = 0;

	e->rtol = options->rtol;
	e->atol = options->atol;
	if (e->rtol < 0)
		e->rtol = p < LB_F16 && q < LB_F16 ? 0 : fmax(p < LB_F16 ? 0 : rounding_of(p),
							      q < LB_F16 ? 0 : rounding_of(q));
	for (int i = 0; i < e->n_uniform; i++) {
		lbx_widen(e->b.dtype, element_of(&e->b, e->samples[i]), 1, &b);
		if (isfinite(b)) {
			squares += b * b;
			n++;
		}
	}
	if (e->atol < 0)
		e->atol = n ? e->rtol * sqrt(squares / n) : 0;
}

/* SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
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
	uint64_t key = mix((uint64_t)index);
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

static bool sample_differing(struct lbx_explainer *e, double rtol, double atol)
{
	struct lbx_candidate plain = lbx_candidate_plain(e);
	struct bottom b = { .candidate = &plain };

	plain.rtol = rtol;
	plain.atol = atol;
	if (!lbx_pairs_walk(&(struct lbx_pairs){ .a = &e->a, .b = &e->b, .doing = "explaining", .total = &b,
						 .nbytes = sizeof b, .add = bottom_piece,
						 .join = bottom_join }, &e->out)) {
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
		e->samples[i] = from + (int64_t)(mix((uint64_t)i) % (uint64_t)room);
	}
	e->n_samples = e->n_uniform;
}

static bool prepare(struct lbx_explainer *e, const struct lbx_explain_options *options, bool *all_close)
{
	struct lbx_candidate plain;
	struct tally t;

	*all_close = false;
	sample_uniform(e);
	choose_tolerance(e, options);
	if (!e->same_shape)
		return true;
	plain = lbx_candidate_plain(e);
	if (!measure(e, &plain, &t))
		return false;
	*all_close = t.agree == t.covered;
	if (!sample_differing(e, *all_close ? 0 : e->rtol, *all_close ? 0 : e->atol))
		return false;
	qsort(e->samples + e->n_uniform, (size_t)(e->n_samples - e->n_uniform), sizeof *e->samples,
	      compare_indices);
	return true;
}

static void search(struct lbx_explainer *e, const struct lbx_explain_options *options)
{
	bool all_close;

	if (!prepare(e, options, &all_close))
		return;
	for (int i = 0; i < HYPOTHESES && has_time(e); i++) {
		if (all_close && !hypotheses[i].is_of_rounding)
			continue;
		e->row = &hypotheses[i];
		e->row->generate(e);
	}
}

bool lbx_explain(const struct lbx_array *a, const struct lbx_array *b,
		 const struct lbx_comparison *comparison, const struct lbx_explain_options *options,
		 struct lbx_out *out, struct lbx_explanations *ret)
{
	struct lbx_explainer *e;
	char *own_a = NULL, *own_b = NULL;
	bool is_complex = a->dtype == LB_C64;

	*ret = (struct lbx_explanations){ .n = 0 };
	if (a->size == 0 || a->size != b->size || (comparison && comparison->different == 0))
		return true;
	if (is_complex != (b->dtype == LB_C64) || a->rank == LBX_ARRAY_RANK || b->rank == LBX_ARRAY_RANK) {
		ret->why_not = "one is complex, or they have too many axes";
		return true;
	}
	e = calloc(1, sizeof *e);
	if (!e)
		return lb_fail("out of memory");
	*e = (struct lbx_explainer){ .a = *a, .b = *b, .given_a = *a, .given_b = *b, .a_rank = a->rank,
				     .b_rank = b->rank, .user_out = out, .comparison = comparison,
				     .same_shape = comparison != NULL, .found = ret,
				     .deadline = options->seconds > 0 ? now() + options->seconds : 0 };
	e->out = *out;
	e->out.context = e;
	e->out.progress = progress;
	if (lbx_explain_dense(e, &e->a, &own_a) && lbx_explain_dense(e, &e->b, &own_b)) {
		if (is_complex) {
			take_apart(&e->a);
			take_apart(&e->b);
		}
		search(e, options);
	} else if (!e->interrupted && !e->out_of_time && !e->failed) {
		ret->why_not = "they are too large to be copied from the program";
	}
	ret->out_of_time = e->out_of_time;
	bool done = !e->interrupted && !e->failed;
	if (done)
		lb_clear_error(); /* out of time is none */
	free(own_a);
	free(own_b);
	free(e);
	return done;
}
