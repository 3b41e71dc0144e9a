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
	const char *title;              /* of a trace, its compiled function; "" of an evaluation */
	struct lbx_listing_line *lines; /* the inputs follow */
	unsigned char *bytes;           /* the program's, which the others point into */
};

bool lbx_table_listing(struct lbx_table *table, const struct lbx_eval_graph *graph, struct lbx_listing *ret);
void lbx_listing_deinit(struct lbx_listing *listing);
/* n ids into ret, from where a graph or a thread has them: of each line's tensor, 0 inside a fused
 * chain; then of what comes from outside, 0 for a constant. All 0 for address 0. */
bool lbx_table_listed_ids(struct lbx_table *table, uint64_t address, uint32_t n, uint64_t *ret);

#endif
