#include "inspect/context.h"

#include "base/error.h"

const struct lbx_settings lbx_default_settings = {
	.edge_items = 3,
	.threshold = 1000,
	.precision = 8,
	.replay_memory = 4LL << 30,
	.replay_seconds = 10,
};

uint64_t lbx_context_thread(struct lbx_context *context)
{
	struct lbx_stacks *stacks = context->stacks;
	uint64_t thread = 0;
	bool clean = lb_ok();

	if (context->thread || !stacks)
		return context->thread;
	if (stacks->ops->threads(stacks, &thread, 1) < 1)
		thread = 0;
	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return thread;
}

bool lbx_context_program(const struct lbx_context *context)
{
	return context->target || lb_fail("no program is being debugged, or no thread of it is selected: start one, "
					  "attach to one, or open a core file");
}

bool lbx_context_table(struct lbx_context *context, struct lbx_table **ret)
{
	if (!lbx_context_program(context) || (!context->table && !lbx_table_create(context->target, &context->table)))
		return false;
	*ret = context->table;
	return true;
}
