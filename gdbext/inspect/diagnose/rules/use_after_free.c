/* A touch of a tensor's memory that has been given back. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/forensics/freed.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/places.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { FRAMES = 16 /* whose variables are looked through */ };

/* What the flight recorder has of the memory that the fault's address lay in. */
struct freed {
	bool is_freed;
	uint64_t buffer, start, bytes, tensor, time_ns, newest_ns, site;
	uint32_t thread;
};

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	struct freed *s = state;
	uint64_t start, bytes;

	s->newest_ns = event->event->time_ns > s->newest_ns ? event->event->time_ns : s->newest_ns;
	if (!c->has_death || !c->death.has_address ||
	    (event->what != LBX_HAPPENED_alloc && event->what != LBX_HAPPENED_dealloc))
		return true;
	start = lbx_happened_arg(c, event, "address");
	bytes = lbx_happened_arg(c, event, "nbytes");
	if (c->death.address < start || c->death.address - start >= bytes)
		return true;
	s->is_freed = event->what == LBX_HAPPENED_dealloc;
	if (s->buffer != lbx_happened_arg(c, event, "buffer") || !s->is_freed)
		s->tensor = lbx_happened_arg(c, event, "id");
	s->buffer = lbx_happened_arg(c, event, "buffer");
	s->start = start;
	s->bytes = bytes;
	s->time_ns = event->event->time_ns;
	s->thread = event->event->thread;
	s->site = lbx_happened_arg(c, event, "site");
	return true;
}

/* Which variables lead there. */
struct leads {
	const struct freed *freed;
	struct lbx_diagnosed *f;
	const struct lbx_frame_view *frame;
	bool any;
};

static bool take_pointer(void *context, const struct lbx_pointer *pointer)
{
	struct leads *l = context;

	if (pointer->value < l->freed->start || pointer->value - l->freed->start >= l->freed->bytes)
		return true;
	LBX_SAY(l->f->evidence, "%s%s in %s", l->any ? ", " : " What leads there: ", pointer->expression,
		l->frame->line.function);
	l->any = true;
	return true;
}

static void say_pointers(struct lbx_case *c, const struct freed *s, struct lbx_diagnosed *f)
{
	const struct lbx_thread_view *stack = lbx_case_stack(c);
	struct leads leads = { .freed = s, .f = f };
	bool clean = lb_ok();

	for (int i = 0; stack && i < stack->n && i < FRAMES; i++) {
		leads.frame = &stack->frames[i];
		if (!lbx_is_common_frame(c->context, leads.frame))
			c->context->stacks->ops->pointers(c->context->stacks, &leads.frame->frame, take_pointer, &leads,
							  NULL);
	}
	if (leads.any)
		LBX_SAY(f->evidence, ".");
	if (clean)
		lb_clear_error();
}

/* Whose it was; the record of a freed tensor stays until another takes its place. */
static void say_owner(struct lbx_case *c, const struct freed *s, struct lbx_diagnosed *f)
{
	char label[LBX_DESCRIPTION_MAX], where[512];
	struct lbx_tensor t;
	bool clean = lb_ok();

	if (!s->tensor)
		return;
	if (lbx_freed_find(c->context, lbx_table_tensors(c->table), s->tensor, &t)) {
		lbx_describe(&t, label, sizeof label);
		lbx_describe_pc(c->context->target, t.site, where, sizeof where);
		LBX_SAY(f->evidence, ", allocated for %s, made by %s in %s", label, t.op, where);
	} else {
		LBX_SAY(f->evidence, ", allocated for tensor #%" PRIu64, s->tensor);
	}
	if (clean)
		lb_clear_error();
}

/* Who gave it back, and how long before the end. */
static void say_end(struct lbx_case *c, const struct freed *s, struct lbx_diagnosed *f)
{
	char where[512];

	LBX_SAY(f->evidence, "; thread %" PRIu32 " gave it back to the system", s->thread);
	if (s->site) {
		lbx_describe_pc(c->context->target, s->site, where, sizeof where);
		LBX_SAY(f->evidence, " in %s", where);
	}
	if (s->newest_ns > s->time_ns)
		LBX_SAY(f->evidence, ", %.6f s before the last event", (double)(s->newest_ns - s->time_ns) / 1e9);
	LBX_SAY(f->evidence, ".");
}

