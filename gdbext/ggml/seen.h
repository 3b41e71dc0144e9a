/* What one thread's stack says of ggml, by its frames alone. */
#ifndef LBX_GGML_SEEN_H
#define LBX_GGML_SEEN_H

#include "ggml/modules.h"

enum { LBX_GGML_FUNCTION = 64 };

/* Of a stack: the outermost frame that counts, one with a name before one without; and what is known of all. */
struct lbx_ggml_seen {
	struct lbx_ggml_location outermost;
	bool is_worker; /* it begins in ggml, and has not called for a graph to be computed */
	bool computes; /* it has */
	bool is_of_library; /* a frame is of ggml, or of a library that uses it, or may be */
	bool is_harmless; /* all functions of libraries on it that are called by name leave graphs alone */
	bool is_unnamed; /* some of the program's frames have no name, where that would have to tell */
	int n; /* frames that count */
	int forward, loop; /* the frame of the function for a node's operation, and that which has called it; or -1 */
	char function[LBX_GGML_FUNCTION]; /* of that operation; "": the thread has just come to a node: */
	uint64_t node; /* address of that one's record; 0: it has not */
	struct lbx_ggml_location innermost; /* that has a name */
	bool is_in_loop; /* over a graph's nodes, as its name says */
	bool is_at_barrier; /* it waits for the others of its graph */
	bool is_idle; /* it waits for a graph, or for other work */
	int gives_up; /* the frame in which ggml says why, and ends the program; or -1 */
	uint64_t caller; /* the return address of the outermost frame that counts */
};

void lbx_ggml_look_at_stack(const struct lbx_ggml_modules *m, const struct lbx_stack *stack, struct lbx_ggml_seen *ret);
/* Whether the innermost frames, before those in modules that have to do with ggml, wait for something to come: another
 * thread's work, a request, a moment. A lock, or a barrier, is none of these. */
bool lbx_ggml_waits_for_work(const struct lbx_ggml_modules *m, const struct lbx_stack *stack);

#endif
