/* States that one token after the other changes: of Mamba, RWKV, and linear attention. What comes out is followed by the
 * state that is left. */
#include <math.h>

#include "base/error.h"
#include "ggml/recipe.h"

enum { TOKENS_MOST = 1 << 12 };

/* What is under way. Sources have the axes (sequences, tokens, …). */
struct scan {
	struct lbx_ggml_node *n;
	int64_t sequences, tokens;
	int state;
	int results[TOKENS_MOST], count; /* (sequences, 1, …) each */
};

static int product(struct scan *s, int a, int b)
{
	return lbx_step_binary(s->n->r, LB_OP_MULTIPLY, a, b);
}

static int sum(struct scan *s, int a, int b)
{
	return lbx_step_binary(s->n->r, LB_OP_ADD, a, b);
}

static int sum_along(struct scan *s, int x, int axis)
{
	return lbx_step_reduce(s->n->r, LB_OP_SUM, x, 1U << axis);
}

static int shaped(struct scan *s, int x, int rank, const int64_t *shape)
{
	return lbx_step_reshape(s->n->r, x, rank, shape);
}

/* A part of x, (sequences, tokens, heads, size), of one token: (sequences, heads, size, 1), or (…, 1, size). */
static int take(struct scan *s, int x, int64_t token, bool down)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	const struct lbx_step *from = lbx_step(s->n->r, x);
	int64_t heads = from->shape[2], size = from->shape[3], sequences = from->shape[0];
	const int64_t shape[] = { sequences, heads, down ? size : 1, down ? 1 : size };

	return shaped(s, lbx_step_narrow(s->n->r, x, 1, token, 1, 1), 4, shape);
}

static bool begin(struct scan *s, int64_t sequences, int64_t tokens)
{
	s->sequences = sequences;
	s->tokens = tokens;
	if (sequences >= 1 && tokens >= 1 && tokens <= TOKENS_MOST)
		return true;
	lbx_ggml_no_recipe(s->n, "so many tokens");
	return false;
}

/* Of each token of all sequences, one result after the other, then the state. */
static int finish(struct scan *s)
{
	struct lbx_recipe *r = s->n->r;
	int all = lbx_step_join(r, s->count, s->results, 1), parts[2] = { all, s->state };

	for (int i = 0; i < 2; i++) {
		if (parts[i] == LBX_FAIL)
			return LBX_FAIL;
		int64_t size = 1;
		for (int k = 0; k < lbx_step(r, parts[i])->rank; k++)
			size *= lbx_step(r, parts[i])->shape[k];
		parts[i] = shaped(s, parts[i], 1, &size);
	}
	return shaped(s, lbx_step_join(r, 2, parts, 0), LBX_GGML_AXES, s->n->shape);
}

/* What a token gives, (sequences, heads, size) and axes of 1. */
static bool give(struct scan *s, int64_t heads, int64_t size, int x)
{
	s->results[s->count] = shaped(s, x, 4, (int64_t[]){ s->sequences, 1, heads, size });
	return s->results[s->count++] != LBX_FAIL && s->state != LBX_FAIL;
}

/* ---- linear attention ---- */

/* Sources (heads, size) a token, of all sequences in turn; the state has a square a head. */
struct attention {
	struct scan scan;
	int64_t heads, size;
};

static bool begin_attention(struct attention *a, int state)
{
	struct lbx_ggml_node *n = a->scan.n;
	int first = lbx_ggml_source(n, 0), last = lbx_ggml_source_float(n, state);

	if (first == LBX_FAIL || last == LBX_FAIL)
		return false;
	/* a row of the result has all heads of a token; rows of the states follow */
	int64_t sequences = lbx_ggml_ne(n, last, 1), row = n->shape[LBX_GGML_AXIS_0], of_states, tokens;
	a->size = lbx_ggml_ne(n, first, 0);
	a->heads = a->size ? row / a->size : 0;
	if (a->heads < 1 || sequences < 1 || !lb_mul(a->size, sequences, &of_states) ||
	    (tokens = n->shape[2] - of_states) < 0 || tokens % sequences)
		return lbx_ggml_no_recipe(n, "such sizes") != LBX_FAIL;
	const int64_t shape[] = { sequences, a->heads, a->size, a->size };
	a->scan.state = shaped(&a->scan, last, 4, shape);
	return begin(&a->scan, sequences, tokens / sequences) && a->scan.state != LBX_FAIL;
}

static int source(struct attention *a, int i)
{
	const int64_t shape[] = { a->scan.sequences, a->scan.tokens, a->heads, a->size };

	return shaped(&a->scan, lbx_ggml_source_float(a->scan.n, i), 4, shape);
}

