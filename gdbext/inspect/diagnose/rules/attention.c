/* Attention whose heads look at one key each, or at all of them alike; and the factor whose absence makes them so. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"
#include "inspect/measure/attention.h"

enum { QUERIES = 16, QUERIES_LEAST = 4, STEPS = 6 };

static const double most_heads = 0.9, alike = 1 - 1e-6, half = 0.5;

struct seen {
	struct lbx_calls unscaled, collapsed, uniform;
};

/* ---- where the scores come from ---- */

struct product {
	bool is_fused;  /* within an attention that keeps no weights */
	bool is_scaled; /* or may be */
	int64_t features;
};

static bool is_scaling(const struct lbx_tensor *t)
{
	return lbx_made_by(t, "multiply") || lbx_made_by(t, "divide") || lbx_made_by(t, "scale");
}

/* Whether queries or keys were multiplied by something before they were moved about. */
static bool is_scaled_before(struct lbx_tensor t)
{
	for (int step = 0; step < STEPS; step++) {
		if (is_scaling(&t))
			return true;
		if (t.n_inputs != 1 || !lbx_input_of(&t, 0, &t))
			return false;
	}
	return true;
}

/* The product of queries and keys that leads to t, by sums, choices, conversions and factors. */
static bool find_product(const struct lbx_tensor *t, int steps, struct product *ret)
{
	struct lbx_tensor input, other;

	if (lbx_made_by(t, "matmul") || lbx_made_by(t, "mul_mat")) {
		if (t->n_inputs < 2 || !lbx_input_of(t, 0, &input) || !lbx_input_of(t, 1, &other) || input.rank < 3 ||
		    other.rank < 3)
			return false;
		ret->features = lbx_shape(&input)[input.rank - 1];
		ret->is_scaled |= is_scaled_before(input) || is_scaled_before(other);
		return true;
	}
	for (uint32_t i = 0; i < t->n_inputs && i < 3 && steps > 0; i++) {
		struct product p = { .is_scaled = is_scaling(t) };
		if (!lbx_input_of(t, i, &input) || !find_product(&input, steps - 1, &p))
			continue;
		ret->is_scaled |= p.is_scaled;
		ret->features = p.features;
		return true;
	}
	return false;
}

/* A softmax over the last axis of such a product: ggml's has a factor of its own. */
static bool is_weights(const struct lbx_tensor *t, struct product *ret)
{
	struct lbx_tensor input;

	*ret = (struct product){ .is_scaled = strcmp(t->op, "SOFT_MAX") == 0 };
	return t->rank >= 3 && lbx_made_by(t, "softmax") && lbx_input_of(t, 0, &input) &&
	       find_product(&input, STEPS, ret);
}

/* Of weights, or of a fused attention: how their scores come about. */
static bool find_scores(const struct lbx_tensor *t, struct product *ret, struct lbx_fused_attention *fused)
{
	struct lbx_tensor q;

	if (!lbx_fused_attention(t, fused))
		return is_weights(t, ret);
	*ret = (struct product){ .is_fused = true, .is_scaled = fused->scale != 1 };
	if (lbx_input_of(t, fused->inputs[LBX_ATTENTION_Q], &q) && q.rank)
		ret->features = lbx_shape(&q)[q.rank - 1];
	return true;
}

/* ---- what it looks like ---- */

static bool measure_fused(struct lbx_case *c, const struct lbx_tensor *t, const struct lbx_fused_attention *fused,
			  struct lbx_attention *ret)
{
	struct lbx_array arrays[LBX_ATTENTION_SIDES];
	struct lbx_attention_scores scores = { &arrays[LBX_ATTENTION_Q], &arrays[LBX_ATTENTION_K],
					       fused->has_mask ? &arrays[LBX_ATTENTION_MASK] : NULL, fused->scale,
					       fused->is_causal };
	struct lbx_tensor input;

	for (int i = 0; i < LBX_ATTENTION_SIDES; i++)
		if ((i != LBX_ATTENTION_MASK || fused->has_mask) &&
		    (!lbx_input_of(t, fused->inputs[i], &input) || input.state != LBX_READY ||
		     !lbx_array_of_tensor(c->context->target, &input, &arrays[i])))
			return false;
	return lbx_attention_of_scores(&scores, QUERIES, c->context->out, ret);
}

static bool measure_weights(struct lbx_case *c, const struct lbx_tensor *t, struct lbx_attention *ret)
{
	struct lbx_array weights;

	return lbx_array_of_tensor(c->context->target, t, &weights) &&
	       lbx_attention_of_weights(&weights, QUERIES, c->context->out, ret);
}

static bool most_are_collapsed(const struct lbx_attention *a)
{
	int64_t n = 0;

	for (int64_t i = 0; i < a->n_heads; i++)
		n += lbx_attention_kind(a, i) == LBX_HEAD_COLLAPSED && a->heads[i].queries >= QUERIES_LEAST;
	return a->n_heads > 0 && (double)n >= most_heads * (double)a->n_heads;
}

