/* Variables that lead to memory of tensors that are gone. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/operand/handed_out.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/places.h"

enum { THREADS = 32, FRAMES = 16 /* whose variables are looked through */ };

struct given {
	struct lbx_handed_outs all;
};

/* A frame's variables. */
struct search {
	struct lbx_case *c;
	struct given *given;
	struct lbx_places *places;
	const struct lbx_frame_view *frame;
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

static void tell(const struct search *s, const struct lbx_pointer *pointer, const struct lbx_handed_out *given,
		 const struct lbx_place *place)
{
	struct lbx_diagnosed *f = lbx_case_found(s->c, LBX_LOW, 0.6);
	char text[1024];

	if (!f)
		return;
	LBX_SAY(f->title, "%s in %s leads to memory of a tensor that is gone", pointer->expression,
		s->frame->line.function);
	lbx_describe_stale(s->c->context, given, &place->buffer, text, sizeof text);
	LBX_SAY(f->evidence, "It is %s.", text);
	if (place->kind == LBX_PLACE_DATA) {
		struct lbx_key key = lbx_tensor_key(&place->tensor);
		lbx_diagnosed_tensor(f, &key);
	}
	lbx_diagnosed_frame(f, s->frame);
	LBX_SAY(
	    f->advice,
	    "Where it is still used, it reads another tensor's values: lb_keep() its tensor while the pointer is used.");
}

static bool take_pointer(void *context, const struct lbx_pointer *pointer)
{
	struct search *s = context;
	const struct lbx_handed_out *given = lbx_handed_outs_find(&s->given->all, pointer->value);
	struct lbx_place place;

	if (!given)
		return true;
	lbx_places_find(s->places, pointer->value, &place);
	if ((place.kind == LBX_PLACE_DATA || place.kind == LBX_PLACE_BUFFER) &&
	    lbx_handed_out_is_stale(given, &place.buffer))
		tell(s, pointer, given, &place);
	return lb_ok();
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

	if (!n)
		return lb_ok();
	if (!lbx_places_create(c->context, &s.places))
		return false;
	for (int i = 0; i < n && i < THREADS && lb_error_cause() != LB_INTERRUPTED; i++) {
		bool clean = lb_ok();
		look_through(&s, tids[i]);
		if (clean && lb_error_cause() != LB_INTERRUPTED)
			lb_clear_error();
	}
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
	    "A pointer variable of the program's own frames holds an address that the flight recorder has as handed out for\n"
	    "a tensor, and the buffer there has been allocated for another one since, or is in the cache. Low: it may not be\n"
	    "used any more.",
	.cure = "lb_keep() the tensor while the pointer is used, or take the pointer again.",
	.state = sizeof(struct given),
	.event = happen,
	.conclude = conclude,
	.deinit = deinit,
};
