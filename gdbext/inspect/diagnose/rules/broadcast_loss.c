/* A loss over all pairs: a column met a row, and broadcasting made a matrix of their differences. */
#include <inttypes.h>

#include "base/plural.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"
#include "inspect/tensor/describe.h"

/* What was broadcast, or t itself. */
static struct lbx_tensor own(const struct lbx_tensor *t)
{
	struct lbx_tensor before;

	return (lbx_made_by(t, "broadcast") || lbx_made_by(t, "broadcast_to")) && lbx_input_of(t, 0, &before) ? before
													      : *t;
}

static bool is_column(const struct lbx_tensor *t, int64_t n)
{
	return t->rank == 2 && lbx_shape(t)[0] == n && lbx_shape(t)[1] == 1;
}

static bool is_row(const struct lbx_tensor *t, int64_t n)
{
	return t->rank == 1 && lbx_shape(t)[0] == n;
}

/* (N, 1) - (N): whoever wants all pairs writes the second as (1, N), or has put the new axis in just there. */
static bool is_of_pairs(const struct lbx_tensor *t)
{
	struct lbx_tensor a, b;
	int64_t n;

	if (t->is_shapeless || t->rank != 2 || lbx_shape(t)[0] != lbx_shape(t)[1] || lbx_shape(t)[0] < 2 ||
	    !lbx_made_by(t, "subtract") || !lbx_input_of(t, 0, &a) || !lbx_input_of(t, 1, &b))
		return false;
	n = lbx_shape(t)[0];
	a = own(&a);
	b = own(&b);
	if (a.is_shapeless || b.is_shapeless)
		return false;
	const struct lbx_tensor *column = is_column(&a, n) && is_row(&b, n)   ? &a
					  : is_column(&b, n) && is_row(&a, n) ? &b
									      : NULL;
	return column && !lbx_made_by(column, "expand_dims") && !lbx_made_by(column, "reshape") &&
	       !lbx_made_by(column, "slice");
}

static bool is_error(const struct lbx_tensor *t)
{
	return lbx_made_by(t, "square") || lbx_made_by(t, "abs") || lbx_made_by(t, "power");
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct lbx_tensor error, difference;

	(void)c;
	if (t->torn || t->is_shapeless || t->size != 1 || !(lbx_made_by(t, "mean") || lbx_made_by(t, "sum")) ||
	    !lbx_input_of(t, 0, &error) || !is_error(&error) || !lbx_input_of(&error, 0, &difference) ||
	    !is_of_pairs(&difference))
		return true;
	lbx_calls_see(state, t, &difference);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	struct lbx_tensor difference;
	char what[LBX_DESCRIPTION_MAX] = "a matrix";

	if (lbx_tensor_by_key(&call->tensors[1], &difference))
		lbx_describe(&difference, what, sizeof what);
	LBX_SAY(f->title, "the %s of errors is over all pairs, not over the elements", t->op);
	LBX_SAY(
	    f->evidence,
	    "%s is made of %s: the difference of a column (N, 1) and a vector (N), which broadcasting makes N by N. "
	    "%" PRIu64 " such result%s.",
	    text, what, call->times, LB_PLURAL(call->times, " is there", "s are there"));
	LBX_SAY(f->advice,
		"Give both the same shape: lb_reshape(target, LB_SHAPE(-1, 1)), or lb_squeeze() the column.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_HIGH, 0.85, say);
}

const struct lbx_rule lbx_rule_broadcast_loss = {
	.id = "L9e",
	.name = "broadcast-loss",
	.title = "a loss of all pairs, as a column met a vector",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "Predictions (N, 1) minus targets (N) is a matrix of N by N. Its mean is a number, and training goes on,\n"
	    "towards the mean of the targets.",
	.example = "loss = mean(square(subtract(model(x), target)))     /* (N, 1) and (N) */",
	.demands =
	    "A mean or sum to one number of squares, powers or magnitudes of a difference of (N, 1) and (N), which is\n"
	    "(N, N), where N is more than 1 and the column was not made by a new axis, a reshape or a slice.",
	.cure = "Give both the same shape before they meet.",
	.state = sizeof(struct lbx_calls),
	.tensor = see,
	.conclude = conclude,
};
