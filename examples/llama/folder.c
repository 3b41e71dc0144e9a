/* A folder as Hugging Face has it: config.json, tokenizer.json, *.safetensors. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "common/named.h"
#include "common/settings.h"
#include "common/weights.h"
#include "llama.h"

static bool read_config(json_t *root, struct config *ret)
{
	const char *type = json_string_value(json_object_get(root, "model_type"));
	json_t *scaling = json_object_get(root, "rope_scaling");

	if (!type || (strcmp(type, "llama") != 0 && strcmp(type, "mistral") != 0))
		return complain("config.json: model_type '%s' is not llama", type ? type : "");
	if (json_is_object(scaling)) {
		const char *how = json_string_value(json_object_get(scaling, "type"));
		if (!how || strcmp(how, "linear") != 0)
			return complain("config.json: rope_scaling '%s' is not supported, only linear",
					how ? how : "");
	}
	int64_t heads = settings_whole(root, "num_attention_heads", 0),
		width = settings_whole(root, "hidden_size", 0);
	*ret = (struct config){
		.vocabulary = settings_whole(root, "vocab_size", 0),
		.width = width,
		.layers = settings_whole(root, "num_hidden_layers", 0),
		.heads = heads,
		.kv_heads = settings_whole(root, "num_key_value_heads", heads),
		.head_size = settings_whole(root, "head_dim", heads > 0 ? width / heads : 0),
		.hidden = settings_whole(root, "intermediate_size", 0),
		.context = settings_whole(root, "max_position_embeddings", 2048),
		.epsilon = settings_real(root, "rms_norm_eps", 1e-6),
		.rope.base = settings_real(root, "rope_theta", 10000),
		.rope.scale = 1 / (json_is_object(scaling) ? settings_real(scaling, "factor", 1) : 1),
	};
	return config_check(ret);
}

/* MLX's. */
static bool read_quantisation(json_t *root, lb_quant *ret)
{
	static const char *const modes[] = {
		[LB_QUANT_AFFINE] = "affine", [LB_QUANT_MXFP4] = "mxfp4",
		[LB_QUANT_MXFP8] = "mxfp8", [LB_QUANT_NVFP4] = "nvfp4",
	};
	json_t *part = json_object_get(root, "quantization");
	const char *mode = json_string_value(json_object_get(part, "mode"));

	*ret = (lb_quant){.bits = (int)settings_whole(part, "bits", 4),
			  .group = (int)settings_whole(part, "group_size", 64)};
	if (!mode)
		return true;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (strcmp(mode, modes[i]) == 0) {
			ret->mode = (lb_quant_mode)i;
			return true;
		}
	}
	return complain("config.json: quantization mode '%s' is not supported", mode);
}

static bool open_weights(struct weights *weights, const char *folder)
{
	char pattern[4096];
	glob_t found;
	bool ok = true;

	snprintf(pattern, sizeof(pattern), "%s/*.safetensors", folder);
	if (glob(pattern, 0, NULL, &found) != 0)
		return complain("%s: no *.safetensors", folder);
	for (size_t i = 0; ok && i < found.gl_pathc; i++)
		ok = weights_open(weights, found.gl_pathv[i]);
	globfree(&found);
	return ok;
}

static struct tokenizer *open_tokenizer(const char *folder, json_t *root)
{
	char path[4096];
	json_t *ends = json_object_get(root, "eos_token_id"), *end;
	size_t i;

	snprintf(path, sizeof(path), "%s/tokenizer.json", folder);
	struct tokenizer *t = tokenizer_from_json(path, settings_whole(root, "bos_token_id", -1));
	if (!t)
		return NULL;
	if (json_is_integer(ends))
		tokenizer_add_end(t, json_integer_value(ends));
	json_array_foreach(ends, i, end)
		tokenizer_add_end(t, json_integer_value(end));
	return t;
}

bool llama_open_folder(struct llama *llama, const char *path)
{
	struct weights weights = {0};
	struct config config;
	json_t *root = settings_load(path, "config.json");

	bool ok = root && read_config(root, &config) && model_init(&llama->model, &config) &&
		  read_quantisation(root, &weights.how) && open_weights(&weights, path) &&
		  weights_load(&weights, &llama->model) &&
			(llama->tokenizer = open_tokenizer(path, root));
	weights_close(&weights);
	json_decref(root);
	return ok;
}
