/* lazybones trace-diff: two sessions side by side. */
#include "base/error.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "serve/trace_diff.h"

static int run_trace_diff(struct lbx_out *out, struct lbx_argv words)
{
	struct lbx_args args;
	double rtol = 1e-5;
	bool differs = false, parsed = lbx_args_parse(&lbx_verb_trace_diff.row, words.at, &args);

	out->json |= parsed && lbx_args_option(&args, "json");
	parsed = parsed && lbx_args_real(&args, "rtol", 0, &rtol);
	if (parsed && lbx_trace_diff(out, args.v[0], args.v[1], rtol, &differs))
		return differs ? LBX_EXIT_FOUND : LBX_EXIT_DONE;
	lbx_abandon(out, lb_error_message());
	lbx_tell_error(out->json);
	return parsed ? LBX_EXIT_FAILED : LBX_EXIT_MISUSED;
}

const struct lbx_verb lbx_verb_trace_diff = {
	.row = {
		.name = "trace-diff",
		.arguments = "A B",
		.min_args = 2,
		.max_args = 2,
		.summary = "lay the traces of two sessions side by side: the first stop and tensor that differ",
		.help = "A and B are traces as `serve` and `mcp` leave them, or their journals. Stops are matched by place, or,\n"
			"of two implementations, in their order; tensors by the names of variables, what is left by shape.\n"
			"Values with other checksums are close if no figure of theirs (mean, standard deviation, minimum,\n"
			"maximum) is off by more than --rtol of the largest.\n"
			"The exit status is 3 where something differs.\n"
			"\n"
			"Example: lazybones trace-diff traces/a.json traces/b.json",
		.options = {
			{ "rtol", "X", "relative tolerance (default 1e-5)" },
			{ "json", NULL, "write JSON instead of text" },
		},
	},
	.run = run_trace_diff,
};
