#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/op.h"
#include "inspect/replay/planner.h"
#include "kernels/philox.h"

/* A run of elements that go by their number in row-major order, and `part` of it. */
static bool plan_run(struct lbx_planner *p, uint32_t from, const struct lbx_strided *part)
{
	const struct lbx_tensor *t = &p->graph->nodes[from].tensor;
	struct lbx_strided run = { .rank = 1, .strides = { 1 } }, within = *part;
	int64_t low, high;

	if (!lbx_strided_reach(part, &low, &high))
		return lbx_fail_bounds(t);
	low -= low % LB_PHILOX_ELEMENTS_EACH;
	within.offset -= low;
	run.shape[0] = high - low + 1;
	struct lbx_wire_node *node = lbx_plan_node_of(p, from, t->op);
	if (!node)
		return false;
	lbx_wire_layout(node, &run);
	memcpy(node->params, t->params, sizeof node->params);
	node->params[3] = low;
	return lbx_plan_view_of(p, from, p->plan->n - 1, &within);
}

/* How many of the leading axes are gone through one by one, so that the runs have few gaps. */
static int axes_apart(const struct lbx_strided *part, int64_t size, int64_t *runs)
{
	struct lbx_strided rest = *part;
	int64_t low, high;

	*runs = 1;
	for (int n = 0; n < part->rank; n++) {
		if (lbx_strided_reach(&rest, &low, &high) &&
		    (high - low) / LBX_GAPS < size / *runs + LBX_ANY_GAPS / *runs)
			return n;
		if (part->shape[n] > LBX_RUNS / *runs)
			return n;
		*runs *= part->shape[n];
		rest.shape[n] = 1;
	}
	return part->rank;
}

/* Runs, side by side: (runs, the axes behind those that are gone through). */
bool lbx_plan_numbered(struct lbx_planner *p, uint32_t from)
{
	const struct lbx_demand *d = &p->demands[from];
	const struct lbx_tensor *t = &p->graph->nodes[from].tensor;
	struct lbx_strided whole, part, piece, all;
	int64_t runs, at[LB_MAX_RANK] = { 0 };

	lbx_strided_dense(t->rank, lbx_shape(t), &whole);
	lbx_strided_part(&whole, &d->region, &part);
	int n = axes_apart(&part, lbx_region_size(&d->region, t->rank), &runs);
	if (runs == 1)
		return plan_run(p, from, &part);
	lb_auto_free uint32_t *inputs = malloc((size_t)runs * sizeof *inputs);
	bool ok = inputs || lb_fail("out of memory for %lld pieces", (long long)runs);
	for (int64_t i = 0; ok && i < runs; i++) {
		piece = part;
		for (int k = 0; k < n; k++) {
			piece.offset += at[k] * part.strides[k];
			piece.shape[k] = 1;
		}
		ok = plan_run(p, from, &piece);
		if (ok)
			inputs[i] = p->plan->n - 1;
		for (int k = n - 1; k >= 0 && ++at[k] == part.shape[k]; k--)
			at[k] = 0;
	}
	struct lbx_wire_node *joined = !ok ? NULL : lbx_plan_node_of(p, from, lb_ops[LB_OP_CONCATENATE].name);
	if (joined) {
		piece.shape[0] = runs; /* what the pieces have along their first axis is 1 */
		lbx_strided_dense(piece.rank, piece.shape, &all);
		lbx_wire_layout(joined, &all);
	}
	ok = joined != NULL;
	for (int64_t i = 0; ok && i < runs; i++)
		ok = lbx_plan_input(p, inputs[i]);
	if (!ok)
		return false;
	lbx_strided_dense(part.rank, part.shape, &all);
	return lbx_plan_view_of(p, from, p->plan->n - 1, &all);
}
