#include "inspect/operand/places.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/tensor/describe.h"

enum { MAX_CANDIDATES = 256 }; /* buffers that hold one address, and tensors over one of them */

/* A tensor, by the buffer it lies in. */
struct use {
	uint64_t data;
	struct lbx_key tensor;
};

struct lbx_places {
	struct lbx_context *context;
	struct lbx_tensors *tensors;
	bool has_buffers, has_uses, has_failed;
	struct lbx_buffer *buffers; /* by address; they may overlap, where memory is given out again and again */
	size_t *furthest;           /* of each, which ends last of it and those before it */
	uint64_t *ends; /* where the last one ends of a half, of its halves …: that of [a, b) at (a + b) / 2 */
	size_t n_buffers, buffers_room;
	struct use *uses; /* by address of the buffer, then as tensors are told apart */
	size_t n_uses, uses_room;
};

static int by_use(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	if (x->data != y->data)
		return x->data < y->data ? -1 : 1;
	if (x->tensor.address != y->tensor.address)
		return x->tensor.address < y->tensor.address ? -1 : 1;
	return x->tensor.id < y->tensor.id ? -1 : x->tensor.id > y->tensor.id;
}

static uint64_t end_of(const struct lbx_buffer *b)
{
	return b->data + (uint64_t)(b->capacity > 0 ? b->capacity : 0);
}

/* An address, and what is there. */
struct order {
	uint64_t address;
	size_t i;
};

/* By addresses, where several are the same as they were before; those of a heap have few digits that differ. */
static void sort_by_address(struct order *list, struct order *spare, size_t n)
{
	enum { BITS = 11, DIGITS = 1 << BITS };
	static const uint64_t digit = DIGITS - 1;
	uint64_t differing = 0;
	struct order *own = list;

	for (size_t i = 1; i < n; i++)
		differing |= list[i].address ^ list[0].address;
	for (int shift = 0; shift < 64; shift += BITS) {
		size_t places[DIGITS] = { 0 }, place = 0;
		if (!(differing >> shift & digit))
			continue;
		for (size_t i = 0; i < n; i++)
			places[list[i].address >> shift & digit]++;
		for (int k = 0; k < DIGITS; k++) {
			size_t here = places[k];
			places[k] = place;
			place += here;
		}
		for (size_t i = 0; i < n; i++)
			spare[places[list[i].address >> shift & digit]++] = list[i];
		struct order *sorted = spare;
		spare = list;
		list = sorted;
	}
	if (list != own)
		memcpy(own, list, n * sizeof *own);
}

/* Puts in the place of each thing the one that `order` has there, along each circle of such. In place: pages that nobody has
 * touched before cost as much as the sorting. */
static void put_in_order(char *list, size_t size, struct order *order, size_t n)
{
	char first[sizeof(struct lbx_buffer) > sizeof(struct use) ? sizeof(struct lbx_buffer) : sizeof(struct use)];

	for (size_t i = 0; i < n; i++) {
		size_t to = i, from = order[i].i;
		if (from == i)
			continue;
		memcpy(first, list + i * size, size);
		for (; from != i; to = from, from = order[to].i) {
			memcpy(list + to * size, list + from * size, size);
			order[to].i = to;
		}
		memcpy(list + to * size, first, size);
		order[to].i = to;
	}
}

/* Sorts things that begin at `address` within each by that. Most programs give memory out in order: then there is nothing to
 * do. */
static bool sort(void *list, size_t n, size_t size, size_t address)
{
	struct order *order;
	bool sorted = true;
	uint64_t before = 0, now;

	for (size_t i = 0; i < n; before = now, i++) {
		memcpy(&now, (char *)list + i * size + address, sizeof now);
		sorted = sorted && before <= now;
	}
	if (sorted)
		return true;
	if (!(order = malloc(2 * n * sizeof *order)))
		return lb_fail("out of memory for an index of %zu addresses", n);
	for (size_t i = 0; i < n; i++) {
		memcpy(&order[i].address, (char *)list + i * size + address, sizeof order[i].address);
		order[i].i = i;
	}
	sort_by_address(order, order + n, n);
	put_in_order(list, size, order, n);
	free(order);
	return true;
}

/* What is over one buffer stands together; that, as tensors are told apart. */
static void sort_each(struct use *uses, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && uses[end].data == uses[i].data; end++)
			;
		if (end - i > 1)
			qsort(uses + i, end - i, sizeof *uses, by_use);
	}
}

