/* A transformer of the llama kind: rms norm, rotary positions, grouped heads, a gated MLP; and what
 * qwen and gemma add to it. The model of examples/llama, and of examples/train and generate. */
#ifndef COMMON_MODEL_H
#define COMMON_MODEL_H

#include "common/attention.h"
#include "common/cache.h"
#include "common/rotary.h"
#include "lazybones.h"

struct config {
	int64_t vocabulary, width, layers, heads, kv_heads, head_size, hidden, context;
	double epsilon; /* of the norms */
	struct attention attention;
	struct rotary rope, local_rope;
	int64_t global_every;   /* with a window: layers without it, which rope is for; 0: none */
	double embedding_scale; /* 0: 1 */
	double logit_cap;       /* logits become cap * tanh(logit / cap); 0: they stay */
	bool gelu;              /* in the MLP; else SiLU */
	bool query_norms;       /* queries and keys have norms, head by head … */
	bool output_norms;      /* … and so has what attention and the MLP add */
	bool rope_divisors;     /* the model has a list of them */
};

/* y = weight x + bias, the weight dense or quantised (one of weight and q.w is NULL). */
struct linear {
	lb_tensor *weight, *bias;
	lb_quantized q;
	lb_quant how;
};

struct layer {
	lb_tensor *attention_norm, *mlp_norm, *query_norm, *key_norm;
	lb_tensor *attention_output_norm, *mlp_output_norm;
	struct linear q, k, v, o, gate, up, down;
};

/* Every tensor is kept by the model. */
struct model {
	struct config config;
	struct linear embedding;
	struct linear output; /* empty: the embedding's weights serve */
	lb_tensor *norm, *rope_divisors;
	struct layer *layers;
};

/* Whether the sizes make a model, and are such that nothing overflows; complains if not. */
bool config_check(const struct config *config);
/* A model without weights; false without memory. */
bool model_init(struct model *model, const struct config *config);
/* Releases all weights; fine on a zeroed model. */
void model_release(struct model *model);
/* In bytes, as they are kept. */
int64_t model_nbytes(const struct model *model);

/* Where a weight has its place: `name` (without ".weight") is that of Hugging Face's llama. */
struct place {
	const char *name;
	struct linear *linear; /* (outputs, inputs); NULL for a norm, or another vector … */
	lb_tensor **norm;      /* … which has `outputs` elements */
	int64_t outputs, inputs;
	bool optional;
};
/* Calls `visit` for every place, filled or not. Stops when it returns false, and returns that. */
typedef bool model_visitor(void *context, const struct place *place);
bool model_visit(struct model *model, model_visitor *visit, void *context);
/* The places of the tensors of one; of a norm there is one, of a linear layer LINEAR_TENSORS. */
enum { LINEAR_TENSORS = 5 };
int place_tensors(const struct place *place, lb_tensor **ret[LINEAR_TENSORS]);

/* Tokens (batch, length) of any integer dtype to logits, f32 (batch, length, vocabulary): or with
 * last_only (batch, 1, vocabulary). With a cache the tokens follow those it has, and are added to
 * it. Computes nothing. NULL on error. */
lb_tensor *model_forward(const struct model *model, lb_tensor *tokens, struct cache *cache,
			 bool last_only);

#endif
