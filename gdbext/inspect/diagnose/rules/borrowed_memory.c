/* Tensors that lb_from_memory() made over memory that the runtime gave to another, which may be gone by now. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { PLACE = 1 << 13 };

struct buffers {
	size_t n, room;
	struct lbx_buffer *list;
};

/* The runtime's own do not overlap. */
struct memory {
	struct buffers borrowers, owners;
};

static bool overlap(const struct lbx_buffer *a, const struct lbx_buffer *b)
{
	return a->data < b->data + (uint64_t)b->capacity && b->data < a->data + (uint64_t)a->capacity;
}

/* Numbers of tensors grow within a thread: a later one has been given what the borrower's memory was once. */
static bool is_lost(const struct lbx_tensor *borrower, const struct lbx_buffer *owner, const struct lbx_tensor *other)
{
	return owner->flags & LB_BUFFER_CACHED ||
	       (other && other->thread == borrower->thread && other->id > borrower->id);
}

static bool tell(struct lbx_case *c, const struct lbx_buffer *from, const struct lbx_buffer *owner)
{
	const struct lbx_key key = { .of = from->of, .id = from->tensor };
	char who[LBX_DESCRIPTION_MAX], whose[LBX_DESCRIPTION_MAX] = "a tensor that is gone", bytes[32];
	struct lbx_tensor t, other;
	bool clean = lb_ok(), has_other = lbx_tensors_by_id(owner->of, owner->tensor, &other);

	if (clean)
		lb_clear_error();
	if (!lbx_tensor_by_key(&key, &t)) {
		lb_clear_error();
		return true;
	}
	bool lost = is_lost(&t, owner, has_other ? &other : NULL);
	if (!lost && from->has_release)
		return true; /* that may let go of the owner */
	struct lbx_diagnosed *f = lbx_case_found_of(c, lost ? LBX_HIGH : LBX_LOW, lost ? 0.95 : 0.6, &key, &t);
	if (!f)
		return lb_ok();
	if (has_other && !(owner->flags & LB_BUFFER_CACHED)) {
		const struct lbx_key others = lbx_tensor_key(&other);
		lbx_describe(&other, whose, sizeof whose);
		lbx_diagnosed_tensor(f, &others);
	}
	lbx_describe(&t, who, sizeof who);
	lbx_format_bytes(from->nbytes, bytes, sizeof bytes);
	LBX_SAY(f->title, lost ? "%s has lost the memory that it was made over" : "%s lies in another tensor's memory",
		t.name[0] ? t.name : who);
	LBX_SAY(f->evidence, "lb_from_memory() made %s over %s at 0x%" PRIx64 ", which %s memory of %s.", who, bytes,
		from->data, lost && has_other ? "is now" : "is", whose);
	LBX_SAY(f->advice,
		"A view of the tensor itself (lb_slice, lb_reshape) keeps its memory; else lb_keep() the tensor, and "
		"lb_release() it in the function that lb_from_memory() takes for that.");
	return lb_ok();
}

static bool collect(struct lbx_case *c, bool foreign, struct buffers *ret)
{
	struct lbx_buffer b;
	uint64_t slot = 0, seen = 0;

	while (lbx_tensors_next_buffer(c->tensors, &slot, &b)) {
		if (++seen % PLACE == 0 && !lbx_progress(c->context->out, "looking at buffers", (int64_t)seen, 0))
			return false;
		if (b.capacity <= 0 || !(b.flags & LB_BUFFER_FOREIGN) == foreign)
			continue;
		if (!lb_reserve(ret->list, ret->room, ret->n + 1))
			return lb_fail("out of memory for %zu buffers", ret->n);
		ret->list[ret->n++] = b;
	}
	return lb_ok();
}

static int by_address(const void *a, const void *b)
{
	const struct lbx_buffer *x = a, *y = b;

	return (x->data > y->data) - (x->data < y->data);
}

/* NULL: it is nobody's. */
static const struct lbx_buffer *owner_of(const struct lbx_buffer *borrower, const struct buffers *owners)
{
	size_t low = 0, high = owners->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (owners->list[middle].data <= borrower->data)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low ? low - 1 : 0; i < owners->n && i <= low; i++)
		if (owners->list[i].of == borrower->of && overlap(borrower, &owners->list[i]))
			return &owners->list[i];
	return NULL;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct memory *s = state;

	if (!collect(c, true, &s->borrowers) || (s->borrowers.n && !collect(c, false, &s->owners)))
		return false;
	if (s->owners.n)
		qsort(s->owners.list, s->owners.n, sizeof *s->owners.list, by_address);
	for (size_t i = 0; i < s->borrowers.n; i++) {
		const struct lbx_buffer *owner = owner_of(&s->borrowers.list[i], &s->owners);
		if (owner && !tell(c, &s->borrowers.list[i], owner))
			return false;
	}
	return lb_ok();
}

static void deinit(void *state)
{
	struct memory *s = state;

	free(s->borrowers.list);
	free(s->owners.list);
}

const struct lbx_rule lbx_rule_borrowed_memory = {
	.id = "F13",
	.name = "borrowed-memory",
	.title = "a tensor made over another's memory",
	.sees = LBX_SEES_TENSORS | LBX_SEES_RUNTIME,
	.meaning =
	    "lb_from_memory() uses memory in place, and knows nothing of a tensor that this belongs to. When that goes, the\n"
	    "next one gets its memory, and the values change without a word.",
	.example = "lb_tensor *row = lb_from_memory((void *)lb_data(x), n, shape, LB_F32, NULL, NULL);\n"
		   "lb_release(x);                 /* row has what comes next */",
	.demands =
	    "Memory of lb_from_memory()'s that lies in a buffer of the runtime's. High where that is in the cache, or was\n"
	    "given to a tensor that was made later; low while the first still has it, and no function takes it back.",
	.cure = "A view of the tensor (lb_slice(), lb_reshape()) shares its memory and keeps it.",
	.state = sizeof(struct memory),
	.conclude = conclude,
	.deinit = deinit,
};
