/* Whether the heads of an attention look at anything: how their weights spread over the keys. */
#include "inspect/measure/attention.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/texts.h"

enum { QUERIES = 64, HEADS = 64, NAMED = 8 };

/* ---- what is measured ---- */

enum { WEIGHTS = 0, Q = LBX_ATTENTION_Q, K = LBX_ATTENTION_K, MASK = LBX_ATTENTION_MASK, SIDES = LBX_ATTENTION_SIDES };

struct request {
	struct lbx_selection of[SIDES];
	struct lbx_sight sights[SIDES];
	bool has[SIDES], by_scores;
	double scale; /* NaN: 1/sqrt(features) */
	bool is_causal;
};

/* Its queries and keys take its place. */
static bool take_apart(const struct lbx_fused_attention *fused, struct request *r)
{
	static const char *const called[SIDES] = { [Q] = "queries", [K] = "keys", [MASK] = "mask" };
	const struct lbx_tensor t = r->of[Q].tensor;

	r->by_scores = true;
	r->scale = fused->scale;
	r->is_causal = fused->is_causal;
	for (int i = 0; i < SIDES; i++) {
		r->of[i] = (struct lbx_selection){ .slice_text = "" };
		r->has[i] = i != MASK || fused->has_mask;
		if (r->has[i] && !lbx_tensor_input(&t, fused->inputs[i], &r->of[i].tensor)) {
			lb_fail_within("its %s", called[i]);
			return false;
		}
	}
	return true;
}

static bool select_sides(struct lbx_context *context, const struct lbx_args *args, struct request *r)
{
	const char *mask = lbx_args_option(args, "mask");
	struct lbx_fused_attention fused;
	bool is_given = lbx_args_option(args, "scale") || lbx_args_option(args, "causal") || mask;

	r->has[Q] = true;
	r->by_scores = args->n > 1;
	if (!lbx_select_values(context, args->v[0], &r->of[Q]))
		return false;
	if (!r->by_scores && is_given)
		return lbx_misuse("attention: --scale, --causal and --mask are for queries and keys: Q K");
	if (!r->by_scores) /* of a slice there is no saying what it was computed from */
		return r->of[Q].slice_text[0] || !lbx_fused_attention(&r->of[Q].tensor, &fused) ||
		       take_apart(&fused, r);
	r->has[K] = true, r->has[MASK] = mask;
	return lbx_select_values(context, args->v[1], &r->of[K]) &&
	       (!mask || lbx_select_values(context, mask, &r->of[MASK]));
}

static bool see_sides(struct lbx_context *context, struct request *r)
{
	for (int i = 0; i < SIDES; i++) {
		if (r->has[i] && !lbx_sight_begin(context, &r->of[i], &r->sights[i])) {
			r->has[i] = false;
			return false;
		}
	}
	return true;
}

static void end_sides(struct request *r)
{
	for (int i = 0; i < SIDES; i++)
		if (r->has[i])
			lbx_sight_end(&r->sights[i]);
}

static bool measure(struct lbx_context *context, const struct request *r, int64_t queries, struct lbx_attention *ret)
{
	const struct lbx_array *q = &r->sights[Q].array;
	struct lbx_attention_scores scores = { q, &r->sights[K].array, r->has[MASK] ? &r->sights[MASK].array : NULL,
					       r->scale, r->is_causal };

	if (!r->by_scores)
		return lbx_attention_of_weights(&r->sights[WEIGHTS].array, queries, context->out, ret);
	if (isnan(scores.scale) && q->rank && q->shape[q->rank - 1])
		scores.scale = 1 / sqrt((double)q->shape[q->rank - 1]);
	return lbx_attention_of_scores(&scores, queries, context->out, ret);
}

/* ---- the answer ---- */

static const struct {
	const char *key, *word, *text;
} kinds[] = {
	[LBX_HEAD_SPREADS] = { NULL, NULL, "" },
	[LBX_HEAD_COLLAPSED] = { "collapsed", "collapsed", "  collapsed: each query sees one key" },
	[LBX_HEAD_UNIFORM] = { "uniform", "uniform", "  uniform: all keys are alike" },
	[LBX_HEAD_ODD] = { "odd", "without weights", "  no weights: NaN, or no key is seen" },
};

static void head_name(const struct lbx_attention *a, int64_t head, char *ret, size_t size)
{
	int64_t at[LBX_ARRAY_RANK];

	lbx_coordinates(a->rank, a->shape, head, at);
	lbx_format_place(at, a->rank, ret, size);
}

