/* A core beside the program: one that is compared with it. */
#include "inspect/context.h"
#include "target/core.h"

bool lbx_context_open_core(const struct lbx_context *context, const char *path, struct lbx_context *ret)
{
	*ret = (struct lbx_context){ .out = context->out, .settings = context->settings };
	if (lbx_core_open(path, NULL, &ret->target) &&
	    (!context->stacks_of_core || context->stacks_of_core(ret->target, &ret->stacks)))
		return true;
	lbx_context_close_core(ret);
	return false;
}

void lbx_context_close_core(struct lbx_context *core)
{
	lbx_context_close(core);
	lbx_stacks_destroy(core->stacks);
	lbx_target_destroy(core->target);
	core->stacks = NULL;
	core->target = NULL;
}
