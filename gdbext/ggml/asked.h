/* A thread that stands between two nodes: ggml's scheduler has called code that a debugger has put into its slot
 * (callback.h). Nothing is computed then. That shows by the code, the mark beside it, and no memory of who did it. */
#ifndef LBX_GGML_ASKED_H
#define LBX_GGML_ASKED_H

#include "target/stacks.h"

struct lbx_ggml_asked {
	uint64_t node; /* address of its record; 0: no thread stands so */
	bool is_done; /* its value is complete; else it comes next */
	uint64_t thread;
};

/* The first arguments of a function, where it begins; false if they are not all known. */
bool lbx_ggml_arguments(const struct lbx_registers *r, uint64_t ret[3]);
/* Of a thread, by its innermost frame; leaves *ret as it is where that stands elsewhere. */
void lbx_ggml_asked_take(struct lbx_target *target, uint64_t thread, const struct lbx_frame *innermost,
			 struct lbx_ggml_asked *ret);

#endif
