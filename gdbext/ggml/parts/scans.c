/* States that one token after the other changes. What comes out of a token is made of those in front of it, too, of the
 * same sequence and head; behind the results of all tokens lie the states that are left. */
#include "base/error.h"
#include "ggml/parts/element.h"

/* Of which token, or, behind the last one, of which state. Sizes are those of a head. */
struct spot {
	int64_t sequence, head;
	int64_t token, tokens; /* of the sequence's own */
	bool is_state; /* of the state that is left: */
	int64_t i, j; /* row and column, of the state; of a result, which one of the head's is j */
};

/* What a source has along the tokens. */
enum when { ALWAYS /* it has no tokens */, THEN, SO_FAR, BEFORE };

static bool tokens_at(const struct lbx_ggml_element *e, const struct spot *s, int d, int64_t first, enum when when)
{
	if ((when == THEN && s->is_state) || (when == BEFORE && !s->is_state && s->token == 0))
		return lbx_ggml_nothing(e);
	if (when == THEN)
		lbx_ggml_one_at(e, d, first + s->token);
	else if (when != ALWAYS)
		lbx_ggml_some_at(e, d, first, s->is_state ? s->tokens : s->token + (when == SO_FAR));
	return true;
}

/* ---- linear attention: (size, heads, tokens of all sequences) ---- */

struct attention {
	int64_t size, heads, tokens;
	int64_t first; /* token of the sequence, in all of them */
	struct spot spot;
};

/* A row of the node has all heads of a token. */
static bool find_spot(const struct lbx_ggml_element *e, int state, struct attention *ret)
{
	struct lbx_ggml_record first, last;

	if (!lbx_ggml_set_read(e->g, e->t->sources[0], &first) || !e->t->sources[state] ||
	    !lbx_ggml_set_read(e->g, e->t->sources[state], &last) || first.ne[0] < 1 || first.ne[1] < 1 ||
	    first.ne[2] < 1 || e->t->ne[0] / first.ne[0] != first.ne[1] || e->t->ne[0] % first.ne[0])
		return false;
	struct spot *s = &ret->spot;
	int64_t row = e->at[1], number, sequences = last.size / first.ne[0] / first.ne[0] / first.ne[1];
	*ret = (struct attention){ .size = first.ne[0], .heads = first.ne[1], .tokens = first.ne[2] };
	if (sequences < 1 || ret->tokens % sequences || e->at[2] || e->at[3])
		return false;
	s->tokens = ret->tokens / sequences;
	s->is_state = row >= ret->tokens;
	s->head = e->at[0] / ret->size;
	s->j = e->at[0] % ret->size;
	s->sequence = row / s->tokens;
	s->token = row % s->tokens;
	if (s->is_state) { /* rows of (columns, rows, heads, sequences) */
		number = (row - ret->tokens) * e->t->ne[0] + e->at[0];
		s->j = number % ret->size;
		s->i = number / ret->size % ret->size;
		s->head = number / ret->size / ret->size % ret->heads;
		s->sequence = number / ret->size / ret->size / ret->heads;
	}
	ret->first = s->sequence * s->tokens;
	return s->sequence < sequences;
}

/* Of a source like keys: one of the head's numbers, or all, which is -1. */
static bool of_head(const struct lbx_ggml_element *e, const struct attention *a, int64_t i, enum when when)
{
	if (e->x->ne[0] != a->size || e->x->ne[1] != a->heads || e->x->ne[2] != (when == ALWAYS ? 1 : a->tokens))
		return false;
	if (i < 0)
		lbx_ggml_all_of(e, 0);
	else
		lbx_ggml_one_at(e, 0, i);
	lbx_ggml_one_at(e, 1, a->spot.head);
	lbx_ggml_one_at(e, 2, 0);
	lbx_ggml_one_at(e, 3, 0);
	return tokens_at(e, &a->spot, 2, a->first, when);
}

/* Of the states, of which each sequence has a row, or which have axes of their own: row i and column j, of which one may be
 * -1, which is all. */
static bool of_state(const struct lbx_ggml_element *e, const struct attention *a, int64_t i, int64_t j)
{
	int64_t n = a->size, head = a->spot.head, square, all;

	if (!lb_mul(n, n, &square) || !lb_mul(square, a->heads, &all))
		return false;
	for (int d = 0; d < LBX_GGML_AXES; d++)
		lbx_ggml_one_at(e, d, 0);
	if (e->x->ne[0] == all && e->x->ne[2] * e->x->ne[3] == 1) {
		lbx_ggml_some_at(e, 0, (head * n + (i < 0 ? 0 : i)) * n + (j < 0 ? 0 : j), i < 0 || j < 0 ? n : 1);
		e->ret->step[0] = i < 0 ? n : 1;
		lbx_ggml_one_at(e, 1, a->spot.sequence);
		return true;
	}
	if (e->x->ne[0] != n || e->x->ne[1] != n || e->x->ne[2] != a->heads)
		return false;
	lbx_ggml_some_at(e, 0, j < 0 ? 0 : j, j < 0 ? n : 1);
	lbx_ggml_some_at(e, 1, i < 0 ? 0 : i, i < 0 ? n : 1);
	lbx_ggml_one_at(e, 2, head);
	lbx_ggml_one_at(e, 3, a->spot.sequence);
	return true;
}

