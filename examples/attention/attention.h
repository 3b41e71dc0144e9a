/* The model's sizes and weights, and what one run of it leaves to be checked. */
#ifndef ATTENTION_H
#define ATTENTION_H

#include "lazybones.h"

enum {
	BATCH = 2,
	LAYERS = 2,
	HEADS = 4,
	HEAD_SIZE = 8,
	WIDTH = HEADS * HEAD_SIZE,
	VOCABULARY = 50,
	PROMPT = 6,
	TOKENS = 10, /* the prompt and those written */
};

#define TOLERANCE 1e-4

struct layer {
	lb_tensor *wq, *wk, *wv, *wo; /* (WIDTH, WIDTH) */
};

struct model {
	lb_tensor *embedding, *readout; /* (VOCABULARY, WIDTH) */
	struct layer layers[LAYERS];
};

struct kv_cache {
	lb_tensor *k, *v; /* NULL before the first token */
};

struct run {
	int32_t tokens[BATCH][TOKENS];
	float activations[BATCH][TOKENS][WIDTH];
};

/* ---- reference.c: the same in plain C ---- */

struct difference {
	double by;
	int sequence, token, element;
};

/* Computes the run's activations from its tokens, and finds the worst difference. False
 * when the weights cannot be read. */
bool reference_compare(const struct model *model, const struct run *run, struct difference *ret);

#endif
