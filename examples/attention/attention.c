/* attention: multi-head causal attention with a cache of keys and values.
 *
 *	attention [--buggy] [--check]
 *
 * Two layers read a prompt of six tokens at once, then write four more, one at a time.
 * --check computes everything again in plain C, without the cache, and compares.
 *
 * What it teaches: a projection comes out as (batch, length, heads * size), and the
 * attention wants (batch, heads, length, size). Reshaping straight to that gives the
 * right shape and the wrong numbers; it must be split by a reshape and then turned by
 * a transpose. `attention --buggy` has the mistake. Nothing fails, and the steps of
 * one token are even right, since an axis of length 1 may stand anywhere: only the
 * strides, and the values, of what the prompt left in the cache give it away.
 *
 * See it from gdb, once with --buggy and once without:
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/attention --buggy
 *	(gdb) break print_step
 *	(gdb) run
 *	(gdb) tensor list cache.*
 *	(gdb) tensor info cache.0.k          strides (192, 48, 8, 1), row-contiguous: nothing was
 *	                                     turned; without --buggy they are (192, 8, 32, 1)
 *	(gdb) tensor print cache.0.k[0, 1, 0]        what is kept as head 1 of token 0 …
 *	(gdb) tensor peek layer0.keys[0, 0, 8:16]    … and the projection's numbers for it
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>

#include "lazybones.h"
#include "attention.h"

static lb_tensor *named(const char *format, int layer, lb_tensor *x)
{
	char name[32];

	snprintf(name, sizeof(name), format, layer);
	return lb_named(name, x);
}

/* ---- weights ---- */

/* A matrix of `rows` rows, kept by the model: it outlives the scope it is made in. */
static lb_tensor *weight(lb_random_key key, uint64_t index, int64_t rows)
{
	lb_tensor *normal = lb_random_normal(LB_SHAPE(rows, WIDTH), LB_F32,
					     lb_key_split(key, index));

	return lb_keep(lb_multiply(normal, lb_scalar(1 / sqrt(WIDTH))));
}

static void model_init(struct model *model)
{
	LB_SCOPE {
		lb_random_key key = lb_key(2024);
		model->embedding = lb_named("embedding", weight(key, 0, VOCABULARY));
		model->readout = lb_named("readout", weight(key, 1, VOCABULARY));
		for (int i = 0; i < LAYERS; i++) {
			struct layer *layer = &model->layers[i];
			lb_random_key own = lb_key_split(key, 2 + (uint64_t)i);
			layer->wq = named("layer%d.wq", i, weight(own, 0, WIDTH));
			layer->wk = named("layer%d.wk", i, weight(own, 1, WIDTH));
			layer->wv = named("layer%d.wv", i, weight(own, 2, WIDTH));
			layer->wo = named("layer%d.wo", i, weight(own, 3, WIDTH));
		}
	}
}

static void model_release(struct model *model)
{
	lb_release(model->embedding);
	lb_release(model->readout);
	for (int i = 0; i < LAYERS; i++) {
		struct layer *layer = &model->layers[i];
		lb_release(layer->wq);
		lb_release(layer->wk);
		lb_release(layer->wv);
		lb_release(layer->wo);
	}
}

/* ---- the cache: keys and values of all tokens so far, (batch, heads, tokens, size) ---- */

static lb_tensor *append(lb_tensor *past, lb_tensor *more)
{
	lb_tensor *whole = past ? lb_concatenate(2, (lb_tensor *[]){past, more}, 2) : more;

	lb_keep(whole);
	lb_release(past);
	return whole;
}

static void cache_append(struct kv_cache *cache, int layer, lb_tensor *k, lb_tensor *v)
{
	cache->k = named("cache.%d.k", layer, append(cache->k, k));
	cache->v = named("cache.%d.v", layer, append(cache->v, v));
}

static void cache_release(struct kv_cache cache[LAYERS])
{
	for (int i = 0; i < LAYERS; i++) {
		lb_release(cache[i].k);
		lb_release(cache[i].v);
	}
}

/* ---- attention ---- */

/* (batch, length, heads * size) to (batch, heads, length, size) */
static lb_tensor *split_heads(lb_tensor *x, bool buggy)
{
	int64_t length = lb_dim(x, 1);

	if (buggy)
		return lb_reshape(x, LB_SHAPE(BATCH, HEADS, length, HEAD_SIZE));
	x = lb_reshape(x, LB_SHAPE(BATCH, length, HEADS, HEAD_SIZE));
	return lb_transpose(x, LB_AXES(0, 2, 1, 3));
}

/* and back */
static lb_tensor *merge_heads(lb_tensor *x)
{
	return lb_reshape(lb_transpose(x, LB_AXES(0, 2, 1, 3)), LB_SHAPE(BATCH, -1, WIDTH));
}

/* True where the token at `row` may look at the one at `column`: not into the future. */
static lb_tensor *causal_mask(int64_t past, int64_t length)
{
	int64_t total = past + length;
	lb_tensor *row = lb_arange((double)past, (double)total, 1, LB_I32);
	lb_tensor *column = lb_arange(0, (double)total, 1, LB_I32);

	return lb_less_equal(column, lb_expand_dims(row, LB_AXES(1)));
}