static bool tell_freed(struct lbx_case *c, const struct freed *s)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.98);
	uint64_t into = c->death.address - s->start;
	char bytes[32];

	if (!f)
		return lb_ok();
	lbx_format_bytes((int64_t)s->bytes, bytes, sizeof bytes);
	LBX_SAY(f->title, "use after free: 0x%" PRIx64 " is byte %" PRIu64 " of what was buffer %" PRIu64,
		c->death.address, into, s->buffer);
	LBX_SAY(f->evidence, "It was %s at 0x%" PRIx64, bytes, s->start);
	say_owner(c, s, f);
	say_end(c, s, f);
	say_pointers(c, s, f);
	lbx_diagnosed_frame(f, lbx_case_own_frame(c));
	LBX_SAY(f->advice, "A raw pointer lasts as long as its tensor: lb_keep() it while the pointer is used.");
	return lb_ok();
}

/* The program's own frame; of a thread of the runtime's, the call that asked for what it computes. */
static void tell_place(struct lbx_case *c, struct lbx_diagnosed *f)
{
	const struct lbx_frame_view *own = lbx_case_own_frame(c);
	struct lbx_thread thread;
	uint64_t slot = 0;

	lbx_diagnosed_frame(f, own);
	while (!own && lbx_table_thread(c->table, &slot, &thread))
		if (thread.tid == c->death.tid && thread.eval)
			f->pc = thread.site;
}

/* Memory that the program has lent to a tensor, and taken away, or closed (mprotect(2)), too early. */
static bool tell_lent(struct lbx_case *c, const struct lbx_place *place)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.97);
	char label[LBX_DESCRIPTION_MAX];

	if (!f)
		return lb_ok();
	lbx_describe(&place->tensor, label, sizeof label);
	LBX_SAY(f->title, "the memory that a tensor was made over %s: %s",
		c->death.signal == SIGBUS      ? "is of a file that ends before it"
		: c->death.code == SEGV_ACCERR ? "lets nobody read it"
					       : "is not there",
		label);
	LBX_SAY(f->evidence, "0x%" PRIx64 " is byte %" PRIu64 " of its buffer, memory of the program's own.",
		c->death.address, place->distance);
	struct lbx_key key = lbx_tensor_key(&place->tensor);
	lbx_diagnosed_tensor(f, &key);
	tell_place(c, f);
	LBX_SAY(f->advice, "%s",
		c->death.signal == SIGBUS
		    ? "A file that is mapped must not become shorter: write a new one, and rename it."
		    : "Free it in the function that lb_from_memory() takes for that: it is called "
		      "when no tensor needs the memory any more.");
	return lb_ok();
}

/* Of a file that ends too early the core may hold zeros. */
static bool is_gone(const struct lbx_case *c)
{
	bool is_cut = c->death.signal == SIGBUS && c->death.code == BUS_ADRERR;
	char byte;

	return c->has_death && c->death.has_address &&
	       (is_cut ||
		(c->death.signal == SIGSEGV && !lbx_target_try_read(c->context->target, c->death.address, &byte, 1)));
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct freed *s = state;
	struct lbx_places *places;
	struct lbx_place place;

	if (!is_gone(c))
		return true;
	if (!lbx_places_create(c->context, &places))
		return false;
	lbx_places_find(places, c->death.address, &place);
	lbx_places_destroy(places);
	if (place.kind == LBX_PLACE_DATA && place.buffer.flags & LB_BUFFER_FOREIGN)
		return tell_lent(c, &place);
	return place.kind != LBX_PLACE_NOTHING || !s->is_freed || tell_freed(c, s);
}

const struct lbx_rule lbx_rule_use_after_free = {
	.id = "F8",
	.name = "use-after-free",
	.title = "a touch of a tensor's memory that has been given back",
	.sees = LBX_SEES_DEATH | LBX_SEES_EVENTS,
	.meaning =
	    "A raw pointer was used when its tensor, and so its memory, was gone; or the program has freed what it had\n"
	    "lent to a tensor. Small memory is kept for reuse: there such a pointer shows another tensor's values.",
	.example = "LB_SCOPE {\n"
		   "\trow = lb_data(lb_exp(x));\n"
		   "}\n"
		   "sum += row[0];     /* its tensor is gone */",
	.demands =
	    "It died of SIGSEGV at an address that nobody can read, and the flight recorder has the end of a buffer that\n"
	    "held it, and no later one there; or at one of a living tensor over memory of the program's own, also of SIGBUS,\n"
	    "where a mapped file ends.",
	.cure = "lb_keep() for what outlives its scope; memory that is lent is freed by the function given with it.",
	.state = sizeof(struct freed),
	.event = happen,
	.conclude = conclude,
};
