/* One tensor, concatenated with itself. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/ops.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { PARTS_LEAST = 3, PARTS_MOST = 4096, FOUND_MOST = 64, BYTES_MEDIUM = 1 << 20 };

struct repeats {
	int n;
	struct lbx_key list[FOUND_MOST];
};

static bool is_repeated(const struct lbx_tensor *t)
{
	uint64_t first = lbx_tensor_input_id(t, 0);

	if (!first || t->n_inputs < PARTS_LEAST || t->n_inputs > PARTS_MOST)
		return false;
	for (uint32_t i = 1; i < t->n_inputs; i++)
		if (lbx_tensor_input_id(t, i) != first)
			return false;
	return true;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct repeats *r = state;

	(void)c;
	if (!t->torn && r->n < FOUND_MOST && lbx_made_by(t, "concatenate") && is_repeated(t))
		r->list[r->n++] = lbx_tensor_key(t);
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct repeats *r = state;
	char text[LBX_DESCRIPTION_MAX], bytes[32];
	struct lbx_tensor t;

	for (int i = 0; i < r->n; i++) {
		if (!lbx_tensor_by_key(&r->list[i], &t)) { /* it is gone */
			lb_clear_error();
			continue;
		}
		struct lbx_diagnosed *f =
		    lbx_case_found(c, lbx_tensor_nbytes(&t) >= BYTES_MEDIUM ? LBX_MEDIUM : LBX_LOW, 0.9);
		if (!f)
			return lb_ok();
		f->pc = t.site;
		lbx_diagnosed_tensor(f, &r->list[i]);
		lbx_describe(&t, text, sizeof text);
		lbx_format_bytes(lbx_tensor_nbytes(&t), bytes, sizeof bytes);
		LBX_SAY(f->title, "a tensor is concatenated with itself, %" PRIu32 " times", t.n_inputs);
		LBX_SAY(f->evidence, "%s: all of its %" PRIu32 " parts are #%" PRIu64 ".", text, t.n_inputs,
			lbx_tensor_input_id(&t, 0));
		LBX_SAY(f->cost, "%s of copies", bytes);
		LBX_SAY(f->advice, "A view will do: lb_broadcast_to() of a new axis, which copies nothing.");
	}
	return lb_ok();
}

const struct lbx_rule lbx_rule_repeated_parts = {
	.id = "L9c",
	.name = "repeated-parts",
	.title = "a tensor that is concatenated with itself",
	.sees = LBX_SEES_TENSORS,
	.meaning = "concatenate([a] * n) writes the same elements n times. Broadcasting gives them without a copy.",
	.example = "k = mx.concatenate([k] * groups, axis=1)",
	.demands = "A concatenation of 3 parts or more that are one and the same tensor. Above low from 1 MiB on.",
	.cure = "lb_broadcast_to() over a new axis, or mx.repeat() where a copy must be.",
	.state = sizeof(struct repeats),
	.tensor = see,
	.conclude = conclude,
};
