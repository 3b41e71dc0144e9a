#include "encoder.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "common/settings.h"

/* ---- the weights ---- */

enum size { WIDTH, HIDDEN, VECTOR };

static const struct part {
	const char *name;
	size_t at;
	enum size outputs, inputs; /* of the weight; VECTOR: it has no inputs */
} parts[] = {
	{"attention.self.query", offsetof(struct encoder_layer, query), WIDTH, WIDTH},
	{"attention.self.key", offsetof(struct encoder_layer, key), WIDTH, WIDTH},
	{"attention.self.value", offsetof(struct encoder_layer, value), WIDTH, WIDTH},
	{"attention.output.dense", offsetof(struct encoder_layer, attention), WIDTH, WIDTH},
	{"attention.output.LayerNorm", offsetof(struct encoder_layer, attention_norm), WIDTH, VECTOR},
	{"intermediate.dense", offsetof(struct encoder_layer, hidden), HIDDEN, WIDTH},
	{"output.dense", offsetof(struct encoder_layer, output), WIDTH, HIDDEN},
	{"output.LayerNorm", offsetof(struct encoder_layer, output_norm), WIDTH, VECTOR},
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

/* NAME.SUFFIX, f32 (rows, columns), or with 0 columns (rows) */
static bool take(lb_file *file, const char *name, const char *suffix, int64_t rows, int64_t columns,
		 lb_tensor **ret)
{
	char whole[160];

	snprintf(whole, sizeof(whole), "%s.%s", name, suffix);
	lb_tensor *x = lb_file_get(file, whole);
	if (!x)
		return false;
	*ret = lb_keep(x);
	if (lb_dtype_of(x) == LB_F32 && lb_rank(x) == (columns ? 2 : 1) && lb_dim(x, 0) == rows &&
	    (!columns || lb_dim(x, 1) == columns))
		return true;
	return complain("'%s' is not float32 of (%lld, %lld)", whole, (long long)rows,
			(long long)columns);
}

static bool take_affine(lb_file *file, const char *name, int64_t outputs, int64_t inputs,
			struct affine *ret)
{
	return take(file, name, "weight", outputs, inputs, &ret->weight) &&
	       take(file, name, "bias", outputs, 0, &ret->bias);
}

static bool take_layer(struct encoder *e, lb_file *file, int64_t i)
{
	const int64_t sizes[] = {[WIDTH] = e->width, [HIDDEN] = e->hidden, [VECTOR] = 0};
	bool ok = true;
	char name[128];

	for (int k = 0; ok && k < PARTS; k++) {
		const struct part *part = &parts[k];
		snprintf(name, sizeof(name), "encoder.layer.%lld.%s", (long long)i, part->name);
		ok = take_affine(file, name, sizes[part->outputs], sizes[part->inputs],
				 (struct affine *)((char *)&e->layers[i] + part->at));
	}
	return ok;
}

static bool load(struct encoder *e, const char *folder)
{
	char path[4096];
	bool ok = false;

	snprintf(path, sizeof(path), "%s/model.safetensors", folder);
	lb_file *file = lb_open(path);
	LB_SCOPE {
		ok = file && take(file, "embeddings.word_embeddings", "weight", e->vocabulary,
				  e->width, &e->words) &&
		     take(file, "embeddings.position_embeddings", "weight", e->longest, e->width,
			  &e->positions) &&
		     take(file, "embeddings.token_type_embeddings", "weight", 2, e->width,
			  &e->kinds) &&
		     take_affine(file, "embeddings.LayerNorm", e->width, 0, &e->norm);
		for (int64_t i = 0; ok && i < e->n_layers; i++)
			ok = take_layer(e, file, i);
	}
	lb_file_close(file);
	return ok;
}

static bool is_text(const json_t *config, const char *key, const char *expected)
{
	const char *text = json_string_value(json_object_get(config, key));

	if (!text || strcmp(text, expected) == 0)
		return true;
	return complain("config.json: %s is '%s', not %s", key, text, expected);
}

static bool is_size(const char *key, int64_t value, int64_t most)
{
	if (value > 0 && value <= most)
		return true;
	return complain("config.json: no model has a %s of %lld", key, (long long)value);
}

static bool read_config(struct encoder *e, const json_t *config)
{
	const struct { const char *key; int64_t *at, most; } sizes[] = {
		{"vocab_size", &e->vocabulary, 1 << 24},   {"hidden_size", &e->width, 1 << 16},
		{"intermediate_size", &e->hidden, 1 << 18}, {"num_hidden_layers", &e->n_layers, 1 << 10},
		{"num_attention_heads", &e->heads, 1 << 10},
		{"max_position_embeddings", &e->longest, 1 << 16},
	};

	if (!is_text(config, "model_type", "bert") || !is_text(config, "hidden_act", "gelu") ||
	    !is_text(config, "position_embedding_type", "absolute"))
		return false;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		*sizes[i].at = settings_whole(config, sizes[i].key, 0);
		if (!is_size(sizes[i].key, *sizes[i].at, sizes[i].most))
			return false;
	}
	if (e->width % e->heads)
		return complain("config.json: %lld heads cannot share a hidden_size of %lld",
				(long long)e->heads, (long long)e->width);
	e->epsilon = settings_real(config, "layer_norm_eps", 1e-12);
	e->layers = calloc((size_t)e->n_layers, sizeof(*e->layers));
	return e->layers || complain("no memory for %lld layers", (long long)e->n_layers);
}

