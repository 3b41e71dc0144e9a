/* Raw pointers of views whose elements do not lie in their order, which the program has taken. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	if (event->what != LBX_HAPPENED_raw_misuse)
		return true;
	struct lbx_call *call = lbx_calls_count(state, lbx_happened_arg(c, event, "site"));
	if (call) /* the last one */
		call->tensors[0] = (struct lbx_key){ lbx_table_tensors(c->table), 0, lbx_happened_arg(c, event, "id") };
	return true;
}

/* Whether no time is missing: the recorder overwrites its oldest events. */
static bool has_all(const struct lbx_case *c, const struct lbx_calls *calls)
{
	uint64_t seen = 0;

	for (int i = 0; i < calls->n; i++)
		seen += calls->list[i].times;
	return !c->root.uncounted[0] && seen == c->root.counters.raw_misuse;
}

static bool tell(struct lbx_case *c, const struct lbx_call *p, bool is_all)
{
	const char *least = is_all ? "" : "at least ";
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.9);
	char text[LBX_DESCRIPTION_MAX];
	struct lbx_tensor t;

	if (!f)
		return lb_ok();
	f->pc = p->site;
	LBX_SAY(f->title, "a raw pointer was taken of a view that is not row-contiguous");
	if (lbx_tensor_by_key(&p->tensors[0], &t)) {
		lbx_describe(&t, text, sizeof text);
		lbx_diagnosed_tensor(f, &p->tensors[0]);
		LBX_SAY(f->evidence,
			"The last of %s%" PRIu64
			" time%s: %s, made by %s; elements read from there come in the order of memory.",
			least, p->times, LB_S(p->times), text, t.op);
	} else {
		lb_clear_error();
		LBX_SAY(f->evidence, "The last of %s%" PRIu64 " time%s: tensor #%" PRIu64 ", which is gone by now.",
			least, p->times, LB_S(p->times), p->tensors[0].id);
	}
	LBX_SAY(
	    f->advice,
	    "lb_data() gives the elements in row-major order, lb_strided_data() the strides too; `suspect` finds copies "
	    "that came of it.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lbx_calls *calls = state;
	bool is_all = has_all(c, calls);

	for (int i = 0; i < calls->n; i++)
		if (!tell(c, &calls->list[i], is_all))
			return false;
	return true;
}

const struct lbx_rule lbx_rule_raw_views = {
	.id = "L9a",
	.name = "raw-views",
	.title = "raw pointers of views that are not row-contiguous",
	.sees = LBX_SEES_EVENTS,
	.meaning =
	    "A transposed or sliced view shares memory with what it is a view of. Read through a raw pointer, elements\n"
	    "come in the order of memory: the picture comes out tiled.",
	.example = "const uint8_t *p = lb_raw_data(lb_transpose(image, LB_AXES(1, 2, 0)));",
	.demands = "The runtime has seen such a pointer being taken.",
	.cure = "lb_data(), which copies where it must, or lb_strided_data() and its strides.",
	.state = sizeof(struct lbx_calls),
	.event = happen,
	.conclude = conclude,
};
