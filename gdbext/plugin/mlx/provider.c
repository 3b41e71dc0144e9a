/* MLX computes what the program asks for: by eval() and async_eval(), and by reading a value, as item(), tolist(), bool(), NumPy and
 * print do: each of these calls an array's own eval(), and that the former. So catches stop at these (armed.c, heard.c).
 *
 * Nothing is written into the program. */
#include "plugin/mlx/provider.h"

#include <string.h>

#include "base/error.h"
#include "mlx/mlx.h"
#include "plugin/bridge/bridge.h"
#include "plugin/mlx/armed.h"
#include "plugin/mlx/asked.h"
#include "plugin/mlx/heard.h"
#include "plugin/mlx/keys.h"
#include "plugin/mlx/known.h"
#include "plugin/mlx/watched.h"
#include "plugin/stops/caller.h"

static bool is_here; /* the library is, as far as was last seen */
static bool is_in_front; /* the program stands in front of an evaluation, and has told of it */

/* ---- what there is ---- */

static bool find(struct lbx_context *context, enum lbx_nodes_there *ret)
{
	is_here = context->target && (lbx_heard_load() || lbx_mlx_is_there(context->target));
	*ret = is_here ? LBX_NODES_THERE : LBX_NODES_NONE;
	lbx_armed_look(context);
	is_in_front = lbx_heard_stands(context);
	return !lbx_bridge_waits();
}

static const char *why(void)
{
	return "";
}

static bool check(const struct lbx_catch *c)
{
	return !c->op[0] ||
	       lb_fail("MLX computes an evaluation's operations all at once: break at one of its arrays, which "
		       "stops before or after the evaluation");
}

/* ---- arming ---- */

static void await(void)
{
	if (!is_here)
		lbx_armed_await();
}

static bool arm(const struct lbx_catch *c, unsigned *how)
{
	lbx_armed_add(c);
	lbx_armed_await_no_more();
	*how = 1;
	return true;
}

/* The breakpoint by which it would have met this evaluation has been hit. */
static bool holds_now(void)
{
	return !is_in_front;
}

static bool is_armed(const struct lbx_catch *c, unsigned how)
{
	(void)c;
	return how;
}

static bool is_whole(const struct lbx_catch *c, unsigned how)
{
	return !how || lbx_armed_is_whole(c);
}

static void suspend(const struct lbx_catch *c)
{
	lbx_armed_suspend(c);
	lbx_armed_suspend_shared();
}

static void disarm(int catch)
{
	lbx_armed_delete(catch);
	lbx_watched_forget(catch);
	lbx_armed_watch();
	lbx_armed_await_no_more();
}

/* ---- when the process goes ---- */

static bool leave(struct lbx_context *context, enum lbx_leaving how)
{
	(void)context;
	(void)how;
	return true; /* nothing was written, and gdb takes its breakpoints with it */
}

static void forget(void)
{
	lbx_watched_forget(0);
	lbx_known_forget();
	lbx_heard_forget();
	lbx_armed_delete_ends();
	is_here = false;
}

/* ---- what is looked at ---- */

static bool read_record(struct lbx_context *context, uint64_t address, struct lbx_node_record *ret)
{
	*ret = (struct lbx_node_record){ .is_known = true };
	return lbx_known() && lbx_mlx_near_decode(lbx_known(), context->target, address, &ret->tensor);
}

static bool lies_in_order(struct lbx_context *context, uint64_t address)
{
	(void)context;
	(void)address;
	return true;
}

static bool is_of_mlx(const char *function)
{
	return strncmp(function, "mlx::core::", 11) == 0;
}

static int caller_level(struct lbx_context *context)
{
	const struct lbx_library mlx = { .code = lbx_known_library(context),
					 .begins = "_ZN3mlx4core",
					 .has = is_of_mlx };

	return mlx.code ? lbx_caller_level(context, &mlx) : -1;
}

const struct lbx_nodes_ops lbx_mlx_nodes = {
	.name = LBX_MLX,
	.what = "arrays of MLX",
	.by_evaluation = true,
	.lasts = true,
	.has_paths = true,
	.find = find,
	.why = why,
	.check = check,
	.await = await,
	.arm = arm,
	.holds_now = holds_now,
	.is_armed = is_armed,
	.is_whole = is_whole,
	.remains = lbx_armed_remains,
	.suspend = suspend,
	.disarm = disarm,
	.leave = leave,
	.forget = forget,
	.hear = lbx_heard,
	.read = read_record,
	.lies_in_order = lies_in_order,
	.caller_level = caller_level,
	.tell = lbx_asked_tell,
};