/* k v' with the bonus is seen, then kept, and what was kept decays. Without a bonus it is kept before it is seen. */
static int keys_and_values(struct attention *a, int k, int v, int seen_by, int bonus, int decay)
{
	enum { DOWN = 2 };
	struct scan *s = &a->scan;

	for (int64_t t = 0; t < s->tokens; t++) {
		int kv = product(s, take(s, k, t, true), take(s, v, t, false));
		int kept = sum(s, product(s, s->state, take(s, decay, t, true)), kv);
		int seen = bonus == LBX_FAIL ? kept : sum(s, product(s, kv, bonus), s->state);
		s->state = kept;
		if (!give(s, a->heads, a->size, sum_along(s, product(s, seen, take(s, seen_by, t, true)), DOWN)))
			return LBX_FAIL;
	}
	return finish(s);
}

int lbx_ggml_recipe_wkv6(struct lbx_ggml_node *n)
{
	struct attention a = { .scan = { .n = n } };

	if (!begin_attention(&a, 5))
		return LBX_FAIL;
	int bonus = shaped(&a.scan, lbx_ggml_source_float(n, 3), 4, (int64_t[]){ 1, a.heads, a.size, 1 });
	return bonus == LBX_FAIL
		   ? LBX_FAIL
		   : keys_and_values(&a, source(&a, 0), source(&a, 1), source(&a, 2), bonus, source(&a, 4));
}

int lbx_ggml_recipe_gated_linear_attn(struct lbx_ggml_node *n)
{
	struct attention a = { .scan = { .n = n } };

	if (!begin_attention(&a, 4))
		return LBX_FAIL;
	int q = lbx_step_with(n->r, LB_OP_MULTIPLY, source(&a, 2), lbx_ggml_float(n, 0));
	return keys_and_values(&a, source(&a, 0), source(&a, 1), q, LBX_FAIL, source(&a, 3));
}

/* Sources r, w, k, v, a, b, and the state, whose rows are those of v. */
int lbx_ggml_recipe_wkv7(struct lbx_ggml_node *n)
{
	enum { R, W, K, V, A, B, STATE, ACROSS = 3 };
	struct attention a = { .scan = { .n = n } };
	struct scan *s = &a.scan;
	int from[STATE];

	if (!begin_attention(&a, STATE))
		return LBX_FAIL;
	for (int i = 0; i < STATE; i++)
		from[i] = source(&a, i);
	for (int64_t t = 0; t < s->tokens; t++) {
		int seen = sum_along(s, product(s, s->state, take(s, from[A], t, false)), ACROSS);
		int kept = sum(s, product(s, s->state, take(s, from[W], t, false)),
			       product(s, take(s, from[V], t, true), take(s, from[K], t, false)));
		s->state = sum(s, kept, product(s, seen, take(s, from[B], t, false)));
		if (!give(s, a.heads, a.size, sum_along(s, product(s, s->state, take(s, from[R], t, false)), ACROSS)))
			return LBX_FAIL;
	}
	return finish(s);
}

/* A source of fewer heads serves several in turn; one of fewer sequences serves each several times in a row. */
static int spread_heads(struct scan *s, int x, int64_t heads)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step from = *lbx_step(s->n->r, x);
	int64_t own = from.shape[0];
	if (own == 0 || s->sequences % own)
		return lbx_ggml_no_recipe(s->n, "such sizes");
	x = shaped(s, x, 5, (int64_t[]){ own, 1, from.shape[1], from.shape[2], from.shape[3] });
	x = lbx_step_spread(s->n->r, x, 5,
			    (int64_t[]){ own, s->sequences / own, from.shape[1], from.shape[2], from.shape[3] });
	x = shaped(s, x, 4, (int64_t[]){ s->sequences, from.shape[1], from.shape[2], from.shape[3] });
	return lbx_ggml_repeat(s->n, x, (int64_t[]){ s->sequences, from.shape[1], heads, from.shape[3] });
}

/* Sources q, k, v, g, beta, and the state, transposed. */
int lbx_ggml_recipe_gated_delta_net(struct lbx_ggml_node *n)
{
	enum { Q, K, V, G, BETA, STATE, SOURCES, ACROSS = 3 };
	struct scan s = { .n = n };
	int from[SOURCES];

	if (lbx_ggml_int(n, 0) > 1)
		return lbx_ggml_no_recipe(n, "several states");
	for (int i = 0; i < SOURCES; i++)
		if ((from[i] = lbx_ggml_source_float(n, i)) == LBX_FAIL)
			return LBX_FAIL;
	int64_t size = lbx_ggml_ne(n, from[V], 0), heads = lbx_ggml_ne(n, from[V], 1);
	if (!begin(&s, lbx_ggml_ne(n, from[V], 3), lbx_ggml_ne(n, from[V], 2)))
		return LBX_FAIL;
	int q = spread_heads(&s, from[Q], heads), k = spread_heads(&s, from[K], heads);
	int decay = lbx_step_unary(n->r, LB_OP_EXP, from[G]);
	s.state = shaped(&s, from[STATE], 4, (int64_t[]){ s.sequences, heads, size, size });
	for (int64_t t = 0; t < s.tokens; t++) {
		int key = take(&s, k, t, false);
		int kept = product(&s, s.state, take(&s, decay, t, false));
		int delta = lbx_step_binary(n->r, LB_OP_SUBTRACT, take(&s, from[V], t, true),
					    sum_along(&s, product(&s, kept, key), ACROSS));
		delta = product(&s, delta, take(&s, from[BETA], t, true));
		s.state = sum(&s, kept, product(&s, delta, key));
		int seen = sum_along(&s, product(&s, s.state, take(&s, q, t, false)), ACROSS);
		if (!give(&s, heads, size, lbx_step_with(n->r, LB_OP_MULTIPLY, seen, 1 / sqrtf((float)size))))
			return LBX_FAIL;
	}
	return finish(&s);
}

