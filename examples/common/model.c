#include "common/model.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/named.h"

/* ---- the weights ---- */

enum size { VOCABULARY, WIDTH, QUERIES, KEYS, HEAD, HIDDEN, SIZES };

/* Where a part of a layer is. */
struct part {
	const char *name;
	size_t at;
	enum size outputs, inputs;
	size_t only_if; /* the config says so, here; 0: always */
};

static const struct part norms[] = {
	{"input_layernorm", offsetof(struct layer, attention_norm), WIDTH, 0, 0},
	{"post_attention_layernorm", offsetof(struct layer, mlp_norm), WIDTH, 0, 0},
	{"self_attn.q_norm", offsetof(struct layer, query_norm), HEAD, 0,
	 offsetof(struct config, query_norms)},
	{"self_attn.k_norm", offsetof(struct layer, key_norm), HEAD, 0,
	 offsetof(struct config, query_norms)},
	{"self_attn.output_norm", offsetof(struct layer, attention_output_norm), WIDTH, 0,
	 offsetof(struct config, output_norms)},
	{"mlp.output_norm", offsetof(struct layer, mlp_output_norm), WIDTH, 0,
	 offsetof(struct config, output_norms)},
};
static const struct part linears[] = {
	{"self_attn.q_proj", offsetof(struct layer, q), QUERIES, WIDTH, 0},
	{"self_attn.k_proj", offsetof(struct layer, k), KEYS, WIDTH, 0},
	{"self_attn.v_proj", offsetof(struct layer, v), KEYS, WIDTH, 0},
	{"self_attn.o_proj", offsetof(struct layer, o), WIDTH, QUERIES, 0},
	{"mlp.gate_proj", offsetof(struct layer, gate), HIDDEN, WIDTH, 0},
	{"mlp.up_proj", offsetof(struct layer, up), HIDDEN, WIDTH, 0},
	{"mlp.down_proj", offsetof(struct layer, down), WIDTH, HIDDEN, 0},
};
enum { NORMS = sizeof(norms) / sizeof(*norms), LINEARS = sizeof(linears) / sizeof(*linears) };

static bool rotary_check(const struct config *c, const struct rotary *r)
{
	int64_t size = r->size ? r->size : c->head_size;

	if (size < 2 || size > c->head_size || size % 2)
		return complain("positions cannot turn %lld features of %lld, pair by pair",
				(long long)size, (long long)c->head_size);
	if (!(r->base > 1 && r->base < 1e18) || !(r->scale > 0 && r->scale < 1e6))
		return complain("no model has a rope base of %g and a scale of %g", r->base,
				r->scale);
	if (r->yarn.context && !(r->yarn.context > 0 && r->yarn.context <= 1 << 30 &&
				 r->yarn.fast > 0 && r->yarn.slow > 0 && r->scale <= 1))
		return complain("no model has YaRN for %lld positions, %g and %g turns, and a scale of %g",
				(long long)r->yarn.context, r->yarn.fast, r->yarn.slow, r->scale);
	return true;
}

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
	if (!(c->epsilon >= 0 && c->epsilon < 1))
		return complain("no model has an epsilon of %g", c->epsilon);
	if (c->attention.window < 0 || c->attention.window > 1 << 30 || c->global_every < 0)
		return complain("no model has a window of %lld tokens, but in layer %lld of each",
				(long long)c->attention.window, (long long)c->global_every);
	if (!isfinite(c->attention.scale) || !(c->attention.cap >= 0) || !(c->logit_cap >= 0))
		return complain("no model scales scores by %g and caps them at %g, and logits at %g",
				c->attention.scale, c->attention.cap, c->logit_cap);
	return rotary_check(c, &c->rope) && (!c->attention.window || rotary_check(c, &c->local_rope));
}

bool model_init(struct model *model, const struct config *config)
{
	*model = (struct model){
		.config = *config, .layers = calloc((size_t)config->layers, sizeof(struct layer)),
	};
	return model->layers || complain("no memory for %lld layers", (long long)config->layers);
}

static bool visit_layer(const struct config *c, const int64_t sizes[SIZES], int64_t i,
			struct layer *layer, model_visitor *visit, void *context)
{
	char name[128];

