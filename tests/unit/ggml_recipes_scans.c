/* What goes on from token to token, and equations. */
#include <math.h>

#include "ggml_recipes.h"

enum { SIZE = 4, HEADS = 3, SEQUENCES = 2, TOKENS = 5 /* of each sequence */, ALL = SEQUENCES * TOKENS };

static double squares[SEQUENCES][HEADS][SIZE][SIZE];

static void take_states(int state)
{
	for (int s = 0; s < SEQUENCES; s++)
		for (int h = 0; h < HEADS; h++)
			for (int i = 0; i < SIZE; i++)
				for (int j = 0; j < SIZE; j++)
					squares[s][h][i][j] = at(state, (h * SIZE + i) * SIZE + j, s, 0, 0);
}

static void want_states(void)
{
	for (int s = 0; s < SEQUENCES; s++)
		for (int h = 0; h < HEADS; h++)
			for (int i = 0; i < SIZE; i++)
				for (int j = 0; j < SIZE; j++)
					want(squares[s][h][i][j]);
}

/* (k v' bonus + S) r, then S = S decay + k v'. Without a bonus S comes first. */
static void keys_and_values(bool has_bonus)
{
	enum { K, V, R, DECAY };
	nodes_reset();
	int from[4], bonus = leaf(SIZE, HEADS, 1, 1), state = leaf(SIZE * SIZE * HEADS, SEQUENCES, 1, 1);
	const float scale = 0.3F;

	for (int i = 0; i < 4; i++)
		from[i] = leaf(SIZE, HEADS, ALL, 1);
	take_states(state);
	for (int t = 0; t < ALL; t++)
		for (int h = 0; h < HEADS; h++) {
			double result[SIZE] = { 0 };
			for (int i = 0; i < SIZE; i++)
				for (int j = 0; j < SIZE; j++) {
					double *s = &squares[t / TOKENS][h][i][j], before = *s;
					double kv = at(from[K], i, h, t, 0) * at(from[V], j, h, t, 0);
					*s = before * at(from[DECAY], i, h, t, 0) + kv;
					double seen = has_bonus ? before + kv * at(bonus, i, h, 0, 0) : *s * scale;
					result[j] += seen * at(from[R], i, h, t, 0);
				}
			for (int j = 0; j < SIZE; j++)
				want(result[j]);
		}
	want_states();
	if (has_bonus)
		holds(&(struct node){ .op = "RWKV_WKV6",
				      .ne = { SIZE * HEADS, ALL + SIZE * SEQUENCES, 1, 1 },
				      .sources = { from[K], from[V], from[R], bonus, from[DECAY], state } },
		      3e-6);
	else
		holds(&(struct node){ .op = "GATED_LINEAR_ATTN",
				      .ne = { SIZE * HEADS, ALL + SIZE * SEQUENCES, 1, 1 },
				      .sources = { from[K], from[V], from[R], from[DECAY], state },
				      .params = { bits_of(scale) } },
		      3e-6);
}

/* S = S diag(w) + v k' + (S a) b', and S r comes out. */
static void seventh(void)
{
	enum { R, W, K, V, A, B, SOURCES };
	nodes_reset();
	int from[SOURCES], state = leaf(SIZE * SIZE * HEADS, SEQUENCES, 1, 1);

	for (int i = 0; i < SOURCES; i++)
		from[i] = leaf(SIZE, HEADS, ALL, 1);
	take_states(state);
	for (int t = 0; t < ALL; t++)
		for (int h = 0; h < HEADS; h++)
			for (int i = 0; i < SIZE; i++) {
				double *s = squares[t / TOKENS][h][i], seen = 0, result = 0;
				for (int j = 0; j < SIZE; j++)
					seen += s[j] * at(from[A], j, h, t, 0);
				for (int j = 0; j < SIZE; j++) {
					s[j] = s[j] * at(from[W], j, h, t, 0) +
					       at(from[V], i, h, t, 0) * at(from[K], j, h, t, 0) +
					       seen * at(from[B], j, h, t, 0);
					result += s[j] * at(from[R], j, h, t, 0);
				}
				want(result);
			}
	want_states();
	holds(&(struct node){ .op = "RWKV_WKV7",
			      .ne = { SIZE * HEADS, ALL + SIZE * SEQUENCES, 1, 1 },
			      .sources = { from[R], from[W], from[K], from[V], from[A], from[B], state } },
	      3e-6);
}

