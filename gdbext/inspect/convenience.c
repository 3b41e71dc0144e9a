#include "inspect/convenience.h"

#include "base/error.h"
#include "inspect/context.h"

#define T_COMMANDS "each that takes T, `at`, a catch that stops"
#define VALUES "`stats`"

const struct lbx_convenience lbx_conveniences[] = {
	{ "tensor_failed", "each", "1 if the last command failed, else 0" },
	{ "tensor_id", T_COMMANDS, "the tensor's id; of two, the second's" },
	{ "tensor_rank", T_COMMANDS, "its number of axes" },
	{ "tensor_size", T_COMMANDS, "its number of elements, before a slice" },
	{ "tensor_nbytes", T_COMMANDS, "the bytes of these elements" },
	{ "tensor_data", T_COMMANDS, "the address of its first element; 0 while it has no values" },
	{ "tensor_count", "`list`, `at`, `events`, `graph`, `listing`, `symbols`, `status`, …",
	  "how many there are, shown or not: tensors, events, lines" },
	{ "tensor_count", "`print`, `stats`, `peek`", "how many elements, after the slice" },
	{ "tensor_bytes", "`memory`, `model`", "the bytes in use" },
	{ "tensor_min", "`stats`, `image`",
	  "the smallest value (`image`: the smallest finite one); NaN if "
	  "all are NaN" },
	{ "tensor_max", "`stats`, `image`", "the largest, likewise" },
	{ "tensor_mean", VALUES, "the mean of the finite values; NaN if there are none" },
	{ "tensor_std", VALUES, "their standard deviation" },
	{ "tensor_sum", VALUES, "their sum" },
	{ "tensor_nan_count", "`stats`, `image`", "how many NaN; in a picture also Inf" },
	{ "tensor_inf_count", VALUES, "how many Inf, of either sign" },
	{ "tensor_zero_count", VALUES, "how many zeros" },
	{ "tensor_diff_count", "`diff`", "how many elements differ" },
	{ "tensor_diff_count", "`weights`", "how many of those that are in both are not equal" },
	{ "tensor_diff_max", "`diff`", "the largest absolute error; NaN if nowhere both have numbers" },
	{ "tensor_graph_equal", "`diff-graph`", "1 if the graphs are equal, else 0" },
	{ "tensor_origin", "`origin`", "the id of the tensor that was the first with NaN or Inf; 0: none" },
	{ "tensor_catch", "`catch`", "the catch's number, for `uncatch`" },
	{ 0 },
};

void lbx_set_int(struct lbx_out *out, const char *name, int64_t value)
{
	if (out->set_int)
		out->set_int(out, name, value);
}

void lbx_set_double(struct lbx_out *out, const char *name, double value)
{
	if (out->set_double)
		out->set_double(out, name, value);
}

void lbx_set_tensor(struct lbx_out *out, const struct lbx_tensor *t)
{
	if (out->set_tensor)
		out->set_tensor(out, t);
}

bool lbx_get_number(struct lbx_context *context, const char *name, uint64_t *ret)
{
	struct lbx_value value;
	bool clean = lb_ok(), known = lbx_target_evaluate(context->target, name, &value);

	if (clean && !lbx_target_waits(context->target) && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	*ret = value.bits;
	if (known)
		return value.bits > 0 || lb_fail("%s is 0, no tensor's number", name);
	return lb_fail(lbx_target_waits(context->target) ? "'%s' is not known yet: the debugger has not answered yet"
							 : "%s has no value: it is gdb's, and set by commands",
		       name);
}
