/* What makes a plan: plan_nodes.c and plan_memory.c beneath plan_run.c beneath plan.c. */
#ifndef LBX_PLANNER_H
#define LBX_PLANNER_H

#include "inspect/replay/demand.h"
#include "inspect/replay/plan.h"

/* A part of a buffer is read with its gaps if that is at most LBX_GAPS times as many elements, or LBX_ANY_GAPS in
 * all. */
enum { LBX_GAPS = 4, LBX_ANY_GAPS = 8192 };
enum { LBX_RUNS = 1 << 16 }; /* runs that a part of what goes by number is computed in, at most */

struct lbx_planner {
	const struct lbx_graph *graph;
	const struct lbx_demand *demands;
	struct lbx_plan *plan;
	uint32_t *positions; /* by node of the graph: its node of the plan */
	int64_t *lows;       /* by node of the graph: where what is read of its buffer begins */
	bool whole;
	uint64_t max_memory;
};

/* A node of the plan; a pointer to it is good until the next. NULL: out of memory. */
struct lbx_wire_node *lbx_plan_node_of(struct lbx_planner *p, uint32_t from, const char *op);
/* Something to put behind the newest node; likewise. */
struct lbx_plan_data *lbx_plan_add_data(struct lbx_planner *p);
/* How what the node at a position looks at lies in memory. */
void lbx_plan_layout_at(const struct lbx_planner *p, uint32_t position, struct lbx_strided *ret);
/* One more input of the newest node. */
bool lbx_plan_input(struct lbx_planner *p, uint32_t input);
/* A new node: a view of what node `of` looks at. */
bool lbx_plan_view_of(struct lbx_planner *p, uint32_t from, uint32_t of, const struct lbx_strided *layout);
void lbx_wire_layout(struct lbx_wire_node *node, const struct lbx_strided *layout);

/* The nodes of what goes by number: arange, random numbers. */
bool lbx_plan_numbered(struct lbx_planner *p, uint32_t from);
/* Fails if the plan is known to take more than max_memory. */
bool lbx_plan_check_memory(const struct lbx_planner *p);
bool lbx_fail_bounds(const struct lbx_tensor *t);

#endif
