/* fp4: attention with 4-bit weights and an 8-bit cache of keys and values.
 *
 *	fp4 [--bug=nan|stride] [--mode=MODE] [--prompt=N]
 *
 * Reads a prompt of N tokens at once, then one token at a time, eight in all, and compares each
 * step with the same weights dequantised, multiplied as floats, without a cache.
 *
 * What it teaches: two ways in which a quantised model is right for a token or two, then not.
 *
 * --bug=nan computes in f16 instead of f32. The fourth token has the massive activation that
 * language models keep in one channel; its values go beyond f16's 65504 to Inf, a group with an
 * Inf gets the scale 255, which in e8m0 is NaN, and softmax shares it out among all that follow.
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/fp4 --bug=nan
 *	(gdb) break run
 *	(gdb) run
 *	(gdb) tensor catch nan
 *	(gdb) continue                         the first operation with a NaN or Inf: fp4.values
 *	(gdb) tensor peek fp4.values --stats   one Inf
 *	(gdb) break print_step if tokens == 4
 *	(gdb) continue
 *	(gdb) tensor print cache.v.scales[3]   255
 *
 * --bug=stride hands the cache, a transposed view, to a kernel that trusts its shape. A cache of
 * one token has no order to get wrong; try it with --prompt=1.
 *
 *	(gdb) tensor catch misuse              (stopped in run, as above)
 *	(gdb) continue                         kernel.c, which asked for the storage alone
 *	(gdb) tensor catch access
 *	(gdb) run                              … and where it reads on from there: decode
 */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "fp4.h"

enum bug { BUG_NONE, BUG_NAN, BUG_STRIDE };

enum {
	SINK = 3,        /* the token with the massive activation … */
	SINK_CHANNEL = 7 /* … and where */
};
#define TOLERANCE 0.02 /* of the largest element of a row: two codes apart in a value or two */

static const lb_quant cache_format = {.mode = LB_QUANT_MXFP8};

static const struct mode {
	const char *name;
	lb_quant how;
} modes[] = {
	{"mxfp4", {.mode = LB_QUANT_MXFP4}},
	{"nvfp4", {.mode = LB_QUANT_NVFP4}},
	{"mxfp8", {.mode = LB_QUANT_MXFP8}},
	{"affine4", {.mode = LB_QUANT_AFFINE, .bits = 4, .group = 32}},
};
enum { MODES = sizeof(modes) / sizeof(*modes) };

struct options {
	enum bug bug;
	lb_quant how;
	int prompt;
};

/* One linear layer of (WIDTH, WIDTH). */
struct linear {
	lb_quantized w;
	lb_quant how;
};

struct model {
	struct linear q, k, v, o;
	lb_tensor *x; /* f32 (TOKENS, WIDTH): what the layer is given */
};

/* ---- weights ---- */

static lb_tensor *keep_named(const char *layer, const char *part, lb_tensor *x)
{
	return x ? lb_keep(named(x, "%s.%s", layer, part)) : NULL;
}

/* Only the codes and scales are kept: the floats go with the scope. */
static struct linear linear_from(const char *name, lb_tensor *weight, lb_quant how)
{
	lb_quantized w = lb_quantize(weight, how, NULL);

	w.w = keep_named(name, "codes", w.w);
	w.scales = keep_named(name, "scales", w.scales);
	w.biases = keep_named(name, "biases", w.biases);
	if (w.biases)
		lb_eval(w.w, w.scales, w.biases);
	else
		lb_eval(w.w, w.scales);
	return (struct linear){w, how};
}

static void linear_release(struct linear *linear)
{
	lb_release(linear->w.w);
	lb_release(linear->w.scales);
	lb_release(linear->w.biases);
}

static lb_tensor *normal(lb_random_key key, uint64_t index, int64_t rows)
{
	return lb_random_normal(LB_SHAPE(rows, WIDTH), LB_F32, lb_key_split(key, index));
}

/* x with `value` added at one place. */
static lb_tensor *with_outlier(lb_tensor *x, int64_t row, int64_t column, double value)
{
	lb_tensor *is_row = lb_one_hot(lb_scalar_int(row), lb_dim(x, 0), LB_F32);
	lb_tensor *is_column = lb_one_hot(lb_scalar_int(column), lb_dim(x, 1), LB_F32);
	lb_tensor *at = lb_multiply(lb_expand_dims(is_row, LB_AXES(1)), is_column);

	return lb_add(x, lb_multiply(at, lb_scalar(value)));
}

