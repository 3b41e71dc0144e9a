/* How attention spreads, against the formulas written out in long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "inspect/measure/attention.h"

enum { BATCH = 2, HEADS = 6, SHARED = 3, QUERIES = 19, KEYS = 1100, FEATURES = 24 };

static struct lbx_out quiet;

static float normal(uint64_t *state)
{
	float sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (float)(lb_mix(++*state) >> 40) / (1 << 24);
	return sum - 6;
}

static float *numbers(int64_t n, uint64_t seed, float scale)
{
	float *x = malloc((size_t)n * sizeof *x);

	assert_non_null(x);
	for (int64_t i = 0; i < n; i++)
		x[i] = scale * normal(&seed);
	return x;
}

static struct lbx_array array(const void *data, int rank, const int64_t *shape, enum lb_dtype dtype)
{
	int64_t strides[4], n = 1;
	struct lbx_array a;

	for (int i = rank; i-- > 0; n *= shape[i])
		strides[i] = n;
	assert_true(lbx_array_local(data, n * lbx_dtype_bytes(dtype), dtype, rank, shape, strides, 0, &a));
	return a;
}

static void is_near(long double a, long double b)
{
	if (!(fabsl(a - b) <= 1e-5L))
		fail_msg("%.9Lg, not %.9Lg", a, b);
}

/* What each head should be told with, from its weights; a key that is hidden has -1. */
static void check_head(const struct lbx_attention_head *h, const float *weights, int64_t queries, int64_t keys)
{
	long double mean = 0, least = 2, most = -1, largest = 0, first = 0;
	int64_t n = 0;

	for (int64_t i = 0; i < queries; i++) {
		const float *w = weights + i * keys;
		long double entropy = 0, top = 0;
		int64_t seen = 0;
		for (int64_t k = 0; k < keys; k++) {
			seen += w[k] >= 0;
			entropy -= w[k] > 0 ? (long double)w[k] * logl(w[k]) : 0;
			top = w[k] > top ? w[k] : top;
		}
		if (seen < 2)
			continue;
		long double share = entropy / logl(seen);
		n++, mean += share, largest += top, first += w[0] > 0 ? w[0] : 0;
		least = share < least ? share : least;
		most = share > most ? share : most;
	}
	assert_int_equal(h->queries, n);
	is_near(h->entropy, mean / n);
	is_near(h->least, least);
	is_near(h->most, most);
	is_near(h->largest, largest / n);
	is_near(h->first, first / n);
}

/* Weights of one head, written out: hidden ones are -1. */
static void softmax_of(const float *q, const float *k, double scale, bool causal, const bool *mask, float *ret)
{
	for (int i = 0; i < QUERIES; i++) {
		long double scores[KEYS], top = -INFINITY, sum = 0;
		for (int j = 0; j < KEYS; j++) {
			scores[j] = 0;
			for (int f = 0; f < FEATURES; f++)
				scores[j] += (long double)q[i * FEATURES + f] * k[j * FEATURES + f];
			scores[j] *= scale;
			bool hidden = (causal && j > i + KEYS - QUERIES) || (mask && !mask[j]);
			scores[j] = hidden ? -INFINITY : scores[j];
			top = scores[j] > top ? scores[j] : top;
		}
		for (int j = 0; j < KEYS; j++)
			sum += expl(scores[j] - top);
		for (int j = 0; j < KEYS; j++)
			ret[i * KEYS + j] = scores[j] == -INFINITY ? -1 : (float)(expl(scores[j] - top) / sum);
	}
}

static void check_scores(bool causal, const bool *mask, double scale)
{
	static const int64_t q_shape[] = { BATCH, HEADS, QUERIES, FEATURES },
			     k_shape[] = { BATCH, SHARED, KEYS, FEATURES }, mask_shape[] = { BATCH, 1, 1, KEYS },
			     w_shape[] = { BATCH, HEADS, QUERIES, KEYS };
	float *q = numbers(BATCH * HEADS * QUERIES * FEATURES, 1, 1),
	      *k = numbers(BATCH * SHARED * KEYS * FEATURES, 2, 1);
	float *w = malloc((size_t)BATCH * HEADS * QUERIES * KEYS * sizeof *w);
	struct lbx_array qs = array(q, 4, q_shape, LB_F32), ks = array(k, 4, k_shape, LB_F32),
			 masks = array(mask ? (const void *)mask : q, 4, mask_shape, LB_BOOL);
	struct lbx_attention a;

	assert_non_null(w);
	assert_true(lbx_attention_of_scores(&(struct lbx_attention_scores){ &qs, &ks, mask ? &masks : NULL, scale,
									    causal },
					    0, &quiet, &a));
	assert_int_equal(a.n_heads, BATCH * HEADS);
	for (int i = 0; i < BATCH * HEADS; i++) {
		float *own = w + i * QUERIES * KEYS;
		int batch = i / HEADS, shared = i % HEADS / (HEADS / SHARED);
		softmax_of(q + i * QUERIES * FEATURES, k + (batch * SHARED + shared) * KEYS * FEATURES, scale, causal,
			   mask ? mask + batch * KEYS : NULL, own);
		check_head(&a.heads[i], own, QUERIES, KEYS);
	}
	lbx_attention_deinit(&a);
	if (!mask) { /* the same from the weights themselves */
		for (int64_t i = 0; i < BATCH * HEADS * QUERIES * KEYS; i++)
			w[i] = w[i] < 0 ? 0 : w[i];
		struct lbx_array ws = array(w, 4, w_shape, LB_F32);
		assert_true(lbx_attention_of_weights(&ws, 0, &quiet, &a));
		assert_true(a.is_causal == causal);
		for (int i = 0; i < BATCH * HEADS; i++) {
			float *own = w + i * QUERIES * KEYS;
			for (int j = 0; causal && j < QUERIES * KEYS; j++)
				own[j] = j % KEYS > j / KEYS + KEYS - QUERIES ? -1 : own[j];
			struct lbx_attention_head h = a.heads[i];
			check_head(&h, own, QUERIES, KEYS);
		}
		lbx_attention_deinit(&a);
	}
	free(q), free(k), free(w);
}

