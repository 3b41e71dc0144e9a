/* The llama of ours_llama.c as ggml's graphs, built anew for each step, with a cache that is
 * written in place. */
#include "blocks.h"

enum { LENGTH = PROMPT + TOKENS };

static struct {
	const struct row *row;
	struct store caches, weights[LAYERS * PARTS + 1];
	struct ggml_tensor *embedding, *last_norm, *norms[LAYERS][2];
	struct ggml_tensor *head, *parts[LAYERS][PARTS], *keys[LAYERS], *values[LAYERS];
	struct plan plan;
} model;

static struct ggml_tensor *norm(struct ggml_context *ctx, struct ggml_tensor *x, struct ggml_tensor *weight)
{
	return ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-5f), weight);
}

static struct ggml_tensor *rope(struct ggml_context *ctx, struct ggml_tensor *x, int64_t heads,
				struct ggml_tensor *positions)
{
	x = ggml_reshape_3d(ctx, x, HEAD, heads, positions->ne[0]);
	return ggml_rope_ext(ctx, x, positions, NULL, HEAD, GGML_ROPE_TYPE_NORMAL, 0, 10000, 1, 0, 1, 0, 0);
}

/* Writes x (KV_DIM, n) behind position `at`; returns the n + at rows by heads. */
static struct ggml_tensor *remember(struct ggml_context *ctx, struct ggml_tensor *cache, struct ggml_tensor *x,
				    int64_t n, int64_t at)
{
	size_t line = cache->nb[1];
	struct ggml_tensor *to = ggml_view_2d(ctx, cache, KV_DIM, n, line, (size_t)at * line);
	struct ggml_tensor *from = ggml_reshape_2d(ctx, x, KV_DIM, n);
	ggml_build_forward_expand(model.plan.graph, ggml_cpy(ctx, from, to));
	return ggml_view_3d(ctx, cache, HEAD, at + n, KV_HEADS, line, HEAD * sizeof(float), 0);
}

static struct ggml_tensor *attend(struct ggml_context *ctx, struct ggml_tensor *x, int layer, int64_t n, int64_t at,
				  struct ggml_tensor *positions, struct ggml_tensor *mask)
{
	struct ggml_tensor **w = model.parts[layer];
	struct ggml_tensor *q = rope(ctx, ggml_mul_mat(ctx, w[WQ], x), HEADS, positions);
	struct ggml_tensor *k = rope(ctx, ggml_mul_mat(ctx, w[WK], x), KV_HEADS, positions);
	struct ggml_tensor *v = ggml_mul_mat(ctx, w[WV], x);
	k = remember(ctx, model.keys[layer], k, n, at);
	v = remember(ctx, model.values[layer], v, n, at);
	q = ggml_permute(ctx, q, 0, 2, 1, 3);
	struct ggml_tensor *y = ggml_flash_attn_ext(ctx, q, k, v, mask, 1 / sqrtf(HEAD), 0, 0);
	return ggml_mul_mat(ctx, w[WO], ggml_reshape_2d(ctx, y, DIM, n));
}

/* Logits of the last of n tokens from position `at` on. */
static struct ggml_tensor *step(int64_t n, int64_t at)
{
	plan_reset(&model.plan);
	struct ggml_context *ctx = model.plan.nodes;
	struct ggml_tensor *tokens = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);
	struct ggml_tensor *positions = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);
	struct ggml_tensor *mask = n > 1 ? ggml_new_tensor_2d(ctx, GGML_TYPE_F16, at + n, n) : NULL;
	ggml_set_input(tokens);
	ggml_set_input(positions);
	if (mask)
		ggml_set_input(mask);
	struct ggml_tensor *x = ggml_get_rows(ctx, model.embedding, tokens);
	for (int i = 0; i < LAYERS; i++) {
		struct ggml_tensor **w = model.parts[i], *y = norm(ctx, x, model.norms[i][0]);
		x = ggml_add(ctx, x, attend(ctx, y, i, n, at, positions, mask));
		y = norm(ctx, x, model.norms[i][1]);
		y = ggml_swiglu_split(ctx, ggml_mul_mat(ctx, w[W1], y), ggml_mul_mat(ctx, w[W3], y));
		x = ggml_add(ctx, x, ggml_mul_mat(ctx, w[W2], y));
	}
	x = ggml_view_2d(ctx, x, DIM, 1, x->nb[1], (size_t)(n - 1) * x->nb[1]);
	x = norm(ctx, x, model.last_norm);
	struct ggml_tensor *logits = ggml_mul_mat(ctx, model.head, x);
	plan_allocate(&model.plan, logits);
	int32_t ids[PROMPT], places[PROMPT];
	for (int64_t i = 0; i < n; i++) {
		ids[i] = peer_token((int)(at + i));
		places[i] = (int32_t)(at + i);
	}
	ggml_backend_tensor_set(tokens, ids, 0, (size_t)n * sizeof *ids);
	ggml_backend_tensor_set(positions, places, 0, (size_t)n * sizeof *places);
	if (mask)
		mask_fill(mask);
	plan_compute(&model.plan);
	return logits;
}

static struct ggml_tensor *run(void)
{
	if (model.row->m == PROMPT)
		return step(PROMPT, 0);
	struct ggml_tensor *logits = NULL;
	for (int i = 0; i < TOKENS; i++) {
		float values[VOCAB];
		int best = 0;
		logits = step(1, PROMPT + i);
		ggml_backend_tensor_get(logits, values, 0, sizeof values);
		for (int k = 1; k < VOCAB; k++)
			best = values[k] > values[best] ? k : best;
		volatile int chosen = best;
		(void)chosen;
	}
	return logits;
}

bool ggml_llama_open(const struct row *row)
{
	struct store *weights = model.weights;
	model.row = row;
	plan_begin(&model.plan);
	store_begin(&model.caches);
	struct ggml_context *ctx = model.caches.tensors;
	model.embedding = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, DIM, VOCAB);
	model.last_norm = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, DIM);
	for (int i = 0; i < LAYERS; i++) {
		for (int k = 0; k < 2; k++)
			model.norms[i][k] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, DIM);
		model.keys[i] = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, KV_DIM, LENGTH);
		model.values[i] = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, KV_DIM, LENGTH);
	}
	store_allocate(&model.caches);
	store_fill(model.embedding, peer_weights(Q4, VOCAB * DIM, EMBEDDING_SEED));
	store_fill(model.last_norm, peer_norm(LAST_NORM_SEED));
	model.head = ggml_weight(row->dtype, VOCAB, DIM, HEAD_SEED, weights++);
	for (int i = 0; i < LAYERS; i++) {
		for (int k = 0; k < 2; k++)
			store_fill(model.norms[i][k], peer_norm(peer_norm_seed(i, k)));
		for (int k = 0; k < PARTS; k++)
			model.parts[i][k] = ggml_weight(row->dtype, peer_part_shape[k][0], peer_part_shape[k][1],
							peer_part_seed(i, k), weights++);
	}
	step(PROMPT, 0);
	return true;
}

void ggml_llama_run(void)
{
	run();
}

float *ggml_llama_result(int64_t *n)
{
	return ggml_copy(run(), n);
}

void ggml_llama_close(void)
{
	plan_free(&model.plan);
	store_free(&model.caches);
	for (int i = 0; i < LAYERS * PARTS + 1; i++)
		store_free(&model.weights[i]);
	memset(&model, 0, sizeof model);
}
