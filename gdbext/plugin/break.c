/* A break is a catch (catch.c): pending until there is a program, kept over runs, listed by `tensor
 * status`. Stops are at probes, in step mode or not. A name, an id or an op is compared by gdb in the
 * breakpoint's condition, a glob by the runtime. */
#include "plugin/break.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "plugin/bridge.h"
#include "plugin/catch.h"
#include "plugin/catch_target.h"

static bool parse_op(const char *op, struct lbx_catch *ret)
{
	if (!op)
		return true;
	for (int i = 0; i < LB_OPS; i++) {
		if (strcmp(lb_ops[i].name, op) != 0)
			continue;
		snprintf(ret->op, sizeof ret->op, "%s", op);
		return true;
	}
	return lb_fail("break: there is no op '%s'", op);
}

/* before, unless it is about the value. */
static bool choose_kind(const struct lbx_args *args, struct lbx_catch *ret)
{
	const char *when = args->n > 1 ? args->v[1] : NULL, *range = lbx_args_option(args, "range");
	bool nan = lbx_args_option(args, "nan");

	if (when && strcmp(when, "before") != 0 && strcmp(when, "after") != 0)
		return lb_fail("break: before or after, not '%s'", when);
	if (nan && range)
		return lb_fail("break: --nan and --range are two breaks");
	if ((nan || range) && when && strcmp(when, "before") == 0)
		return lb_fail("break: before an op there is no value to be looked at");
	ret->kind = lbx_catch_kind(nan ? "nan" : range ? "range" : when ? when : "before");
	return ret->kind && (!range || lbx_catch_parse_range(range, ret));
}

bool lbx_break_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_catch new = {.once = lbx_args_option(args, "once")};

	if (args->n == 0 && !lbx_args_option(args, "op"))
		return lb_fail("break: name a tensor, or an op: `tensor break --op matmul`");
	return parse_op(lbx_args_option(args, "op"), &new) && choose_kind(args, &new) &&
	       (args->n == 0 || lbx_catch_parse_target(context, args->v[0], &new)) &&
	       !lbx_bridge_waits() && lbx_catch_set(context, &new);
}
