#include "inspect/measure/attention.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/measure/crew.h"
#include "inspect/measure/widen.h"
#include "inspect/tensor/format.h"

enum { CHUNK = 512 /* keys at once */ };
static const double off_by = 0.02; /* what halves' rounding can take off a sum of 1, or put on it */

struct query {
	double entropy, largest, first, sum, spread;
	int64_t seen;
	bool is_below_zero; /* there is such a weight */
};

struct side {
	struct lbx_array array;
	char *own; /* what was read of it before */
	int64_t rows, columns; /* of the last two axes */
};

struct walk {
	struct lbx_attention *a;
	struct side weights, q, k, mask; /* those that are there; the others' arrays have no shape */
	bool is_by_scores, has_mask;
	struct query *queries; /* looked_at of each head */
	bool *goes_beyond;     /* of each head: there is weight beyond the diagonal */
};

bool lbx_fused_attention(const struct lbx_tensor *t, struct lbx_fused_attention *ret)
{
	*ret = (struct lbx_fused_attention){ .is_causal = t->params[1],
					     .has_mask = t->n_inputs > 3,
					     .inputs = { 0, 1, 3 } };
	memcpy(&ret->scale, &t->params[0], sizeof ret->scale);
	return strcmp(t->op, "attention") == 0 && t->n_inputs >= 3;
}

/* ---- sides ---- */

static bool side_init(struct side *s, const struct lbx_array *array, struct lbx_out *out)
{
	*s = (struct side){ .array = *array };
	s->rows = array->rank > 1 ? array->shape[array->rank - 2] : 1;
	s->columns = array->rank > 0 ? array->shape[array->rank - 1] : 1;
	return lbx_array_fetch(&s->array, out, "measuring attention", &s->own);
}

static bool complain(const char *what, const struct lbx_array *array, const struct lbx_array *q)
{
	char is[LBX_LIST_MAX], queries[LBX_LIST_MAX];

	lbx_format_list(array->shape, array->rank, is, sizeof is);
	lbx_format_list(q->shape, q->rank, queries, sizeof queries);
	return lb_fail("%s of shape %s do not fit queries of shape %s", what, is, queries);
}

/* Where among the matrices of a side that of a head is; its leading axes are those of the heads, from the right. */
static bool matrix_of(const struct side *s, const struct lbx_attention *a, const int64_t *at, int64_t *ret)
{
	int leading = s->array.rank < 2 ? 0 : s->array.rank - 2;

	*ret = 0;
	for (int i = 0; i < leading; i++) {
		int axis = a->rank - leading + i;
		int64_t own = s->array.shape[i], all = axis >= 0 ? a->shape[axis] : 1;
		if (own != all && own != 1 && (i < leading - 1 || own == 0 || all % own))
			return false;
		*ret = *ret * own + (axis >= 0 && own ? at[axis] / (all / own ? all / own : 1) : 0);
	}
	return true;
}

static bool fits(const struct side *s, const struct lbx_attention *a)
{
	int64_t none[LBX_ARRAY_RANK] = { 0 }, matrix;

	return s->array.rank <= a->rank + 2 && matrix_of(s, a, none, &matrix);
}

/* n elements of a row of a matrix, from column `first` on; those of one column or one row stand for all. */
static bool read_row(const struct side *s, int64_t matrix, int64_t row, int64_t first, int n, double *ret)
{
	char elements[CHUNK * 8];
	bool repeats = s->columns == 1 && n > 1;
	int64_t begin = (matrix * s->rows + (s->rows == 1 ? 0 : row)) * s->columns + (s->columns == 1 ? 0 : first);

	if (!lbx_array_copy(&s->array, begin, repeats ? 1 : n, elements))
		return false;
	lbx_widen(s->array.dtype, elements, repeats ? 1 : n, ret);
	for (int i = 1; repeats && i < n; i++)
		ret[i] = ret[0];
	return true;
}

/* ---- one query ---- */

/* A sum over keys of e^score and of what it takes for the entropy, relative to the largest score so far. */
struct softmax {
	double largest, sum, weighted; /* sum of e, and of e * (score - largest) */
	double first;                  /* e of key 0 */
	double scores, squares;        /* of the finite scores, around the first of them */
	double origin;
	int64_t seen;
	bool is_odd;
};

