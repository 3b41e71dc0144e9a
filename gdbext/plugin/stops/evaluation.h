/* What the selected thread evaluates, and where that is on its stack. These may ask, and fail then, too. */
#ifndef LBX_PLUGIN_EVALUATION_H
#define LBX_PLUGIN_EVALUATION_H

#include "inspect/command.h"
#include "table/table.h"

/* What it evaluates now, step mode or not; ret->eval is 0 if nothing. */
bool lbx_evaluation_now(struct lbx_context *context, struct lbx_thread *ret);

struct lbx_frame_found {
	int level; /* negative: there is none */
	struct lbx_frame frame;
};

/* The innermost frame in the code of a graph, which there is in step mode. */
bool lbx_evaluation_frame(struct lbx_context *context, struct lbx_frame_found *ret);
/* The level of the frame that asked for the evaluation; below 1: none did, a stream runs it as a job. */
bool lbx_evaluation_caller(struct lbx_context *context, const struct lbx_thread *thread, int *ret);

#endif
