/* Raw pointers of views whose elements do not lie in their order, which the program has taken. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

enum { SITES_MOST = LBX_DIAGNOSED_MOST };

struct misuse {
	int n;
	struct place {
		uint64_t site, times, id;
	} places[SITES_MOST];
};

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	struct misuse *m = state;

	if (event->what != LBX_HAPPENED_raw_misuse)
		return true;
	uint64_t site = lbx_happened_arg(c, event, "site");
	int i = 0;
	while (i < m->n && m->places[i].site != site)
		i++;
	if (i == SITES_MOST)
		return true;
	m->n += i == m->n;
	m->places[i].site = site;
	m->places[i].times++;
	m->places[i].id = lbx_happened_arg(c, event, "id");
	return true;
}

static bool tell(struct lbx_case *c, const struct place *p)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.9);
	char text[LBX_DESCRIPTION_MAX];
	struct lbx_tensor t;

	if (!f)
		return lb_ok();
	f->pc = p->site;
	LBX_SAY(f->title, "a raw pointer was taken of a view that is not row-contiguous");
	if (lbx_tensors_by_id(lbx_table_tensors(c->table), p->id, &t)) {
		lbx_describe(&t, text, sizeof text);
		lbx_diagnosed_tensor(f, &(struct lbx_key){ t.of, t.address, t.id });
		LBX_SAY(f->evidence,
			"The last of %" PRIu64
			" time%s: %s, made by %s; elements read from there come in the order of memory.",
			p->times, LB_S(p->times), text, t.op);
	} else {
		lb_clear_error();
		LBX_SAY(f->evidence, "The last of %" PRIu64 " time%s: tensor #%" PRIu64 ", which is gone by now.",
			p->times, LB_S(p->times), p->id);
	}
	LBX_SAY(
	    f->advice,
	    "lb_data() gives the elements in row-major order, lb_strided_data() the strides too; `suspect` finds copies "
	    "that came of it.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct misuse *m = state;

	for (int i = 0; i < m->n; i++)
		if (!tell(c, &m->places[i]))
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
	.state = sizeof(struct misuse),
	.event = happen,
	.conclude = conclude,
};
