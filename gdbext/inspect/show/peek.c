#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/operand/select.h"
#include "inspect/operand/value.h"
#include "inspect/show/stats.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/expression.h"
#include "inspect/texts.h"

static bool show(struct lbx_context *context, const struct lbx_args *args, const struct lbx_selection *s,
		 const struct lbx_sight *sight)
{
	char expression[LBX_EXPRESSION_MAX], note[LBX_EXPRESSION_MAX + sizeof sight->note];
	struct lbx_format_options options;
	int64_t first;

	lbx_expression(&s->tensor, expression);
	const char *how = sight->note[0] ? sight->note : s->tensor.id ? "evaluated by the program" : "memory as it is";
	snprintf(note, sizeof note, "%s%s%s", how, *expression ? ": " : "", expression);
	if (lbx_args_option(args, "stats"))
		return lbx_stats_first(args, &first) && lbx_print_stats(context, s, &sight->array, first, note);
	return lbx_print_options(context, args, &options) && lbx_print_value(context, s, &sight->array, &options, note);
}

static bool run_peek(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_selection s;
	struct lbx_sight sight;

	if (!lbx_select_values(context, args->v[0], &s))
		return false;
	enum lbx_state state = s.tensor.state;
	if ((lbx_args_option(args, "again") && !lbx_select_again(&s)) || !lbx_sight_begin(context, &s, &sight))
		return false;
	s.tensor.state = state;
	bool done = show(context, args, &s, &sight);
	lbx_sight_end(&sight);
	return done;
}

const struct lbx_command lbx_command_peek = {
	.name = "peek",
	.arguments = "T[slice]",
	.summary = "compute a lazy tensor's values outside the program, and print them",
	.help = "The graph behind it is read from the program, alive or dead, and computed by a\n"
		"process of its own, with limits (`set replay-memory`, `set replay-seconds`). The\n"
		"program is neither changed nor called. Of a slice, only what it needs is read and\n"
		"computed, with the same bits; gdbext/README.md says which operations need their\n"
		"inputs whole.\n"
		LBX_SLICE_HELP "\n"
		"Example: peek q[0, :, :4], peek loss --stats",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "again", NULL, "compute it even where it has a value (`diff T --again` compares the two)" },
		LBX_PRINT_OPTIONS,
		LBX_STATS_OPTIONS,
	},
	.run = run_peek,
};
