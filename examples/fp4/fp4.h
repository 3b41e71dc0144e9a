/* A layer of attention whose weights have 4 bits an element, and its cache 8. */
#ifndef FP4_H
#define FP4_H

#include "lazybones.h"

enum {
	HEADS = 4,
	HEAD_SIZE = 32, /* one group of the cache's format */
	WIDTH = HEADS * HEAD_SIZE,
	TOKENS = 8,
};

/* Keys or values of all tokens so far, in mxfp8: codes u32 (tokens, HEADS, HEAD_SIZE / 4),
 * scales u8 (tokens, HEADS, 1). NULL before the first token. */
struct cache {
	lb_tensor *codes, *scales;
};

/* ---- kernel.c ---- */

/* Softmax attention of the last `queries` of all tokens, each seeing the tokens up to itself:
 * q and out (queries, HEADS, HEAD_SIZE). Reads the codes in place, as a fused kernel does: a
 * second copy of the cache as floats is what the 8 bits are there to avoid. If raw, takes the
 * storage for what its shape says. Evaluates the caches. False on error. */
bool attend(const struct cache *keys, const struct cache *values, const float *q, int queries,
	    bool raw, float *out);

#endif
