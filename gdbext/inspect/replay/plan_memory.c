#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "inspect/replay/planner.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { FEW_INPUTS = 8 };

bool lbx_fail_replay_memory(const char *what, uint64_t bytes, uint64_t limit, const char *advice)
{
	char needed[48] = "", most[32];

	if (bytes) {
		lbx_format_bytes(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes, needed, sizeof needed - 2);
		strcat(needed, ", ");
	}
	lbx_format_bytes((int64_t)limit, most, sizeof most);
	return lb_fail("%s takes %smore than the %s that a replay may use; raise the setting replay-memory%s%s", what,
		       needed, most, advice ? ", or " : "", advice ? advice : "");
}

static bool is_gapped_run(const struct lbx_planner *p, uint32_t node)
{
	const struct lbx_wire_node *n = &p->plan->nodes[node];
	uint32_t from = p->plan->from[node];
	int op = p->demands[from].op;

	return (op == LB_OP_ARANGE || op == LB_OP_UNIFORM || op == LB_OP_NORMAL) && n->rank == 1 &&
	       n->shape[0] / LBX_GAPS > lbx_region_size(&p->demands[from].region, p->graph->nodes[from].tensor.rank);
}

static uint64_t bytes_of(const struct lbx_wire_node *node)
{
	uint64_t size = 1;

	for (int i = 0; i < node->rank; i++)
		size *= (uint64_t)node->shape[i]; /* of a tensor whose size fits */
	return size * lb_dtypes[node->dtype].bytes;
}

/* Whether a chain may swallow it, so that it has no memory of its own. */
static bool may_be_swallowed(const struct lbx_planner *p, uint32_t i)
{
	const struct lbx_graph_node *node = &p->graph->nodes[p->plan->from[i]];
	const char *op = p->plan->nodes[i].op;

	if (strcmp(op, lb_ops[LB_OP_FULL].name) == 0 || strcmp(op, lb_ops[LB_OP_SCALAR].name) == 0)
		return true;
	return node->tensor.op_class >= LB_CLASS_UNARY && node->tensor.op_class <= LB_CLASS_TERNARY &&
	       strncmp(op, node->tensor.op, sizeof p->plan->nodes[i].op) == 0;
}

/* What node i takes at least, whatever the runtime fuses or reuses: its result, and beside that
 * the inputs that it is computed from. */
static uint64_t least_memory(const struct lbx_planner *p, uint32_t i)
{
	const struct lbx_plan *plan = p->plan;
	const struct lbx_wire_node *node = &plan->nodes[i];
	uint64_t bytes = bytes_of(node);

	if (plan->memory[i] != i || may_be_swallowed(p, i))
		return i + 1 == plan->n ? bytes : 0;
	if (p->graph->nodes[plan->from[i]].tensor.op_class == LB_CLASS_UPDATE || node->n_inputs > FEW_INPUTS)
		return bytes;
	for (uint32_t k = 0; k < node->n_inputs; k++) {
		uint32_t memory = plan->memory[plan->inputs[node->inputs + k]];
		bool again = memory == LBX_NO_MEMORY;
		for (uint32_t m = 0; m < k; m++)
			again |= plan->memory[plan->inputs[node->inputs + m]] == memory;
		if (!again && __builtin_add_overflow(bytes, bytes_of(&plan->nodes[memory]), &bytes))
			return UINT64_MAX;
	}
	return bytes;
}

bool lbx_plan_check_memory(const struct lbx_planner *p)
{
	char name[256], what[300], advice[80];

	if (p->plan->leaf_bytes > p->max_memory)
		return lbx_fail_replay_memory("to read the ready tensors that it needs", p->plan->leaf_bytes,
					      p->max_memory, "ask for a part");
	for (uint32_t i = 0; i < p->plan->n && !p->whole; i++) {
		uint64_t bytes = least_memory(p, i);
		if (bytes <= p->max_memory)
			continue;
		lbx_describe(&p->graph->nodes[p->plan->from[i]].tensor, name, sizeof name);
		snprintf(what, sizeof what, "to compute %s", name);
		snprintf(advice, sizeof advice,
			 is_gapped_run(p, i) ? "ask for a part of at most %d runs of neighbouring elements"
					     : "ask for a part",
			 LBX_RUNS);
		return lbx_fail_replay_memory(what, bytes, p->max_memory, advice);
	}
	return true;
}
