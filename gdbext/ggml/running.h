/* What a program's threads do with ggml, as they stand: whether some of its nodes may not have been computed yet. */
#ifndef LBX_GGML_RUNNING_H
#define LBX_GGML_RUNNING_H

#include "ggml/anchor.h"
#include "target/stacks.h"

enum lbx_ggml_doing {
	LBX_GGML_RESTS, /* no thread is within ggml, or a library that makes graphs of it */
	LBX_GGML_COMPUTES, /* one has called for a graph to be computed, and no other is: `why`, `tellers` */
	LBX_GGML_UNSURE /* what they do with it is not known, or more than that: `why` */
};

enum { LBX_GGML_FUNCTION = 64 };

/* A thread that computes a node: what may tell which. */
struct lbx_ggml_teller {
	char function[LBX_GGML_FUNCTION]; /* of ggml_compute_forward_…, what is within it */
	size_t n_own, n_inner;
	uint64_t *own; /* the words of the frame that has called it: registers, and what lies on the stack */
	uint64_t *inner; /* of the function's own frame */
};

enum { LBX_GGML_WHY = 256 };

struct lbx_ggml_running {
	enum lbx_ggml_doing doing;
	char why[LBX_GGML_WHY]; /* "thread 4711 is in llama_decode (libllama.so)" */
	int n_tellers;
	struct lbx_ggml_teller *tellers;
};

/* Of the threads in `stacks`, NULL where they are not known. A process stands still from here on. False: it is not
 * known yet (target/target.h), or, with an error, there is no memory. */
bool lbx_ggml_running_find(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *modules,
			   int n_modules, const struct lbx_ggml_anchor *anchor, struct lbx_ggml_running *ret);
void lbx_ggml_running_free(struct lbx_ggml_running *running);

#endif
