/* The metadata of a GGUF file as a config (ggml/docs/gguf.md), and what each architecture is
 * besides (llama.cpp's src/models). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "common/weights.h"
#include "llama.h"

static const struct architecture {
	const char *name;
	bool neighbours; /* the rows of queries and keys are permuted for pairs of neighbours */
	bool query_norms, output_norms;
	bool is_gemma;   /* GELU, and embeddings times the root of the width */
	int64_t window, global_every;
	double local_base;
	double attention_cap, logit_cap;
	int64_t large;   /* the model of so many layers scales scores by the width of its heads' part */
} architectures[] = {
	{.name = "llama", .neighbours = true},
	{.name = "qwen2"},
	{.name = "qwen3", .query_norms = true},
	{.name = "gemma", .is_gemma = true},
	{.name = "gemma2", .is_gemma = true, .output_norms = true, .window = 4096,
	 .global_every = 2, .attention_cap = 50, .logit_cap = 30, .large = 46},
	{.name = "gemma3", .is_gemma = true, .output_norms = true, .query_norms = true,
	 .global_every = 6, .local_base = 10000, .large = 62},
};
enum { ARCHITECTURES = sizeof(architectures) / sizeof(*architectures) };

struct reader {
	lb_file *file;
	const struct architecture *is;
};

/* ---- keys, of which the file says what it likes ---- */

static const char *key_of(const struct reader *r, const char *name, char ret[128])
{
	snprintf(ret, 128, "%s.%s", r->is->name, name);
	return ret;
}

/* The number under "ARCHITECTURE.NAME", or `otherwise`; NAN: there has to be one. */
static bool real(const struct reader *r, const char *name, double otherwise, double *ret)
{
	char key[128], *end;
	const char *text = lb_file_metadata(r->file, key_of(r, name, key));

	*ret = otherwise;
	if (lb_file_metadata_length(r->file, key) < 0)
		return !isnan(otherwise) || complain("there is no '%s'", key);
	if (!text)
		return complain("'%s' is a list: layers that are not alike are not supported", key);
	*ret = strtod(text, &end);
	return (end != text && !*end && isfinite(*ret)) ||
	       complain("'%s' is '%.64s', not a number", key, text);
}

static bool whole(const struct reader *r, const char *name, double otherwise, int64_t least,
		  int64_t most, int64_t *ret)
{
	char key[128];
	double x;

	if (!real(r, name, otherwise, &x))
		return false;
	if (!(x >= (double)least && x <= (double)most) || x != floor(x))
		return complain("'%s' is %.15g, not a number from %lld to %lld",
				key_of(r, name, key), x, (long long)least, (long long)most);
	*ret = (int64_t)x;
	return true;
}

static bool has(lb_file *file, const char *name)
{
	for (int64_t i = 0; i < lb_file_count(file); i++) {
		if (strcmp(lb_file_name(file, i), name) == 0)
			return true;
	}
	return false;
}

/* ---- the config ---- */

static bool find_architecture(struct reader *r)
{
	const char *name = lb_file_metadata(r->file, "general.architecture");
	char known[128] = "";

	for (int i = 0; i < ARCHITECTURES; i++) {
		if (name && strcmp(name, architectures[i].name) == 0)
			r->is = &architectures[i];
		snprintf(known + strlen(known), sizeof(known) - strlen(known), i ? ", %s" : "%s",
			 architectures[i].name);
	}
	return r->is || complain("'general.architecture' is '%.64s', none of %s", name ? name : "",
				 known);
}