static void tell_side(struct lbx_out *out, const struct request *r, int i, const char *what)
{
	if (!r->has[i])
		return;
	lbx_begin(out, what);
	lbx_tell_selection(out, &r->of[i], &r->sights[i].array, r->sights[i].note[0] ? r->sights[i].note : NULL);
	lbx_printf(out, "\n");
	lbx_end(out);
}

static void tell_spread(struct lbx_out *out, const struct lbx_attention *a)
{
	double spread = lbx_attention_spread(a);
	bool lacks_scale = a->features && a->scale == 1 && lbx_attention_lacks_scale(a, a->features);

	LBX_KEY(out, "features", lbx_json_int_if(a->features, a->features));
	LBX_KEY(out, "scale", a->features ? lbx_json_double(a->scale) : json_null());
	LBX_KEY(out, "spread", lbx_json_double(spread));
	LBX_KEY(out, "lacks_scale", json_boolean(lacks_scale));
	if (isnan(spread))
		return;
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "  scores");
	if (a->features)
		lbx_printf(out, ", scaled by %.6g,", a->scale);
	lbx_printf(out, " spread by %.3g", spread);
	if (lacks_scale) {
		lbx_printf(out, ": ");
		lbx_styled(out, LBX_WARNING, "by %.3g they would with 1/sqrt(%" PRId64 "), which is missing",
			   spread / sqrt((double)a->features), a->features);
	}
	lbx_printf(out, "\n");
}

static void tell_whole(struct lbx_out *out, const struct lbx_attention *a)
{
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "  %pF of %pF quer%s and %pF", LBX_COUNT("n_heads", a->n_heads, "head"),
		 LBX_INT("queries", a->n_queries), LB_PLURAL(a->n_queries, "y", "ies"),
		 LBX_COUNT("keys", a->n_keys, "key"));
	LBX_KEY(out, "causal", json_boolean(a->is_causal));
	LBX_KEY(out, "looked_at", json_integer(a->looked_at));
	lbx_printf(out, "%s", a->is_causal ? ", causal" : "");
	if (a->looked_at < a->n_queries)
		lbx_printf(out, "; %" PRId64 " quer%s of each looked at (--all: each)", a->looked_at,
			   LB_PLURAL(a->looked_at, "y", "ies"));
	lbx_printf(out, "\n");
	tell_spread(out, a);
}

static void percent(struct lbx_out *out, double share)
{
	if (isnan(share))
		lbx_printf(out, "  %6s", "-");
	else
		lbx_printf(out, "  %5.1f%%", 100 * share);
}

static void tell_head(struct lbx_out *out, const struct lbx_attention *a, int64_t i, int width)
{
	const struct lbx_attention_head *h = &a->heads[i];
	enum lbx_attention_kind kind = lbx_attention_kind(a, i);
	char name[LBX_LIST_MAX];
	int64_t at[LBX_ARRAY_RANK];

	lbx_coordinates(a->rank, a->shape, i, at);
	lbx_begin(out, NULL);
	LBX_KEY(out, "head", lbx_json_list(at, a->rank));
	LBX_KEY(out, "queries", json_integer(h->queries));
	LBX_KEY(out, "odd", json_integer(h->odd));
	LBX_KEY(out, "entropy", lbx_json_double(h->entropy));
	LBX_KEY(out, "least", lbx_json_double(h->least));
	LBX_KEY(out, "most", lbx_json_double(h->most));
	LBX_KEY(out, "largest", lbx_json_double(h->largest));
	LBX_KEY(out, "first_key", lbx_json_double(h->first));
	LBX_KEY(out, "spread", lbx_json_double(h->spread));
	LBX_KEY(out, "kind", lbx_json_text(kinds[kind].key));
	if (!out->json) {
		head_name(a, i, name, sizeof name);
		lbx_printf(out, "  ");
		lbx_cell(out, LBX_NAME, width, name);
		percent(out, h->entropy);
		percent(out, h->least);
		percent(out, h->most);
		percent(out, h->largest);
		percent(out, h->first);
		lbx_styled(out, LBX_WARNING, "%s", kinds[kind].text);
		if (h->odd && h->queries)
			lbx_styled(out, LBX_WARNING, "  %" PRId64 " quer%s without weights", h->odd,
				   LB_PLURAL(h->odd, "y", "ies"));
		lbx_printf(out, "\n");
	}
	lbx_end(out);
}

