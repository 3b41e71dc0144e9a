/* The list of providers, a row each. */
#include <stdlib.h>
#include <string.h>

#include "ggml/ggml.h"
#include "ggml/running.h"
#include "inspect/context.h"
#include "inspect/out.h"

static bool open_runtime(struct lbx_context *context, struct lbx_tensors **ret)
{
	struct lbx_table *table;

	if (!lbx_context_table(context, &table))
		return false;
	*ret = lbx_table_tensors(table);
	return true;
}

static bool searching(void *out, int64_t done)
{
	return lbx_progress(out, "looking for ggml's tensors", done, 0);
}

/* In gdb only where the user wants it: there it is not known what all threads do, and so whoever wants it answers for it
 * that none computes. */
static bool is_wanted(const struct lbx_context *context)
{
	const char *wanted = getenv("LAZYBONES_GGML");

	return !context->debugger || (wanted && strcmp(wanted, "1") == 0);
}

static bool ggml_is_there(struct lbx_context *context)
{
	return is_wanted(context) && lbx_ggml_is_there(context->target);
}

static bool open_ggml(struct lbx_context *context, struct lbx_tensors **ret)
{
	return is_wanted(context) &&
	       lbx_ggml_open(context->target, context->debugger ? &lbx_ggml_at_rest : context->stacks, searching,
			     context->out, ret);
}

const struct lbx_provider lbx_providers[] = {
	{ .name = "lazybones", .handle = "lb_tensor", .article = "an", .open = open_runtime },
	{ .name = "ggml",
	  .handle = "ggml_tensor",
	  .article = "a",
	  .is_there = ggml_is_there,
	  .open = open_ggml,
	  .is_costly = true },
	{ 0 },
};
