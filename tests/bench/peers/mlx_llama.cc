/* The llama of ours_llama.c, in MLX. */
#include "mlx.h"

using mx::array;

static struct {
	const struct row *row;
	std::vector<array> embedding, last_norm, norms[LAYERS];
	weight head, parts[LAYERS][PARTS];
	std::vector<array> keys, values;
} model;

static array heads(const array &x, int n, int count)
{
	return mx::transpose(mx::reshape(x, {1, n, count, HEAD}), {0, 2, 1, 3});
}

static array turn(const array &x, int at)
{
	return mx::fast::rope(x, HEAD, true, 10000.0f, 1.0f, at);
}

/* All so far, x's n tokens at `at` among them; written in place, since nothing else holds what was there. */
static array remember(array &cache, const array &x, int n, int at)
{
	cache = mx::slice_update(cache, x, mx::Shape{0, 0, at, 0}, mx::Shape{1, KV_HEADS, at + n, HEAD});
	return mx::slice(cache, mx::Shape{0, 0, 0, 0}, mx::Shape{1, KV_HEADS, at + n, HEAD});
}

static array attend(const array &x, int layer, int n, int at)
{
	const weight *w = model.parts[layer];
	array q = turn(heads(w[WQ].apply(x), n, HEADS), at), k = turn(heads(w[WK].apply(x), n, KV_HEADS), at);
	array v = heads(w[WV].apply(x), n, KV_HEADS);

	k = remember(model.keys[layer], k, n, at);
	v = remember(model.values[layer], v, n, at);
	array y = mx::fast::scaled_dot_product_attention(q, k, v, 1 / std::sqrt((float)HEAD), n > 1 ? "causal" : "");
	return w[WO].apply(mx::reshape(mx::transpose(y, {0, 2, 1, 3}), {n, DIM}));
}

static array norm(const array &x, const array &weight)
{
	return mx::fast::rms_norm(x, weight, 1e-5f);
}

/* Logits of the last of n tokens from position `at` on. */
static array step(int n, int at)
{
	std::vector<int> tokens;
	for (int i = 0; i < n; i++)
		tokens.push_back(peer_token(at + i));
	array x = mx::take(model.embedding[0], array(tokens.begin(), {n}, mx::int32), 0);
	for (int i = 0; i < LAYERS; i++) {
		const weight *w = model.parts[i];
		x = x + attend(norm(x, model.norms[i][0]), i, n, at);
		array y = norm(x, model.norms[i][1]), gate = w[W1].apply(y);
		x = x + w[W2].apply(gate * mx::sigmoid(gate) * w[W3].apply(y));
	}
	return model.head.apply(norm(mx::slice(x, {n - 1, 0}, {n, DIM}), model.last_norm[0]));
}

static array eval_step(int n, int at)
{
	array logits = step(n, at);
	std::vector<array> all = {logits};
	all.insert(all.end(), model.keys.begin(), model.keys.end());
	all.insert(all.end(), model.values.begin(), model.values.end());
	mx::eval(all);
	return logits;
}

/* The logits of the last step. */
static array run()
{
	if (model.row->m == PROMPT)
		return eval_step(PROMPT, 0);
	array logits(0.0f);
	for (int i = 0; i < TOKENS; i++) {
		logits = eval_step(1, PROMPT + i);
		mx::argmax(logits).item<uint32_t>();
	}
	return logits;
}

bool mlx_llama_open(const struct row *row)
{
	bool plain = row->dtype != Q4;

	if (row->dtype > Q4)
		return false;
	model.row = row;
	model.embedding = {mlx_tensor(peer_weights(Q4, VOCAB * DIM, EMBEDDING_SEED), {VOCAB, DIM})};
	model.last_norm = {mlx_tensor(peer_norm(LAST_NORM_SEED), {DIM})};
	model.head = mlx_weight(Q4, plain, VOCAB, DIM, HEAD_SEED);
	for (int i = 0; i < LAYERS; i++) {
		for (int k = 0; k < 2; k++)
			model.norms[i].push_back(mlx_tensor(peer_norm(peer_norm_seed(i, k)), {DIM}));
		for (int k = 0; k < PARTS; k++)
			model.parts[i][k] = mlx_weight(Q4, plain, (int)peer_part_shape[k][0], (int)peer_part_shape[k][1],
						       peer_part_seed(i, k));
	}
	for (int i = 0; i < LAYERS; i++) {
		model.keys.push_back(mx::zeros({1, KV_HEADS, PROMPT + TOKENS, HEAD}));
		model.values.push_back(mx::zeros({1, KV_HEADS, PROMPT + TOKENS, HEAD}));
	}
	eval_step(PROMPT, 0);
	return true;
}

void mlx_llama_run(void)
{
	run();
}

float *mlx_llama_result(int64_t *n)
{
	return mlx_copy(run(), n);
}

void mlx_llama_close(void)
{
	model = {};
	mx::clear_cache();
}