static void tell_heads(struct lbx_out *out, const struct lbx_attention *a, int64_t limit)
{
	int64_t n = !out->json && limit < a->n_heads ? limit : a->n_heads;
	char name[LBX_LIST_MAX];
	int width = 4;

	for (int64_t i = 0; i < n; i++) {
		head_name(a, i, name, sizeof name);
		width = (int)strlen(name) > width ? (int)strlen(name) : width;
	}
	lbx_begin_list(out, "heads");
	if (n && !out->json)
		lbx_titles(out, width, "head", "  entropy   least    most  largest  key 0");
	for (int64_t i = 0; i < n; i++)
		tell_head(out, a, i, width);
	lbx_end(out);
	if (n < a->n_heads)
		lbx_printf(out, "  … %" PRId64 " more (--limit 0 shows all)\n", a->n_heads - n);
}

/* "2 of 4 heads are collapsed: [0, 1], [0, 3]" */
static void tell_kind(struct lbx_out *out, const struct lbx_attention *a, enum lbx_attention_kind kind)
{
	char name[LBX_LIST_MAX];
	int64_t n = 0;

	for (int64_t i = 0; i < a->n_heads; i++)
		n += lbx_attention_kind(a, i) == kind;
	LBX_KEY(out, kinds[kind].key, json_integer(n));
	if (n == 0 || out->json)
		return;
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_WARNING, "%" PRId64 " of %" PRId64 " head%s %s %s", n, a->n_heads, LB_S(a->n_heads),
		   LB_PLURAL(n, "is", "are"), kinds[kind].word);
	for (int64_t i = 0, told = 0; i < a->n_heads && told <= NAMED && a->rank; i++) {
		if (lbx_attention_kind(a, i) != kind)
			continue;
		head_name(a, i, name, sizeof name);
		lbx_printf(out, "%s%s", told == NAMED ? ", …" : told ? ", " : ": ", told == NAMED ? "" : name);
		told++;
	}
	lbx_printf(out, "\n");
}

static bool run_attention(struct lbx_context *context, const struct lbx_args *args)
{
	struct request r = { .scale = NAN, .is_causal = lbx_args_option(args, "causal") };
	struct lbx_attention a = { .heads = NULL };
	struct lbx_out *out = context->out;
	int64_t limit = HEADS;

	bool done = lbx_args_limit(args, &limit) && lbx_args_real(args, "scale", 0, &r.scale) &&
		    select_sides(context, args, &r) && see_sides(context, &r) &&
		    measure(context, &r, lbx_args_option(args, "all") ? 0 : QUERIES, &a);
	if (done) {
		lbx_begin(out, NULL);
		tell_side(out, &r, Q, r.by_scores ? "q" : "weights");
		tell_side(out, &r, K, "k");
		tell_side(out, &r, MASK, "mask");
		tell_whole(out, &a);
		tell_heads(out, &a, limit);
		for (int kind = LBX_HEAD_COLLAPSED; kind <= LBX_HEAD_ODD; kind++)
			tell_kind(out, &a, kind);
		lbx_end(out);
	}
	lbx_attention_deinit(&a);
	end_sides(&r);
	return done;
}

const struct lbx_command lbx_command_attention = {
	.name = "attention",
	.arguments = "W | Q K",
	.summary = "show how attention spreads over the keys, head by head",
	.help = "W (…, queries, keys) are weights behind the softmax, or the result of an\n"
		"lb_attention(), which is computed again from its queries and keys; Q and K are\n"
		"queries (…, queries, features) and keys (…, keys, features). The axes before are\n"
		"heads; several of Q may share one of K. Lazy ones are computed outside the program.\n"
		"Of each head: the entropy of its queries' weights as a share of log(keys seen) (the\n"
		"mean, the least and the most: 0 % is one key, 100 % all alike), the means of the\n"
		"largest weight and of that of key 0. Heads that are collapsed (2 % or less), uniform\n"
		"(99.9 % or more) or without weights are marked; of Q and K, also how scores spread,\n"
		"and whether 1/sqrt(features) seems to be missing.\n" LBX_SLICE_HELP "\n"
		"Example: attention weights, attention q k --causal, attention q k --scale 1",
	.min_args = 1,
	.max_args = 2,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "scale", "S", "what Q K^T is multiplied by (default 1/sqrt(features))" },
		{ "causal", NULL, "query i sees the keys up to i + keys - queries" },
		{ "mask", "M", "bool, true where a key may be seen, or added to the scores" },
		{ "all", NULL, "look at every query; else at 64 of each head, spread evenly" },
		{ "limit", "N", "show N heads at most (default 64, JSON all); 0: all" },
	},
	.run = run_attention,
};
