#include "inspect/peek.h"

#include <stdio.h>

#include "base/error.h"
#include "inspect/expression.h"
#include "inspect/replay.h"
#include "inspect/select.h"
#include "inspect/value.h"

static bool show(struct lbx_context *context, const struct lbx_args *args,
		 const struct lbx_selection *s, struct lbx_array *array, const char *note)
{
	struct lbx_format_options options;
	int64_t first = 8;

	if (!lbx_slice_apply(&s->slice, array))
		return false;
	if (lbx_args_option(args, "stats"))
		return lbx_args_int(args, "first", 0, 1 << 20, &first) &&
		       lbx_print_stats(context, s, array, first, note);
	return lbx_print_options(context, args, &options) &&
	       lbx_print_value(context, s, array, &options, note);
}

bool lbx_run_peek(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_selection s;
	struct lbx_array array;
	struct lbx_replayed replayed;
	char expression[LBX_EXPRESSION_MAX], note[LBX_EXPRESSION_MAX + 96];

	if (!lbx_select(context, args->v[0], &s))
		return false;
	if (s.tensor.state == LB_STATE_READY)
		return lbx_array_of_tensor(context->target, &s.tensor, &array) &&
		       show(context, args, &s, &array, "evaluated by the program");
	if (!lbx_replay(context, &s.tensor, &replayed))
		return false;
	lbx_expression(lbx_table_tensors(context->table), &s.tensor, expression);
	snprintf(note, sizeof note, "replayed outside the program (%u node%s)%s%s", replayed.n_nodes,
		 replayed.n_nodes == 1 ? "" : "s", *expression ? ": " : "", expression);
	bool done = show(context, args, &s, &replayed.array, note);
	lbx_replay_release(&replayed);
	return done;
}
