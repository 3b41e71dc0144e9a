/* Reverse mode: one walk over the graph that a trace has made. */
#ifndef LB_GRAD_REVERSE_H
#define LB_GRAD_REVERSE_H

#include "graph/tensor.h"
#include "graph/trace.h"

/* A function of tensors to be differentiated: grad/transform.h. */
struct lb_pullback;
typedef bool lb_pull_back_fn(const struct lb_pullback *p);

struct lb_goal {
	const char *name;     /* of the public function, for errors */
	const void *site;
	struct lb_trace *trace;
	uint64_t since;       /* no older tensor of the trace is walked */
	int n_roots, n_wrt;
	struct lb_tensor *const *roots; /* with the cotangent of each; NULL: none */
	struct lb_tensor *const *cotangents;
	struct lb_tensor *const *wrt;
	lb_pull_back_fn *pull_back; /* for rules that are functions themselves */
};

/* Writes the cotangent of each wrt, NULL where no path leads there. False on failure. */
bool lb_reverse(const struct lb_goal *goal, struct lb_tensor **grads);

/* What the thread's scopes were given since they held `mark` items was made on behalf of the
 * public call at `site`. */
void lb_made_for(size_t mark, const void *site, uint32_t stack);

#endif
