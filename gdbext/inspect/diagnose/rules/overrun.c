/* A write, or read, beside a tensor's memory. glibc's malloc has a header in front of each allocation (struct malloc_chunk of
 * its malloc: the size of the one before it, then its own with three bits of flags): what a tensor wrote past its end is there. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/places.h"
#include "inspect/tensor/describe.h"

enum {
	PAGE = 4096,
	NEAR_STACK = 1 << 16,
	REACH = 1 << 20, /* bytes beside a buffer that a loop can go through before it is stopped */
	BUFFERS_MOST = 1 << 20,
	SOUND_LEAST = 8, /* headers that are sound, for one that is not */
	WORD = 8,
	HEADER = 2 * WORD,
	SLACK = 64, /* more than what was asked for that an allocation may have */
	PREVIOUS_USED = 1,
	MAPPED = 2,
	FLAGS = 7,
};

static void describe_buffer(struct lbx_case *c, const struct lbx_buffer *b, struct lbx_diagnosed *f, char *ret,
			    size_t size)
{
	struct lbx_tensor t;
	bool clean = lb_ok();

	snprintf(ret, size, "buffer %" PRIu64, b->id);
	if (lbx_tensors_by_id(lbx_table_tensors(c->table), b->tensor, &t)) {
		struct lbx_key key = lbx_tensor_key(&t);
		lbx_describe(&t, ret, size);
		lbx_diagnosed_tensor(f, &key);
	}
	if (clean)
		lb_clear_error();
}

/* ---- the fault ---- */

/* Whether memory there lets be done what the program died of: where it is there, but not for that, it was a write. */
static bool may_touch(struct lbx_case *c, uint64_t at)
{
	struct lbx_range range;
	char byte;

	if (!lbx_target_try_read(c->context->target, at, &byte, 1))
		return false;
	return c->death.signal != SIGSEGV || c->death.code != SEGV_ACCERR ||
	       (lbx_target_range(c->context->target, at, &range) && at >= range.start);
}

/* Whether all from `from` on, up to the page of `to`, may be touched, and that page not: a loop is stopped there first. */
static bool is_first_stop(struct lbx_case *c, uint64_t from, uint64_t to)
{
	uint64_t page = to & ~(uint64_t)(PAGE - 1);

	for (uint64_t at = from; at < page; at = (at & ~(uint64_t)(PAGE - 1)) + PAGE)
		if (!may_touch(c, at))
			return false;
	return !may_touch(c, to);
}

static bool tell_fault(struct lbx_case *c, const struct lbx_buffer *b, uint64_t bytes, bool is_behind)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.97);
	char label[LBX_DESCRIPTION_MAX];

	if (!f)
		return lb_ok();
	describe_buffer(c, b, f, label, sizeof label);
	if (bytes)
		LBX_SAY(f->title, "memory was touched %" PRIu64 " byte%s %s of %s", bytes, LB_S(bytes),
			is_behind ? "past the end" : "before the beginning", label);
	else
		LBX_SAY(f->title, "memory was touched just past the end of %s", label);
	LBX_SAY(f->evidence,
		"0x%" PRIx64 " is where the memory %s buffer %" PRIu64 " (%" PRId64 " bytes at 0x%" PRIx64 ") ends.",
		c->death.address, is_behind ? "behind" : "before", b->id, b->nbytes, b->data);
	lbx_diagnosed_frame(f, lbx_case_own_frame(c));
	LBX_SAY(f->advice, "Compare how far the loop goes with the tensor's shape and strides (`info`).");
	return lb_ok();
}

/* Beside a stack lies what nobody can touch, too: it is full then (full_stack.c). */
static bool is_of_stack(struct lbx_case *c)
{
	const struct lbx_thread_view *stack = lbx_case_stack(c);
	uint64_t sp;

	return stack && stack->n && lbx_stack_pointer(&stack->frames[0].frame.registers, &sp) &&
	       c->death.address + NEAR_STACK > sp && c->death.address < sp + NEAR_STACK;
}