/* (k v' bonus + S) r, then S = S decay + k v'. */
bool lbx_ggml_part_wkv6(struct lbx_ggml_element *e)
{
	enum { K, V, R, BONUS, DECAY, STATE };
	struct attention a;

	if (!find_spot(e, STATE, &a))
		return false;
	int64_t i = a.spot.is_state ? a.spot.i : -1;
	switch (e->source) {
	case K: return of_head(e, &a, i, SO_FAR);
	case V: return of_head(e, &a, a.spot.j, SO_FAR);
	case R: return of_head(e, &a, -1, THEN);
	case BONUS: return of_head(e, &a, -1, ALWAYS) && (!a.spot.is_state || lbx_ggml_nothing(e));
	case DECAY: return of_head(e, &a, i, BEFORE);
	case STATE: return of_state(e, &a, i, a.spot.j);
	default: return false;
	}
}

/* S = S decay + k v', then S q. */
bool lbx_ggml_part_linear_attn(struct lbx_ggml_element *e)
{
	enum { K, V, Q, DECAY, STATE };
	struct attention a;

	if (!find_spot(e, STATE, &a))
		return false;
	int64_t i = a.spot.is_state ? a.spot.i : -1;
	switch (e->source) {
	case K: return of_head(e, &a, i, SO_FAR);
	case V: return of_head(e, &a, a.spot.j, SO_FAR);
	case Q: return of_head(e, &a, -1, THEN);
	case DECAY: return of_head(e, &a, i, SO_FAR);
	case STATE: return of_state(e, &a, i, a.spot.j);
	default: return false;
	}
}

/* S = S diag(w) + v k' + (S a) b', then S r: rows of S, of which v has one number each. At the last token a state has one
 * number of w, k and b, and all of those before. */
bool lbx_ggml_part_wkv7(struct lbx_ggml_element *e)
{
	enum { R, W, K, V, A, B, STATE };
	struct attention a;

	if (!find_spot(e, STATE, &a))
		return false;
	int64_t i = a.spot.is_state ? a.spot.i : a.spot.j;
	e->ret->exact = !a.spot.is_state || (e->source != W && e->source != K && e->source != B);
	switch (e->source) {
	case R: return of_head(e, &a, -1, THEN);
	case V: return of_head(e, &a, i, SO_FAR);
	case W:
	case K:
	case A:
	case B: return of_head(e, &a, -1, SO_FAR);
	case STATE: return of_state(e, &a, i, -1);
	default: return false;
	}
}

/* ---- with axes (size, heads, tokens, sequences) ---- */

/* A source that may have fewer heads, which serve several in turn or in a row, and fewer sequences. */
static bool of_tokens(const struct lbx_ggml_element *e, const struct spot *s, int64_t i, int64_t head, int64_t sequence,
		      enum when when)
{
	if (i < 0)
		lbx_ggml_all_of(e, 0);
	else
		lbx_ggml_one_at(e, 0, i);
	lbx_ggml_one_at(e, 1, head);
	lbx_ggml_one_at(e, 3, sequence);
	return e->x->ne[2] == s->tokens && tokens_at(e, s, 2, 0, when);
}

/* The gated delta rule. The state is kept transposed: columns of it go on by themselves. */
bool lbx_ggml_part_delta_net(struct lbx_ggml_element *e)
{
	enum { Q, K, V, G, BETA, STATE };
	struct lbx_ggml_record v;
	struct spot s = { .token = 0 };

	if (e->t->params[0] > 1 || !lbx_ggml_set_read(e->g, e->t->sources[V], &v) || v.size < 1 || e->at[2] || e->at[3])
		return false;
	int64_t n = v.ne[0], heads = v.ne[1], sequences = v.ne[3], row = e->at[1], own = e->x->ne[3];
	s.tokens = v.ne[2];
	if (e->t->ne[0] != n * heads)
		return false;
	s.is_state = row >= s.tokens * sequences;
	int64_t number = (row - s.tokens * sequences) * e->t->ne[0] + e->at[0];
	s.head = s.is_state ? number / n / n % heads : e->at[0] / n;
	s.sequence = s.is_state ? number / n / n / heads : row / s.tokens;
	s.token = row % s.tokens;
	s.j = s.is_state ? number / n % n : e->at[0] % n;
	if (s.sequence >= sequences || own < 1 || sequences % own)
		return false;
	switch (e->source) {
	case Q:
	case K:
		return of_tokens(e, &s, -1, s.head % e->x->ne[1], s.sequence / (sequences / own),
				 e->source == Q ? THEN : SO_FAR);
	case V: return of_tokens(e, &s, s.j, s.head, s.sequence, SO_FAR);
	case G:
	case BETA: return of_tokens(e, &s, -1, s.head, s.sequence, SO_FAR);
	case STATE:
		lbx_ggml_all_of(e, 0);
		lbx_ggml_one_at(e, 1, s.j);
		lbx_ggml_one_at(e, 2, s.head);
		lbx_ggml_one_at(e, 3, s.sequence);
		return true;
	default: return false;
	}
}

