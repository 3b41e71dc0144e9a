/* How far a graph has been computed that a thread computes. */
#ifndef LBX_GGML_PROGRESS_H
#define LBX_GGML_PROGRESS_H

#include "ggml/spot.h"

enum {
	LBX_GGML_ELSEWHERE_IN = -1 /* in another graph, or in none */,
	LBX_GGML_LEFT_OUT = -2 /* not computed at all */
};

/* By ordinal; NULL throughout where it is not known. */
struct lbx_ggml_progress {
	int64_t first, place; /* of the node that is being computed: from the first on those before it have been */
	int64_t n; /* nodes of the graph */
	bool
	    is_between; /* none is: those from `place` on have not begun, and what has been computed was so one by one */
	bool is_asked; /* `place` comes next, and a debugger was told so */
	int64_t *at; /* the place of a node in the graph, or one of the above */
	int64_t *writers; /* as reuse.h has it, of a node that has been computed: by those that may have been since */
	int64_t *touched; /* of others: by any of the graph */
};

/* False only without memory. */
bool lbx_ggml_progress_find(const struct lbx_ggml_program *program, const struct lbx_ggml_running *running,
			    struct lbx_ggml_spots *spots, struct lbx_ggml_progress *ret);
void lbx_ggml_progress_free(struct lbx_ggml_progress *progress);
/* Whether the node at a place may have written by now. Some operations are computed together with those behind them. */
bool lbx_ggml_may_have_written(const struct lbx_ggml_progress *progress, int64_t at);

#endif
