#ifndef PEERS_TORCH_H
#define PEERS_TORCH_H

#include "peers.h"

#include <torch/torch.h>

/* Copies the floats and frees them. */
torch::Tensor torch_tensor(float *data, at::IntArrayRef shape);

/* A weight (n, k): as it is, or 4-bit codes, two a byte, with a scale a group. */
struct weight {
	torch::Tensor plain, codes, scales;
	torch::Tensor apply(const torch::Tensor &x) const; /* x @ w.T */
};
weight torch_weight(enum peer_dtype format, int64_t n, int64_t k, uint64_t seed);
/* Causal, the queries being the last of the keys' positions; open: each sees every key. */
torch::Tensor torch_attention(const torch::Tensor &q, const torch::Tensor &k, const torch::Tensor &v, bool open);
float *torch_copy(const torch::Tensor &x, int64_t *n);

bool torch_llama_open(const struct row *row);
void torch_llama_run(void);
float *torch_llama_result(int64_t *n);
void torch_llama_close(void);

#endif
