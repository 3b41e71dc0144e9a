/* Einstein summation, two operands at a time: each step joins a pair, and sums over the labels that nothing else needs. Which
 * pair is next is chosen much as MLX does. Where there are such labels and the dtype has
 * a matrix product, the step is one: labels of both that stay are its batch, the left's own its
 * rows, the right's own its columns. Otherwise it is a broadcast product and a sum.
 *
 * An axis of size 1 is dropped at once where another operand's is longer, which broadcasts it.
 *
 * All mistakes in the specification are found before the first node is made; the operations used
 * are the public ones, on behalf of einsum's caller. */
#include <string.h>

#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/view.h"

/* The axes of an ellipsis have labels of their own, after the letters': the last axis the last. */
enum { LETTERS = 52, LABELS = LETTERS + LB_MAX_RANK };

struct term {
	struct lb_tensor *x;
	int n;
	int dots; /* where an ellipsis stands among the letters; -1: there is none */
	uint8_t labels[LB_MAX_RANK];
};

struct einsum {
	const char *spec;
	int64_t sizes[LABELS];
	uint64_t known; /* labels that an operand has */
	uint64_t twice; /* and those that come more than once */
	int ellipsis; /* axes of the longest */
};

/* ---- the specification ---- */

static int label_of(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

static char letter(int label)
{
	return (char)(label < 26 ? 'a' + label : label < LETTERS ? 'A' + label - 26 : '.');
}

static uint64_t mask_of(const struct term *t)
{
	uint64_t mask = 0;
	for (int i = 0; i < t->n; i++)
		mask |= 1ull << t->labels[i];
	return mask;
}

/* The letters, and an ellipsis, from *at up to a comma, an arrow or the end. */
static bool parse_labels(const char *spec, const char **at, struct term *ret)
{
	ret->n = 0;
	ret->dots = -1;
	for (; **at && **at != ',' && **at != '-'; ++*at) {
		int label = label_of(**at);
		if (**at == ' ')
			continue;
		if (strncmp(*at, "...", 3) == 0 && ret->dots < 0) {
			ret->dots = ret->n;
			*at += 2;
			continue;
		}
		if (label < 0)
			return lb_fail("einsum: \"%.100s\": axes are letters, or an ellipsis, once; '%c' is none", spec,
				       **at);
		if (ret->n == LB_MAX_RANK)
			return lb_fail("einsum: \"%.100s\": a tensor has at most %d axes", spec, LB_MAX_RANK);
		ret->labels[ret->n++] = (uint8_t)label;
	}
	return true;
}

/* Puts n labels where the ellipsis stands. */
static bool write_out(const struct einsum *e, struct term *t, int n)
{
	if (t->dots < 0 || n == 0)
		return true;
	if (t->n + n > LB_MAX_RANK)
		return lb_fail("einsum: \"%.100s\": with its ellipsis the result has %d %s, at most %d fit", e->spec,
			       t->n + n, LB_PLURAL(t->n + n, "axis", "axes"), LB_MAX_RANK);
	memmove(t->labels + t->dots + n, t->labels + t->dots, (size_t)(t->n - t->dots));
	for (int i = 0; i < n; i++)
		t->labels[t->dots + i] = (uint8_t)(LABELS - n + i);
	t->n += n;
	return true;
}

static bool note_sizes(struct einsum *e, struct term *t, int operand)
{
	char text[LB_SHAPE_TEXT];
	int more = t->x->rank - t->n;
	if (more < 0 || (more > 0 && t->dots < 0))
		return lb_fail("einsum: \"%.100s\" names %d %s of operand %d, which is %s", e->spec, t->n,
			       LB_PLURAL(t->n, "axis", "axes"), operand, lb_shape_text(t->x->rank, t->x->shape, text));
	if (!write_out(e, t, more))
		return false;
	if (t->dots >= 0 && more > e->ellipsis)
		e->ellipsis = more;
	for (int i = 0; i < t->n; i++) {
		int label = t->labels[i];
		int64_t size = t->x->shape[i], before = e->known >> label & 1 ? e->sizes[label] : 1;
		if (size != before && size != 1 && before != 1)
			return lb_fail("einsum: \"%.100s\": axis %c is %lld long before, %lld in operand %d, %s",
				       e->spec, letter(label), (long long)before, (long long)size, operand,
				       lb_shape_text(t->x->rank, t->x->shape, text));
		e->twice |= e->known & 1ull << label;
		e->known |= 1ull << label;
		e->sizes[label] = size == 1 ? before : size;
	}
	return true;
}

/* Without an arrow: the ellipsis, and the letters that come once, capitals first, as in ASCII. */
static bool implied_result(const struct einsum *e, struct term *out)
{
	*out = (struct term){ .dots = 0 };
	for (int i = 0; i < LETTERS; i++) {
		int label = i < 26 ? i + 26 : i - 26;
		if (!((e->known & ~e->twice) >> label & 1))
			continue;
		if (out->n == LB_MAX_RANK)
			return lb_fail("einsum: \"%.100s\": the result has more than %d axes", e->spec, LB_MAX_RANK);
		out->labels[out->n++] = (uint8_t)label;
	}
	return write_out(e, out, e->ellipsis);
}

static bool check_result(const struct einsum *e, const struct term *out)
{
	uint64_t seen = 0;
	for (int i = 0; i < out->n; i++) {
		uint64_t bit = 1ull << out->labels[i];
		if (!(e->known & bit) || seen & bit)
			return lb_fail("einsum: \"%.100s\": axis %c of the result %s", e->spec, letter(out->labels[i]),
				       seen & bit ? "is named twice" : "is of no operand");
		seen |= bit;
	}
	return true;
}

static bool parse_subscripts(struct einsum *e, int n, struct lb_tensor *const *xs, struct term *terms, struct term *out)
{
	const char *at = e->spec;
	for (int i = 0; i < n; i++) {
		terms[i].x = xs[i];
		if (!parse_labels(e->spec, &at, &terms[i]))
			return false;
		bool last = i + 1 == n;
		if (last ? *at && strncmp(at, "->", 2) != 0 : *at != ',')
			return lb_fail("einsum: \"%.100s\" must name the axes of each of %d operands, as "
				       "\"ij,jk->ik\" does",
				       e->spec, n);
		if (!note_sizes(e, &terms[i], i))
			return false;
		if (last && !*at)
			return implied_result(e, out);
		at += last ? 2 : 1;
	}
	if (!parse_labels(e->spec, &at, out))
		return false;
	if (*at)
		return lb_fail("einsum: \"%.100s\": nothing may follow the axes of the result", e->spec);
	if (e->ellipsis && out->dots < 0)
		return lb_fail("einsum: \"%.100s\": the result has no place for the axes of the ellipsis", e->spec);
	return write_out(e, out, e->ellipsis) && check_result(e, out);
}

/* ---- steps ---- */

/* Without the axes that are broadcast. */
static bool drop_ones(const struct einsum *e, struct term *t)
{
	int64_t shape[LB_MAX_RANK];
	struct term left = { 0 };
	for (int i = 0; i < t->n; i++) {
		if (t->x->shape[i] == 1 && e->sizes[t->labels[i]] != 1)
			continue;
		shape[left.n] = t->x->shape[i];
		left.labels[left.n++] = t->labels[i];
	}
	left.x = left.n == t->n ? t->x : lb_reshape(t->x, (lb_list){ left.n, shape });
	*t = left;
	return t->x != NULL;
}

/* A label that an operand has twice stands for a diagonal. */
static bool take_diagonals(struct term *t)
{
	int64_t row[LB_MAX_RANK], shape[LB_MAX_RANK], strides[LB_MAX_RANK] = { 0 };
	struct term once = { .x = t->x };
	lb_row_strides(t->n, t->x->shape, row);
	for (int i = 0; i < t->n; i++) {
		int k = 0;
		while (k < once.n && once.labels[k] != t->labels[i])
			k++;
		if (k == once.n)
			once.labels[once.n++] = t->labels[i];
		shape[k] = t->x->shape[i];
		strides[k] += row[i];
	}
	if (once.n != t->n)
		once.x = lb_as_strided(t->x, (lb_list){ once.n, shape }, (lb_list){ once.n, strides }, 0);
	*t = once;
	return t->x != NULL;
}

/* Sums over the labels that are not in `needed`. */
static bool drop_labels(struct term *t, uint64_t needed)
{
	int64_t axes[LB_MAX_RANK];
	struct term left = { 0 };
	int n = 0;
	for (int i = 0; i < t->n; i++) {
		if (needed >> t->labels[i] & 1)
			left.labels[left.n++] = t->labels[i];
		else
			axes[n++] = i;
	}
	left.x = n ? lb_sum(t->x, (lb_list){ n, axes }, false) : t->x;
	*t = left;
	return t->x != NULL;
}

/* Labels of t in mask, in t's order, appended to list. */
static int append_labels(const struct term *t, uint64_t mask, uint8_t *list, int n)
{
	for (int i = 0; i < t->n; i++) {
		if (mask >> t->labels[i] & 1)
			list[n++] = t->labels[i];
	}
	return n;
}

/* t with its axes in the order of the list, which holds them all. */
static struct lb_tensor *ordered(const struct term *t, int n, const uint8_t *list)
{
	int64_t axes[LB_MAX_RANK];
	bool same = true;
	int found = 0;
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < t->n; i++) {
			if (t->labels[i] == list[k]) {
				same = same && i == found;
				axes[found++] = i;
			}
		}
	}
	return same ? t->x : lb_transpose(t->x, (lb_list){ found, axes });
}

