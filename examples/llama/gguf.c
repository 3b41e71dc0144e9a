/* The metadata of a GGUF file as a config (ggml/docs/gguf.md, "LLaMA"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "common/weights.h"
#include "llama.h"

/* "llama.NAME" */
static const char *text_of(lb_file *file, const char *name)
{
	char key[128];

	snprintf(key, sizeof(key), "llama.%s", name);
	return lb_file_metadata(file, key);
}

static int64_t whole(lb_file *file, const char *name, int64_t otherwise)
{
	const char *text = text_of(file, name);

	return text ? strtoll(text, NULL, 10) : otherwise;
}

static double real(lb_file *file, const char *name, double otherwise)
{
	const char *text = text_of(file, name);

	return text ? strtod(text, NULL) : otherwise;
}

static bool has(lb_file *file, const char *name)
{
	for (int64_t i = 0; i < lb_file_count(file); i++) {
		if (strcmp(lb_file_name(file, i), name) == 0)
			return true;
	}
	return false;
}

static bool read_config(lb_file *file, struct config *ret)
{
	const char *architecture = lb_file_metadata(file, "general.architecture");
	const char *scaling = text_of(file, "rope.scaling.type");

	if (!architecture || strcmp(architecture, "llama") != 0)
		return complain("the architecture is '%s', not llama",
				architecture ? architecture : "");
	if ((scaling && strcmp(scaling, "none") != 0 && strcmp(scaling, "linear") != 0) ||
	    has(file, "rope_freqs.weight"))
		return complain("rope.scaling.type '%s' is not supported, only linear",
				scaling ? scaling : "llama3");
	if (has(file, "blk.0.ffn_gate_exps.weight"))
		return complain("a mixture of experts is not supported");
	int64_t heads = whole(file, "attention.head_count", 0),
		width = whole(file, "embedding_length", 0);
	lb_tensor *embedding = has(file, "token_embd.weight") ? lb_file_get(file,
		"token_embd.weight") : NULL;
	*ret = (struct config){
		.vocabulary = embedding ? lb_dim(embedding, 0) : 0,
		.width = width,
		.layers = whole(file, "block_count", 0),
		.heads = heads,
		.kv_heads = whole(file, "attention.head_count_kv", heads),
		.head_size = whole(file, "attention.key_length", heads > 0 ? width / heads : 0),
		.hidden = whole(file, "feed_forward_length", 0),
		.context = whole(file, "context_length", 2048),
		.epsilon = real(file, "attention.layer_norm_rms_epsilon", 1e-5),
		.rope_base = real(file, "rope.freq_base", 10000),
		.rope_scale = 1 / (scaling ? real(file, "rope.scaling.factor", 1) : 1),
		.rope_traditional = true,
	};
	if (whole(file, "rope.dimension_count", ret->head_size) != ret->head_size)
		return complain("a rope.dimension_count other than the head size is not supported");
	return lb_ok() && config_check(ret);
}

bool llama_open_gguf(struct llama *llama, const char *path)
{
	struct weights weights = {0};
	struct config config;
	bool ok = false;

	LB_SCOPE {
		ok = weights_open(&weights, path) && read_config(weights.files[0], &config) &&
		     model_init(&llama->model, &config) && weights_load(&weights, &llama->model) &&
		     (llama->tokenizer = tokenizer_from_gguf(weights.files[0]));
	}
	weights_close(&weights);
	return ok;
}
