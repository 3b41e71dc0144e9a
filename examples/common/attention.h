/* Causal attention as models vary it. */
#ifndef COMMON_ATTENTION_H
#define COMMON_ATTENTION_H

#include "lazybones.h"

struct attention {
	double scale;   /* of the scores; 0: 1 / sqrt(size) */
	double cap;     /* scores become cap * tanh(score / cap); 0: they stay */
	int64_t window; /* a token sees so many, itself among them; 0: all so far */
};

/* q (batch, heads, queries, size), of the last tokens; k and v (batch, fewer heads, tokens, size).
 * NULL on error. */
lb_tensor *attention(const struct attention *how, lb_tensor *q, lb_tensor *k, lb_tensor *v);

#endif