static void softmax_add(struct softmax *s, const double *scores, int n, int64_t first)
{
	double largest = s->largest;

	for (int i = 0; i < n; i++) {
		s->is_odd |= isnan(scores[i]) || scores[i] == INFINITY;
		largest = scores[i] > largest ? scores[i] : largest;
	}
	if (s->is_odd || largest == -INFINITY)
		return;
	if (s->seen) {
		double less = s->largest - largest, factor = exp(less);
		s->weighted = factor * (s->weighted + less * s->sum);
		s->sum *= factor;
		s->first *= factor;
	}
	s->largest = largest;
	for (int i = 0; i < n; i++) {
		double x = scores[i] - largest, e = exp(x);
		if (scores[i] == -INFINITY)
			continue;
		s->origin = s->seen++ ? s->origin : scores[i];
		s->sum += e;
		s->weighted += e * x;
		s->first = first + i == 0 ? e : s->first;
		double apart = scores[i] - s->origin;
		s->scores += apart;
		s->squares += apart * apart;
	}
}

static struct query softmax_end(const struct softmax *s)
{
	if (s->is_odd || s->seen == 0)
		return (struct query){ .seen = s->seen, .sum = NAN };
	double n = (double)s->seen, mean = s->scores / n, variance = s->squares / n - mean * mean;
	return (struct query){ .entropy = log(s->sum) - s->weighted / s->sum,
			       .largest = 1 / s->sum,
			       .first = s->first / s->sum,
			       .sum = 1,
			       .spread = sqrt(variance > 0 ? variance : 0),
			       .seen = s->seen };
}

static struct query query_of_weights(const double *w, int64_t n)
{
	struct query q = { .first = n ? w[0] : 0, .seen = n };
	double logs = 0, squares = 0, positive = 0;

	for (int64_t i = 0; i < n; i++) {
		q.sum += w[i];
		q.largest = w[i] > q.largest ? w[i] : q.largest;
		q.is_below_zero |= w[i] < 0;
		if (!(w[i] > 0))
			continue;
		double score = log(w[i]);
		q.entropy -= w[i] * score;
		positive++, logs += score, squares += score * score;
	}
	q.entropy = q.sum > 0 ? q.entropy / q.sum + log(q.sum) : 0;
	double variance = positive > 0 ? squares / positive - logs / positive * (logs / positive) : 0;
	q.spread = sqrt(variance > 0 ? variance : 0);
	return q;
}

/* ---- one head ---- */

/* The i-th of the queries that are looked at. */
static int64_t query_at(const struct lbx_attention *a, int64_t i)
{
	return a->looked_at < 2 ? a->n_queries - 1 : i * (a->n_queries - 1) / (a->looked_at - 1);
}

/* How many keys a query sees where it is causal. */
static int64_t keys_before(const struct lbx_attention *a, int64_t query)
{
	int64_t n = query + a->n_keys - a->n_queries + 1;

	return n < 0 ? 0 : n > a->n_keys ? a->n_keys : n;
}

static bool look_at_weights(struct walk *w, int64_t head)
{
	struct lbx_attention *a = w->a;
	lb_auto_free double *row = calloc((size_t)a->n_keys + 1, sizeof *row);

	if (!row)
		return lb_fail("out of memory");
	for (int64_t i = 0; i < a->looked_at; i++) {
		int64_t query = query_at(a, i);
		for (int64_t key = 0; key < a->n_keys; key += CHUNK) {
			int n = a->n_keys - key < CHUNK ? (int)(a->n_keys - key) : CHUNK;
			if (!read_row(&w->weights, head, query, key, n, row + key))
				return false;
		}
		for (int64_t key = keys_before(a, query); key < a->n_keys; key++)
			w->goes_beyond[head] |= row[key] != 0;
		w->queries[head * a->looked_at + i] = query_of_weights(row, a->n_keys);
	}
	return true;
}

/* Scores of a query beside n keys. */
static bool mask_scores(const struct walk *w, const int64_t *at, int64_t query, int64_t first, int n, double *scores)
{
	double mask[CHUNK];
	int64_t matrix;

	if (w->has_mask) {
		matrix_of(&w->mask, w->a, at, &matrix);
		if (!read_row(&w->mask, matrix, query, first, n, mask))
			return false;
		for (int i = 0; i < n; i++)
			scores[i] = w->mask.array.dtype != LB_BOOL ? scores[i] + mask[i]
				    : mask[i] != 0                 ? scores[i]
								   : -INFINITY;
	}
	int64_t seen = w->a->is_causal ? keys_before(w->a, query) : w->a->n_keys;
	for (int i = seen > first ? (int)(seen - first) : 0; i < n; i++)
		scores[i] = -INFINITY;
	return true;
}

