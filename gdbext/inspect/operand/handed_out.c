#include "inspect/operand/handed_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/say.h"
#include "inspect/tensor/describe.h"

bool lbx_handed_out_is_stale(const struct lbx_handed_out *one, const struct lbx_buffer *buffer)
{
	return one->owner && !(buffer->flags & LB_BUFFER_FOREIGN) &&
	       (buffer->flags & LB_BUFFER_CACHED || (buffer->filled_for && buffer->filled_for != one->owner));
}

void lbx_describe_stale(struct lbx_context *context, const struct lbx_handed_out *one, const struct lbx_buffer *buffer,
			char *ret, size_t size)
{
	char label[LBX_DESCRIPTION_MAX], where[512];
	struct lbx_tensor t;
	bool clean = lb_ok();

	snprintf(ret, size, "0x%" PRIx64 ", which was given for #%" PRIu64, one->address, one->id);
	if (one->site) {
		lbx_describe_pc(context->target, one->site, where, sizeof where);
		lbx_say(ret, size, " in %s", where);
	}
	if (buffer->flags & LB_BUFFER_CACHED) {
		lbx_say(ret, size, "; that memory has been given back, and is kept for reuse");
	} else if (lbx_tensors_by_id(buffer->of, buffer->tensor, &t)) {
		lbx_describe(&t, label, sizeof label);
		lbx_say(ret, size, "; that memory is of %s now", label);
	} else {
		lbx_say(ret, size, "; that memory has been given to #%" PRIu64 " since", buffer->tensor);
	}
	if (clean)
		lb_clear_error();
}

bool lbx_handed_outs_add(struct lbx_handed_outs *all, const struct lbx_handed_out *one)
{
	if (!lb_reserve(all->list, all->room, all->n + 1))
		return lb_fail("out of memory for %zu raw pointers", all->n + 1);
	all->list[all->n++] = *one;
	all->is_sorted = false;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct lbx_handed_out *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_address(const void *key, const void *element)
{
	const uint64_t *address = key;
	const struct lbx_handed_out *one = element;

	return *address < one->address ? -1 : *address > one->address;
}

/* By address; of those with the same one the last stays. */
static void sort(struct lbx_handed_outs *all)
{
	size_t n = 0;

	if (all->n)
		qsort(all->list, all->n, sizeof *all->list, compare);
	for (size_t i = 0; i < all->n; i++) {
		n -= n > 0 && all->list[n - 1].address == all->list[i].address;
		all->list[n++] = all->list[i];
	}
	all->n = n;
	all->is_sorted = true;
}

const struct lbx_handed_out *lbx_handed_outs_find(struct lbx_handed_outs *all, uint64_t address)
{
	if (!all->is_sorted)
		sort(all);
	return all->n ? bsearch(&address, all->list, all->n, sizeof *all->list, compare_address) : NULL;
}

void lbx_handed_outs_deinit(struct lbx_handed_outs *all)
{
	free(all->list);
	*all = (struct lbx_handed_outs){ 0 };
}

bool lbx_find_handed_out(struct lbx_table *table, uint64_t address, struct lbx_handed_out *ret)
{
	struct lbx_flight flight;
	uint64_t value;
	bool found = false;

	if (!lbx_flight_read(table, &flight))
		return false;
	for (int64_t i = flight.n; i-- > 0 && !found;) {
		const struct lb_flight_event *event = &flight.events[i];
		if (strcmp(flight.kinds[event->kind].name, "raw_access") != 0 ||
		    !lbx_event_arg(&flight, event, "address", &value) || value != address)
			continue;
		*ret = (struct lbx_handed_out){ .address = address, .number = event->number };
		found = lbx_event_arg(&flight, event, "id", &ret->id);
		lbx_event_arg(&flight, event, "owner", &ret->owner);
		lbx_event_arg(&flight, event, "site", &ret->site);
	}
	lbx_flight_free(&flight);
	return found;
}