/* The gated delta rule: S = exp(g) S; S += k beta (v - S' k)'; S' q / sqrt(size). The state is kept transposed. */
static void delta(bool each, int own, int sequences)
{
	nodes_reset();
	int q = leaf(SIZE, own, TOKENS, sequences), k = leaf(SIZE, own, TOKENS, sequences),
	    v = leaf(SIZE, HEADS, TOKENS, SEQUENCES);
	int g = leaf(each ? SIZE : 1, HEADS, TOKENS, SEQUENCES), beta = leaf(1, HEADS, TOKENS, SEQUENCES),
	    state = leaf(SIZE, SIZE, HEADS, SEQUENCES);

	for (int s = 0; s < SEQUENCES; s++)
		for (int h = 0; h < HEADS; h++)
			for (int i = 0; i < SIZE; i++)
				for (int j = 0; j < SIZE; j++)
					squares[s][h][i][j] = at(state, i, j, h, s);
	for (int s = 0; s < SEQUENCES; s++)
		for (int t = 0; t < TOKENS; t++)
			for (int h = 0; h < HEADS; h++) {
				double (*S)[SIZE] = squares[s][h];
				int of = h % own, from = s / (SEQUENCES / sequences);
				for (int i = 0; i < SIZE; i++)
					for (int j = 0; j < SIZE; j++)
						S[i][j] *= exp(at(g, each ? i : 0, h, t, s));
				double result[SIZE] = { 0 };
				for (int j = 0; j < SIZE; j++) {
					double sum = 0;
					for (int i = 0; i < SIZE; i++)
						sum += S[i][j] * at(k, i, of, t, from);
					double by = at(beta, 0, h, t, s) * (at(v, j, h, t, s) - sum);
					for (int i = 0; i < SIZE; i++) {
						S[i][j] += at(k, i, of, t, from) * by;
						result[j] += S[i][j] * at(q, i, of, t, from) / sqrt(SIZE);
					}
				}
				for (int j = 0; j < SIZE; j++)
					want(result[j]);
			}
	for (int s = 0; s < SEQUENCES; s++)
		for (int h = 0; h < HEADS; h++)
			for (int j = 0; j < SIZE; j++)
				for (int i = 0; i < SIZE; i++)
					want(squares[s][h][i][j]);
	struct node n = { .op = "GATED_DELTA_NET",
			  .ne = { SIZE * HEADS, ALL + SIZE * SEQUENCES, 1, 1 },
			  .sources = { q, k, v, g, beta, state },
			  .params = { 1 } };
	holds(&n, 3e-6);
	n.params[0] = 2;
	is_without(&n, "several states");
}