struct head_room {
	double *q, *keys; /* looked_at x features; CHUNK x features */
	struct softmax *sums;
};

static bool read_rows(const struct side *s, int64_t matrix, int64_t row, int64_t features, double *ret)
{
	for (int64_t i = 0; i < features; i += CHUNK)
		if (!read_row(s, matrix, row, i, features - i < CHUNK ? (int)(features - i) : CHUNK, ret + i))
			return false;
	return true;
}

static bool add_keys(struct walk *w, const int64_t *at, int64_t first, int n, const struct head_room *room)
{
	const struct lbx_attention *a = w->a;
	double scores[CHUNK];

	for (int64_t i = 0; i < a->looked_at; i++) {
		const double *q = room->q + i * a->features;
		for (int j = 0; j < n; j++) {
			const double *k = room->keys + j * a->features;
			double sum = 0;
			for (int64_t f = 0; f < a->features; f++)
				sum += q[f] * k[f];
			scores[j] = sum * a->scale;
		}
		if (!mask_scores(w, at, query_at(a, i), first, n, scores))
			return false;
		softmax_add(&room->sums[i], scores, n, first);
	}
	return true;
}

static bool look_at_scores(struct walk *w, int64_t head)
{
	struct lbx_attention *a = w->a;
	size_t features = (size_t)(a->features ? a->features : 1), looked_at = (size_t)a->looked_at;
	lb_auto_free double *q = calloc(looked_at * features, sizeof *q);
	lb_auto_free double *keys = calloc(CHUNK * features, sizeof *keys);
	lb_auto_free struct softmax *sums = calloc(looked_at, sizeof *sums);
	struct head_room room = { q, keys, sums };
	int64_t at[LBX_ARRAY_RANK], matrix;

	if (!q || !keys || !sums)
		return lb_fail("out of memory");
	lbx_coordinates(a->rank, a->shape, head, at);
	for (int64_t i = 0; i < a->looked_at; i++) {
		sums[i].largest = -INFINITY;
		if (!read_rows(&w->q, head, query_at(a, i), a->features, q + i * a->features))
			return false;
	}
	matrix_of(&w->k, a, at, &matrix);
	for (int64_t first = 0; first < a->n_keys; first += CHUNK) {
		int n = a->n_keys - first < CHUNK ? (int)(a->n_keys - first) : CHUNK;
		for (int i = 0; i < n; i++)
			if (!read_rows(&w->k, matrix, first + i, a->features, keys + i * a->features))
				return false;
		if (!add_keys(w, at, first, n, &room))
			return false;
	}
	for (int64_t i = 0; i < a->looked_at; i++)
		w->queries[head * a->looked_at + i] = softmax_end(&sums[i]);
	return true;
}

static bool work(void *context, int64_t head)
{
	struct walk *w = context;

	return w->is_by_scores ? look_at_scores(w, head) : look_at_weights(w, head);
}

static void join(void *context, int64_t head)
{
	(void)context;
	(void)head;
}

/* ---- all heads ---- */

static struct lbx_attention_head sum_up(const struct lbx_attention *a, const struct query *queries)
{
	struct lbx_attention_head h = { .least = INFINITY, .most = -INFINITY };
	double squares = 0;

	for (int64_t i = 0; i < a->looked_at; i++) {
		const struct query *q = &queries[i];
		int64_t seen = a->features || !a->is_causal ? q->seen : keys_before(a, query_at(a, i));
		if (seen < 2 && q->sum >= 0)
			continue;
		if (!(fabs(q->sum - 1) <= off_by)) {
			h.odd++;
			continue;
		}
		double share = q->entropy / log((double)seen);
		share = share < 0 ? 0 : share > 1 ? 1 : share; /* but for rounding, it is */
		h.queries++;
		h.entropy += share;
		h.least = share < h.least ? share : h.least;
		h.most = share > h.most ? share : h.most;
		h.largest += q->largest;
		h.first += q->first;
		squares += q->spread * q->spread;
	}
	double n = (double)h.queries;
	h.entropy /= n, h.largest /= n, h.first /= n;
	h.spread = sqrt(squares / n);
	if (h.queries == 0)
		h.least = h.most = NAN;
	return h;
}

