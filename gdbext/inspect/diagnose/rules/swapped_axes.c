/* Attention whose heads stand where its positions should: the transpose behind the reshape is missing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"
#include "inspect/tensor/describe.h"

enum { STEPS = 8 };

static bool is_of_one_shape(const struct lbx_tensor *a, const struct lbx_tensor *b)
{
	return a->rank == b->rank && memcmp(lbx_shape(a), lbx_shape(b), (size_t)a->rank * sizeof(int64_t)) == 0;
}

/* (B, L, H * D) as (B, L, H, D). */
static bool splits_heads(const struct lbx_tensor *t, const struct lbx_tensor *from)
{
	const int64_t *to = lbx_shape(t), *of = lbx_shape(from);

	return t->rank == 4 && from->rank == 3 && to[0] == of[0] && to[1] == of[1] && to[2] * to[3] == of[2] &&
	       to[1] != to[2] && to[1] > 1 && to[2] > 1 && to[3] > 1;
}

/* Back from an operand of attention, over what leaves each element in its place (a norm, RoPE, a factor), to the reshape that has
 * split its heads. */
static bool comes_untransposed(const struct lbx_tensor *operand)
{
	struct lbx_tensor t = *operand, from;

	for (int i = 0; i < STEPS && !t.torn && !t.is_shapeless && lbx_input_of(&t, 0, &from); i++) {
		if (from.is_shapeless)
			return false;
		if (lbx_made_by(&t, "reshape"))
			return splits_heads(&t, &from);
		if (t.op_class == LB_CLASS_VIEW || !is_of_one_shape(&t, &from))
			return false;
		t = from;
	}
	return false;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct lbx_tensor q, k;

	(void)c;
	if (t->torn || t->is_shapeless || !lbx_made_by(t, "attention") || !lbx_input_of(t, 0, &q) ||
	    !lbx_input_of(t, 1, &k) || q.is_shapeless || k.is_shapeless || !comes_untransposed(&q) ||
	    !comes_untransposed(&k))
		return true;
	lbx_calls_see(state, t, &q);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	const int64_t *shape = lbx_shape(t);

	LBX_SAY(f->title, "attention takes positions for heads: a transpose is missing");
	LBX_SAY(
	    f->evidence,
	    "%s is attention over queries and keys that a reshape alone has made (batch, positions, heads, width): its "
	    "axis 1, of %" PRId64 ", is taken for heads, and axis 2, of %" PRId64 ", for positions. %" PRIu64
	    " such tensor%s.",
	    text, shape[1], shape[2], call->times, LB_PLURAL(call->times, " is there", "s are there"));
	LBX_SAY(f->advice, "Transpose queries, keys and values to the axes (0, 2, 1, 3) behind the reshape.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_HIGH, 0.85, say);
}

const struct lbx_rule lbx_rule_swapped_axes = {
	.id = "L9g",
	.name = "swapped-axes",
	.title = "attention whose positions and heads have changed places",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "Attention wants (batch, heads, positions, width). With (batch, positions, heads, width) the sizes fit, too, and\n"
	    "each position attends to its own heads, and to no other position.",
	.example = "q = lb_reshape(q, LB_SHAPE(B, L, H, D));     /* and no transpose */\n"
		   "y = lb_attention(q, k, v, scale, true, NULL);",
	.demands =
	    "Queries and keys of an attention both come of a reshape of three axes (B, L, E) to (B, L, H, D), H*D = E, L not\n"
	    "H, over nothing but operations that leave the shape as it is.",
	.cure = "lb_transpose(lb_reshape(q, LB_SHAPE(B, L, H, D)), LB_AXES(0, 2, 1, 3)).",
	.state = sizeof(struct lbx_calls),
	.tensor = see,
	.conclude = conclude,
};
