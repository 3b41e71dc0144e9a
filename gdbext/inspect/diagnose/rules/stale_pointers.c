/* Variables that lead to memory of tensors that are gone. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/operand/handed_out.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/places.h"

enum { THREADS = 32, FRAMES = 16 /* whose variables are looked through */ };

struct given {
	struct lbx_handed_outs all;
};

struct stale {
	struct lbx_pointer pointer;
	struct lbx_handed_out given;
	struct lbx_place place;
};

struct search {
	struct lbx_case *c;
	struct given *given;
	struct lbx_places *places;
	const struct lbx_frame_view *frame; /* whose variables are gone through */
	uint64_t n_static;
	struct stale first_static;
};

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	struct given *s = state;

	if (event->what != LBX_HAPPENED_raw_access)
		return true;
	return lbx_handed_outs_add(&s->all, &(struct lbx_handed_out){
						.address = lbx_happened_arg(c, event, "address"),
						.id = lbx_happened_arg(c, event, "id"),
						.owner = lbx_happened_arg(c, event, "owner"),
						.site = lbx_happened_arg(c, event, "site"),
						.number = event->event->number,
					    });
}

/* Without a frame: of a variable that is not one's, and `more` others are like it. */
static void tell(struct lbx_case *c, const struct stale *one, const struct lbx_frame_view *frame, uint64_t more)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_LOW, 0.6);
	char text[1024];

	if (!f)
		return;
	LBX_SAY(f->title, "%s%s%s", one->pointer.expression, frame ? " in " : "", frame ? frame->line.function : "");
	if (more)
		LBX_SAY(f->title, ", and %" PRIu64 " other pointer%s,", more, LB_S(more));
	LBX_SAY(f->title, " lead%s to memory of a tensor that is gone", more ? "" : "s");
	lbx_describe_stale(c->context, &one->given, &one->place.buffer, text, sizeof text);
	LBX_SAY(f->evidence, "It is %s.", text);
	if (one->place.kind == LBX_PLACE_DATA) {
		struct lbx_key key = lbx_tensor_key(&one->place.tensor);
		lbx_diagnosed_tensor(f, &key);
	}
	if (frame)
		lbx_diagnosed_frame(f, frame);
	LBX_SAY(
	    f->advice,
	    "Where it is still used, it reads other values than its tensor's now: take the pointer again (lb_data()) behind each "
	    "evaluation that may have moved them. lb_keep() keeps the values of then, and makes an update copy them.");
}

static bool is_stale(struct search *s, const struct lbx_pointer *pointer, struct stale *ret)
{
	const struct lbx_handed_out *given = lbx_handed_outs_find(&s->given->all, pointer->value);

	if (!given)
		return false;
	ret->pointer = *pointer;
	ret->given = *given;
	lbx_places_find(s->places, pointer->value, &ret->place);
	return (ret->place.kind == LBX_PLACE_DATA || ret->place.kind == LBX_PLACE_BUFFER) &&
	       lbx_handed_out_is_stale(given, &ret->place.buffer);
}

static bool take_pointer(void *context, const struct lbx_pointer *pointer)
{
	struct search *s = context;
	struct stale one;

	if (is_stale(s, pointer, &one))
		tell(s->c, &one, s->frame, 0);
	return lb_ok();
}

static bool take_static(void *context, const struct lbx_pointer *pointer, const struct lbx_static_place *place)
{
	struct search *s = context;
	struct stale one;

	(void)place;
	if (is_stale(s, pointer, &one) && s->n_static++ == 0)
		s->first_static = one;
	return lb_ok();
}

/* Those that are there for as long as the program runs: they are many where a table has them, and told as one. */
static void look_through_statics(struct search *s)
{
	struct lbx_stacks *stacks = s->c->context->stacks;
	struct lbx_statics_told told;

	if (stacks->ops->statics && stacks->ops->statics(stacks, take_static, s, &told) && s->n_static)
		tell(s->c, &s->first_static, NULL, s->n_static - 1);
}

/* The program's own frames: the runtime's and the C library's know what they do. */
static void look_through(struct search *s, uint64_t tid)
{
	struct lbx_stacks *stacks = s->c->context->stacks;
	struct lbx_thread_view view;

	if (!lbx_thread_view(s->c->context, NULL, tid, FRAMES, 0, &view))
		return;
	for (int i = 0; i < view.n && lb_ok(); i++) {
		s->frame = &view.frames[i];
		if (!lbx_is_common_frame(s->c->context, s->frame) && strncmp(s->frame->line.function, "lb_", 3) != 0)
			stacks->ops->pointers(stacks, &s->frame->frame, take_pointer, s, NULL);
	}
	lbx_thread_view_release(&view);
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct search s = { .c = c, .given = state };
	struct lbx_stacks *stacks = c->context->stacks;
	uint64_t tids[THREADS];
	int n = s.given->all.n ? stacks->ops->threads(stacks, tids, THREADS) : 0;

	if (!s.given->all.n)
		return lb_ok();
	if (!lbx_places_create(c->context, &s.places))
		return false;
	for (int i = 0; i < n && i < THREADS && lb_error_cause() != LB_INTERRUPTED; i++) {
		bool clean = lb_ok();
		look_through(&s, tids[i]);
		if (clean && lb_error_cause() != LB_INTERRUPTED)
			lb_clear_error();
	}
	if (lb_ok())
		look_through_statics(&s);
	lbx_places_destroy(s.places);
	return lb_ok();
}

static void deinit(void *state)
{
	struct given *s = state;

	lbx_handed_outs_deinit(&s->all);
}

const struct lbx_rule lbx_rule_stale_pointers = {
	.id = "F12",
	.name = "stale-pointers",
	.title = "a variable that leads to memory of a tensor that is gone",
	.sees = LBX_SEES_TENSORS | LBX_SEES_EVENTS | LBX_SEES_VARIABLES,
	.meaning =
	    "A raw pointer was taken of a tensor, whose memory has been given back since, and kept for reuse, or given to\n"
	    "another tensor. Nothing crashes: what is read there are other values, and what is written there spoils them.",
	.example = "LB_SCOPE {\n"
		   "\trow = lb_data(lb_exp(x));\n"
		   "}\n"
		   "y = lb_tanh(x);\n"
		   "sum += row[0];     /* tanh of x, not exp */",
	.demands =
	    "A pointer variable of the program's own frames, a global one or a static holds an address that the flight\n"
	    "recorder has as handed out for a tensor, and the buffer there has been filled for another one since, or is in the\n"
	    "cache. What is updated in place stays where it is. Low: it may not be used any more.",
	.cure =
	    "Take the pointer again where values may have moved; lb_keep() the tensor where the values of then are meant.",
	.state = sizeof(struct given),
	.event = happen,
	.conclude = conclude,
	.deinit = deinit,
};