/* Weights sum to 1, or they are none; rows may be NaN or empty. */
static bool check_sums(const struct walk *w)
{
	const struct lbx_attention *a = w->a;
	int64_t n = a->n_heads * a->looked_at, wrong = 0, right = 0, first = -1;

	for (int64_t i = 0; i < n; i++) {
		const struct query *q = &w->queries[i];
		bool is_right = !q->is_below_zero && fabs(q->sum - 1) <= off_by, is_odd = isnan(q->sum) || q->sum == 0;
		right += is_right;
		wrong += !is_right && !is_odd;
		first = wrong == 1 && first < 0 ? i : first;
	}
	if (wrong <= right)
		return true;
	const struct query *q = &w->queries[first];
	long long row = query_at(a, first % a->looked_at), matrix = first / a->looked_at;
	if (q->is_below_zero)
		return lb_fail("row %lld of head %lld has values below 0: no weights; of queries and keys, give both",
			       row, matrix);
	return lb_fail("row %lld of head %lld sums to %.4g, not to 1 as weights do", row, matrix, q->sum);
}

static bool is_causal(const struct walk *w)
{
	for (int64_t i = 0; i < w->a->n_heads; i++)
		if (w->goes_beyond[i])
			return false;
	return w->a->n_queries > 1;
}

static bool measure(struct walk *w, struct lbx_out *out)
{
	struct lbx_attention *a = w->a;
	struct lbx_crew crew = { .doing = "measuring attention", .work = work, .join = join, .context = w };
	bool is_shared = w->is_by_scores
			     ? w->q.array.shared && w->k.array.shared && (!w->has_mask || w->mask.array.shared)
			     : w->weights.array.shared;

	if (!lb_mul(a->looked_at, a->n_keys ? a->n_keys : 1, &crew.per_part) ||
	    !lb_mul(a->n_heads, crew.per_part, &crew.size))
		return lb_fail("attention of %" PRId64 " heads, %" PRId64 " queries and %" PRId64 " keys: too many",
			       a->n_heads, a->looked_at, a->n_keys);
	if (crew.size > 0 && is_shared && !lbx_crew_run(&crew, out))
		return false;
	for (int64_t i = 0; crew.size > 0 && !is_shared && i < a->n_heads; i++)
		if (!lbx_progress(out, crew.doing, i * crew.per_part, crew.size) || !work(w, i))
			return false;
	if (!w->is_by_scores && !check_sums(w))
		return false;
	a->is_causal = w->is_by_scores ? a->is_causal : is_causal(w);
	for (int64_t i = 0; i < a->n_heads; i++)
		a->heads[i] = sum_up(a, w->queries + i * a->looked_at);
	return true;
}

/* Heads are the axes before the last two of what has the queries. */
static bool begin(struct walk *w, const struct lbx_array *of, int64_t queries)
{
	struct lbx_attention *a = w->a;

	a->rank = of->rank - 2;
	memcpy(a->shape, of->shape, (size_t)a->rank * sizeof *a->shape);
	a->n_heads = 1;
	a->n_queries = of->shape[of->rank - 2];
	a->looked_at = queries && queries < a->n_queries ? queries : a->n_queries;
	int64_t rows;
	bool counted = true;
	for (int i = 0; i < a->rank && counted; i++) /* where another axis is empty, these may have any size */
		counted = lb_mul(a->n_heads, a->shape[i], &a->n_heads);
	if (!counted || !lb_mul(a->n_heads, a->looked_at, &rows))
		return lb_fail("attention of more heads than can be counted");
	a->heads = calloc((size_t)a->n_heads + 1, sizeof *a->heads);
	w->queries = calloc((size_t)rows + 1, sizeof *w->queries);
	w->goes_beyond = calloc((size_t)a->n_heads + 1, sizeof *w->goes_beyond);
	return (a->heads && w->queries && w->goes_beyond) || lb_fail("out of memory");
}

static void walk_deinit(struct walk *w)
{
	free(w->queries);
	free(w->goes_beyond);
	free(w->weights.own);
	free(w->q.own);
	free(w->k.own);
	free(w->mask.own);
}