static bool read_sizes(const struct reader *r, struct config *ret)
{
	lb_tensor *embedding = has(r->file, "token_embd.weight")
		? lb_file_get(r->file, "token_embd.weight") : NULL;
	int64_t values;

	if (has(r->file, "blk.0.ffn_gate_exps.weight"))
		return complain("a mixture of experts is not supported");
	ret->vocabulary = embedding ? lb_dim(embedding, 0) : 0;
	if (!whole(r, "embedding_length", NAN, 1, 1 << 20, &ret->width) ||
	    !whole(r, "block_count", NAN, 1, 1 << 12, &ret->layers) ||
	    !whole(r, "feed_forward_length", NAN, 1, 1 << 22, &ret->hidden) ||
	    !whole(r, "context_length", 2048, 1, 1 << 30, &ret->context) ||
	    !whole(r, "attention.head_count", NAN, 1, 1 << 12, &ret->heads) ||
	    !whole(r, "attention.head_count_kv", (double)ret->heads, 1, 1 << 12, &ret->kv_heads) ||
	    !whole(r, "attention.key_length", (double)(ret->width / ret->heads), 1, 1 << 12,
		   &ret->head_size) ||
	    !whole(r, "attention.value_length", (double)ret->head_size, 1, 1 << 12, &values) ||
	    !real(r, "attention.layer_norm_rms_epsilon", 1e-5, &ret->epsilon))
		return false;
	return values == ret->head_size ||
	       complain("values of %lld features beside keys of %lld are not supported",
			(long long)values, (long long)ret->head_size);
}

static bool read_scaling(const struct reader *r, int64_t context, struct rotary *ret)
{
	char key[128];
	const char *how = lb_file_metadata(r->file, key_of(r, "rope.scaling.type", key));
	double factor;

	if (!real(r, "rope.scaling.factor", 1, &factor))
		return false;
	ret->scale = factor != 0 ? 1 / factor : 1;
	if (!how || strcmp(how, "linear") == 0)
		return true;
	if (strcmp(how, "none") == 0) {
		ret->scale = 1;
		return true;
	}
	if (strcmp(how, "yarn") != 0)
		return complain("'%s' is '%.64s', none of none, linear, yarn", key, how);
	return whole(r, "rope.scaling.original_context_length", (double)context, 1, 1 << 30,
		     &ret->yarn.context) &&
	       real(r, "rope.scaling.yarn_beta_fast", 32, &ret->yarn.fast) &&
	       real(r, "rope.scaling.yarn_beta_slow", 1, &ret->yarn.slow);
}

static bool read_positions(const struct reader *r, struct config *ret)
{
	struct rotary *rope = &ret->rope;
	double local_base;

	*rope = (struct rotary){.traditional = r->is->neighbours};
	if (!whole(r, "rope.dimension_count", (double)ret->head_size, 1, 1 << 12, &rope->size) ||
	    !real(r, "rope.freq_base", 10000, &rope->base) ||
	    !read_scaling(r, ret->context, rope))
		return false;
	ret->rope_divisors = has(r->file, "rope_freqs.weight");
	ret->local_rope = *rope;
	if (r->is->local_base != 0)
		ret->local_rope = (struct rotary){rope->size, r->is->local_base, 1,
						  rope->traditional, {0}};
	local_base = ret->local_rope.base;
	return real(r, "rope.freq_base_swa", local_base, &ret->local_rope.base);
}

static bool read_attention(const struct reader *r, struct config *ret)
{
	const struct architecture *is = r->is;
	struct attention *attention = &ret->attention;

	ret->query_norms = is->query_norms;
	ret->output_norms = is->output_norms;
	ret->gelu = is->is_gemma;
	if (is->is_gemma)
		ret->embedding_scale = sqrt((double)ret->width);
	if (ret->layers == is->large)
		attention->scale = 1 / sqrt((double)(ret->width / ret->heads));
	if (is->attention_cap != 0 &&
	    (!real(r, "attn_logit_softcapping", is->attention_cap, &attention->cap) ||
	     !real(r, "final_logit_softcapping", is->logit_cap, &ret->logit_cap)))
		return false;
	return !is->global_every ||
	       (whole(r, "attention.sliding_window", (double)is->window, 0, 1 << 30,
		      &attention->window) &&
		whole(r, "attention.sliding_window_pattern", (double)is->global_every, 0, 1 << 12,
		      &ret->global_every));
}

static bool read_config(lb_file *file, struct config *ret)
{
	struct reader r = {.file = file};

	*ret = (struct config){0};
	return find_architecture(&r) && read_sizes(&r, ret) && read_positions(&r, ret) &&
	       read_attention(&r, ret) && lb_ok() && config_check(ret);
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
	if (ok && weights.n_decoded)
		complain("%d matrices in blocks that cannot be multiplied with become float16: %.1f MiB",
			 weights.n_decoded, (double)weights.decoded_nbytes / (1 << 20));
	weights_close(&weights);
	return ok;
}
