/* PyTorch computes each operation within the call that makes its tensor: by thousands of functions, one or more for each operation,
 * of which most are inlined into others, or stripped. No few breakpoints meet them all, and one at each would cost milliseconds for
 * microseconds of work. So nothing is armed here; who catches something is told at once, or when the library is loaded (MLX's
 * breakpoint for that stops there, too), what to do instead. */
#include "plugin/torch/provider.h"

#include "plugin/bridge/bridge.h"
#include "torch/torch.h"

static bool find(struct lbx_context *context, enum lbx_nodes_there *ret)
{
	*ret = context->target && lbx_torch_is_there(context->target) ? LBX_NODES_REFUSED : LBX_NODES_NONE;
	return !lbx_bridge_waits();
}

static const char *why(void)
{
	return "each is computed within the call that makes it, by one of thousands of functions. Stop the program at a line instead "
	       "(C++: `break FILE:LINE`; Python: signal.raise_signal(signal.SIGTRAP) there), where `tensor list --nan` tells "
	       "which hold NaN and `tensor display T` shows T each time; torch.autograd.set_detect_anomaly(True) names the "
	       "operation whose gradient has NaN";
}

/* What follows is asked where there are nodes. */
static bool check(const struct lbx_catch *c)
{
	(void)c;
	return true;
}

static bool remains(int catch)
{
	(void)catch;
	return false;
}

static bool leave(struct lbx_context *context, enum lbx_leaving how)
{
	(void)context;
	(void)how;
	return true;
}

static void nothing_of(int catch)
{
	(void)catch;
}

static void nothing(void)
{
}

const struct lbx_nodes_ops lbx_torch_nodes = {
	.name = "torch",
	.what = "tensors of PyTorch",
	.by_evaluation = true,
	.find = find,
	.why = why,
	.check = check,
	.await = nothing,
	.remains = remains,
	.disarm = nothing_of,
	.leave = leave,
	.forget = nothing,
};