static bool find_fault(struct lbx_case *c, struct lbx_places *places)
{
	uint64_t at = c->death.address, end;
	struct lbx_place place;
	struct lbx_buffer b;

	lbx_places_find(places, at, &place);
	if (place.kind != LBX_PLACE_NOTHING)
		return true;
	if (lbx_places_before(places, at, &b) && b.nbytes > 0) {
		end = b.data + (uint64_t)b.nbytes;
		if (at - end < REACH && is_first_stop(c, end - 1, at))
			return tell_fault(c, &b, at - end, true);
	}
	if (lbx_places_after(places, at, &b) && b.data - at <= PAGE && !may_touch(c, at) && may_touch(c, b.data))
		return tell_fault(c, &b, b.data - at, false);
	return true;
}

static bool look_at_fault(struct lbx_case *c)
{
	struct lbx_places *places;

	if (!c->has_death || !c->death.has_address || (c->death.signal != SIGSEGV && c->death.signal != SIGBUS) ||
	    is_of_stack(c))
		return true;
	if (!lbx_places_create(c->context, &places))
		return false;
	bool done = find_fault(c, places);
	lbx_places_destroy(places);
	return done;
}

/* ---- malloc's headers ---- */

enum header { SOUND, BAD_OWN, BAD_NEXT, UNKNOWN };

static bool is_size(struct lbx_case *c, uint64_t chunk, uint64_t word)
{
	uint64_t size = word & ~(uint64_t)FLAGS, end;
	char byte;

	return size >= HEADER && size % HEADER == 0 && word & PREVIOUS_USED &&
	       !__builtin_add_overflow(chunk, size, &end) && lbx_target_try_read(c->context->target, end - 1, &byte, 1);
}

/* One that malloc() has mapped by itself: in front of it lies what aligns it, and with that it fills whole pages. */
static bool is_mapped(struct lbx_case *c, uint64_t chunk, uint64_t word)
{
	uint64_t before, size = word & ~(uint64_t)FLAGS;

	return (word & FLAGS) == MAPPED && lbx_target_try_read(c->context->target, chunk, &before, sizeof before) &&
	       before <= chunk && (chunk - before) % PAGE == 0 && (before + size) % PAGE == 0;
}

/* *ret: where the size is that is bad, and what stands there. */
static enum header look_at_header(struct lbx_case *c, const struct lbx_buffer *b, uint64_t *ret_at, uint64_t *ret_word)
{
	struct lbx_target *target = c->context->target;
	uint64_t chunk = b->data - HEADER, size;

	*ret_at = chunk + WORD;
	if (b->data < HEADER || b->capacity <= 0 || !lbx_target_try_read(target, *ret_at, ret_word, sizeof *ret_word))
		return UNKNOWN;
	size = *ret_word & ~(uint64_t)FLAGS;
	if (size % HEADER == 0 && size >= (uint64_t)b->capacity + HEADER && is_mapped(c, chunk, *ret_word))
		return UNKNOWN; /* nothing is known of what lies behind it */
	if (*ret_word & MAPPED || size % HEADER || size < (uint64_t)b->capacity + WORD ||
	    size > (uint64_t)b->capacity + WORD + SLACK)
		return BAD_OWN;
	*ret_at = chunk + size + WORD;
	if (!lbx_target_try_read(target, *ret_at, ret_word, sizeof *ret_word))
		return UNKNOWN;
	return is_size(c, chunk + size, *ret_word) ? SOUND : BAD_NEXT;
}

static bool tell_header(struct lbx_case *c, const struct lbx_buffer *b, bool is_behind, uint64_t at, uint64_t word)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.9);
	char label[LBX_DESCRIPTION_MAX];

	if (!f)
		return lb_ok();
	describe_buffer(c, b, f, label, sizeof label);
	LBX_SAY(f->title, is_behind ? "%s was written past its end" : "something has written into what lies before %s",
		label);
	LBX_SAY(f->evidence,
		"0x%016" PRIx64 " stands at 0x%" PRIx64
		", where malloc() keeps the size of the allocation %s buffer %" PRIu64 " (%" PRId64
		" bytes at 0x%" PRIx64 ").",
		word, at, is_behind ? "behind" : "of", b->id, b->nbytes, b->data);
	LBX_SAY(f->cost, "the next malloc() or free() beside it ends the program, or worse, does not");
	LBX_SAY(f->advice,
		"Who writes to it by a raw pointer goes too far: compare its loops with the tensor's shape (`info`).");
	return lb_ok();
}

