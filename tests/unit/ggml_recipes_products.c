/* Products of matrices, and attention. */
#include <math.h>

#include "ggml_recipes.h"

/* Rows of a by rows of b; matrices of a serve several of b's in a row. */
static void want_product(int a, int b, int64_t k, const int64_t *ne, int64_t ratio2, int64_t ratio3)
{
	EACH_OF(ne) {
		double sum = 0;
		for (int64_t i = 0; i < k; i++)
			sum += at(a, i, i0, i2 / ratio2, i3 / ratio3) * at(b, i, i1, i2, i3);
		want(sum);
	}
}

static void products(void)
{
	enum { K = 64, M = 5, N = 3 };
	nodes_reset();
	int b = leaf(K, N, 4, 2), one = leaf(K, M, 1, 1), some = leaf(K, M, 2, 1), each = leaf(K, M, 4, 2);
	int halves = leaf_of(LB_F16, K, M, 1, 1, 0), blocks = leaf_of_blocks(K, M, 2, 1), plain = leaf(K, N, 1, 1);
	const int64_t ne[] = { M, N, 4, 2 }, flat[] = { M, N, 1, 1 };
	const struct {
		int a;
		int64_t ratio2, ratio3;
	} kinds[] = { { one, 4, 2 }, { some, 2, 2 }, { each, 1, 1 }, { halves, 4, 2 }, { blocks, 2, 2 } };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		want_product(kinds[i].a, b, K, ne, kinds[i].ratio2, kinds[i].ratio3);
		holds(&(struct node){ .op = "MUL_MAT", .ne = { M, N, 4, 2 }, .sources = { kinds[i].a, b } }, 2e-6);
	}
	want_product(one, plain, K, flat, 1, 1);
	holds(&(struct node){ .op = "MUL_MAT", .ne = { M, N, 1, 1 }, .sources = { one, plain } }, 2e-6);
	/* rows of blocks by number */
	int ids = leaf_of(LB_I32, 4, 1, 1, 1, M), table = leaf_of_blocks(K, M, 1, 1);
	const int64_t rows[] = { K, 4, 1, 1 };
	EACH_OF(rows)
		want(at(table, i0, (int64_t)at(ids, i1, i2, i3, 0), i2, i3));
	holds(&(struct node){ .op = "GET_ROWS", .ne = { K, 4, 1, 1 }, .sources = { table, ids } }, 0);
	/* columns by columns: what rows have in common is added up */
	int left = leaf(4, 7, 2, 1), right = leaf(3, 7, 4, 1);
	const int64_t outer[] = { 4, 3, 4, 1 };
	EACH_OF(outer) {
		double sum = 0;
		for (int64_t k = 0; k < 7; k++)
			sum += at(left, i0, k, i2 / 2, i3) * at(right, i1, k, i2, i3);
		want(sum);
	}
	holds(&(struct node){ .op = "OUT_PROD", .ne = { 4, 3, 4, 1 }, .sources = { left, right } }, 2e-6);
}

/* Of each token by the experts that it has chosen. */
static void experts(void)
{
	enum { K = 32, M = 5, EXPERTS = 4, USED = 2, TOKENS = 3 };
	nodes_reset();
	int all = leaf(K, M, EXPERTS, 1), ids = leaf_of(LB_I32, USED, TOKENS, 1, 1, EXPERTS);
	int b[] = { leaf(K, USED, TOKENS, 1), leaf(K, 1, TOKENS, 1) };
	const int64_t ne[] = { M, USED, TOKENS, 1 };

	for (int each = 0; each < 2; each++) {
		EACH_OF(ne) {
			double sum = 0;
			for (int64_t k = 0; k < K; k++)
				sum +=
				    at(all, k, i0, (int64_t)at(ids, i1, i2, i3, 0), i3) * again(b[each], k, i1, i2, i3);
			want(sum);
		}
		holds(&(struct node){ .op = "MUL_MAT_ID",
				      .ne = { M, USED, TOKENS, 1 },
				      .sources = { all, b[each], ids } },
		      2e-6);
	}
	/* once they were apart, and a column of the numbers was meant */
	int apart[EXPERTS], x = leaf(K, TOKENS, 1, 1);
	for (int e = 0; e < EXPERTS; e++)
		apart[e] = leaf(K, M, 1, 1);
	for (int t = 0; t < TOKENS; t++)
		for (int m = 0; m < M; m++) {
			double sum = 0;
			for (int k = 0; k < K; k++)
				sum += at(apart[(int)at(ids, 1, t, 0, 0)], k, m, 0, 0) * at(x, k, t, 0, 0);
			want(sum);
		}
	holds(&(struct node){ .op = "MUL_MAT_ID",
			      .ne = { M, TOKENS, 1, 1 },
			      .sources = { ids, x, apart[0], apart[1], apart[2], apart[3] },
			      .params = { 1, EXPERTS },
			      .is_old = true },
	      2e-6);
}