static uint64_t find_ends(struct lbx_places *p, size_t begin, size_t end)
{
	size_t middle = (begin + end) / 2;

	if (begin == end)
		return 0;
	uint64_t before = find_ends(p, begin, middle), after = find_ends(p, middle + 1, end);
	uint64_t last = before > after ? before : after, own = end_of(&p->buffers[middle]);
	return p->ends[middle] = own > last ? own : last;
}

static bool sort_buffers(struct lbx_places *p)
{
	p->furthest = calloc(p->n_buffers + 1, sizeof *p->furthest);
	p->ends = calloc(p->n_buffers + 1, sizeof *p->ends);
	if (!p->furthest || !p->ends)
		return lb_fail("out of memory for an index of %zu buffers", p->n_buffers);
	bool sorted = sort(p->buffers, p->n_buffers, sizeof *p->buffers, offsetof(struct lbx_buffer, data));
	for (size_t i = 1; i < p->n_buffers; i++) {
		size_t before = p->furthest[i - 1];
		p->furthest[i] = end_of(&p->buffers[before]) > end_of(&p->buffers[i]) ? before : i;
	}
	find_ends(p, 0, p->n_buffers);
	return sorted;
}

static bool collect_buffers(struct lbx_places *p)
{
	struct lbx_context *context = p->context;
	struct lbx_buffer buffer;
	uint64_t slot = 0;

	while (lbx_tensors_next_buffer(p->tensors, &slot, &buffer)) {
		if (!lb_reserve(p->buffers, p->buffers_room, p->n_buffers + 1))
			return lb_fail("out of memory for an index of %zu buffers", p->n_buffers);
		p->buffers[p->n_buffers++] = buffer;
		if (p->n_buffers % 8192 == 0 &&
		    !lbx_progress(context->out, "indexing buffers", (int64_t)p->n_buffers, 0))
			return false;
	}
	if (context->kept && p->n_buffers >= LBX_MANY_TENSORS)
		context->kept->has_many_tensors = true;
	return sort_buffers(p);
}