/* ---- Mamba ---- */

struct mamba {
	int64_t states, dim, heads, groups, sequences;
	int64_t d; /* of a head's */
	bool is_old; /* without heads: each channel is one */
	struct spot spot;
};

/* Sources: states, x, dt, A, B, C, and of which sequences the states are, which older ones lack. */
enum { STATES, X, DT, A, B, C, NUMBERS };

static bool find_mamba(const struct lbx_ggml_element *e, struct mamba *m)
{
	struct lbx_ggml_record states, x, b;
	int64_t number = 0;

	*m = (struct mamba){ .is_old = !e->t->sources[NUMBERS] };
	if (e->t->params[0] > 1 || !lbx_ggml_set_read(e->g, e->t->sources[STATES], &states) ||
	    !lbx_ggml_set_read(e->g, e->t->sources[X], &x) || !lbx_ggml_set_read(e->g, e->t->sources[B], &b) ||
	    states.size < 1 || x.size < 1 || b.size < 1)
		return false;
	m->states = states.ne[0];
	m->dim = m->is_old ? 1 : x.ne[0];
	m->heads = x.ne[m->is_old ? 0 : 1];
	m->spot.tokens = x.ne[m->is_old ? 1 : 2];
	m->sequences = x.ne[m->is_old ? 2 : 3];
	m->groups = m->is_old ? 1 : b.ne[1];
	for (int d = LBX_GGML_AXES; d-- > 0;)
		number = number * e->t->ne[d] + e->at[d];
	if (m->heads % m->groups)
		return false;
	m->spot.is_state = number >= x.size;
	if (m->spot.is_state) {
		number -= x.size;
		m->spot.i = number % m->states;
		number /= m->states;
	}
	m->d = number % m->dim;
	m->spot.head = number / m->dim % m->heads;
	number = number / m->dim / m->heads;
	if (!m->spot.is_state) {
		m->spot.token = number % m->spot.tokens;
		number /= m->spot.tokens;
	}
	m->spot.sequence = number;
	return number < m->sequences;
}

/* Axes of a source: those of one token, then tokens, sequences. */
static bool of_mamba(const struct lbx_ggml_element *e, const struct mamba *m, int tokens, enum when when)
{
	for (int d = tokens + 1; d < LBX_GGML_AXES; d++)
		lbx_ggml_one_at(e, d, d == tokens + 1 ? m->spot.sequence : 0);
	return tokens_at(e, &m->spot, tokens, 0, when);
}

static void state_of(const struct lbx_ggml_element *e, const struct mamba *m, int d)
{
	if (m->spot.is_state && e->x->ne[d] > 1)
		lbx_ggml_one_at(e, d, m->spot.i);
	else
		lbx_ggml_all_of(e, d);
}

/* s = s exp(dt A) + B x dt; y = C s. */
bool lbx_ggml_part_ssm_scan(struct lbx_ggml_element *e)
{
	int64_t kept;
	struct mamba m;

	if (!find_mamba(e, &m))
		return false;
	int64_t group = m.spot.head / (m.heads / m.groups);
	switch (e->source) {
	case STATES:
		if (m.is_old)
			kept = m.spot.sequence;
		else if (!lbx_ggml_number(e, NUMBERS, m.spot.sequence, &kept))
			return false;
		state_of(e, &m, 0);
		lbx_ggml_one_at(e, 1, m.is_old ? m.spot.head : m.d);
		lbx_ggml_one_at(e, 2, m.is_old ? kept : m.spot.head);
		lbx_ggml_one_at(e, 3, m.is_old ? 0 : kept);
		return true;
	case X:
		lbx_ggml_one_at(e, 0, m.is_old ? m.spot.head : m.d);
		lbx_ggml_one_at(e, 1, m.spot.head);
		return of_mamba(e, &m, m.is_old ? 1 : 2, SO_FAR);
	case DT: lbx_ggml_one_at(e, 0, m.spot.head); return of_mamba(e, &m, 1, SO_FAR);
	case A:
		for (int d = 1; d < LBX_GGML_AXES; d++)
			lbx_ggml_one_at(e, d, d == 1 ? m.spot.head : 0);
		state_of(e, &m, 0);
		return true;
	case B:
	case C:
		if (e->source == B)
			state_of(e, &m, 0);
		else
			lbx_ggml_all_of(e, 0);
		lbx_ggml_one_at(e, 1, group);
		return of_mamba(e, &m, m.is_old ? 1 : 2, e->source == B ? SO_FAR : THEN);
	case NUMBERS:
		lbx_ggml_one_at(e, 0, m.spot.sequence);
		for (int d = 1; d < LBX_GGML_AXES; d++)
			lbx_ggml_one_at(e, d, 0);
		return true;
	default: return false;
	}
}