void recipes_of_products(void **state)
{
	(void)state;
	products();
	experts();
}

/* ---- attention ---- */

enum { SIZE = 8, OF_VALUES = 6, QUERIES = 5, KEYS = 11, HEADS = 6, OWN = 2 /* heads of keys */, BATCH = 2 };

struct attention {
	int mask, sinks;
	float scale, max_bias, cap;
};

static double slope(int64_t head, double max_bias)
{
	/* 4 heads of 6 have a power of 2 */
	return max_bias <= 0 ? 1
	       : head < 4    ? pow(2, -max_bias * (double)(head + 1) / 4)
			     : pow(2, -max_bias / 2 * (double)(2 * (head - 4) + 1) / 4);
}

static void want_attention(const struct attention *a, int q, int k, int v)
{
	for (int64_t b = 0; b < BATCH; b++)
		for (int64_t n = 0; n < QUERIES; n++)
			for (int64_t h = 0; h < HEADS; h++) {
				double scores[KEYS], most = -INFINITY, sum = 0;
				int64_t own = h / (HEADS / OWN);
				for (int64_t m = 0; m < KEYS; m++) {
					scores[m] = 0;
					for (int64_t i = 0; i < SIZE; i++)
						scores[m] += a->scale * at(q, i, n, h, b) * at(k, i, m, own, b);
					if (a->cap != 0)
						scores[m] = a->cap * tanh(scores[m] / a->cap);
					if (a->mask)
						scores[m] += slope(h, a->max_bias) * again(a->mask, m, n, h, b);
					most = fmax(most, scores[m]);
				}
				if (a->sinks)
					most = fmax(most, at(a->sinks, h, 0, 0, 0));
				for (int64_t m = 0; m < KEYS; m++)
					sum += exp(scores[m] - most);
				if (a->sinks)
					sum += exp(at(a->sinks, h, 0, 0, 0) - most);
				for (int64_t i = 0; i < OF_VALUES; i++) {
					double result = 0;
					for (int64_t m = 0; m < KEYS; m++)
						result += exp(scores[m] - most) / sum * at(v, i, m, own, b);
					want(isfinite(most) ? result : 0);
				}
			}
}

void recipes_of_attention(void **state)
{
	(void)state;
	nodes_reset();
	int q = leaf(SIZE, QUERIES, HEADS, BATCH), k = leaf_of(LB_F16, SIZE, KEYS, OWN, BATCH, 0),
	    v = leaf_of(LB_F16, OF_VALUES, KEYS, OWN, BATCH, 0);
	int mask = leaf(KEYS, QUERIES, 1, 1), each = leaf_of(LB_F16, KEYS, QUERIES + 3, 1, BATCH, 0),
	    sinks = leaf(HEADS, 1, 1, 1);
	const struct attention kinds[] = {
		{ 0, 0, 0.35F, 0, 0 },    { mask, 0, 0.35F, 0, 0 }, { mask, 0, 0.35F, 8, 0 },
		{ each, 0, 0.35F, 0, 0 }, { mask, 0, 2, 0, 1.5F },  { mask, sinks, 0.35F, 0, 0 },
		{ each, sinks, 2, 4, 3 },
	};

	/* causal; and one query that sees nothing, which gives zeros */
	for (int n = 0; n < QUERIES; n++)
		for (int m = n + 3; m < KEYS; m++)
			elements_of(mask)[n * KEYS + m] = -INFINITY;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		want_attention(&kinds[i], q, k, v);
		holds(&(struct node){ .op = "FLASH_ATTN_EXT",
				      .ne = { OF_VALUES, HEADS, QUERIES, BATCH },
				      .sources = { q, k, v, kinds[i].mask, kinds[i].sinks },
				      .params = { bits_of(kinds[i].scale), bits_of(kinds[i].max_bias),
						  bits_of(kinds[i].cap) } },
		      2e-6);
	}
	for (int m = 0; m < KEYS; m++)
		elements_of(mask)[m] = -INFINITY;
	want_attention(&kinds[1], q, k, v);
	holds(&(struct node){ .op = "FLASH_ATTN_EXT",
			      .ne = { OF_VALUES, HEADS, QUERIES, BATCH },
			      .sources = { q, k, v, mask },
			      .params = { bits_of(0.35F) } },
	      2e-6);
}
