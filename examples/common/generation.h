/* Writes tokens, one after another, and measures it. */
#ifndef COMMON_GENERATION_H
#define COMMON_GENERATION_H

#include "common/model.h"
#include "common/sampling.h"

struct generation {
	struct sampling sampling;
	int64_t most;      /* tokens to write */
	bool without_cache; /* reads everything again for each token */
	bool waits;        /* reads each token before the next is under way: the bug of generate */
};

/* What a run took. */
struct timing {
	double first_call;      /* seconds of a forward pass that finds the weights, and warms up */
	int64_t prompt_tokens, tokens;
	double prompt, writing; /* seconds: until the first token is there; for all that follow */
	uint64_t peak_memory;   /* bytes of tensors at once */
};

/* Called with each token, also the last; false ends the writing. */
typedef bool generation_sink(void *context, int64_t token);

/* Writes after the prompt (at least one token) until `most` are written, the model's context is
 * full, or the sink returns false. False on error. */
bool generate(const struct model *model, const struct generation *how, const int32_t *prompt,
	      int64_t n, generation_sink *sink, void *context, struct timing *ret);

#endif
