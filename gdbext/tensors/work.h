/* What the program's threads do with a set's tensors. */
#ifndef LBX_WORK_H
#define LBX_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_tensors; /* tensors/tensors.h */
struct lbx_stacks;  /* target/stacks.h */

enum lbx_doing {
	LBX_COMPUTES, /* a tensor: `id` */
	LBX_WAITS,    /* for other threads, which compute */
	LBX_IS_WITHIN, /* its runtime, and computes no tensor now */
	LBX_IS_IDLE,  /* it is one of its runtime's own, and has nothing to do */
	LBX_COMES_TO, /* a tensor, as above: it has not begun */
	LBX_HAS_COMPUTED /* one, and has not begun another */
};

enum { LBX_WORK_TEXT = 192, LBX_WORK_WHY = 256, LBX_WORK_MESSAGE = 512 };

/* Texts are printable; "" is what is not known, or not so. */
struct lbx_work {
	struct lbx_tensors *of;
	uint64_t thread; /* 0: what they all do is not known: `why` says so */
	enum lbx_doing doing;
	char function[LBX_WORK_TEXT]; /* its runtime's, that runs: "ggml_compute_forward_mul_mat" */
	uint64_t id; /* of the tensor that it computes; 0: it is not known which: `why` */
	uint64_t with; /* of that which is computed as one with it; or 0 */
	int64_t number, count; /* of that tensor among those of its graph, from 1 on, and of them; 0: not known */
	uint64_t result; /* id of the graph's last one; 0: not known */
	char call[LBX_WORK_TEXT]; /* what the program has called, with its library: "llama_decode (libllama.so)" */
	uint64_t caller; /* that call's return address; 0: not known */
	bool
	    is_stream; /* it takes tasks from a queue of its own, or waits for threads that do: no other threads share its graph */
	bool has_queue; /* and how many it has is known: */
	int64_t queued;
	uint64_t helps; /* the thread for which it computes, where that is another one; else 0 */
	char message[LBX_WORK_MESSAGE]; /* with which its runtime has given up */
	char why[LBX_WORK_WHY];
};

/* The next thread at or after *slot, which moves past it; false at the end, and of a set that does not tell. Threads that
 * have nothing to do with the set's tensors are not among them. */
bool lbx_tensors_work(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret);

#endif
