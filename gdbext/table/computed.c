/* What an evaluation that is under way has computed already. A tensor of it that has memory has its value,
 * unless the operation that runs now computes it: its thread's record names that one. With an elementwise
 * operation others may be fused, of the same shape, and be computed at once. Of what may be among them only a
 * listing (step mode) tells whether it is done; without one that is not known. */
#include <string.h>

#include "base/error.h"
#include "table/internal.h"

static bool is_among(struct lbx_table *table, uint64_t at, uint64_t n, uint64_t id)
{
	enum { LINES_MOST = 1 << 20, PIECE = 512 };
	uint64_t ids[PIECE];

	for (uint64_t done = 0; done < n && done < LINES_MOST; done += PIECE) {
		uint64_t part = n - done < PIECE ? n - done : PIECE;
		if (!lbx_target_try_read(table->target, at + done * sizeof *ids, ids, part * sizeof *ids))
			return false;
		for (uint64_t i = 0; i < part; i++)
			if (ids[i] == id)
				return true;
	}
	return false;
}

static bool is_elementwise(const struct lbx_tensor *t)
{
	return t->op_class >= LB_CLASS_UNARY && t->op_class <= LB_CLASS_TERNARY;
}

/* Whether the operation that runs may be computing t, too. */
static bool may_be_fused(struct lbx_table *table, const struct lbx_thread *thread, const struct lbx_tensor *t)
{
	struct lbx_tensor head;
	bool clean = lb_ok();

	if (thread->at_once == 1 || !is_elementwise(t))
		return false;
	if (!lbx_tensors_by_id(&table->tensors, thread->tensor, &head)) {
		if (clean)
			lb_clear_error();
		return true;
	}
	return head.torn ||
	       (is_elementwise(&head) && head.rank == t->rank &&
		memcmp(lbx_shape(&head), lbx_shape(t), (size_t)t->rank * sizeof *head.axes.few.shape) == 0);
}

static bool is_computed(struct lbx_table *table, const struct lbx_tensor *t)
{
	struct lbx_thread thread;
	uint64_t slot = 0;

	if (t->state != LBX_EVALUATING || t->torn || t->data == 0)
		return false;
	while (lbx_table_thread(table, &slot, &thread)) {
		if (thread.eval != t->eval || t->eval == 0)
			continue;
		if (thread.tensor == 0)
			return true;
		return thread.tensor != t->id &&
		       ((thread.graph && thread.tensors && is_among(table, thread.tensors, thread.line, t->id)) ||
			!may_be_fused(table, &thread, t));
	}
	return false;
}

void lbx_table_take_computed(struct lbx_tensors *tensors, struct lbx_tensor *t)
{
	if (!is_computed((struct lbx_table *)tensors, t))
		return;
	t->state = LBX_READY;
	t->held = true;
}