	for (int k = 0; k < NORMS + LINEARS; k++) {
		const struct part *part = k < NORMS ? &norms[k] : &linears[k - NORMS];
		void *at = (char *)layer + part->at;
		if (part->only_if && !*(const bool *)((const char *)c + part->only_if))
			continue;
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
				c->kv_heads * c->head_size, c->head_size, c->hidden};
	int64_t divisors = (c->rope.size ? c->rope.size : c->head_size) / 2;
	struct place outer[] = {
		{"model.embed_tokens", &model->embedding, NULL, c->vocabulary, c->width, false},
		{"lm_head", &model->output, NULL, c->vocabulary, c->width, true},
		{"model.norm", NULL, &model->norm, c->width, 0, false},
		{"rope_freqs", NULL, &model->rope_divisors, divisors, 0, false},
	};
	size_t n = sizeof(outer) / sizeof(*outer) - !c->rope_divisors;

	for (size_t i = 0; i < n; i++) {
		if (!visit(context, &outer[i]))
			return false;
	}
	for (int64_t i = 0; model->layers && i < c->layers; i++) {
		if (!visit_layer(c, sizes, i, &model->layers[i], visit, context))
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
	lb_tensor *y;

	if (linear->q.w) {
		y = lb_quantized_matmul(x, linear->q, linear->how, true);
	} else {
		x = lb_astype(x, lb_dtype_of(linear->weight));
		y = lb_astype(lb_linear(x, linear->weight, NULL), LB_F32);
	}
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

/* Where the model has such a norm. */
static lb_tensor *norm(const struct config *c, lb_tensor *x, lb_tensor *weight)
{
	return weight ? lb_rms_norm(x, weight, c->epsilon) : x;
}

static lb_tensor *cap(lb_tensor *x, double most)
{
	if (most == 0)
		return x;
	return lb_multiply(lb_tanh(lb_multiply(x, lb_scalar(1 / most))), lb_scalar(most));
}

static lb_tensor *attend(const struct model *model, int64_t i, lb_tensor *x, struct cache *cache)
{
	const struct config *c = &model->config;
	const struct layer *layer = &model->layers[i];
	bool global = !c->attention.window || (c->global_every && (i + 1) % c->global_every == 0);
	struct attention how = c->attention;
	const struct rotary *rope = global ? &c->rope : &c->local_rope;
	int64_t position = cache ? cache->length : 0;
	lb_tensor *q = split_heads(apply(&layer->q, x), c->heads, c->head_size);
	lb_tensor *k = split_heads(apply(&layer->k, x), c->kv_heads, c->head_size);
	lb_tensor *v = split_heads(apply(&layer->v, x), c->kv_heads, c->head_size);

	if (global)
		how.window = 0;
	q = rotary_turn(rope, model->rope_divisors, norm(c, q, layer->query_norm), position);
	k = rotary_turn(rope, model->rope_divisors, norm(c, k, layer->key_norm), position);
	q = named(q, "layer%lld.queries", (long long)i);
	k = named(k, "layer%lld.keys", (long long)i);
	if (cache && !cache_append(cache, i, &k, &v))
		return NULL;
	x = apply(&layer->o, merge_heads(attention(&how, q, k, v)));
	return named(norm(c, x, layer->attention_output_norm), "layer%lld.attention", (long long)i);
}

static lb_tensor *mlp(const struct config *c, const struct layer *layer, int64_t i, lb_tensor *x)
{
	lb_tensor *gate = apply(&layer->gate, x);

	gate = c->gelu ? lb_gelu_tanh(gate) : lb_silu(gate);
	x = apply(&layer->down, lb_multiply(gate, apply(&layer->up, x)));
	return named(norm(c, x, layer->mlp_output_norm), "layer%lld.mlp", (long long)i);
}

lb_tensor *model_forward(const struct model *model, lb_tensor *tokens, struct cache *cache,
			 bool last_only)
{
	const struct config *c = &model->config;
	lb_tensor *x = embed(&model->embedding, tokens);

	if (c->embedding_scale != 0)
		x = lb_multiply(x, lb_scalar(c->embedding_scale));
	for (int64_t i = 0; i < c->layers; i++) {
		const struct layer *layer = &model->layers[i];
		x = lb_add(x, attend(model, i, norm(c, x, layer->attention_norm), cache));
		x = lb_add(x, mlp(c, layer, i, norm(c, x, layer->mlp_norm)));
	}
	if (cache)
		cache_advance(cache, lb_dim(tokens, 1));
	if (last_only)
		x = lb_slice(x, LB_ALL, LB_FROM(-1));
	const struct linear *output = model->output.weight ||
		model->output.q.w ? &model->output : &model->embedding;
	return lb_named("logits", cap(apply(output, norm(c, x, model->norm)), c->logit_cap));
}
