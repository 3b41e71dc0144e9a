#include "common/weights.h"

#include <stdio.h>
#include <string.h>

#include "common/named.h"

bool weights_open(struct weights *weights, const char *path)
{
	if (weights->n == WEIGHTS_FILES)
		return complain("%s: more than %d files", path, WEIGHTS_FILES);
	lb_file *file = lb_open(path);
	if (!file)
		return false;
	weights->files[weights->n++] = file;
	const char *format = lb_file_format(file);
	if (strcmp(format, "gguf") != 0 && strcmp(format, "safetensors") != 0)
		return complain("%s: weights in a .%s file, not GGUF or safetensors", path, format);
	return true;
}

void weights_close(struct weights *weights)
{
	for (int i = 0; i < weights->n; i++)
		lb_file_close(weights->files[i]);
	*weights = (struct weights){0};
}

/* ---- names ---- */

/* GGUF's for what Hugging Face's checkpoints have; llama.cpp's gguf-py/gguf/tensor_mapping.py. */
static const struct { const char *ours, *gguf; } translations[] = {
	{"model.embed_tokens", "token_embd"},         {"lm_head", "output"},
	{"model.norm", "output_norm"},                {"input_layernorm", "attn_norm"},
	{"post_attention_layernorm", "ffn_norm"},     {"self_attn.q_proj", "attn_q"},
	{"self_attn.k_proj", "attn_k"},               {"self_attn.v_proj", "attn_v"},
	{"self_attn.o_proj", "attn_output"},          {"mlp.gate_proj", "ffn_gate"},
	{"mlp.up_proj", "ffn_up"},                    {"mlp.down_proj", "ffn_down"},
	{"self_attn.q_norm", "attn_q_norm"},          {"self_attn.k_norm", "attn_k_norm"},
	{"self_attn.output_norm", "post_attention_norm"},
	{"mlp.output_norm", "post_ffw_norm"},         {"rope_freqs", "rope_freqs"},
};

/* "model.layers.3.mlp.up_proj" to "blk.3.ffn_up" */
static void to_gguf(const char *name, char *ret, size_t size)
{
	const char *rest = name;
	char block[32] = "";
	long long layer;
	int used = 0;

	if (sscanf(name, "model.layers.%lld.%n", &layer, &used) == 1 && used) {
		snprintf(block, sizeof(block), "blk.%lld.", layer);
		rest = name + used;
	}
	for (size_t i = 0; i < sizeof(translations) / sizeof(*translations); i++) {
		if (strcmp(rest, translations[i].ours) == 0)
			snprintf(ret, size, "%s%s", block, translations[i].gguf);
	}
}

static bool is_gguf(const struct weights *weights)
{
	return weights->n && strcmp(lb_file_format(weights->files[0]), "gguf") == 0;
}

/* The file that has NAME.SUFFIX, and what it is called there; NULL if none has. */
static lb_file *find(const struct weights *weights, const char *name, const char *suffix,
		     char there[192])
{
	char base[160];

	snprintf(base, sizeof(base), "%s", name);
	if (is_gguf(weights))
		to_gguf(name, base, sizeof(base));
	snprintf(there, 192, "%s.%s", base, suffix);
	for (int k = 0; k < weights->n; k++) {
		for (int64_t i = 0; i < lb_file_count(weights->files[k]); i++) {
			if (strcmp(lb_file_name(weights->files[k], i), there) == 0)
				return weights->files[k];
		}
	}
	return NULL;
}

/* ---- loading ---- */

static lb_tensor *keep(lb_tensor *x)
{
	return x ? lb_keep(x) : NULL;
}

/* *ret stays NULL, without an error, if there is no such tensor. */
static bool take(const struct weights *weights, const char *name, const char *suffix,
		 lb_tensor **ret)
{
	char there[192];
	lb_file *file = find(weights, name, suffix, there);

	*ret = file ? keep(lb_file_get(file, there)) : NULL;
	return !file || *ret;
}

