/* Heads that are split off by a reshape alone: elements end up in the wrong places. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"
#include "inspect/tensor/describe.h"

/* (B, L, H * D) as (B, H, L, D): the length moves behind the heads, and nothing has been transposed. */
static bool is_split(const struct lbx_tensor *t, const struct lbx_tensor *from)
{
	const int64_t *to = lbx_shape(t), *of = lbx_shape(from);

	return t->rank == 4 && from->rank == 3 && to[0] == of[0] && to[2] == of[1] && to[1] * to[3] == of[2] &&
	       to[1] != to[2] && to[1] > 1 && to[2] > 1 && to[3] > 1;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct lbx_tensor from;

	(void)c;
	if (t->torn || t->is_shapeless || !lbx_made_by(t, "reshape") || !lbx_input_of(t, 0, &from) ||
	    from.is_shapeless || !is_split(t, &from))
		return true;
	lbx_calls_see(state, t, &from);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	char before[LBX_DESCRIPTION_MAX];
	struct lbx_tensor from;

	if (lbx_tensor_by_key(&call->tensors[1], &from))
		lbx_describe(&from, before, sizeof before);
	else
		snprintf(before, sizeof before, "#%" PRIu64 ", which is gone", call->tensors[1].id);
	lb_clear_error();
	LBX_SAY(f->title, "heads are split by a reshape where a transpose is missing");
	LBX_SAY(f->evidence,
		"%s is a reshape of %s: the axis of %" PRId64 " positions has moved behind that of %" PRId64
		" heads, and elements of different positions are mixed in each head. %" PRIu64 " such tensor%s.",
		text, before, lbx_shape(t)[2], lbx_shape(t)[1], call->times,
		LB_PLURAL(call->times, " is there", "s are there"));
	LBX_SAY(f->advice,
		"Reshape to (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
		"), then transpose to the axes (0, 2, 1, 3).",
		lbx_shape(t)[0], lbx_shape(t)[2], lbx_shape(t)[1], lbx_shape(t)[3]);
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_HIGH, 0.8, say);
}

const struct lbx_rule lbx_rule_split_heads = {
	.id = "L9b",
	.name = "split-heads",
	.title = "heads split by a reshape where a transpose is missing",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "A reshape keeps the order of elements. From (B, L, H*D) straight to (B, H, L, D) it cuts the rows of\n"
	    "positions anew, so each head gets elements of some positions instead of its part of all.",
	.example = "q = lb_reshape(q, LB_SHAPE(B, H, L, D));     /* q is (B, L, H*D) */",
	.demands =
	    "A reshape of three axes (B, L, E) to four (B, H, L, D) with H*D = E, where H, L and D are more than 1\n"
	    "and H is not L.",
	.cure = "lb_transpose(lb_reshape(q, LB_SHAPE(B, L, H, D)), LB_AXES(0, 2, 1, 3)).",
	.state = sizeof(struct lbx_calls),
	.tensor = see,
	.conclude = conclude,
};
