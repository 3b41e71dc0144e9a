/* The graphs that were evaluated in step mode, and their listings. */
#ifndef LBX_LISTINGS_H
#define LBX_LISTINGS_H

#include "inspect/graph/listing.h"

/* "3" or "graph-3.lb". */
bool lbx_parse_graph(const char *text, uint64_t *ret);
/* lbx_listing_text's `line`, by the target that is the context. */
bool lbx_listing_line_by_target(void *target, uint64_t pc, struct lbx_source_line *ret);
/* Why the newest evaluation that step mode could not step through was not; false when there is none. */
bool lbx_step_refusal(struct lbx_context *context, const struct lbx_root *root, char *ret, size_t size);
/* Says so, and how many there were; nothing when there is none. */
void lbx_tell_unstepped(struct lbx_context *context, const struct lbx_root *root);

/* If the code of a graph holds the address: "eval(graph 3)", "graph-3.lb" and the line. False,
 * without an error, if none does. */
bool lbx_graph_line(struct lbx_table *table, uint64_t pc, struct lbx_source_line *ret);

/* Calls fn for the result and the operands of the line that a thread has in a frame of a graph's
 * code, as far as these tensors are there; fn returns false to stop. False: it is no such frame. */
typedef bool lbx_line_tensor_fn(void *context, const char *label, bool is_operand, const struct lbx_tensor *t);
bool lbx_graph_tensors(struct lbx_table *table, uint64_t tid, const struct lbx_source_line *line,
		       lbx_line_tensor_fn *fn, void *context);

#endif