/* Blocks that cannot be multiplied with are decoded, once, to halves. */
static lb_tensor *as_halves(struct weights *weights, lb_tensor *decoded)
{
	if (lb_is_ready(decoded))
		return decoded;
	lb_tensor *x = keep(lb_named(lb_name(decoded), lb_astype(decoded, LB_F16)));
	lb_release(decoded);
	weights->n_decoded++;
	weights->decoded_nbytes += lb_nbytes(x);
	return x;
}

static bool load_gguf(struct weights *weights, const char *name, struct linear *ret)
{
	char there[192];
	lb_file *file = find(weights, name, "weight", there);

	if (!file)
		return true;
	if (!lb_file_get_quantized(file, there, &ret->q, &ret->how))
		return false;
	if (ret->q.w) {
		keep(ret->q.w);
		keep(ret->q.scales);
		keep(ret->q.biases);
		return true;
	}
	ret->weight = keep(lb_file_get(file, there));
	if (ret->weight)
		ret->weight = as_halves(weights, ret->weight);
	return ret->weight != NULL;
}

static bool load_safetensors(struct weights *weights, const char *name, struct linear *ret)
{
	if (!take(weights, name, "weight", &ret->weight) ||
	    !take(weights, name, "scales", &ret->q.scales) ||
	    !take(weights, name, "biases", &ret->q.biases))
		return false;
	if (!ret->q.scales)
		return true;
	ret->q.w = ret->weight;
	ret->weight = NULL;
	ret->how = weights->how;
	return true;
}

/* ---- what has been loaded ---- */

static bool is_float(lb_tensor *x)
{
	return lb_dtype_of(x) == LB_F16 || lb_dtype_of(x) == LB_BF16 || lb_dtype_of(x) == LB_F32;
}

static bool check_vector(lb_tensor *x, const char *name, int64_t n)
{
	if (lb_rank(x) == 1 && lb_dim(x, 0) == n && is_float(x))
		return true;
	return complain("'%s' is not a vector of %lld floats", name, (long long)n);
}

static bool check_linear(const struct place *place)
{
	const struct linear *l = place->linear;

	if (l->q.w) {
		/* a product checks the layout in full */
		lb_tensor *row = lb_zeros(LB_SHAPE(1, place->inputs), LB_F32);
		lb_tensor *product = lb_quantized_matmul(row, l->q, l->how, true);
		if (product && lb_rank(product) == 2 && lb_dim(product, 1) == place->outputs)
			return true;
	} else if (lb_rank(l->weight) == 2 && lb_dim(l->weight, 0) == place->outputs &&
		   lb_dim(l->weight, 1) == place->inputs && is_float(l->weight)) {
		return true;
	}
	return lb_ok() && complain("'%s' is not a matrix of (%lld, %lld) floats", place->name,
				   (long long)place->outputs, (long long)place->inputs);
}

static bool load(void *context, const struct place *place)
{
	struct weights *weights = context;
	struct linear *linear = place->linear;

	if (!linear) {
		if (!take(weights, place->name, "weight", place->norm))
			return false;
		if (*place->norm)
			return check_vector(*place->norm, place->name, place->outputs);
		return complain("there is no '%s'", place->name);
	}
	if (!(is_gguf(weights) ? load_gguf : load_safetensors)(weights, place->name, linear) ||
	    !take(weights, place->name, "bias", &linear->bias))
		return false;
	if (!linear->weight && !linear->q.w)
		return place->optional || complain("there is no '%s'", place->name);
	return check_linear(place) &&
	       (!linear->bias || check_vector(linear->bias, place->name, place->outputs));
}

bool weights_load(struct weights *weights, struct model *model)
{
	bool loaded = false;

	LB_SCOPE
		loaded = model_visit(model, load, weights);
	return loaded && lb_ok();
}
