#include "table/flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "table/internal.h"
#include "target/printable.h"

enum { MAX_EVENT_BYTES = 512, MAX_KINDS = 256, CHUNK = 1 << 16 };

static void end_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	lbx_make_printable(text);
}

/* "(id, tensor)" */
static void split_names(const char *list, struct lbx_event_kind *ret)
{
	for (int i = 0; i < ret->n_args; i++) {
		list += strspn(list, "(, ");
		size_t n = strcspn(list, ",)"), most = sizeof ret->args[i] - 1;
		memcpy(ret->args[i], list, n < most ? n : most);
		list += n;
	}
}

static bool read_kinds(struct lbx_table *table, struct lbx_flight *ret)
{
	uint64_t n = lbx_root_integer(table, table->fields.n_event_kinds);
	uint64_t at = lbx_root_integer(table, table->fields.event_kinds);

	if (n == 0 || n > MAX_KINDS)
		return lb_fail("the symbol table's root field 'n_event_kinds' is %llu", (unsigned long long)n);
	lb_auto_free struct lb_event_info *infos = malloc(n * sizeof *infos);
	ret->kinds = calloc(n, sizeof *ret->kinds);
	bool ok = infos && ret->kinds;
	if (!ok)
		lb_fail("out of memory");
	if (ok && !lbx_target_read(table->target, at, infos, n * sizeof *infos)) {
		lb_fail_within("the kinds of events");
		ok = false;
	}
	for (uint64_t i = 0; ok && i < n; i++) {
		struct lbx_event_kind *kind = &ret->kinds[i];
		end_text(infos[i].name, sizeof infos[i].name);
		end_text(infos[i].args, sizeof infos[i].args);
		memcpy(kind->name, infos[i].name, sizeof kind->name);
		kind->n_args = (int)(infos[i].n_args < LB_EVENT_ARGS ? infos[i].n_args : LB_EVENT_ARGS);
		split_names(infos[i].args, kind);
	}
	ret->n_kinds = (int)n;
	return ok;
}

/* Takes the slots from `first` on that hold the numbers from `number` on. */
static bool read_run(struct lbx_table *table, uint64_t at, uint64_t size, uint64_t number, uint64_t n,
		     struct lbx_flight *ret)
{
	lb_auto_free unsigned char *bytes = malloc(CHUNK);
	uint64_t most = CHUNK / size;

	if (!bytes)
		return lb_fail("out of memory");
	while (n) {
		uint64_t some = n < most ? n : most;
		if (!lbx_target_read(table->target, at, bytes, some * size)) {
			lb_fail_within("the flight recorder's ring");
			break;
		}
		for (uint64_t i = 0; i < some; i++) {
			struct lb_flight_event *event = &ret->events[ret->n];
			memcpy(event, bytes + i * size, sizeof *event);
			if (event->number == number + i && event->kind < (uint32_t)ret->n_kinds)
				ret->n++;
			else
				ret->torn++;
		}
		at += some * size;
		number += some;
		n -= some;
	}
	return n == 0;
}

/* Where the ring is; false, without an error: nothing is recorded. */
static bool find_ring(struct lbx_table *table, uint64_t *ring, uint64_t *capacity, uint64_t *size)
{
	*ring = lbx_root_integer(table, table->fields.flight);
	*capacity = lbx_root_integer(table, table->fields.flight_capacity);
	*size = lbx_root_integer(table, table->fields.event_size);
	return *ring && *capacity;
}

static bool is_ring(uint64_t capacity, uint64_t size)
{
	if (capacity > LB_FLIGHT_MOST || capacity & (capacity - 1))
		return lb_fail("the symbol table's root field 'flight_capacity' is %llu", (unsigned long long)capacity);
	if (size < sizeof(struct lb_flight_event) || size > MAX_EVENT_BYTES)
		return lb_fail("the symbol table's root field 'event_size' is %llu", (unsigned long long)size);
	return true;
}

bool lbx_table_part_at(struct lbx_tensors *tensors, uint64_t address, char *ret, size_t size)
{
	struct lbx_table *table = (struct lbx_table *)tensors;
	uint64_t ring, capacity, width, number;
	bool clean = lb_ok();
	bool is = find_ring(table, &ring, &capacity, &width) && is_ring(capacity, width) && address >= ring &&
		  address - ring < capacity * width;

	if (clean)
		lb_clear_error();
	if (!is)
		return false;
	if (lbx_target_try_read(table->target, ring + (address - ring) / width * width, &number, sizeof number) &&
	    number)
		snprintf(ret, size, "the flight recorder's event %llu, which keeps nothing alive (`events`)",
			 (unsigned long long)number);
	else
		snprintf(ret, size, "the flight recorder, which keeps nothing alive");
	return true;
}

