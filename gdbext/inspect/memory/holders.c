#include "inspect/memory/holders.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/figures.h"
#include "inspect/memory/holdings.h"
#include "tensors/held.h"
#include "tensors/tensors.h"

enum { PLACE = 1 << 13, PINNED_MIN = 1 << 20, PINNED_PART = 16, UNNAMED_MIN = 16 << 20, UNNAMED_PART = 100 };

static void note(struct lbx_held_by *list, uint64_t *n, const struct lbx_tensor *t)
{
	uint64_t i = (*n)++;

	if (i >= LBX_HOLDERS_NAMED)
		return;
	list[i] = (struct lbx_held_by){ .of = t->of, .id = t->id, .is_view = t->op_class == LB_CLASS_VIEW };
	snprintf(list[i].name, sizeof list[i].name, "%s", t->name);
}

static bool find_largest(struct lbx_context *context, int max, struct lbx_holder *ret, int *ret_n)
{
	struct lbx_buffer b;
	uint64_t slot = 0, seen = 0;
	int n = 0;

	while (lbx_tensors_next_buffer(context->tensors, &slot, &b)) {
		int64_t bytes = b.capacity ? b.capacity : b.nbytes;
		int at = n;
		if (++seen % PLACE == 0 && !lbx_progress(context->out, "looking at buffers", (int64_t)seen, 0))
			return false;
		if (b.flags & LB_BUFFER_CACHED || bytes <= 0)
			continue;
		while (at > 0 && ret[at - 1].bytes < bytes)
			at--;
		if (at == max)
			continue;
		n += n < max;
		memmove(ret + at + 1, ret + at, (size_t)(n - 1 - at) * sizeof *ret);
		memset(&ret[at], 0, sizeof ret[at]);
		ret[at].buffer = b;
		ret[at].bytes = bytes;
	}
	*ret_n = n;
	return lb_ok();
}

static void note_tensor(const struct lbx_tensor *t, struct lbx_holder *list, int n)
{
	for (int i = 0; i < n; i++) {
		struct lbx_holder *h = &list[i];
		if (h->buffer.id != t->buffer_id || h->buffer.of != t->of)
			continue;
		if (h->site == 0 || t->id == h->buffer.tensor)
			h->site = t->site;
		h->scope |= t->scope_refs > 0;
		h->covered = lbx_capped_sum(h->covered, lbx_tensor_nbytes(t));
		if (t->name[0])
			h->named = lbx_capped_sum(h->named, lbx_tensor_nbytes(t));
		note(h->tensors, &h->n_tensors, t);
	}
}

static bool is_over(const struct lbx_holder *h, const struct lbx_tensors *of, uint64_t id)
{
	for (int m = 0; m < LBX_HOLDERS_NAMED && h->tensors[m].id; m++)
		if (id == h->tensors[m].id && of == h->tensors[m].of)
			return true;
	return false;
}

static void note_consumer(const struct lbx_tensor *t, struct lbx_holder *list, int n)
{
	uint32_t n_inputs = t->n_inputs < PLACE ? t->n_inputs : PLACE;
	uint64_t ids[PLACE];

	for (uint32_t k = 0; k < n_inputs; k++)
		ids[k] = lbx_tensor_input_id(t, k);
	for (int i = 0; i < n; i++) {
		bool found = false;
		for (uint32_t k = 0; k < n_inputs && !found; k++)
			found = is_over(&list[i], t->of, ids[k]);
		if (found)
			note(list[i].consumers, &list[i].n_consumers, t);
	}
}

static void note_other(struct lbx_holder *h, const char *name)
{
	int i = 0;

	while (i < h->n_others && strcmp(h->others[i].name, name) != 0)
		i++;
	if (i == LBX_HOLDERS_OTHERS)
		return;
	if (i == h->n_others)
		snprintf(h->others[h->n_others++].name, sizeof h->others[i].name, "%s", name);
	h->others[i].n++;
}

/* What is kept for one of those over the buffers: a gradient, or an optimiser's state. */
static void note_kept(const struct lbx_tensor *t, struct lbx_holder *list, int n)
{
	struct lbx_held held;

	if (!t->of || !t->of->ops->held || t->op_class == LB_CLASS_VIEW)
		return;
	lbx_tensor_held(t, &held);
	for (int i = 0; i < n && held.of && held.holder[0]; i++)
		for (int k = 0; k < LBX_HOLDERS_NAMED && (uint64_t)k < list[i].n_tensors; k++)
			if (list[i].tensors[k].id == held.of && list[i].tensors[k].of == t->of &&
			    lbx_tensor_nbytes(t) == list[i].bytes)
				note_other(&list[i], held.holder);
}