static struct lb_tensor *shaped(struct lb_tensor *x, int n, const int64_t *shape)
{
	if (!x || lb_same_shape(x->rank, x->shape, n, shape))
		return x;
	return lb_reshape(x, (lb_list){ n, shape });
}

/* A product that does not fit is more than any shape may have: reshape says so. */
static int64_t size_of(const struct einsum *e, const uint8_t *list, int n)
{
	int64_t size = 1;
	for (int i = 0; i < n; i++) {
		if (!lb_mul(size, e->sizes[list[i]], &size))
			return INT64_MAX;
	}
	return size;
}

/* Axes of both over the list, 1 long where an operand does not have the label. */
static struct lb_tensor *spread(const struct einsum *e, const struct term *t, int n, const uint8_t *list)
{
	int64_t shape[LB_MAX_RANK];
	uint64_t mask = mask_of(t);
	for (int k = 0; k < n; k++)
		shape[k] = mask >> list[k] & 1 ? e->sizes[list[k]] : 1;
	struct lb_tensor *x = ordered(t, n, list);
	return shaped(x, n, shape);
}

static bool multiply_and_sum(const struct einsum *e, struct term *a, const struct term *b, uint64_t needed)
{
	struct term all = { 0 };
	uint8_t list[2 * LB_MAX_RANK];
	int n = append_labels(a, ~0ull, list, 0);
	n = append_labels(b, ~mask_of(a), list, n);
	if (n > LB_MAX_RANK)
		return lb_fail("einsum: \"%.100s\": a step has %d %s, at most %d fit; split it", e->spec, n,
			       LB_PLURAL(n, "axis", "axes"), LB_MAX_RANK);
	struct lb_tensor *x = spread(e, a, n, list), *y = spread(e, b, n, list);
	all.x = lb_multiply(x, y);
	all.n = n;
	memcpy(all.labels, list, (size_t)n);
	*a = all;
	return a->x && drop_labels(a, needed);
}