/* A header that is bad among sound ones has been written over; where most are, it is another malloc(). */
static bool look_at_headers(struct lbx_case *c)
{
	struct lbx_tensors *tensors = lbx_table_tensors(c->table);
	uint64_t slot, at, word, n[UNKNOWN + 1] = { 0 };
	struct lbx_buffer b;

	for (int pass = 0; pass < 2; pass++) {
		slot = 0;
		for (int i = 0; i < BUFFERS_MOST && lbx_tensors_next_buffer(tensors, &slot, &b); i++) {
			if (b.flags & (LB_BUFFER_FOREIGN | LB_BUFFER_MAPPED | LB_BUFFER_CONTENT))
				continue;
			enum header header = look_at_header(c, &b, &at, &word);
			if (pass == 0)
				n[header]++;
			else if ((header == BAD_NEXT || (header == BAD_OWN && n[SOUND] >= SOUND_LEAST * n[BAD_OWN])) &&
				 !tell_header(c, &b, header == BAD_NEXT, at, word))
				return false;
		}
	}
	return lb_ok();
}

/* ---- the runtime's own guards ---- */

static bool tell_guard(struct lbx_case *c, const struct lbx_buffer *b, int first, int last)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.98);
	char label[LBX_DESCRIPTION_MAX];

	if (!f)
		return lb_ok();
	describe_buffer(c, b, f, label, sizeof label);
	LBX_SAY(f->title, "%s was written past its end", label);
	LBX_SAY(f->evidence,
		"Bytes %d to %d behind buffer %" PRIu64 " (%" PRId64 " bytes at 0x%" PRIx64
		") are not what the runtime has put there (LAZYBONES_GUARD).",
		first, last, b->id, b->nbytes, b->data);
	LBX_SAY(f->cost, "without the guard it is another tensor's memory, or malloc()'s");
	LBX_SAY(f->advice,
		"Who writes to it by a raw pointer goes too far: compare its loops with the tensor's shape (`info`).");
	return lb_ok();
}

static bool look_at_guards(struct lbx_case *c)
{
	struct lbx_tensors *tensors = lbx_table_tensors(c->table);
	unsigned char guard[LB_GUARD_BYTES];
	struct lbx_buffer b;
	uint64_t slot = 0;

	for (int i = 0; i < BUFFERS_MOST && lbx_tensors_next_buffer(tensors, &slot, &b); i++) {
		int first = 0, last = LB_GUARD_BYTES;
		if (!(b.flags & LB_BUFFER_GUARDED) || b.nbytes < 0 || b.capacity - b.nbytes < LB_GUARD_BYTES ||
		    !lbx_target_try_read(c->context->target, b.data + (uint64_t)b.nbytes, guard, sizeof guard))
			continue;
		while (first < LB_GUARD_BYTES && guard[first] == LB_GUARD_BYTE)
			first++;
		while (last > first && guard[last - 1] == LB_GUARD_BYTE)
			last--;
		if (last > first && !tell_guard(c, &b, first, last - 1))
			return false;
	}
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	(void)state;
	if (!look_at_guards(c))
		return false;
	/* a program that runs allocates meanwhile */
	return look_at_fault(c) && (lbx_target_runs(c->context->target) || look_at_headers(c));
}

const struct lbx_rule lbx_rule_overrun = {
	.id = "F9",
	.name = "overrun",
	.title = "a touch beside a tensor's memory",
	.sees = LBX_SEES_RUNTIME,
	.meaning =
	    "A loop over a raw pointer went further than its tensor. It is stopped where memory ends; before that it\n"
	    "writes over what lies there: other tensors, and what malloc() keeps.",
	.example = "float *row = lb_data(x);              /* (8, 10) */\n"
		   "for (int i = 0; i <= 80; i++)\n"
		   "\trow[i] = 0;",
	.demands =
	    "It died where the memory behind a buffer ends, within 1 MiB, or in the page before its beginning; or, where it\n"
	    "stands still, glibc's header behind a buffer has no size of an allocation, though the buffer's own has; or that\n"
	    "has none, among eight times as many that have. With LAZYBONES_GUARD=1 the runtime puts 64 bytes behind each\n"
	    "buffer, of which one was written: that is seen in a program that runs, too.",
	.cure = "Take bounds from the tensor (lb_size(), lb_shape()); LAZYBONES_GUARD=1 says which buffer, and\n"
		"-fsanitize=address finds the write itself.",
	.conclude = conclude,
};