/* ---- Mamba ---- */

/* B or C, (sequences, tokens, groups, states): each group serves several heads in a row. */
static int spread_groups(struct scan *s, int x, int64_t heads)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step from = *lbx_step(s->n->r, x);
	int64_t groups = from.shape[2];
	if (groups == 0 || heads % groups)
		return lbx_ggml_no_recipe(s->n, "such sizes");
	x = shaped(s, x, 5, (int64_t[]){ from.shape[0], from.shape[1], groups, 1, from.shape[3] });
	x = lbx_step_spread(s->n->r, x, 5,
			    (int64_t[]){ from.shape[0], from.shape[1], groups, heads / groups, from.shape[3] });
	return shaped(s, x, 4, (int64_t[]){ from.shape[0], from.shape[1], heads, from.shape[3] });
}

/* The states of the sequences that are meant; once all were, in their order. */
static int states(struct scan *s, int x, int64_t heads, int64_t dim)
{
	struct lbx_ggml_node *n = s->n;
	int64_t count = lbx_ggml_ne(n, x, 0);

	if (x == LBX_FAIL)
		return LBX_FAIL;
	int64_t all = lbx_ggml_ne(n, x, 3) * (lbx_ggml_has(n, 6) ? 1 : lbx_ggml_ne(n, x, 2));
	x = shaped(s, x, 4, (int64_t[]){ all, heads, dim, count });
	if (!lbx_ggml_has(n, 6))
		return x;
	return lbx_step_take(n->r, x, shaped(s, lbx_ggml_source(n, 6), 1, &s->sequences), 0);
}

/* Sources: states, x, dt, A, B, C, and of which sequences the states are. Once there were no heads: each channel was one. */
int lbx_ggml_recipe_ssm_scan(struct lbx_ggml_node *n)
{
	enum { S, X, DT, A, B, C, SOURCES, ACROSS = 3 };
	struct scan s = { .n = n };
	int from[SOURCES];
	bool apart = lbx_ggml_has(n, 6);

	if (lbx_ggml_has_op(n->anchor, "ALIBI"))
		return lbx_ggml_no_recipe(n, "an older kind");
	if (lbx_ggml_int(n, 0) > 1)
		return lbx_ggml_no_recipe(n, "several states");
	for (int i = 0; i < SOURCES; i++)
		if ((from[i] = lbx_ggml_source_float(n, i)) == LBX_FAIL)
			return LBX_FAIL;
	int64_t dim = apart ? lbx_ggml_ne(n, from[X], 0) : 1, heads = lbx_ggml_ne(n, from[X], apart ? 1 : 0);
	int64_t count = lbx_ggml_ne(n, from[S], 0), groups = apart ? lbx_ggml_ne(n, from[B], 1) : 1;
	if (!begin(&s, lbx_ggml_ne(n, from[X], apart ? 3 : 2), lbx_ggml_ne(n, from[X], apart ? 2 : 1)))
		return LBX_FAIL;
	s.state = states(&s, from[S], heads, dim);
	int x = shaped(&s, from[X], 4, (int64_t[]){ s.sequences, s.tokens, heads, dim });
	int dt = shaped(&s, from[DT], 4, (int64_t[]){ s.sequences, s.tokens, heads, 1 });
	int decay = shaped(&s, from[A], 4, (int64_t[]){ 1, heads, 1, lbx_ggml_ne(n, from[A], 0) });
	for (int i = B; i <= C; i++)
		from[i] = spread_groups(&s, shaped(&s, from[i], 4, (int64_t[]){ s.sequences, s.tokens, groups, count }),
					heads);
	dt = lbx_ggml_unary(n, "SOFTPLUS", dt);
	for (int64_t t = 0; t < s.tokens; t++) {
		int step = take(&s, dt, t, true);
		int kept = product(&s, s.state, lbx_step_unary(n->r, LB_OP_EXP, product(&s, step, decay)));
		int input = product(&s, product(&s, take(&s, x, t, true), step), take(&s, from[B], t, false));
		s.state = sum(&s, kept, input);
		if (!give(&s, heads, dim, sum_along(&s, product(&s, s.state, take(&s, from[C], t, false)), ACROSS)))
			return LBX_FAIL;
	}
	return finish(&s);
}