static bool matrix_product(const struct einsum *e, struct term *a, const struct term *b, uint64_t needed)
{
	uint64_t in_a = mask_of(a), in_b = mask_of(b), both = in_a & in_b;
	uint8_t result[3 * LB_MAX_RANK], left[2 * LB_MAX_RANK], right[3 * LB_MAX_RANK];
	int batch = append_labels(a, both & needed, result, 0), rows = append_labels(a, in_a & ~both, result, batch);
	int n = append_labels(b, in_b & ~both, result, rows);
	if (n > LB_MAX_RANK)
		return lb_fail("einsum: \"%.100s\": a step has %d %s, at most %d fit; split it", e->spec, n,
			       LB_PLURAL(n, "axis", "axes"), LB_MAX_RANK);
	memcpy(left, result, (size_t)rows);
	int n_left = append_labels(a, both & ~needed, left, rows);
	memcpy(right, result, (size_t)batch);
	int inner = append_labels(a, both & ~needed, right, batch);
	memcpy(right + inner, result + rows, (size_t)(n - rows));
	int n_right = inner + n - rows;
	int64_t m = size_of(e, result + batch, rows - batch), k = size_of(e, left + rows, n_left - rows);
	int64_t columns = size_of(e, result + rows, n - rows), b_size = size_of(e, result, batch), shape[LB_MAX_RANK];
	struct lb_tensor *x = ordered(a, n_left, left), *y = ordered(b, n_right, right);
	x = shaped(x, batch ? 3 : 2, batch ? (int64_t[]){ b_size, m, k } : (int64_t[]){ m, k });
	y = shaped(y, batch ? 3 : 2, batch ? (int64_t[]){ b_size, k, columns } : (int64_t[]){ k, columns });
	for (int i = 0; i < n; i++)
		shape[i] = e->sizes[result[i]];
	a->x = shaped(lb_matmul(x, y), n, shape);
	a->n = n;
	memcpy(a->labels, result, (size_t)n);
	return a->x != NULL;
}

