#ifndef PEERS_BLOCKS_H
#define PEERS_BLOCKS_H

#include "peers.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

/* What is written once: weights, inputs, caches. */
struct store {
	struct ggml_context *tensors;
	ggml_backend_buffer_t buffer;
};
/* Tensors are made in store->tensors, then all of them get memory. */
void store_begin(struct store *store);
void store_allocate(struct store *store);
void store_free(struct store *store);
/* Takes the floats; converts them to x's type. */
void store_fill(struct ggml_tensor *x, float *data);

/* A weight (n, k), in the layout in which this machine multiplies it fastest. */
struct ggml_tensor *ggml_weight(enum peer_dtype format, int64_t n, int64_t k, uint64_t seed, struct store *ret);

/* A graph whose results live in memory of its own, to be built again and again. */
struct plan {
	struct ggml_context *nodes;
	struct ggml_cgraph *graph;
	ggml_gallocr_t memory;
};
void plan_begin(struct plan *plan);
void plan_reset(struct plan *plan);
void plan_allocate(struct plan *plan, struct ggml_tensor *result);
void plan_compute(struct plan *plan);
void plan_free(struct plan *plan);
float *ggml_copy(const struct ggml_tensor *x, int64_t *n);
/* A mask (n, m) of a causal attention whose queries are the last ones; fill it with mask_fill(). */
void mask_fill(struct ggml_tensor *mask);

bool ggml_llama_open(const struct row *row);
void ggml_llama_run(void);
float *ggml_llama_result(int64_t *n);
void ggml_llama_close(void);

#endif