static bool is_matrix(const struct lbx_array *array, const char *what)
{
	if (array->rank < 2)
		return lb_fail("%s have %d ax%s: a matrix has 2, and heads come before", what, array->rank,
			       array->rank == 1 ? "is" : "es");
	return array->dtype != LB_C64 || lb_fail("%s are complex", what);
}

bool lbx_attention_of_weights(const struct lbx_array *weights, int64_t queries, struct lbx_out *out,
			      struct lbx_attention *ret)
{
	struct walk w = { .a = ret };

	*ret = (struct lbx_attention){ .scale = NAN };
	bool done = is_matrix(weights, "weights") && begin(&w, weights, queries);
	if (done) {
		ret->n_keys = weights->shape[weights->rank - 1];
		done = side_init(&w.weights, weights, out) && measure(&w, out);
	}
	walk_deinit(&w);
	return done;
}

static bool check_scores(const struct walk *w)
{
	const struct lbx_attention *a = w->a;

	if (w->k.columns != a->features || !fits(&w->k, a))
		return complain("keys", &w->k.array, &w->q.array);
	if (!w->has_mask)
		return true;
	bool covers = (w->mask.rows == a->n_queries || w->mask.rows == 1) &&
		      (w->mask.columns == a->n_keys || w->mask.columns == 1) && fits(&w->mask, a);
	return covers || complain("masks", &w->mask.array, &w->q.array);
}

bool lbx_attention_of_scores(const struct lbx_attention_scores *scores, int64_t queries, struct lbx_out *out,
			     struct lbx_attention *ret)
{
	struct walk w = { .a = ret, .is_by_scores = true, .has_mask = scores->mask };

	*ret = (struct lbx_attention){ .scale = scores->scale, .is_causal = scores->is_causal };
	bool done = is_matrix(scores->q, "queries") && is_matrix(scores->k, "keys") && begin(&w, scores->q, queries);
	if (done) {
		ret->features = scores->q->shape[scores->q->rank - 1];
		ret->n_keys = scores->k->shape[scores->k->rank - 2];
		done = side_init(&w.q, scores->q, out) && side_init(&w.k, scores->k, out) &&
		       (!w.has_mask || side_init(&w.mask, scores->mask, out)) && check_scores(&w) && measure(&w, out);
	}
	walk_deinit(&w);
	return done;
}

void lbx_attention_deinit(struct lbx_attention *a)
{
	free(a->heads);
	a->heads = NULL;
}

/* ---- what it means ---- */

enum lbx_attention_kind lbx_attention_kind(const struct lbx_attention *a, int64_t head)
{
	static const double collapsed = 0.02, uniform = 0.999;
	const struct lbx_attention_head *h = &a->heads[head];

	if (h->queries == 0)
		return h->odd ? LBX_HEAD_ODD : LBX_HEAD_SPREADS;
	if (a->n_keys < LBX_ATTENTION_KEYS)
		return LBX_HEAD_SPREADS;
	return h->entropy <= collapsed ? LBX_HEAD_COLLAPSED
	       : h->entropy >= uniform ? LBX_HEAD_UNIFORM
				       : LBX_HEAD_SPREADS;
}

double lbx_attention_entropy(const struct lbx_attention *a)
{
	double sum = 0, queries = 0;

	for (int64_t i = 0; i < a->n_heads; i++) {
		const struct lbx_attention_head *h = &a->heads[i];
		sum += h->queries ? (double)h->queries * h->entropy : 0;
		queries += (double)h->queries;
	}
	return sum / queries;
}

double lbx_attention_spread(const struct lbx_attention *a)
{
	double squares = 0, queries = 0;

	for (int64_t i = 0; i < a->n_heads; i++) {
		const struct lbx_attention_head *h = &a->heads[i];
		squares += h->queries ? (double)h->queries * h->spread * h->spread : 0;
		queries += (double)h->queries;
	}
	return sqrt(squares / queries);
}

bool lbx_attention_lacks_scale(const struct lbx_attention *a, int64_t features)
{
	static const double wide = 3, ordinary = 2;
	double spread = lbx_attention_spread(a);

	return features >= 16 && spread >= wide && spread / sqrt((double)features) <= ordinary;
}