static void model_init(struct model *model, lb_quant how)
{
	LB_SCOPE {
		lb_random_key key = lb_key(4);
		lb_tensor *shrink = lb_scalar(1 / sqrt(WIDTH));
		/* queries and keys do not look at the channel, values do */
		lb_tensor *seen = lb_subtract(lb_scalar(1),
					      lb_one_hot(lb_scalar_int(SINK_CHANNEL), WIDTH,
							 LB_F32));
		lb_tensor *masked = lb_multiply(shrink, seen);
		model->x = lb_keep(lb_named("x", with_outlier(normal(key, 0, TOKENS), SINK,
							      SINK_CHANNEL, 3e4)));
		model->q = linear_from("wq", lb_multiply(normal(key, 1, WIDTH), masked), how);
		model->k = linear_from("wk", lb_multiply(normal(key, 2, WIDTH), masked), how);
		model->v = linear_from("wv", with_outlier(lb_multiply(normal(key, 3, WIDTH),
			shrink), 40,
							   SINK_CHANNEL, 4), how);
		model->o = linear_from("wo", lb_multiply(normal(key, 4, WIDTH), shrink), how);
	}
}

static void model_release(struct model *model)
{
	linear_release(&model->q);
	linear_release(&model->k);
	linear_release(&model->v);
	linear_release(&model->o);
	lb_release(model->x);
}

/* ---- the layer ---- */

static lb_tensor *project(const struct linear *linear, lb_tensor *x)
{
	return lb_quantized_matmul(x, linear->w, linear->how, true);
}

static lb_tensor *append(lb_tensor *past, lb_tensor *more, const char *name)
{
	lb_tensor *whole = past ? lb_concatenate(2, (lb_tensor *[]){past, more}, 0) : more;

	lb_keep(lb_named(name, whole));
	lb_release(past);
	return whole;
}

static void cache_append(struct cache *cache, lb_tensor *x, const char *codes, const char *scales)
{
	lb_tensor *heads = lb_reshape(x, LB_SHAPE(lb_dim(x, 0), HEADS, HEAD_SIZE));
	lb_quantized q = lb_quantize(heads, cache_format, NULL);

	cache->codes = append(cache->codes, q.w, codes);
	cache->scales = append(cache->scales, q.scales, scales);
}

static void cache_release(struct cache *cache)
{
	lb_release(cache->codes);
	lb_release(cache->scales);
}

/* x (queries, WIDTH) to what the layer makes of it, which the caller's scope owns. */
static lb_tensor *forward(const struct model *model, struct cache *keys, struct cache *values,
			  lb_tensor *x, enum bug bug)
{
	static float heads[TOKENS * WIDTH];
	int queries = (int)lb_dim(x, 0);
	lb_tensor *input = lb_astype(x, bug == BUG_NAN ? LB_F16 : LB_F32);
	lb_tensor *q = lb_named("fp4.queries", project(&model->q, input));
	lb_tensor *k = lb_named("fp4.keys", project(&model->k, input));
	lb_tensor *v = lb_named("fp4.values", project(&model->v, input));

	cache_append(keys, k, "cache.k.codes", "cache.k.scales");
	cache_append(values, v, "cache.v.codes", "cache.v.scales");
	const float *q_data = lb_data(lb_astype(q, LB_F32));
	if (!q_data || !attend(keys, values, q_data, queries, bug == BUG_STRIDE, heads))
		return NULL;
	lb_tensor *out = lb_from_data(heads, (size_t)queries * WIDTH * sizeof(*heads),
				      LB_SHAPE(queries, WIDTH), LB_F32);
	return lb_named("fp4.output", project(&model->o, lb_named("fp4.heads", out)));
}

/* ---- the reference: floats, all tokens at once ---- */

static lb_tensor *project_floats(const struct linear *linear, lb_tensor *x)
{
	lb_tensor *w = lb_dequantize(linear->w, linear->how, LB_F32);

	return lb_matmul(x, lb_transpose(w, LB_ALL_AXES));
}

/* (TOKENS, WIDTH) to (1, HEADS, TOKENS, HEAD_SIZE) */
static lb_tensor *split_heads(lb_tensor *x)
{
	return lb_transpose(lb_reshape(x, LB_SHAPE(1, TOKENS, HEADS, HEAD_SIZE)),
			    LB_AXES(0, 2, 1, 3));
}

