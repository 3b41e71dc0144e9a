#include "common/model.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/named.h"

/* ---- the weights ---- */

enum size { VOCABULARY, WIDTH, QUERIES, KEYS, HIDDEN, SIZES };

/* Where a part of a layer is. */
struct part {
	const char *name;
	size_t at;
	enum size outputs, inputs;
};

static const struct part norms[] = {
	{"input_layernorm", offsetof(struct layer, attention_norm), WIDTH, 0},
	{"post_attention_layernorm", offsetof(struct layer, mlp_norm), WIDTH, 0},
};
static const struct part linears[] = {
	{"self_attn.q_proj", offsetof(struct layer, q), QUERIES, WIDTH},
	{"self_attn.k_proj", offsetof(struct layer, k), KEYS, WIDTH},
	{"self_attn.v_proj", offsetof(struct layer, v), KEYS, WIDTH},
	{"self_attn.o_proj", offsetof(struct layer, o), WIDTH, QUERIES},
	{"mlp.gate_proj", offsetof(struct layer, gate), HIDDEN, WIDTH},
	{"mlp.up_proj", offsetof(struct layer, up), HIDDEN, WIDTH},
	{"mlp.down_proj", offsetof(struct layer, down), WIDTH, HIDDEN},
};
enum { NORMS = sizeof(norms) / sizeof(*norms), LINEARS = sizeof(linears) / sizeof(*linears) };

bool config_check(const struct config *c)
{
	const struct { const char *name; int64_t value, most; } sizes[] = {
		{"vocabulary size", c->vocabulary, 1 << 24}, {"width", c->width, 1 << 20},
		{"number of layers", c->layers, 1 << 12},    {"number of heads", c->heads, 1 << 12},
		{"number of key heads", c->kv_heads, 1 << 12}, {"head size", c->head_size, 1 << 12},
		{"hidden size", c->hidden, 1 << 22},         {"context", c->context, 1 << 30},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (sizes[i].value < 1 || sizes[i].value > sizes[i].most)
			return complain("no model has a %s of %lld", sizes[i].name,
					(long long)sizes[i].value);
	}
	if (c->heads % c->kv_heads)
		return complain("%lld heads cannot share %lld key heads", (long long)c->heads,
				(long long)c->kv_heads);
	if (c->head_size % 2)
		return complain("a head size of %lld is odd: positions turn pairs",
				(long long)c->head_size);
	if (!(c->epsilon >= 0 && c->epsilon < 1) || !(c->rope_base > 1) || !(c->rope_scale > 0))
		return complain("no model has an epsilon of %g, a rope base of %g and a scale of %g", c->epsilon,
				c->rope_base,
				c->rope_scale);
	return true;
}

bool model_init(struct model *model, const struct config *config)
{
	*model = (struct model){
		.config = *config, .layers = calloc((size_t)config->layers, sizeof(struct layer)),
	};
	return model->layers || complain("no memory for %lld layers", (long long)config->layers);
}

static bool visit_layer(const int64_t sizes[SIZES], int64_t i, struct layer *layer,
			model_visitor *visit, void *context)
{
	char name[128];

	for (int k = 0; k < NORMS + LINEARS; k++) {
		const struct part *part = k < NORMS ? &norms[k] : &linears[k - NORMS];
		void *at = (char *)layer + part->at;
		snprintf(name, sizeof(name), "model.layers.%lld.%s", (long long)i, part->name);
		struct place place = {name, k < NORMS ? NULL : at, k < NORMS ? at : NULL,
				      sizes[part->outputs], sizes[part->inputs], false};
		if (!visit(context, &place))
			return false;
	}
	return true;
}

bool model_visit(struct model *model, model_visitor *visit, void *context)
{
	const struct config *c = &model->config;
	int64_t sizes[SIZES] = {c->vocabulary, c->width, c->heads * c->head_size,
				c->kv_heads * c->head_size, c->hidden};
	struct place outer[] = {
		{"model.embed_tokens", &model->embedding, NULL, c->vocabulary, c->width, false},
		{"lm_head", &model->output, NULL, c->vocabulary, c->width, true},
		{"model.norm", NULL, &model->norm, c->width, 0, false},
	};

	for (size_t i = 0; i < sizeof(outer) / sizeof(*outer); i++) {
		if (!visit(context, &outer[i]))
			return false;
	}
	for (int64_t i = 0; model->layers && i < c->layers; i++) {
		if (!visit_layer(sizes, i, &model->layers[i], visit, context))
			return false;
	}
	return true;
}

int place_tensors(const struct place *place, lb_tensor **ret[LINEAR_TENSORS])
{
	struct linear *l = place->linear;

	if (!l) {
		ret[0] = place->norm;
		return 1;
	}
	lb_tensor **all[LINEAR_TENSORS] = {&l->weight, &l->bias, &l->q.w, &l->q.scales,
					   &l->q.biases};
	for (int i = 0; i < LINEAR_TENSORS; i++)
		ret[i] = all[i];
	return LINEAR_TENSORS;
}

