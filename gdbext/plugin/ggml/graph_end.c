#include "plugin/ggml/graph_end.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "target/exports.h"
#include "target/loader.h"

enum { MAX_INNER = 16 };

/* Whether it is a function of ggml's, by the name that its module exports it with, or that gdb knows. */
static bool is_named_ggml(struct lbx_context *context, const struct lbx_loaded *modules, int n,
			  const struct lbx_frame *frame)
{
	int module = lbx_loaded_at(modules, n, lbx_frame_code(frame));
	struct lbx_exports exports = { 0 };
	struct lbx_source_line line;
	char name[LBX_EXPORT_NAME];
	bool is_so = false;

	if (module < 0)
		return false;
	if (context->stacks->ops->line(context->stacks, frame, &line))
		is_so = strncmp(line.function, "ggml_", 5) == 0;
	if (!is_so && lbx_exports_open(context->target, &modules[module], &exports))
		is_so = lbx_exports_function(&exports, lbx_frame_code(frame), name) && strncmp(name, "ggml_", 5) == 0;
	lbx_exports_close(&exports);
	return is_so;
}

bool lbx_graph_end(struct lbx_context *context, uint64_t *ret)
{
	struct lbx_stack stack = { 0 };
	uint64_t tid;
	int n, outermost = -1;

	*ret = 0;
	if (!context->stacks || context->stacks->ops->threads(context->stacks, &tid, 1) < 1 ||
	    !context->stacks->ops->walk(context->stacks, tid, MAX_INNER, 0, &stack))
		return !lbx_bridge_waits();
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(context->target, &n);
	for (int i = 0; modules && i < stack.n; i++)
		if (is_named_ggml(context, modules, n, &stack.frames[i]))
			outermost = i;
	if (outermost >= 0 && outermost + 1 < stack.n)
		*ret = stack.frames[outermost + 1].pc;
	lbx_stack_release(&stack);
	lb_clear_error();
	return !lbx_bridge_waits();
}
