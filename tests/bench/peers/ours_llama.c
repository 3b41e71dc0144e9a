/* A llama of the common sizes; its tokens are given, but each step waits for the one before, as
 * sampling would. */
#include "ours.h"

static struct {
	const struct row *row;
	lb_tensor *embedding, *last_norm, *norms[LAYERS][2];
	lb_quantized head, parts[LAYERS][PARTS];
	lb_tensor *keys[LAYERS], *values[LAYERS]; /* for PROMPT and TOKENS, and written in place */
} model;

static lb_quantized weights(int64_t n, int64_t k, uint64_t seed)
{
	lb_tensor *w = ours_tensor(peer_weights(Q4, n * k, seed), LB_SHAPE(n, k));
	if (model.row->dtype >= Q4)
		return ours_quantize(w, model.row->dtype);
	lb_eval(w);
	return (lb_quantized){ .w = lb_keep(w) };
}

static lb_tensor *product(lb_tensor *x, lb_quantized w)
{
	return ours_product(x, w, model.row->dtype);
}

static lb_tensor *heads(lb_tensor *x, int64_t n, int64_t count)
{
	return lb_transpose(lb_reshape(x, LB_SHAPE(1, n, count, HEAD)), LB_AXES(0, 2, 1, 3));
}

/* What is known after n more tokens. */
static lb_tensor *append(lb_tensor **cache, lb_tensor *x, int64_t n, int64_t at)
{
	lb_replace(cache, lb_slice_update(*cache, x, LB_ALL, LB_ALL, LB_RANGE(at, at + n)));
	return lb_slice(*cache, LB_ALL, LB_ALL, LB_TO(at + n));
}

static lb_tensor *attend(lb_tensor *x, int layer, int64_t n, int64_t at)
{
	const lb_quantized *w = model.parts[layer];
	lb_tensor *q = lb_rope(heads(product(x, w[WQ]), n, HEADS), HEAD, true, 10000, 1, at);
	lb_tensor *k = lb_rope(heads(product(x, w[WK]), n, KV_HEADS), HEAD, true, 10000, 1, at);
	lb_tensor *v = heads(product(x, w[WV]), n, KV_HEADS);
	k = append(&model.keys[layer], k, n, at);
	v = append(&model.values[layer], v, n, at);
	lb_tensor *y = lb_attention(q, k, v, 1 / sqrt((double)HEAD), true, NULL);
	y = lb_reshape(lb_transpose(y, LB_AXES(0, 2, 1, 3)), LB_SHAPE(n, DIM));
	return product(y, w[WO]);
}

/* Logits of the last of n tokens from position `at` on. */
static lb_tensor *step(int64_t n, int64_t at)
{
	int32_t tokens[PROMPT];
	for (int64_t i = 0; i < n; i++)
		tokens[i] = peer_token((int)(at + i));
	lb_tensor *ids = lb_from_data(tokens, (size_t)n * sizeof *tokens, LB_SHAPE(n), LB_I32);
	lb_tensor *x = lb_embedding(model.embedding, ids);
	for (int i = 0; i < LAYERS; i++) {
		const lb_quantized *w = model.parts[i];
		x = lb_add(x, attend(lb_rms_norm(x, model.norms[i][0], 1e-5), i, n, at));
		lb_tensor *y = lb_rms_norm(x, model.norms[i][1], 1e-5);
		y = lb_multiply(lb_silu(product(y, w[W1])), product(y, w[W3]));
		x = lb_add(x, product(y, w[W2]));
	}
	x = lb_rms_norm(lb_slice(x, LB_RANGE(n - 1, n)), model.last_norm, 1e-5);
	return product(x, model.head);
}

static void eval_step(lb_tensor *logits)
{
	lb_tensor *all[2 * LAYERS + 1] = { logits };
	for (int i = 0; i < LAYERS; i++) {
		all[2 * i + 1] = model.keys[i];
		all[2 * i + 2] = model.values[i];
	}
	lb_eval_n(2 * LAYERS + 1, all);
}

/* The logits of the last step. */
static lb_tensor *run(void)
{
	lb_tensor *logits = NULL;
	if (model.row->m == PROMPT) {
		logits = step(PROMPT, 0);
		eval_step(logits);
		return logits;
	}
	for (int i = 0; i < TOKENS; i++) {
		lb_scope scope = lb_scope_begin();
		logits = step(1, PROMPT + i);
		eval_step(logits);
		lb_item_int(lb_argmax(logits, LB_ALL_AXES, false));
		lb_escape(logits);
		lb_scope_end(&scope);
	}
	return logits;
}

bool ours_llama_open(const struct row *row)
{
	model.row = row;
	LB_SCOPE {
		model.embedding =
		    lb_keep(ours_tensor(peer_weights(Q4, VOCAB * DIM, EMBEDDING_SEED), LB_SHAPE(VOCAB, DIM)));
		model.last_norm = lb_keep(ours_tensor(peer_norm(LAST_NORM_SEED), LB_SHAPE(DIM)));
		model.head = weights(VOCAB, DIM, HEAD_SEED);
		for (int i = 0; i < LAYERS; i++) {
			for (int k = 0; k < 2; k++)
				model.norms[i][k] =
				    lb_keep(ours_tensor(peer_norm(peer_norm_seed(i, k)), LB_SHAPE(DIM)));
			for (int k = 0; k < PARTS; k++)
				model.parts[i][k] =
				    weights(peer_part_shape[k][0], peer_part_shape[k][1], peer_part_seed(i, k));
		}
		for (int i = 0; i < LAYERS; i++) {
			lb_list shape = LB_SHAPE(1, KV_HEADS, PROMPT + TOKENS, HEAD);
			model.keys[i] = lb_keep(lb_zeros(shape, LB_F32));
			model.values[i] = lb_keep(lb_zeros(shape, LB_F32));
		}
		eval_step(step(PROMPT, 0));
	}
	return lb_ok();
}

void ours_llama_run(void)
{
	LB_SCOPE {
		run();
	}
}

float *ours_llama_result(int64_t *n)
{
	float *to = NULL;
	LB_SCOPE {
		to = ours_copy(run(), n);
	}
	return to;
}

static void release(lb_quantized q)
{
	lb_release(q.w);
	lb_release(q.scales);
	lb_release(q.biases);
}

void ours_llama_close(void)
{
	lb_release(model.embedding);
	lb_release(model.last_norm);
	release(model.head);
	for (int i = 0; i < LAYERS; i++) {
		lb_release(model.norms[i][0]);
		lb_release(model.norms[i][1]);
		for (int k = 0; k < PARTS; k++)
			release(model.parts[i][k]);
		lb_release(model.keys[i]);
		lb_release(model.values[i]);
	}
	memset(&model, 0, sizeof model);
	lb_clear_cache();
}
