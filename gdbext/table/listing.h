/* The listing of a graph (struct lb_listing of symtab.h), decoded and checked: every operand is a
 * line before it or something from outside. */
#ifndef LBX_TABLE_LISTING_H
#define LBX_TABLE_LISTING_H

#include "table/table.h"

struct lbx_listing_line {
	const char *op;       /* "?" for one that the program's table does not name */
	enum lb_op_class op_class;
	enum lb_dtype dtype;
	int rank;
	int64_t shape[LB_MAX_RANK];
	const char *name;     /* "" without one */
	uint64_t site;
	uint32_t code;        /* where its call begins in the code; 0: a later line's call computes it */
	uint64_t value;       /* of a constant, its first bytes */
	uint32_t n_operands;
	const uint32_t *operands; /* each a line, from 1; beyond n_lines, an input */
	bool stays;               /* its value is kept after the evaluation */
	bool is_constant;         /* `value` is that of every element */
	bool repeated;            /* another line has the same name */
};

struct lbx_listing {
	uint32_t n_lines, n_inputs, n_calls;
	struct lbx_listing_line *lines; /* the inputs follow */
	unsigned char *bytes;           /* the program's, which the others point into */
};

bool lbx_table_listing(struct lbx_table *table, const struct lbx_eval_graph *graph,
		       struct lbx_listing *ret);
void lbx_listing_deinit(struct lbx_listing *listing);
/* The id of each line's tensor in the last evaluation, 0 for one inside a fused chain: n_lines
 * numbers into ret. */
bool lbx_table_graph_tensors(struct lbx_table *table, const struct lbx_eval_graph *graph, uint32_t n_lines,
			     uint64_t *ret);

#endif