/* ---- the order ---- */

static double elements(const struct einsum *e, uint64_t mask)
{
	double n = 1;
	for (; mask; mask &= mask - 1)
		n *= (double)e->sizes[__builtin_ctzll(mask)];
	return n;
}

/* The pair that leaves the fewest elements beside what it takes away, and of several that which costs least; pairs without a
 * common label only where there are no others. Of each term its labels, and those of the result. */
static void choose_pair(const struct einsum *e, int n, const uint64_t *masks, uint64_t out, int *pair)
{
	double gone = 0, cost = 0;
	bool found = false;
	for (int apart = 0; apart < 2 && !found; apart++) {
		for (int i = 0; i < n; i++) {
			for (int j = i + 1; j < n; j++) {
				uint64_t both = masks[i] | masks[j], needed = out;
				if (!apart && !(masks[i] & masks[j]))
					continue;
				for (int k = 0; k < n; k++)
					needed |= k == i || k == j ? 0 : masks[k];
				double less =
				    elements(e, masks[i]) + elements(e, masks[j]) - elements(e, both & needed);
				double work = elements(e, both) * (both & ~needed ? 2 : 1);
				if (found && (less < gone || (less == gone && work >= cost)))
					continue;
				found = true;
				gone = less;
				cost = work;
				pair[0] = i;
				pair[1] = j;
			}
		}
	}
}