static bool collect_uses(struct lbx_places *p)
{
	struct lbx_context *context = p->context;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	enum lbx_next next;

	while ((next = lbx_tensors_next(p->tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (t.data == 0 || !lbx_tensor_lies_there(&t))
			continue;
		if (!lb_reserve(p->uses, p->uses_room, p->n_uses + 1))
			return lb_fail("out of memory for an index of %zu tensors", p->n_uses);
		p->uses[p->n_uses++] = (struct use){ t.data, lbx_tensor_key(&t) };
		if (p->n_uses % 8192 == 0 && !lbx_progress(context->out, "indexing tensors", (int64_t)p->n_uses, 0))
			return false;
	}
	if (context->kept)
		context->kept->has_many_tensors = p->n_uses >= LBX_MANY_TENSORS;
	bool sorted = sort(p->uses, p->n_uses, sizeof *p->uses, offsetof(struct use, data));
	sort_each(p->uses, p->n_uses);
	return sorted && next == LBX_NEXT_END;
}

bool lbx_places_expect(struct lbx_context *context, struct lbx_places **ret)
{
	struct lbx_places *p = calloc(1, sizeof *p);

	if (!p)
		return lb_fail("out of memory");
	p->context = context;
	if (!lbx_context_tensors(context, &p->tensors)) {
		lbx_places_destroy(p);
		return false;
	}
	*ret = p;
	return true;
}

/* Collects, when it is first needed; what fails then, does so once. For a command that will run again a walk over many is
 * not worth it. */
static bool is_ready(struct lbx_places *p, bool *has, bool (*collect)(struct lbx_places *p))
{
	const struct lbx_kept *kept = p->context->kept;

	if (!*has && !p->has_failed && kept && kept->has_many_tensors && lbx_target_waits(p->context->target))
		return false;
	if (!*has && !p->has_failed)
		p->has_failed = !collect(p);
	*has = true;
	return !p->has_failed;
}

bool lbx_places_create(struct lbx_context *context, struct lbx_places **ret)
{
	if (!lbx_places_expect(context, ret))
		return false;
	(*ret)->has_buffers = (*ret)->has_uses = true;
	if (collect_buffers(*ret) && collect_uses(*ret))
		return true;
	lbx_places_destroy(*ret);
	*ret = NULL;
	return false;
}

bool lbx_places_have_failed(const struct lbx_places *places)
{
	return places->has_failed;
}

void lbx_places_destroy(struct lbx_places *places)
{
	if (!places)
		return;
	free(places->buffers);
	free(places->furthest);
	free(places->ends);
	free(places->uses);
	free(places);
}

/* How many buffers begin at or before an address. */
static size_t count_up_to(const struct lbx_places *p, uint64_t address)
{
	size_t low = 0, high = p->n_buffers;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (p->buffers[middle].data <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lbx_places_before(const struct lbx_places *places, uint64_t address, struct lbx_buffer *ret)
{
	size_t n = count_up_to(places, address);

	if (n == 0)
		return false;
	*ret = places->buffers[places->furthest[n - 1]];
	return true;
}

bool lbx_places_after(const struct lbx_places *places, uint64_t address, struct lbx_buffer *ret)
{
	size_t n = count_up_to(places, address);

	if (n == places->n_buffers)
		return false;
	*ret = places->buffers[n];
	return true;
}

bool lbx_places_tensor(struct lbx_places *places, const struct lbx_buffer *buffer, size_t *i, struct lbx_tensor *ret)
{
	size_t low = 0, high = places->n_uses;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (places->uses[middle].data < buffer->data)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + *i < places->n_uses && places->uses[low + *i].data == buffer->data) {
		if (lbx_tensor_by_key(&places->uses[low + (*i)++].tensor, ret))
			return true;
		lb_clear_error();
	}
	return false;
}

/* The best is one that begins there; of several, one whose value was asked for; with a name. */
static int score(const struct lbx_tensor *t, uint64_t address)
{
	return 4 * (lbx_tensor_data(t) == address) + 2 * !(t->flags & LB_FLAG_UNASKED) + (t->name[0] != '\0');
}

/* A look for what is at an address. */
struct look {
	struct lbx_places *places;
	uint64_t address;
	size_t buffers; /* that hold it, so far */
	int best;
	struct lbx_place *place;
};

/* Takes the best tensor over a buffer, if it is better than that of another one. Most addresses lie in no buffer: then nobody
 * goes through the tensors. */
static void look_at(struct look *look, const struct lbx_buffer *buffer)
{
	struct lbx_place *place = look->place;
	struct lbx_tensor t;

	if (!is_ready(look->places, &look->places->has_uses, collect_uses))
		return;
	if (place->kind == LBX_PLACE_NOTHING) {
		place->kind = LBX_PLACE_BUFFER;
		place->buffer = *buffer;
	}
	for (size_t i = 0; i < MAX_CANDIDATES && lbx_places_tensor(look->places, buffer, &i, &t);) {
		if (t.size == 0 || !lbx_tensor_in_bounds(&t) || score(&t, look->address) <= look->best)
			continue;
		look->best = score(&t, look->address);
		place->kind = LBX_PLACE_DATA;
		place->buffer = *buffer;
		place->tensor = t;
		place->is_start = lbx_tensor_data(&t) == look->address;
	}
}

/* The buffers of [begin, end) that end behind the address, those that begin last first. */
static void look_through(struct look *look, size_t begin, size_t end)
{
	const struct lbx_places *p = look->places;
	size_t middle = (begin + end) / 2;

	if (begin == end || p->ends[middle] <= look->address || look->buffers == MAX_CANDIDATES)
		return;
	if (p->buffers[middle].data <= look->address)
		look_through(look, middle + 1, end);
	if (p->buffers[middle].data <= look->address && end_of(&p->buffers[middle]) > look->address &&
	    look->buffers < MAX_CANDIDATES) {
		look->buffers++;
		look_at(look, &p->buffers[middle]);
	}
	look_through(look, begin, middle);
}

void lbx_places_find(struct lbx_places *places, uint64_t address, struct lbx_place *ret)
{
	struct look look = { .places = places, .address = address, .best = -1, .place = ret };

	*ret = (struct lbx_place){ .kind = LBX_PLACE_NOTHING };
	if (places->has_failed)
		return; /* and the error says why */
	if (lbx_tensors_record_at(places->tensors, address, &ret->tensor)) {
		ret->kind = LBX_PLACE_RECORD;
		ret->distance = address - ret->tensor.address;
		return;
	}
	lb_clear_error();
	if (!address || !is_ready(places, &places->has_buffers, collect_buffers))
		return;
	look_through(&look, 0, places->n_buffers);
	ret->distance = ret->kind == LBX_PLACE_NOTHING ? 0 : address - ret->buffer.data;
}