bool lbx_flight_read_after(struct lbx_table *table, uint64_t after, struct lbx_flight *ret)
{
	*ret = (struct lbx_flight){ 0 };
	if (!lbx_table_refresh(table))
		return false;
	uint64_t ring, capacity, size, newest = lbx_root_integer(table, table->fields.flight_used);

	if (!find_ring(table, &ring, &capacity, &size))
		return true;
	if (!is_ring(capacity, size))
		return false;
	uint64_t n = newest > after ? newest - after : 0;
	n = n < capacity ? n : capacity;
	uint64_t first = newest - n + 1;
	ret->capacity = capacity;
	ret->newest = newest;
	ret->events = malloc((n ? n : 1) * sizeof *ret->events);
	if (!ret->events)
		return lb_fail("out of memory for %llu events", (unsigned long long)n);
	uint64_t slot = first & (capacity - 1), run = capacity - slot < n ? capacity - slot : n;
	if (read_kinds(table, ret) && read_run(table, ring + slot * size, size, first, run, ret) &&
	    read_run(table, ring, size, first + run, n - run, ret))
		return true;
	lbx_flight_free(ret);
	return false;
}

bool lbx_flight_read(struct lbx_table *table, struct lbx_flight *ret)
{
	return lbx_flight_read_after(table, 0, ret);
}

static bool is_waited_for(struct lbx_follow *follow, uint64_t number)
{
	if (follow->waited != number)
		follow->calls = 0;
	follow->waited = number;
	return follow->calls++ < LBX_FOLLOW_CALLS;
}

bool lbx_flight_follow(struct lbx_table *table, struct lbx_follow *follow, bool last, struct lbx_flight *ret)
{
	if (!lbx_flight_read_after(table, follow->seen, ret))
		return false;
	uint64_t next = follow->seen + 1;
	for (int64_t i = 0; i <= ret->n && next <= ret->newest; i++) {
		uint64_t number = i < ret->n ? ret->events[i].number : ret->newest + 1;
		bool overwritten = ret->newest - next >= ret->capacity;
		if (number != next && !overwritten && !last && is_waited_for(follow, next)) {
			ret->n = i;
			break;
		}
		follow->lost += number - next;
		next = i < ret->n ? number + 1 : number;
	}
	follow->seen = next - 1;
	return true;
}

void lbx_flight_free(struct lbx_flight *flight)
{
	free(flight->events);
	free(flight->kinds);
	*flight = (struct lbx_flight){ 0 };
}

bool lbx_event_arg(const struct lbx_flight *flight, const struct lb_flight_event *event, const char *name,
		   uint64_t *ret)
{
	const struct lbx_event_kind *kind = &flight->kinds[event->kind];

	*ret = 0;
	for (int i = 0; i < kind->n_args; i++) {
		if (strcmp(kind->args[i], name) == 0) {
			*ret = event->args[i];
			return true;
		}
	}
	return false;
}

/* Fails quietly where it cannot be read, or is another event's by now. */
static bool read_stamped(struct lbx_table *table, const struct lb_flight_event *event, uint64_t at,
			 struct lb_flight_text *ret)
{
	enum { STAMP = offsetof(struct lb_flight_text, text) };
	struct lb_flight_text now;
	bool clean = lb_ok();

	bool read = lbx_target_read(table->target, at, ret, sizeof *ret) &&
		    lbx_target_read(table->target, at, &now, STAMP); /* the program may be writing */
	if (!read && clean)
		lb_clear_error();
	return read && !ret->writing && ret->thread == event->thread && ret->time_ns <= event->time_ns &&
	       memcmp(ret, &now, STAMP) == 0;
}

void lbx_event_text(struct lbx_table *table, const struct lbx_flight *flight, const struct lb_flight_event *event,
		    const char *name, char ret[LB_FLIGHT_TEXT_BYTES])
{
	enum { STAMPED = 9 }; /* the minor version since which they are */
	struct lb_flight_text text;
	uint64_t at;

	ret[0] = '\0';
	if (table->head.minor < STAMPED || !lbx_event_arg(flight, event, name, &at) ||
	    !read_stamped(table, event, at - offsetof(struct lb_flight_text, text), &text))
		return;
	memcpy(ret, text.text, sizeof text.text);
	end_text(ret, LB_FLIGHT_TEXT_BYTES);
}

const char *lbx_table_op_name(const struct lbx_table *table, uint64_t index)
{
	return index < (uint64_t)table->n_ops ? table->ops[index].name : "?";
}