static void of_scores(void **state)
{
	(void)state;
	check_scores(false, NULL, 0.2);
	check_scores(true, NULL, 0.2);
	check_scores(true, NULL, 3);
}

static void of_masked_scores(void **state)
{
	bool mask[BATCH * KEYS];

	(void)state;
	for (int i = 0; i < BATCH * KEYS; i++)
		mask[i] = i < KEYS ? i % 3 != 1 : i % KEYS > 700;
	check_scores(false, mask, 0.2);
	check_scores(true, mask, 0.2);
}

static struct lbx_attention attention_of(const float *w, int64_t queries, int64_t keys)
{
	struct lbx_array a = array(w, 2, (int64_t[]){ queries, keys }, LB_F32);
	struct lbx_attention ret;

	assert_true(lbx_attention_of_weights(&a, 0, &quiet, &ret));
	return ret;
}

static void kinds_of_heads(void **state)
{
	static float one[16 * 16], all[16 * 16], none[16 * 16], few[4 * 4];
	struct lbx_attention a;

	(void)state;
	for (int i = 0; i < 16 * 16; i++) {
		all[i] = 1.0F / 16;
		none[i] = NAN;
	}
	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 16; k++)
			one[16 * i + k] = k == 7 * i % 16;
	for (int i = 0; i < 16; i++)
		few[i] = 0.25F;
	a = attention_of(one, 16, 16);
	assert_int_equal(lbx_attention_kind(&a, 0), LBX_HEAD_COLLAPSED);
	lbx_attention_deinit(&a);
	a = attention_of(all, 16, 16);
	assert_int_equal(lbx_attention_kind(&a, 0), LBX_HEAD_UNIFORM);
	is_near(lbx_attention_spread(&a), 0);
	lbx_attention_deinit(&a);
	a = attention_of(none, 16, 16);
	assert_int_equal(lbx_attention_kind(&a, 0), LBX_HEAD_ODD);
	assert_int_equal(a.heads[0].odd, 16);
	lbx_attention_deinit(&a);
	a = attention_of(few, 4, 4);
	assert_int_equal(lbx_attention_kind(&a, 0), LBX_HEAD_SPREADS);
	lbx_attention_deinit(&a);
}

/* Scores of unscaled queries and keys spread by sqrt(features). */
static void a_missing_scale(void **state)
{
	static const int64_t shape[] = { HEADS, QUERIES, 64 }, k_shape[] = { HEADS, KEYS, 64 };
	float *q = numbers(HEADS * QUERIES * 64, 3, 1), *k = numbers(HEADS * KEYS * 64, 4, 1);
	struct lbx_array qs = array(q, 3, shape, LB_F32), ks = array(k, 3, k_shape, LB_F32);
	struct lbx_attention a;

	(void)state;
	assert_true(lbx_attention_of_scores(&(struct lbx_attention_scores){ &qs, &ks, NULL, 1, false }, 0, &quiet, &a));
	assert_true(fabs(lbx_attention_spread(&a) - 8) < 0.5);
	assert_true(lbx_attention_lacks_scale(&a, 64));
	assert_false(lbx_attention_lacks_scale(&a, 9)); /* too few to tell */
	lbx_attention_deinit(&a);
	assert_true(lbx_attention_of_scores(&(struct lbx_attention_scores){ &qs, &ks, NULL, 0.125, false }, 0, &quiet,
					    &a));
	assert_false(lbx_attention_lacks_scale(&a, 64));
	lbx_attention_deinit(&a);
	free(q), free(k);
}

/* Those that are looked at include the first and the last. */
static void some_of_many(void **state)
{
	enum { N = 1000 };
	float *w = calloc(N * N, sizeof *w);
	struct lbx_array ws = array(w, 2, (int64_t[]){ N, N }, LB_F32);
	struct lbx_attention a;

	(void)state;
	for (int i = 0; i < N; i++)
		w[i * N] = 1;
	w[0] = w[1] = 0.5F;
	w[(N - 1) * N] = w[N * N - 1] = 0.5F;
	assert_true(lbx_attention_of_weights(&ws, 10, &quiet, &a));
	assert_int_equal(a.looked_at, 10);
	assert_int_equal(a.heads[0].queries, 10);
	is_near(a.heads[0].most, logl(2) / logl(N));
	is_near(a.heads[0].entropy, logl(2) / logl(N) * 2 / 10);
	is_near(a.heads[0].least, 0);
	lbx_attention_deinit(&a);
	free(w);
}

