/* A program beside the program: a core, or a process, that is compared with it. */
#include <stdio.h>
#include <string.h>

#include "inspect/context.h"
#include "target/core.h"
#include "target/process.h"

/* pid/1234; 0: it is none. */
static pid_t process_of(const char *name)
{
	int pid = 0, end = 0;

	return sscanf(name, "pid/%9d%n", &pid, &end) == 1 && !name[end] && pid > 0 ? pid : 0;
}

bool lbx_is_process(const char *name)
{
	return process_of(name) != 0;
}

static bool open_target(const struct lbx_context *context, const char *name, struct lbx_context *ret)
{
	pid_t pid = process_of(name);

	if (pid)
		return lbx_process_open(pid, &ret->target);
	return lbx_core_open(name, NULL, &ret->target) &&
	       (!context->stacks_of_core || context->stacks_of_core(ret->target, &ret->stacks));
}

bool lbx_context_open_other(const struct lbx_context *context, const char *path, struct lbx_context *ret)
{
	*ret = (struct lbx_context){ .out = context->out, .settings = context->settings };
	if (open_target(context, path, ret))
		return true;
	lbx_context_close_other(ret);
	return false;
}

void lbx_context_close_other(struct lbx_context *core)
{
	lbx_context_close(core);
	lbx_stacks_destroy(core->stacks);
	lbx_target_destroy(core->target);
	core->stacks = NULL;
	core->target = NULL;
}