/* Twice over the tensors: first those over the buffers, then the lazy ones that need these. */
bool lbx_holders_find(struct lbx_context *context, int max, struct lbx_holder *ret, int *ret_n)
{
	struct lbx_tensors *tensors;
	struct lbx_tensor t;

	*ret_n = 0;
	if (!lbx_context_tensors(context, &tensors) || !find_largest(context, max, ret, ret_n))
		return false;
	for (int consumers = 0; consumers < 2 && *ret_n; consumers++) {
		uint64_t slot = 0, bad = 0, seen = 0;
		enum lbx_next next;
		while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
			if (++seen % PLACE == 0 && !lbx_progress(context->out, "looking for holders", (int64_t)seen, 0))
				return false;
			if (!consumers && t.buffer_id)
				note_tensor(&t, ret, *ret_n);
			else if (consumers && lbx_tensor_is_pending(&t) && !(t.flags & LB_FLAG_DETACHED))
				note_consumer(&t, ret, *ret_n);
			if (consumers)
				note_kept(&t, ret, *ret_n);
		}
		if (next == LBX_NEXT_ERROR)
			return false;
	}
	return lb_ok();
}

bool lbx_holder_is_pinned(const struct lbx_holder *h)
{
	if (h->named)
		return h->bytes >= PINNED_MIN && h->named <= h->bytes / PINNED_PART;
	return h->bytes >= UNNAMED_MIN && h->covered && h->covered <= h->bytes / UNNAMED_PART && !h->n_consumers &&
	       !h->scope;
}

static int describe_list(const struct lbx_held_by *list, uint64_t n, char *ret, size_t size)
{
	int used = 0;

	for (uint64_t i = 0; i < n && i < LBX_HOLDERS_NAMED && (size_t)used < size; i++)
		used += snprintf(ret + used, size - (size_t)used, "%s%s%s#%" PRIu64 "%s", i ? ", " : "", list[i].name,
				 list[i].name[0] ? " " : "", list[i].id, list[i].is_view ? " (view)" : "");
	if (n > LBX_HOLDERS_NAMED && (size_t)used < size)
		used += snprintf(ret + used, size - (size_t)used, " and %" PRIu64 " more", n - LBX_HOLDERS_NAMED);
	return used;
}

static int describe_nobody(uint64_t allocated_for, char *ret, size_t size)
{
	if (allocated_for == 0)
		return snprintf(ret, size, "no tensor's");
	return snprintf(ret, size, "no tensor's (allocated for #%" PRIu64 ")", allocated_for);
}

void lbx_describe_holder(const struct lbx_holder *h, char *ret, size_t size)
{
	size_t used = (size_t)(h->n_tensors ? describe_list(h->tensors, h->n_tensors, ret, size)
					    : describe_nobody(h->buffer.tensor, ret, size));
	char bytes[32];

	if (h->n_consumers && used < size) {
		used += (size_t)snprintf(ret + used, size - used, "; input of lazy ");
		if (used < size)
			used += (size_t)describe_list(h->consumers, h->n_consumers, ret + used, size - used);
	}
	if (h->scope && used < size)
		used += (size_t)snprintf(ret + used, size - used, "; an open scope");
	for (int i = 0; i < h->n_others && used < size; i++)
		used += (size_t)snprintf(ret + used, size - used, "%s%" PRId64 " %sheld by %s", i ? ", " : "; ",
					 h->others[i].n, i ? "" : "of its size ", h->others[i].name);
	if (lbx_holder_is_pinned(h) && used < size) {
		lbx_format_bytes(h->named ? h->named : h->covered, bytes, sizeof bytes);
		snprintf(ret + used, size - used,
			 h->named ? "; no more than %s of it have a name" : "; no more than %s of it are in use",
			 bytes);
	}
}

static json_t *json_list(const struct lbx_held_by *list, uint64_t n)
{
	json_t *a = json_array();

	for (uint64_t i = 0; i < n && i < LBX_HOLDERS_NAMED; i++)
		json_array_append_new(a, json_pack("{s:I,s:o,s:b}", "id", (json_int_t)list[i].id, "name",
						   list[i].name[0] ? lbx_json_string(list[i].name) : json_null(),
						   "view", (int)list[i].is_view));
	return a;
}

static json_t *json_others(const struct lbx_holder *h)
{
	json_t *a = json_array();

	for (int i = 0; i < h->n_others; i++)
		json_array_append_new(a, json_pack("{s:o,s:I}", "holder", lbx_json_string(h->others[i].name), "tensors",
						   (json_int_t)h->others[i].n));
	return a;
}

json_t *lbx_json_holder(const struct lbx_holder *h)
{
	return json_pack("{s:I,s:I,s:o,s:I,s:o,s:I,s:o,s:b,s:b,s:o}", "buffer", (json_int_t)h->buffer.id, "bytes",
			 (json_int_t)h->bytes, "data", lbx_json_address(h->buffer.data), "tensors_over_it",
			 (json_int_t)h->n_tensors, "tensors", json_list(h->tensors, h->n_tensors), "consumers_of_it",
			 (json_int_t)h->n_consumers, "consumers", json_list(h->consumers, h->n_consumers), "scope",
			 (int)h->scope, "pinned", (int)lbx_holder_is_pinned(h), "kept_for_it", json_others(h));
}
