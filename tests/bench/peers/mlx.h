#ifndef PEERS_MLX_H
#define PEERS_MLX_H

#include "peers.h"

#include <mlx/mlx.h>

namespace mx = mlx::core;

/* Copies the floats and frees them. */
mx::array mlx_tensor(float *data, mx::Shape shape);

/* A weight (n, k): as it is, or quantised, with what belongs to it. */
struct weight {
	std::vector<mx::array> parts;
	enum peer_dtype format = F32;
	mx::array apply(const mx::array &x) const; /* x @ w.T */
};
/* `plain`: its values are those of 4-bit weights, it is not quantised. */
weight mlx_weight(enum peer_dtype format, bool plain, int n, int k, uint64_t seed);
float *mlx_copy(const mx::array &x, int64_t *n);

bool mlx_llama_open(const struct row *row);
void mlx_llama_run(void);
float *mlx_llama_result(int64_t *n);
void mlx_llama_close(void);

#endif