static bool release(void *context, const struct place *place)
{
	lb_tensor **tensors[LINEAR_TENSORS];

	(void)context;
	for (int n = place_tensors(place, tensors), i = 0; i < n; i++) {
		lb_release(*tensors[i]);
		*tensors[i] = NULL;
	}
	return true;
}

void model_release(struct model *model)
{
	model_visit(model, release, NULL);
	free(model->layers);
	*model = (struct model){0};
}

static bool add_nbytes(void *context, const struct place *place)
{
	lb_tensor **tensors[LINEAR_TENSORS];

	for (int n = place_tensors(place, tensors), i = 0; i < n; i++)
		*(int64_t *)context += *tensors[i] ? lb_nbytes(*tensors[i]) : 0;
	return true;
}

int64_t model_nbytes(const struct model *model)
{
	int64_t total = 0;

	model_visit((struct model *)model, add_nbytes, &total);
	return total;
}

/* ---- forward: activations are f32 between the products ---- */

/* A dense product is computed in the weight's dtype, whose halves are summed in float. */
static lb_tensor *apply(const struct linear *linear, lb_tensor *x)
{
	if (!linear->q.w) {
		lb_tensor *input = lb_astype(x, lb_dtype_of(linear->weight));
		return lb_astype(lb_linear(input, linear->weight, linear->bias), LB_F32);
	}
	lb_tensor *y = lb_quantized_matmul(x, linear->q, linear->how, true);
	return linear->bias ? lb_add(y, linear->bias) : y;
}

static lb_tensor *take_rows(lb_tensor *x, lb_tensor *rows)
{
	return x ? lb_take(x, rows, 0) : NULL;
}

static lb_tensor *embed(const struct linear *embedding, lb_tensor *tokens)
{
	const lb_quantized *q = &embedding->q;

	if (!q->w)
		return lb_astype(lb_embedding(embedding->weight, tokens), LB_F32);
	lb_quantized rows = {
		take_rows(q->w, tokens), take_rows(q->scales, tokens),
		take_rows(q->biases, tokens), NULL,
	};
	return lb_dequantize(rows, embedding->how, LB_F32);
}

/* (batch, length, heads * size) to (batch, heads, length, size) */
static lb_tensor *split_heads(lb_tensor *x, int64_t heads, int64_t size)
{
	x = lb_reshape(x, LB_SHAPE(lb_dim(x, 0), lb_dim(x, 1), heads, size));
	return lb_transpose(x, LB_AXES(0, 2, 1, 3));
}

static lb_tensor *merge_heads(lb_tensor *x)
{
	x = lb_transpose(x, LB_AXES(0, 2, 1, 3));
	return lb_reshape(x, LB_SHAPE(lb_dim(x, 0), lb_dim(x, 1), -1));
}

static lb_tensor *turn(const struct config *c, lb_tensor *x, int64_t position)
{
	return lb_rope(x, c->head_size, c->rope_traditional, c->rope_base, c->rope_scale, position);
}

static lb_tensor *attend(const struct config *c, const struct layer *layer, int64_t i, lb_tensor *x,
			 struct cache *cache)
{
	int64_t position = cache ? cache->length : 0;
	lb_tensor *q = split_heads(apply(&layer->q, x), c->heads, c->head_size);
	lb_tensor *k = split_heads(apply(&layer->k, x), c->kv_heads, c->head_size);
	lb_tensor *v = split_heads(apply(&layer->v, x), c->kv_heads, c->head_size);

	q = named(turn(c, q, position), "layer%lld.queries", (long long)i);
	k = named(turn(c, k, position), "layer%lld.keys", (long long)i);
	if (cache && !cache_append(cache, i, &k, &v))
		return NULL;
	lb_tensor *heads = lb_attention(q, k, v, 1 / sqrt((double)c->head_size), true, NULL);
	return named(apply(&layer->o, merge_heads(heads)), "layer%lld.attention", (long long)i);
}

static lb_tensor *mlp(const struct layer *layer, int64_t i, lb_tensor *x)
{
	lb_tensor *gated = lb_multiply(lb_silu(apply(&layer->gate, x)), apply(&layer->up, x));

	return named(apply(&layer->down, gated), "layer%lld.mlp", (long long)i);
}

lb_tensor *model_forward(const struct model *model, lb_tensor *tokens, struct cache *cache,
			 bool last_only)
{
	const struct config *c = &model->config;
	lb_tensor *x = embed(&model->embedding, tokens);

	for (int64_t i = 0; i < c->layers; i++) {
		const struct layer *layer = &model->layers[i];
		x = lb_add(x, attend(c, layer, i, lb_rms_norm(x, layer->attention_norm, c->epsilon),
				     cache));
		x = lb_add(x, mlp(layer, i, lb_rms_norm(x, layer->mlp_norm, c->epsilon)));
	}
	if (cache)
		cache_advance(cache, lb_dim(tokens, 1));
	if (last_only)
		x = lb_slice(x, LB_ALL, LB_FROM(-1));
	const struct linear *output = model->output.weight ||
		model->output.q.w ? &model->output : &model->embedding;
	return lb_named("logits", apply(output, lb_rms_norm(x, model->norm, c->epsilon)));
}
