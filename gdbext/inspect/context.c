#include "inspect/context.h"

#include "base/error.h"
#include "tensors/axes.h"

const struct lbx_settings lbx_default_settings = {
	.edge_items = 3,
	.threshold = 1000,
	.precision = 8,
	.replay_memory = 4LL << 30,
	.replay_seconds = 10,
};

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

static void close_sets(struct lbx_context *context)
{
	for (int i = 0; i < context->n_sets; i++)
		lbx_tensors_close(context->sets[i]);
	context->n_sets = 0;
}

/* What the providers have; that of one which cannot be read does not keep the others' from being seen. */
static bool find_sets(struct lbx_context *context)
{
	const struct lbx_provider *provider = context->providers ? context->providers : lbx_providers;
	bool clean = lb_ok();

	for (; provider->name && context->n_sets < LBX_SETS_MAX; provider++) {
		if (provider->open(context, &context->sets[context->n_sets])) {
			context->n_sets++;
		} else if (lbx_target_waits(context->target)) {
			close_sets(context);
			return false;
		}
	}
	if (context->n_sets && clean)
		lb_clear_error();
	for (int i = 0; i < context->n_sets; i++)
		context->sets[i]->is_one_of_several = context->n_sets > 1;
	return context->n_sets > 0;
}

bool lbx_context_tensors(struct lbx_context *context, struct lbx_tensors **ret)
{
	if (!lbx_context_program(context))
		return false;
	if (!context->tensors && (context->n_sets || find_sets(context)))
		context->tensors =
		    context->n_sets == 1 ? context->sets[0] : lbx_tensors_union(context->sets, context->n_sets);
	*ret = context->tensors;
	return context->tensors != NULL;
}

void lbx_context_close(struct lbx_context *context)
{
	if (context->n_sets > 1)
		lbx_tensors_close(context->tensors);
	close_sets(context);
	lbx_table_destroy(context->table);
	lbx_axes_destroy(context->axes);
	context->axes = NULL;
	context->tensors = NULL;
	context->table = NULL;
}
