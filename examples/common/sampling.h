/* Draws the next token from logits. */
#ifndef COMMON_SAMPLING_H
#define COMMON_SAMPLING_H

#include "lazybones.h"

struct sampling {
	double temperature; /* 0: the likeliest token */
	int64_t top_k;      /* of the k likeliest; 0: of all */
	double top_p;       /* of the likeliest that together have this probability; 1: of all */
	uint64_t seed;
};

/* logits (batch, 1, vocabulary) to tokens u32 (batch, 1), lazily; `step` makes each draw another.
 * With a seed, a function of the logits and the step alone. */
lb_tensor *sample(const struct sampling *how, lb_tensor *logits, uint64_t step);

#endif