static struct lb_tensor *compute_einsum(const struct einsum *e, int n, struct term *terms, const struct term *out)
{
	enum lb_dtype dtype;
	struct lb_tensor *xs[LB_EINSUM_MOST];
	for (int i = 0; i < n; i++)
		xs[i] = terms[i].x;
	if (!lb_common_dtype("einsum", n, xs, &dtype, lb_fail_site_now()))
		return NULL;
	for (int i = 0; i < n; i++) {
		terms[i].x = lb_as(terms[i].x, dtype, lb_fail_site_now());
		if (!terms[i].x || !drop_ones(e, &terms[i]))
			return NULL;
	}
	for (int i = 0; i < n; i++) {
		uint64_t needed = mask_of(out);
		for (int k = 0; k < n; k++)
			needed |= k == i ? 0 : mask_of(&terms[k]);
		if (!take_diagonals(&terms[i]) || !drop_labels(&terms[i], needed))
			return NULL;
	}
	for (; n > 1; n--) {
		int pair[2], kept = 0;
		uint64_t masks[LB_EINSUM_MOST], needed = mask_of(out);
		for (int k = 0; k < n; k++)
			masks[k] = mask_of(&terms[k]);
		choose_pair(e, n, masks, needed, pair);
		struct term joined = terms[pair[0]], other = terms[pair[1]];
		for (int k = 0; k < n; k++) {
			if (k == pair[0] || k == pair[1])
				continue;
			needed |= masks[k];
			terms[kept++] = terms[k];
		}
		bool sums = mask_of(&joined) & mask_of(&other) & ~needed;
		bool ok = sums && lb_dtype_is_inexact(dtype) ? matrix_product(e, &joined, &other, needed)
							     : multiply_and_sum(e, &joined, &other, needed);
		if (!ok)
			return NULL;
		terms[kept] = joined; /* the last then */
	}
	struct term *a = &terms[0];
	struct lb_tensor *result = ordered(a, out->n, out->labels);
	/* sums of small integers are wider */
	return result ? lb_as(result, dtype, lb_fail_site_now()) : NULL;
}

static bool are_operands(const char *name, const char *spec, int n, lb_tensor *const *xs)
{
	if (n < 1 || n > LB_EINSUM_MOST)
		return lb_fail("%s: needs from 1 to %d operands, not %d", name, LB_EINSUM_MOST, n);
	if (!LB_GIVEN(name, spec) || !LB_GIVEN(name, xs))
		return false;
	for (int i = 0; i < n; i++)
		if (!xs[i])
			return lb_fail_null_at(name, i, n);
	return true;
}

bool lb_einsum_path(const char *spec, int n, lb_tensor *const *xs, int (*pairs)[2])
{
	LB_ENTER_WHOLE();
	struct einsum e = { .spec = spec };
	struct term terms[LB_EINSUM_MOST], out;
	if (!LB_GIVEN("einsum_path", pairs) || !are_operands("einsum_path", spec, n, xs) ||
	    !parse_subscripts(&e, n, xs, terms, &out))
		return false;
	uint64_t masks[LB_EINSUM_MOST] = { 0 }, result = mask_of(&out), once = 0, twice = 0;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < terms[i].n; k++) /* without the axes that are broadcast */
			if (xs[i]->shape[k] != 1 || e.sizes[terms[i].labels[k]] == 1)
				masks[i] |= 1ull << terms[i].labels[k];
		twice |= once & masks[i];
		once |= masks[i];
	}
	for (int i = 0; i < n; i++)
		masks[i] &= twice | result; /* others are summed over first */
	for (; n > 1; n--, pairs++) {
		choose_pair(&e, n, masks, result, *pairs);
		uint64_t joined = masks[(*pairs)[0]] | masks[(*pairs)[1]], needed = result;
		int kept = 0;
		for (int k = 0; k < n; k++) {
			if (k == (*pairs)[0] || k == (*pairs)[1])
				continue;
			needed |= masks[k];
			masks[kept++] = masks[k];
		}
		masks[kept] = joined & needed;
	}
	return true;
}

lb_tensor *lb_einsum(const char *spec, int n, lb_tensor *const *xs)
{
	LB_ENTER_WHOLE();
	if (!are_operands("einsum", spec, n, xs))
		return NULL;
	struct einsum e = { .spec = spec };
	struct term terms[LB_EINSUM_MOST], out;
	if (!parse_subscripts(&e, n, xs, terms, &out))
		return NULL;
	struct lb_tensor *y = compute_einsum(&e, n, terms, &out);
	return y == xs[0] ? lb_untouched(y, lb_fail_site_now()) : y;
}