static bool all_are_alike(const struct lbx_attention *a)
{
	for (int64_t i = 0; i < a->n_heads; i++)
		if (!(a->heads[i].least >= alike) || a->heads[i].queries < QUERIES_LEAST)
			return false;
	return a->n_heads > 0 && a->n_keys >= LBX_ATTENTION_KEYS;
}

static void judge(struct seen *seen, const struct lbx_tensor *t, const struct lbx_attention *a, const struct product *p)
{
	double entropy = lbx_attention_entropy(a);

	if (!p->is_scaled && entropy <= half && lbx_attention_lacks_scale(a, p->features))
		lbx_calls_see_figure(&seen->unscaled, t, lbx_attention_spread(a));
	else if (most_are_collapsed(a))
		lbx_calls_see_figure(&seen->collapsed, t, entropy);
	else if (all_are_alike(a))
		lbx_calls_see_figure(&seen->uniform, t, entropy);
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t, const struct lbx_summary *s)
{
	struct lbx_attention a = { .heads = NULL };
	struct lbx_fused_attention fused;
	struct product p;

	if (s->finite != s->count || !find_scores(t, &p, &fused))
		return true;
	if (p.is_fused ? measure_fused(c, t, &fused, &a) : measure_weights(c, t, &a))
		judge(state, t, &a, &p);
	lbx_attention_deinit(&a);
	if (lb_error_cause() == LB_INTERRUPTED)
		return false;
	lb_clear_error(); /* it may have gone, or be something else */
	return true;
}

/* ---- what is said ---- */

static void say_unscaled(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t,
			 const char *text)
{
	struct lbx_fused_attention fused;
	struct product p = { .features = 0 };

	find_scores(t, &p, &fused);
	LBX_SAY(f->title, "scores of attention are not divided by sqrt(features)");
	LBX_SAY(f->evidence,
		"%s: scores of a query spread by %.3g; with 1/sqrt(%" PRId64
		") they would by %.3g. So few keys get all the weight.",
		text, call->figure, p.features, call->figure / sqrt((double)p.features));
	LBX_SAY(f->advice, "Multiply q by 1/sqrt(%" PRId64 "), or give it to lb_attention() as the scale.", p.features);
}

static void say_collapsed(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t,
			  const char *text)
{
	(void)t;
	LBX_SAY(f->title, "attention has collapsed: each query sees one key");
	LBX_SAY(f->evidence,
		"%s: in nine of ten heads or more the entropy is 2 %% of log(keys) or less; %.2g %% over all.", text,
		100 * call->figure);
	LBX_SAY(f->advice,
		"`attention` shows each head. Look at the scale, at norms of q and k, and at how far they have "
		"grown in training.");
}

static void say_uniform(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t,
			const char *text)
{
	(void)t, (void)call;
	LBX_SAY(f->title, "attention is a mean: all keys are alike to every query");
	LBX_SAY(f->evidence, "%s: in each head the weights of a query are all the same.", text);
	LBX_SAY(f->advice, "Queries or keys are constant or zero: look at them (`stats`), and at what makes them.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct seen *seen = state;

	return lbx_calls_tell(c, &seen->unscaled, LBX_MEDIUM, 0.75, say_unscaled) &&
	       lbx_calls_tell(c, &seen->collapsed, LBX_MEDIUM, 0.7, say_collapsed) &&
	       lbx_calls_tell(c, &seen->uniform, LBX_MEDIUM, 0.8, say_uniform);
}

const struct lbx_rule lbx_rule_attention = {
	.id = "L10",
	.name = "attention",
	.title = "attention that sees one key, or all of them alike",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES,
	.meaning =
	    "Weights of attention choose among keys. Where scores are too large, as without 1/sqrt(features), each query\n"
	    "takes one key, and gradients vanish; where they are all the same, attention is a mean. `attention` tells\n"
	    "how each head spreads.",
	.example =
	    "w = lb_softmax(lb_matmul(q, lb_transpose(k, LB_AXES(0, 1, 3, 2))), LB_AXES(-1));   /* 64 features */",
	.demands =
	    "The ready result of a softmax over a product of two tensors of rank 3 or more, or of a fused attention whose\n"
	    "queries and keys are ready. No factor is seen on the way of the scores, of 16 features or more they spread by\n"
	    "3 or more, by 2 or less with 1/sqrt(features), and the entropy is half of log(keys) or less; or in nine of\n"
	    "ten heads the entropy is 2 % or less; or in each query of each head all of 8 keys or more have one weight.",
	.cure =
	    "lb_attention(q, k, v, 1 / sqrt(features), …), or q times that; norms of q and k; another initialisation.",
	.state = sizeof(struct seen),
	.values = see,
	.conclude = conclude,
};
