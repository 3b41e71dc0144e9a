/* The llama of ours_llama.c, eager, with a cache that is written in place. */
#include "torch.h"

using torch::Tensor;

static struct {
	const struct row *row;
	Tensor embedding, last_norm, norms[LAYERS][2], keys[LAYERS], values[LAYERS];
	weight head, parts[LAYERS][PARTS];
} model;

static Tensor norm(const Tensor &x, const Tensor &weight)
{
	return x * x.square().mean(-1, true).add_(1e-5).rsqrt_() * weight;
}

/* x (heads, n, HEAD): turns the pairs of features 2i, 2i + 1. */
static Tensor rope(const Tensor &x, const Tensor &cosines, const Tensor &sines)
{
	Tensor pairs = x.reshape({x.size(0), x.size(1), HEAD / 2, 2});
	Tensor a = pairs.select(-1, 0), b = pairs.select(-1, 1);
	return torch::stack({a * cosines - b * sines, a * sines + b * cosines}, -1).flatten(-2);
}

static Tensor heads(const Tensor &x, int64_t n, int64_t count)
{
	return x.view({n, count, HEAD}).transpose(0, 1);
}

static Tensor attend(const Tensor &x, int layer, int64_t n, int64_t at, const Tensor &c,
		     const Tensor &s)
{
	const weight *w = model.parts[layer];
	Tensor &keys = model.keys[layer], &values = model.values[layer];
	Tensor q = rope(heads(w[WQ].apply(x), n, HEADS), c, s);
	keys.narrow(1, at, n).copy_(rope(heads(w[WK].apply(x), n, KV_HEADS), c, s));
	values.narrow(1, at, n).copy_(heads(w[WV].apply(x), n, KV_HEADS));
	Tensor k = keys.narrow(1, 0, at + n), v = values.narrow(1, 0, at + n);
	/* the heads that share keys are rows of one product */
	int64_t group = HEADS / KV_HEADS;
	Tensor y;
	if (n == 1)
		y = torch_attention(q.view({KV_HEADS, group, HEAD}), k, v, true);
	else
		y = torch_attention(q, k.repeat_interleave(group, 0), v.repeat_interleave(group, 0),
				    false);
	return w[WO].apply(y.reshape({HEADS, n, HEAD}).transpose(0, 1).reshape({n, DIM}));
}

static Tensor step(int64_t n, int64_t at)
{
	Tensor tokens = torch::empty({n}, torch::kLong);
	for (int64_t i = 0; i < n; i++)
		tokens.data_ptr<int64_t>()[i] = peer_token((int)(at + i));
	Tensor powers = torch::arange(0, HEAD / 2, torch::kFloat).mul_(-2.0 / (double)HEAD);
	Tensor places = torch::arange(at, at + n, torch::kFloat);
	Tensor angles = torch::outer(places, torch::pow(10000.0, powers));
	Tensor c = angles.cos(), s = angles.sin();
	Tensor x = model.embedding.index_select(0, tokens);
	for (int i = 0; i < LAYERS; i++) {
		const weight *w = model.parts[i];
		x = x + attend(norm(x, model.norms[i][0]), i, n, at, c, s);
		Tensor y = norm(x, model.norms[i][1]);
		x = x + w[W2].apply(torch::silu(w[W1].apply(y)).mul_(w[W3].apply(y)));
	}
	return model.head.apply(norm(x.slice(0, n - 1), model.last_norm));
}

static Tensor run()
{
	if (model.row->m == PROMPT)
		return step(PROMPT, 0);
	Tensor logits;
	for (int i = 0; i < TOKENS; i++) {
		logits = step(1, PROMPT + i);
		logits.argmax().item<int64_t>();
	}
	return logits;
}

bool torch_llama_open(const struct row *row)
{
	if (row->dtype > Q4)
		return false;
	model.row = row;
	model.embedding = torch_tensor(peer_weights(Q4, VOCAB * DIM, EMBEDDING_SEED), {VOCAB, DIM});
	model.last_norm = torch_tensor(peer_norm(LAST_NORM_SEED), {DIM});
	model.head = torch_weight(row->dtype, VOCAB, DIM, HEAD_SEED);
	for (int i = 0; i < LAYERS; i++) {
		for (int k = 0; k < 2; k++)
			model.norms[i][k] = torch_tensor(peer_norm(peer_norm_seed(i, k)), {DIM});
		for (int k = 0; k < PARTS; k++)
			model.parts[i][k] = torch_weight(row->dtype, peer_part_shape[k][0],
							 peer_part_shape[k][1],
							 peer_part_seed(i, k));
		model.keys[i] = torch::zeros({KV_HEADS, PROMPT + TOKENS, HEAD});
		model.values[i] = torch::zeros({KV_HEADS, PROMPT + TOKENS, HEAD});
	}
	step(PROMPT, 0);
	return true;
}

void torch_llama_run(void)
{
	run();
}

float *torch_llama_result(int64_t *n)
{
	return torch_copy(run(), n);
}

void torch_llama_close(void)
{
	model = {};
}
