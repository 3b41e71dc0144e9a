#include "plugin/mlx/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/operand/python_stack.h"
#include "mlx/version.h"
#include "plugin/bridge/bridge.h"
#include "target/loader.h"

static struct {
	struct lbx_mlx_near near;
	char why[256];
} known;

/* The set of MLX's arrays among the context's. */
static const struct lbx_tensors *find_set(struct lbx_context *context)
{
	struct lbx_tensors *all;

	if (!lbx_context_tensors(context, &all))
		return NULL;
	for (int i = 0; i < context->n_sets; i++)
		if (strcmp(context->sets[i]->provider, "mlx") == 0)
			return context->sets[i];
	lb_fail("no arrays of MLX are found");
	return NULL;
}

bool lbx_known_near(struct lbx_context *context, const struct lbx_mlx_near **ret)
{
	bool clean = lb_ok();
	const struct lbx_tensors *set = known.near.layout ? NULL : find_set(context);

	*ret = NULL;
	if (lbx_bridge_waits())
		return false;
	if (set)
		lbx_mlx_near_take(set, &known.near);
	else if (!known.near.layout)
		snprintf(known.why, sizeof known.why, "%s", lb_error_message());
	if (clean)
		lb_clear_error();
	*ret = known.near.layout ? &known.near : NULL;
	return true;
}

const char *lbx_known_why(void)
{
	return known.why;
}

const struct lbx_mlx_near *lbx_known(void)
{
	return known.near.layout ? &known.near : NULL;
}

void lbx_known_forget(void)
{
	known.near.layout = NULL;
}

uint64_t lbx_known_library(struct lbx_context *context)
{
	struct lbx_loaded *modules;
	uint64_t code = 0;
	int n;

	modules = lbx_loaded_all(context->target, &n);
	for (int i = 0; modules && i < n && !code; i++) {
		if (!lbx_mlx_is_library(context->target, &modules[i]))
			continue;
		for (int k = 0; k < modules[i].n_segments && !code; k++)
			code = modules[i].segments[k].executable ? modules[i].segments[k].start : 0;
	}
	free(modules);
	return code;
}

uint64_t lbx_known_thread(struct lbx_context *context)
{
	uint64_t tid = 0;

	return context->stacks && context->stacks->ops->threads(context->stacks, &tid, 1) >= 1 ? tid : 0;
}

bool lbx_known_meant(struct lbx_context *context, const struct lbx_catch *c, uint64_t ret[LBX_MLX_NEAR_FOUND],
		     int *ret_n)
{
	const struct lbx_viewpoint from = { .thread = lbx_known_thread(context) };
	const char *why;
	struct lbx_python *py = c->record ? NULL : lbx_context_python(context, &why);

	*ret_n = 0;
	if (lbx_bridge_waits())
		return false;
	if (c->record)
		ret[(*ret_n)++] = c->record;
	else if (py)
		*ret_n = lbx_mlx_near_named(py, c->name, &from, ret);
	return true;
}
