/* Indices that were found along an axis, taken as if they were of the whole: each row gets every row's. */
#include <inttypes.h>

#include "base/plural.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"

static bool is_sorted(const struct lbx_tensor *t)
{
	return lbx_made_by(t, "argsort") || lbx_made_by(t, "argpartition") || lbx_made_by(t, "arg_sort") ||
	       lbx_made_by(t, "arg_partition");
}

/* Through what leaves each row's indices in their row. */
static bool find_order(const struct lbx_tensor *indices, struct lbx_tensor *ret)
{
	enum { STEPS = 4 };
	struct lbx_tensor t = *indices;

	for (int i = 0; i < STEPS; i++) {
		if (is_sorted(&t)) {
			*ret = t;
			return true;
		}
		if (!(lbx_made_by(&t, "slice") || lbx_made_by(&t, "astype")) || !lbx_input_of(&t, 0, &t))
			return false;
	}
	return false;
}

static bool have_same_rows(const struct lbx_tensor *a, const struct lbx_tensor *b)
{
	if (a->is_shapeless || b->is_shapeless || a->rank != b->rank || a->rank < 2)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (lbx_shape(a)[i] != lbx_shape(b)[i])
			return false;
	return lbx_shape(a)[0] > 1;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct lbx_tensor x, indices, order;

	(void)c;
	if (t->torn || t->is_shapeless || !lbx_made_by(t, "take") || !lbx_input_of(t, 0, &x) ||
	    !lbx_input_of(t, 1, &indices) || indices.is_shapeless || !find_order(&indices, &order) ||
	    !have_same_rows(&x, &order) || t->rank != x.rank + indices.rank - 1 || t->params[0] == 0)
		return true;
	lbx_calls_see(state, t, &x);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	(void)t;
	LBX_SAY(f->title, "elements are taken by indices of other rows, too");
	LBX_SAY(
	    f->evidence,
	    "%s: its indices come of sorting a tensor of the same shape row by row, and take() gives each row those of "
	    "all rows. %" PRIu64 " such tensor%s.",
	    text, call->times, LB_PLURAL(call->times, " is there", "s are there"));
	LBX_SAY(f->advice, "lb_take_along_axis(x, indices, axis) takes each row's own.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_MEDIUM, 0.85, say);
}

const struct lbx_rule lbx_rule_take_along = {
	.id = "L9d",
	.name = "take-along",
	.title = "take() where take_along_axis() is meant",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "Indices of a sort or a partition belong to their row. take() applies all of them to every row, and the\n"
	    "result has an axis more: (B, N) by (B, K) gives (B, B, K).",
	.example = "top = lb_argsort(scores, -1);\n"
		   "best = lb_take(scores, top, -1);     /* (B, B, N) instead of (B, N) */",
	.demands =
	    "take() along an axis other than the first, by indices of two axes or more that come of a sort or a\n"
	    "partition of a tensor of the same shape, which has several rows.",
	.cure = "lb_take_along_axis(), mx.take_along_axis().",
	.state = sizeof(struct lbx_calls),
	.tensor = see,
	.conclude = conclude,
};
