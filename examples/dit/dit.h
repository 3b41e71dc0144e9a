/* The model's sizes and weights, and the stages at which it can be compared. */
#ifndef DIT_H
#define DIT_H

#include "lazybones.h"

enum {
	BATCH = 2,
	TOKENS = 16, /* patches of the latent picture */
	HEADS = 4,
	HEAD_SIZE = 8,
	WIDTH = HEADS * HEAD_SIZE,
	HIDDEN = 4 * WIDTH,
	BLOCKS = 2,
	ELEMENTS = BATCH * TOKENS * WIDTH,
};

#define EPSILON   1e-6
#define TOLERANCE 1e-3

/* The six parts of a modulation, in the order in which the weights have them. */
enum part {
	ATTENTION_SHIFT, ATTENTION_SCALE, ATTENTION_GATE, MLP_SHIFT, MLP_SCALE, MLP_GATE, PARTS
};

/* What a block leaves to be compared: the parts of its modulation, then these. */
enum stage { ATTENTION_INPUT = PARTS, ATTENTION_OUTPUT, MLP_INPUT, MLP_OUTPUT, BLOCK_OUTPUT,
	    STAGES };

struct block_weights {
	lb_tensor *modulation;      /* (PARTS * WIDTH, WIDTH) */
	lb_tensor *modulation_bias; /* (PARTS * WIDTH) */
	lb_tensor *qkv;             /* (3 * WIDTH, WIDTH) */
	lb_tensor *proj;            /* (WIDTH, WIDTH) */
	lb_tensor *up;              /* (HIDDEN, WIDTH) */
	lb_tensor *down;            /* (WIDTH, HIDDEN) */
};

struct model {
	lb_tensor *latents;      /* (BATCH, TOKENS, WIDTH) */
	lb_tensor *conditioning; /* (BATCH, WIDTH): of the time step and the class */
	struct block_weights blocks[BLOCKS];
};

/* Parts are (BATCH, 1, WIDTH), all else is (BATCH, TOKENS, WIDTH). */
struct run {
	lb_tensor *stages[BLOCKS][STAGES];
};

static inline int stage_size(int stage)
{
	return stage < PARTS ? BATCH * WIDTH : ELEMENTS;
}

/* ---- reference.c: the same in plain C ---- */

struct reference {
	double stages[BLOCKS][STAGES][ELEMENTS];
};

/* False when the weights cannot be read. */
bool reference_run(const struct model *model, struct reference *ret);

#endif
