#include "target/stacks.h"

#include <stdlib.h>

void lbx_stack_release(struct lbx_stack *stack)
{
	free(stack->frames);
	stack->frames = NULL;
	stack->n = 0;
}

void lbx_stacks_destroy(struct lbx_stacks *stacks)
{
	if (stacks)
		stacks->ops->destroy(stacks);
}

bool lbx_stacks_hold(struct lbx_stacks *stacks, struct lbx_target *target)
{
	uint64_t tid;

	return !stacks || !target || !lbx_target_runs(target) || stacks->ops->threads(stacks, &tid, 1) >= 0;
}
