/* A break is a catch (catch.c): pending until there is a program, kept over runs, listed by `tensor
 * status`. Stops are at probes, in step mode or not. A name, an id or an op is compared by gdb in the
 * breakpoint's condition, a glob by the runtime; what --if says, by either as far as they can (catch_sieve.h). */
#include "plugin/stops/catch.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/command.h"
#include "plugin/stops/catch_condition.h"
#include "plugin/stops/catch_sieve.h"
#include "plugin/stops/catch_words.h"

/* Of the runtime's, or as ggml or MLX spell their own: whether there is such a one shows in the program. */
static bool parse_op(const char *op, struct lbx_catch *ret)
{
	if (!op)
		return true;
	if (!lbx_catch_is_op(op))
		return lb_fail("break: there is no op '%s'", op);
	snprintf(ret->op, sizeof ret->op, "%s", op);
	return true;
}

static bool is_when(const char *word)
{
	return strcmp(word, "before") == 0 || strcmp(word, "after") == 0;
}

/* A lone before or after is no tensor's name: that is quoted then. */
static const char *target_of(const struct lbx_args *args)
{
	return args->n == 0 || (args->n == 1 && is_when(args->v[0])) ? NULL : args->v[0];
}

/* before, unless it is about the value. */
static bool choose_kind(const struct lbx_args *args, struct lbx_catch *ret)
{
	const char *when = args->n == 0 ? NULL : args->n > 1 ? args->v[1] : target_of(args) ? NULL : args->v[0];
	const char *range = lbx_args_option(args, "range");
	bool nan = lbx_args_option(args, "nan");

	if (when && !is_when(when))
		return lb_fail("break: expected before or after, not '%s'", when);
	if (nan && range)
		return lb_fail("break: --nan and --range need a break each");
	if (!when && lbx_args_option(args, "if"))
		when = "after"; /* it speaks of the value */
	if ((nan || range) && when && strcmp(when, "before") == 0)
		return lb_fail("break: --nan and --range need `after`: before the op there is no value");
	ret->kind = lbx_catch_kind(nan ? "nan" : range ? "range" : when ? when : "before");
	return ret->kind && (!range || lbx_catch_parse_range(range, ret));
}

/* What an op's name leaves in a fused tensor, its probe tells alone. */
static bool take_bounds(struct lbx_catch *c)
{
	if (c->condition[0] && !c->op[0] && c->kind == lbx_catch_kind("after") &&
	    lbx_catch_bounds(c->condition, &c->low, &c->high))
		c->kind = lbx_catch_kind_outside();
	return true;
}

static bool run_break(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_catch new = { .once = lbx_args_option(args, "once") };

	const char *target = target_of(args);

	if (args->n == 0 && !lbx_args_option(args, "op"))
		return lb_fail("break: name a tensor, or an op: `tensor break --op matmul`");
	return parse_op(lbx_args_option(args, "op"), &new) && choose_kind(args, &new) &&
	       lbx_catch_condition_parse(lbx_args_option(args, "if"), &new) && take_bounds(&new) &&
	       (!target || lbx_catch_parse_target(context, target, &new)) && !lbx_bridge_waits() &&
	       lbx_catch_set(context, &new);
}

const struct lbx_command lbx_gdb_command_break = {
	.name = "break",
	.arguments = lbx_arguments_break,
	.max_args = 2,
	.summary = "stop before or after the op that computes a tensor",
	.help = "T is a name, also one to come, a glob, #ID, or an op's name. Before (the default) it "
		"shows\nthe op and its inputs; after, the result's range. It works in step mode or not, can be "
		"set\nbefore `run`, and lasts from run to run. `tensor status` lists it, `tensor uncatch` or "
		"`delete`\nends it. Until then the runtime fuses and compiles nothing, and gdb looks at\n"
		"each op: some 0.2 ms. Before or after alone means any tensor; 'after' in quotes is a name.\n"
		"It stops at ggml's nodes, too, whose operations are in capitals: --op MUL_MAT; and before or\n"
		"after the evaluation that computes an array of MLX.\n"
		"Example: break 'layers.*' after --op matmul, break loss --if 'it > 10'",
	.options = {
		{ "nan", NULL, "after it, if the result holds NaN or Inf" },
		{ "range", "LO,HI", "after it, if values are outside" },
		{ "op", "NAME", "only where this op makes it" },
		{ "if", "EXPRESSION", "only if it holds: --if 'abs(it).max() > 100'; `it` is the tensor" },
		{ "once", NULL, "stop only once" },
	},
	.run = run_break,
};
