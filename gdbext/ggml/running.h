/* What a program's threads do with ggml, as they stand: whether some of its nodes may not have been computed yet. */
#ifndef LBX_GGML_RUNNING_H
#define LBX_GGML_RUNNING_H

#include "ggml/asked.h"
#include "ggml/seen.h"

enum lbx_ggml_doing {
	LBX_GGML_RESTS, /* no thread is within ggml, or a library that makes graphs of it */
	LBX_GGML_COMPUTES, /* one has called for a graph to be computed, and no other is: `why`, `tellers` */
	LBX_GGML_UNSURE /* what they do with it is not known, or more than that: `why` */
};

/* A thread that computes a node: what may tell which. */
struct lbx_ggml_teller {
	char function[LBX_GGML_FUNCTION]; /* of ggml_compute_forward_…, what is within it; or "": */
	uint64_t node; /* it has just come to the one whose record is there */
	size_t n_own, n_inner;
	uint64_t *own; /* the words of the frame that has called it: registers, and what lies on the stack */
	uint64_t *inner; /* of the function's own frame */
	size_t n_registers;
	uint64_t *registers; /* of that, and of those within it */
};

enum { LBX_GGML_WHY = 256, LBX_GGML_MESSAGE = 512 };

/* A thread that is within ggml, or a library that makes graphs of it; or of which that is not known. */
struct lbx_ggml_thread {
	uint64_t tid; /* 0: of all of them it is not known what they do: `why` */
	bool is_worker; /* it helps one that has called for a graph to be computed */
	bool computes;  /* it has */
	bool is_idle;   /* a worker without a graph */
	bool waits;     /* for the others that compute its graph */
	int teller;     /* its own; -1: it is in no function for a node's operation */
	char
	    function[LBX_GGML_LOCATION]; /* the innermost of theirs that has a name, or that for the operation; or "" */
	char
	    call[LBX_GGML_LOCATION]; /* "llama_decode (libllama.so)": the outermost, with its library; "" of a worker */
	uint64_t caller; /* the return address of that call; 0: not known */
	char message[LBX_GGML_MESSAGE]; /* with which ggml has given up; or "" */
	char why[LBX_GGML_WHY]; /* its stack does not tell what it does: why; else "" */
};

struct lbx_ggml_running {
	enum lbx_ggml_doing doing;
	char why[LBX_GGML_WHY]; /* "thread 4711 is in llama_decode (libllama.so)" */
	int n_tellers;
	struct lbx_ggml_teller *tellers;
	int n_threads;
	struct lbx_ggml_thread *threads;
	struct lbx_ggml_asked asked;
};

/* Of the threads in `stacks`, NULL where they are not known. A process stands still from here on. False: it is not
 * known yet (target/target.h), or, with an error, there is no memory. */
bool lbx_ggml_running_find(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *modules,
			   int n_modules, const struct lbx_ggml_anchor *anchor, struct lbx_ggml_running *ret);
void lbx_ggml_running_free(struct lbx_ggml_running *running);

#endif