/* What the cache's 8 bits leave of x. */
static lb_tensor *rounded(lb_tensor *x)
{
	return lb_dequantize(lb_quantize(x, cache_format, NULL), cache_format, LB_F32);
}

static lb_tensor *reference(const struct model *model)
{
	lb_tensor *q = split_heads(project_floats(&model->q, model->x));
	lb_tensor *k = split_heads(rounded(project_floats(&model->k, model->x)));
	lb_tensor *v = split_heads(rounded(project_floats(&model->v, model->x)));
	lb_tensor *heads = lb_attention(q, k, v, 1 / sqrt(HEAD_SIZE), true, NULL);
	lb_tensor *joined = lb_reshape(lb_transpose(heads, LB_AXES(0, 2, 1, 3)),
				       LB_SHAPE(TOKENS, WIDTH));

	return lb_named("reference", project_floats(&model->o, joined));
}

/* ---- the program ---- */

/* How far the last token's output is from the reference, relative to its largest element. */
static double distance(lb_tensor *output, lb_tensor *expected)
{
	lb_tensor *by = lb_max(lb_abs(lb_subtract(output, expected)), LB_ALL_AXES, false);

	return lb_item(lb_divide(by, lb_max(lb_abs(expected), LB_ALL_AXES, false)));
}

static bool print_step(int tokens, lb_tensor *output, lb_tensor *expected)
{
	double off = distance(output, expected);
	const float *values = lb_data(output);
	bool wrong = !(off <= TOLERANCE);

	if (!values)
		return false;
	printf("%d tokens  output %10.4f %10.4f %10.4f …  off by %.2g%s\n", tokens,
	       (double)values[0],
	       (double)values[1], (double)values[2], off, wrong ? "  WRONG" : "");
	return !wrong;
}

static bool run(const struct model *model, const struct options *options)
{
	struct cache keys = {0}, values = {0};
	bool right = true;

	LB_SCOPE {
		lb_tensor *expected = reference(model);
		for (int done = 0, n = options->prompt; done < TOKENS && lb_ok(); done += n,
		     n = 1) {
			LB_SCOPE {
				int last = done + n - 1;
				lb_tensor *x = lb_slice(model->x, LB_RANGE(done, done + n));
				lb_tensor *output = forward(model, &keys, &values, x, options->bug);
				right &= print_step(last + 1, lb_slice(output, LB_AT(-1)),
						    lb_slice(expected, LB_AT(last)));
			}
		}
	}
	cache_release(&keys);
	cache_release(&values);
	return right && lb_ok();
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char *end;

	switch (key) {
	case 'b':
		if (strcmp(arg, "nan") != 0 && strcmp(arg, "stride") != 0)
			argp_error(state, "--bug takes nan or stride, not '%s'", arg);
		options->bug = *arg == 'n' ? BUG_NAN : BUG_STRIDE;
		return 0;
	case 'm':
		for (int i = 0; i < MODES; i++) {
			if (strcmp(arg, modes[i].name) == 0) {
				options->how = modes[i].how;
				return 0;
			}
		}
		argp_error(state, "--mode takes mxfp4, nvfp4, mxfp8 or affine4, not '%s'", arg);
		return EINVAL;
	case 'p': {
		long n = strtol(arg, &end, 10);
		if (end == arg || *end || n < 1 || n > TOKENS)
			argp_error(state, "--prompt takes a number from 1 to %d, not '%s'", TOKENS,
				   arg);
		options->prompt = (int)n;
		return 0;
	}
	case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option table[] = {
		{"bug", 'b', "BUG", 0, "nan: compute in f16; stride: read the cache by its storage",
		 0},
		{"mode", 'm', "MODE", 0, "format of the weights: mxfp4 (default), nvfp4, mxfp8, affine4",
		 0},
		{"prompt", 'p', "N", 0, "tokens to read at once, 1 to 8 (default 3)", 0},
		{0},
	};
	static const struct argp argp = {
		.options = table, .parser = parse_option,
		.doc = "Attention with 4-bit weights and an 8-bit cache, token by token, beside "
		       "the same in floats."
		       "\vThe exit status is 1 when a step is off.",
	};
	struct options options = {.how = modes[0].how, .prompt = 3};
	struct model model;

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return 2;
	model_init(&model, options.how);
	bool right = run(&model, &options);
	model_release(&model);
	if (right)
		printf("fp4: ok\n");
	return complain_of_errors() && right ? 0 : 1;
}