bool encoder_open(struct encoder *encoder, const char *folder)
{
	json_t *config = settings_load(folder, "config.json");

	*encoder = (struct encoder){0};
	bool ok = config && read_config(encoder, config) && load(encoder, folder);
	json_decref(config);
	return ok;
}

static void release(struct affine *affine)
{
	lb_release(affine->weight);
	lb_release(affine->bias);
}

void encoder_close(struct encoder *encoder)
{
	for (int64_t i = 0; encoder->layers && i < encoder->n_layers; i++) {
		for (int k = 0; k < PARTS; k++)
			release((struct affine *)((char *)&encoder->layers[i] + parts[k].at));
	}
	free(encoder->layers);
	lb_release(encoder->words);
	lb_release(encoder->positions);
	lb_release(encoder->kinds);
	release(&encoder->norm);
	*encoder = (struct encoder){0};
}

/* ---- forward ---- */

static lb_tensor *apply(const struct affine *dense, lb_tensor *x)
{
	return lb_linear(x, dense->weight, dense->bias);
}

static lb_tensor *norm(const struct encoder *e, const struct affine *norm, lb_tensor *x)
{
	return lb_layer_norm(x, norm->weight, norm->bias, e->epsilon);
}

/* (sentences, length, width) to (sentences, heads, length, width / heads) */
static lb_tensor *split_heads(const struct encoder *e, lb_tensor *x)
{
	return lb_transpose(lb_unflatten(x, 2, LB_SHAPE(e->heads, -1)), LB_AXES(0, 2, 1, 3));
}

static lb_tensor *attend(const struct encoder *e, const struct encoder_layer *layer, lb_tensor *x,
			 lb_tensor *mask)
{
	lb_tensor *q = split_heads(e, apply(&layer->query, x));
	lb_tensor *k = split_heads(e, apply(&layer->key, x));
	lb_tensor *v = split_heads(e, apply(&layer->value, x));
	double scale = sqrt((double)e->heads / (double)e->width);
	lb_tensor *keys_seen = e->without_mask ? NULL : lb_expand_dims(mask, LB_AXES(1, 2));
	lb_tensor *heads = lb_attention(q, k, v, scale, false, keys_seen);

	return apply(&layer->attention,
		     lb_flatten(lb_transpose(heads, LB_AXES(0, 2, 1, 3)), 2, 3));
}

/* The rows of words, of positions, and of the kind that a first sentence is of. */
static lb_tensor *embed(const struct encoder *e, lb_tensor *tokens)
{
	lb_tensor *x = lb_embedding(e->words, tokens);

	x = lb_add(x, lb_slice(e->positions, LB_TO(lb_dim(tokens, 1))));
	return norm(e, &e->norm, lb_add(x, lb_slice(e->kinds, LB_AT(0))));
}

static lb_tensor *mean(lb_tensor *x, lb_tensor *mask)
{
	lb_tensor *weights = lb_astype(lb_expand_dims(mask, LB_AXES(2)), LB_F32);

	return lb_divide(lb_sum(lb_multiply(x, weights), LB_AXES(1), false),
			 lb_sum(weights, LB_AXES(1), false));
}

lb_tensor *encoder_forward(const struct encoder *e, lb_tensor *tokens, lb_tensor *mask)
{
	lb_tensor *x = lb_named("embedded", embed(e, tokens));

	for (int64_t i = 0; i < e->n_layers; i++) {
		const struct encoder_layer *layer = &e->layers[i];
		lb_tensor *y = named(attend(e, layer, x, mask), "layer%lld.attention",
				     (long long)i);
		x = norm(e, &layer->attention_norm, lb_add(x, y));
		y = named(apply(&layer->output, lb_gelu(apply(&layer->hidden, x))), "layer%lld.mlp",
			  (long long)i);
		x = norm(e, &layer->output_norm, lb_add(x, y));
	}
	return lb_named("means", mean(lb_named("hidden", x), mask));
}