/* s = s exp(dt A) + B x dt, dt by softplus; y = C s. A is one number a head, or one a state. */
static void scan(bool each, bool is_old)
{
	enum { STATES = 6, DIM = 4, OF = 4 /* heads */, GROUPS = 2, KEPT = 3 };
	const int heads = is_old ? DIM * OF : OF, dim = is_old ? 1 : DIM, groups = is_old ? 1 : GROUPS;
	nodes_reset();
	int first = is_old ? leaf(STATES, heads, SEQUENCES, 1) : leaf(STATES, dim, heads, KEPT);
	int x = is_old ? leaf(heads, TOKENS, SEQUENCES, 1) : leaf(dim, heads, TOKENS, SEQUENCES);
	int dt = leaf(heads, TOKENS, SEQUENCES, 1), a = leaf(each ? STATES : 1, heads, 1, 1);
	int b = is_old ? leaf(STATES, TOKENS, SEQUENCES, 1) : leaf(STATES, groups, TOKENS, SEQUENCES);
	int c = is_old ? leaf(STATES, TOKENS, SEQUENCES, 1) : leaf(STATES, groups, TOKENS, SEQUENCES);
	int ids = leaf_of(LB_I32, SEQUENCES, 1, 1, 1, KEPT);
	static double s[SEQUENCES][DIM * OF][DIM][STATES];

	for (int i = 0; i < heads * (each ? STATES : 1); i++) /* states fade */
		elements_of(a)[i] = -fabsf(elements_of(a)[i]);
	for (int q = 0; q < SEQUENCES; q++)
		for (int h = 0; h < heads; h++)
			for (int d = 0; d < dim; d++)
				for (int i = 0; i < STATES; i++)
					s[q][h][d][i] = is_old ? at(first, i, h, q, 0)
							       : at(first, i, d, h, (int64_t)at(ids, q, 0, 0, 0));
	for (int q = 0; q < SEQUENCES; q++)
		for (int t = 0; t < TOKENS; t++)
			for (int h = 0; h < heads; h++)
				for (int d = 0; d < dim; d++) {
					double step = log1p(exp(at(dt, h, t, q, 0))), y = 0,
					       input = step * (is_old ? at(x, h, t, q, 0) : at(x, d, h, t, q));
					int group = h / (heads / groups);
					for (int i = 0; i < STATES; i++) {
						double in = is_old ? at(b, i, t, q, 0) : at(b, i, group, t, q),
						       out = is_old ? at(c, i, t, q, 0) : at(c, i, group, t, q);
						s[q][h][d][i] =
						    s[q][h][d][i] * exp(step * at(a, each ? i : 0, h, 0, 0)) +
						    in * input;
						y += s[q][h][d][i] * out;
					}
					want(y);
				}
	for (int q = 0; q < SEQUENCES; q++)
		for (int h = 0; h < heads; h++)
			for (int d = 0; d < dim; d++)
				for (int i = 0; i < STATES; i++)
					want(s[q][h][d][i]);
	struct node n = { .op = "SSM_SCAN",
			  .ne = { SEQUENCES * heads * dim * (TOKENS + STATES), 1, 1, 1 },
			  .sources = { first, x, dt, a, b, c, is_old ? 0 : ids },
			  .params = { !is_old } };
	holds(&n, 3e-6);
	n.params[0] = 2;
	is_without(&n, "several states");
}

/* Forward, row by row, of each matrix. */
static void equations(void)
{
	enum { ROWS = 9, COLUMNS = 4, BATCH = 3 };
	nodes_reset();
	int a = leaf(ROWS, ROWS, BATCH, 2), b = leaf(COLUMNS, ROWS, BATCH, 2);
	static double x[ROWS][COLUMNS];

	for (int i = 0; i < ROWS * BATCH * 2; i++)
		elements_of(a)[i * ROWS + i % ROWS] += 3;
	for (int64_t i3 = 0; i3 < 2; i3++)
		for (int64_t i2 = 0; i2 < BATCH; i2++)
			for (int i = 0; i < ROWS; i++)
				for (int c = 0; c < COLUMNS; c++) {
					x[i][c] = at(b, c, i, i2, i3);
					for (int k = 0; k < i; k++)
						x[i][c] -= at(a, k, i, i2, i3) * x[k][c];
					want(x[i][c] /= at(a, i, i, i2, i3));
				}
	holds(&(struct node){ .op = "SOLVE_TRI", .ne = { COLUMNS, ROWS, BATCH, 2 }, .sources = { a, b } }, 3e-6);
}

void recipes_of_scans(void **state)
{
	(void)state;
	keys_and_values(true);
	keys_and_values(false);
	seventh();
	delta(false, HEADS, SEQUENCES);
	delta(true, HEADS, SEQUENCES);
	delta(false, 1, SEQUENCES);
	delta(true, HEADS, 1);
	scan(false, false);
	scan(true, false);
	scan(true, true);
	equations();
}