static lb_tensor *attend(const struct layer *layer, struct kv_cache *cache, int i, lb_tensor *x,
			 bool buggy)
{
	int64_t past = cache->k ? lb_dim(cache->k, 2) : 0;
	lb_tensor *mask = named("layer%d.mask", i, causal_mask(past, lb_dim(x, 1)));
	lb_tensor *keys = named("layer%d.keys", i, lb_matmul(x, layer->wk));
	lb_tensor *values = named("layer%d.values", i, lb_matmul(x, layer->wv));

	lb_tensor *q = named("layer%d.q", i, split_heads(lb_matmul(x, layer->wq), buggy));
	cache_append(cache, i, split_heads(keys, buggy), split_heads(values, buggy));

	lb_tensor *scores = lb_matmul(q, lb_transpose(cache->k, LB_AXES(0, 1, 3, 2)));
	scores = lb_multiply(scores, lb_scalar(1 / sqrt(HEAD_SIZE)));
	scores = lb_where(mask, scores, lb_scalar(-INFINITY));
	lb_tensor *weights = named("layer%d.weights", i, lb_softmax(scores, LB_AXES(-1)));

	lb_tensor *heads = merge_heads(lb_matmul(weights, cache->v));
	return named("layer%d.output", i, lb_matmul(heads, layer->wo));
}

/* tokens (batch, length) to activations (batch, length, width) */
static lb_tensor *forward(const struct model *model, struct kv_cache cache[LAYERS],
			  lb_tensor *tokens, bool buggy)
{
	lb_tensor *x = lb_take(model->embedding, tokens, 0);

	for (int i = 0; i < LAYERS; i++)
		x = lb_add(x, attend(&model->layers[i], &cache[i], i, x, buggy));
	return lb_named("activations", x);
}

/* The likeliest next token of each sequence: (batch, 1) */
static lb_tensor *choose(const struct model *model, lb_tensor *activations)
{
	lb_tensor *last = lb_slice(activations, LB_ALL, LB_FROM(-1));
	lb_tensor *logits = lb_matmul(last, lb_transpose(model->readout, LB_ALL_AXES));

	return lb_named("next", lb_argmax(lb_named("logits", logits), LB_AXES(-1), false));
}

/* ---- the program ---- */

static bool print_step(int done, lb_tensor *activations, lb_tensor *next)
{
	const float *values = lb_data(lb_slice(activations, LB_AT(0), LB_AT(-1)));
	const uint32_t *tokens = lb_data(next);

	if (!values || !tokens)
		return false;
	printf("%2d tokens  next %2u %2u  activations %9.5f %9.5f %9.5f %9.5f …\n", done,
	       tokens[0], tokens[1], (double)values[0], (double)values[1], (double)values[2],
	       (double)values[3]);
	return true;
}

/* Feeds the tokens from `done` on, and records what came of them. */
static bool step(const struct model *model, struct kv_cache cache[LAYERS], struct run *run,
		 int done, int length, bool buggy)
{
	bool recorded = false;

	LB_SCOPE {
		lb_tensor *all = lb_from_data(run->tokens, sizeof(run->tokens),
					      LB_SHAPE(BATCH, TOKENS), LB_I32);
		lb_tensor *tokens = lb_slice(all, LB_ALL, LB_RANGE(done, done + length));
		lb_named("tokens", tokens);
		lb_tensor *activations = forward(model, cache, tokens, buggy);
		lb_tensor *next = choose(model, activations);

		if (!lb_eval(activations, next))
			break;
		if (!print_step(done + length, activations, next))
			break;
		for (int b = 0; b < BATCH; b++) {
			lb_tensor *mine = lb_slice(activations, LB_AT(b));
			lb_copy_out(mine, run->activations[b][done], (size_t)lb_nbytes(mine));
			int64_t token = lb_item_int(lb_slice(next, LB_AT(b)));
			if (done + length < TOKENS)
				run->tokens[b][done + length] = (int32_t)token;
		}
		recorded = lb_ok();
	}
	return recorded;
}

static bool generate(const struct model *model, struct run *run, bool buggy)
{
	struct kv_cache cache[LAYERS] = {0};
	bool ok = step(model, cache, run, 0, PROMPT, buggy);

	for (int done = PROMPT; ok && done < TOKENS; done++)
		ok = step(model, cache, run, done, 1, buggy);
	cache_release(cache);
	return ok;
}

static bool check(const struct model *model, const struct run *run)
{
	struct difference worst;

	if (!reference_compare(model, run, &worst))
		return false;
	printf("check: furthest from the reference by %.3g, at sequence %d, token %d, element %d: "
	       "%s\n", worst.by, worst.sequence, worst.token, worst.element,
	       worst.by <= TOLERANCE ? "ok" : "WRONG");
	return worst.by <= TOLERANCE;
}

static const char usage[] =
	"Usage: attention [OPTION]...\n"
	"Runs two layers of multi-head attention over a prompt, then token by token.\n"
	"\n"
	"  --buggy    split the heads by a reshape alone\n"
	"  --check    compare with plain C; exit status 1 when it is off\n"
	"  --help     show this\n";

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"buggy", no_argument, NULL, 'b'},
		{"check", no_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	static struct run run = {.tokens = {{7, 41, 3, 19, 28, 11}, {30, 2, 45, 8, 8, 17}}};
	bool buggy = false, checked = false;
	struct model model;

	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		switch (c) {
		case 'b': buggy = true; break;
		case 'c': checked = true; break;
		case 'h': return fputs(usage, stdout) < 0;
		default: return 2;
		}
	}
	model_init(&model);
	bool ok = generate(&model, &run, buggy) && (!checked || check(&model, &run));
	model_release(&model);
	if (!lb_ok())
		fprintf(stderr, "attention: %s\n", lb_error_message());
	return ok ? 0 : 1;
}