static void empty_ones(void **state)
{
	static const int64_t shapes[][3] = { { 0, 4, 4 }, { 2, 0, 4 }, { 2, 4, 0 } };
	float none[32] = { 0 };
	struct lbx_attention a;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct lbx_array w = array(none, 3, shapes[i], LB_F32);
		assert_true(lbx_attention_of_weights(&w, 0, &quiet, &a));
		for (int64_t k = 0; k < a.n_heads; k++) {
			assert_int_equal(a.heads[k].queries, 0);
			assert_true(isnan(a.heads[k].entropy) && isnan(a.heads[k].largest) && isnan(a.heads[k].spread));
		}
		lbx_attention_deinit(&a);
		struct lbx_array q = array(none, 3, shapes[i], LB_F32);
		assert_true(lbx_attention_of_scores(&(struct lbx_attention_scores){ &q, &q, NULL, 1, true }, 0, &quiet,
						    &a));
		lbx_attention_deinit(&a);
	}
}

/* Where an axis is empty, or repeats what it has, the others may say anything. */
static void more_than_there_are(void **state)
{
	static const int64_t most = (int64_t)1 << 33;
	float one = 1;
	struct lbx_attention a;

	(void)state;
	const int64_t empty[][4] = { { most, most, 4, 0 }, { 1, most, most, 0 } };
	for (int i = 0; i < 2; i++) {
		struct lbx_array w = array(&one, 4, (int64_t[]){ 1, 1, 1, 1 }, LB_F32);
		memcpy(w.shape, empty[i], sizeof empty[i]);
		assert_false(lbx_attention_of_weights(&w, 0, &quiet, &a));
		lbx_attention_deinit(&a);
		lb_clear_error();
	}
	struct lbx_array q = array(&one, 2, (int64_t[]){ 1, 1 }, LB_F32), k = q;
	q.shape[0] = 1 << 12, k.shape[0] = (int64_t)1 << 60;
	q.strides[0] = k.strides[0] = 0;
	assert_false(lbx_attention_of_scores(&(struct lbx_attention_scores){ &q, &k, NULL, 1, false }, 0, &quiet, &a));
	assert_non_null(strstr(lb_error_message(), "too many"));
	lbx_attention_deinit(&a);
	lb_clear_error();
}

static void refused(void **state)
{
	static float some[4 * 4 * 4];
	struct lbx_array w, q, k, m;
	struct lbx_attention a;

	(void)state;
	for (int i = 0; i < 64; i++)
		some[i] = 1;
	w = array(some, 2, (int64_t[]){ 4, 4 }, LB_F32);
	assert_false(lbx_attention_of_weights(&w, 0, &quiet, &a));
	assert_string_equal(lb_error_message(), "row 0 of head 0 sums to 4, not to 1 as weights do");
	lbx_attention_deinit(&a);
	lb_clear_error();
	some[1] = -1;
	assert_false(lbx_attention_of_weights(&w, 0, &quiet, &a));
	assert_non_null(strstr(lb_error_message(), "has values below 0"));
	lbx_attention_deinit(&a);
	lb_clear_error();
	w = array(some, 1, (int64_t[]){ 4 }, LB_F32);
	assert_false(lbx_attention_of_weights(&w, 0, &quiet, &a));
	lbx_attention_deinit(&a);
	lb_clear_error();
	q = array(some, 3, (int64_t[]){ 4, 2, 4 }, LB_F32);
	k = array(some, 3, (int64_t[]){ 3, 2, 4 }, LB_F32); /* 4 heads are not shared by 3 */
	assert_false(lbx_attention_of_scores(&(struct lbx_attention_scores){ &q, &k, NULL, 1, false }, 0, &quiet, &a));
	assert_string_equal(lb_error_message(), "keys of shape (3, 2, 4) do not fit queries of shape (4, 2, 4)");
	lbx_attention_deinit(&a);
	lb_clear_error();
	m = array(some, 2, (int64_t[]){ 3, 2 }, LB_F32);
	assert_false(lbx_attention_of_scores(&(struct lbx_attention_scores){ &q, &q, &m, 1, false }, 0, &quiet, &a));
	assert_string_equal(lb_error_message(), "masks of shape (3, 2) do not fit queries of shape (4, 2, 4)");
	lbx_attention_deinit(&a);
	lb_clear_error();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_scores),           cmocka_unit_test(of_masked_scores),
		cmocka_unit_test(kinds_of_heads),      cmocka_unit_test(a_missing_scale),
		cmocka_unit_test(some_of_many),        cmocka_unit_test(empty_ones),
		cmocka_unit_test(more_than_there_are), cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
