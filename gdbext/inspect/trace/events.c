/* What happened last: the flight recorder's events, oldest first. */
#include "inspect/trace/events.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "table/flight.h"
#include "target/printable.h"

enum { DEFAULT_LAST = 30 };

struct wanted {
	const char *glob; /* of the event's name, or NULL */
	int64_t thread, tensor, last; /* 0: any */
};

struct events {
	struct lbx_flight flight;
	int64_t first, matching; /* the first to show, and how many match in all */
	uint64_t end_ns;
};

static bool parse_tensor(const char *text, int64_t *ret)
{
	char *end;
	const char *digits = text + (*text == '#');

	errno = 0;
	long long id = strtoll(digits, &end, 10);
	if (end == digits || *end || errno || id <= 0)
		return lbx_misuse("events: --tensor takes a number as in '#12', not '%s'", text);
	*ret = id;
	return true;
}

static bool parse(const struct lbx_args *args, bool json, struct wanted *ret)
{
	const char *tensor = lbx_args_option(args, "tensor");

	if (args->n && args->v[0][strspn(args->v[0], "0123456789")] == '\0')
		return lbx_misuse("events: no event is named '%s'; `--last %s` shows the last %s", args->v[0],
				  args->v[0], args->v[0]);
	*ret = (struct wanted){ .glob = args->n ? args->v[0] : NULL, .last = json ? 0 : DEFAULT_LAST };
	return lbx_args_int(args, "last", 0, INT64_MAX, &ret->last) &&
	       lbx_args_int(args, "thread", 1, UINT32_MAX, &ret->thread) &&
	       (!tensor || parse_tensor(tensor, &ret->tensor));
}

static bool matches(const struct lbx_flight *flight, const struct lb_flight_event *event, const struct wanted *wanted)
{
	uint64_t id;

	if (wanted->glob && fnmatch(wanted->glob, flight->kinds[event->kind].name, 0) != 0)
		return false;
	if (wanted->thread && event->thread != wanted->thread)
		return false;
	return !wanted->tensor || (lbx_event_arg(flight, event, "id", &id) && id == (uint64_t)wanted->tensor);
}

/* Arguments that point to a text of their event. */
static bool is_text(const char *name)
{
	return strcmp(name, "name") == 0 || strcmp(name, "reason") == 0 || strcmp(name, "message") == 0;
}

static void print_text(struct lbx_context *context, const struct lbx_flight *flight,
		       const struct lb_flight_event *event, const char *name)
{
	char text[LB_FLIGHT_TEXT_BYTES];

	lbx_event_text(context->table, flight, event, name, text);
	if (text[0])
		lbx_printf(context->out, "%s %s", strcmp(name, "name") == 0 ? "" : ":", text);
}

static json_t *json_text(struct lbx_context *context, const struct lbx_flight *flight,
			 const struct lb_flight_event *event, const char *name)
{
	char text[LB_FLIGHT_TEXT_BYTES];

	lbx_event_text(context->table, flight, event, name, text);
	return text[0] ? lbx_json_string(text) : json_null();
}

static void print_arg(struct lbx_context *context, const char *name, uint64_t value)
{
	struct lbx_out *out = context->out;
	char text[512];

	if (strcmp(name, "id") == 0) {
		lbx_styled(out, LBX_NAME, " #%" PRIu64, value);
	} else if (strcmp(name, "op") == 0) {
		lbx_printf(out, " %s", lbx_table_op_name(context->table, value));
	} else if (strcmp(name, "ok") == 0) {
		if (!value)
			lbx_styled(out, LBX_WARNING, " failed");
	} else if (strcmp(name, "nbytes") == 0) {
		lbx_format_bytes((int64_t)value, text, sizeof text);
		lbx_printf(out, " %s", text);
	} else if (strcmp(name, "active") == 0) {
		lbx_format_bytes((int64_t)value, text, sizeof text);
		lbx_printf(out, ", %s in use", text);
	} else if (strcmp(name, "site") == 0) {
		lbx_describe_pc(context->target, value, text, sizeof text);
		lbx_printf(out, " by ");
		lbx_styled(out, LBX_FILE, "%s", text);
	} else if (strcmp(name, "address") == 0 || strcmp(name, "root") == 0) {
		lbx_styled(out, LBX_ADDRESS, " 0x%" PRIx64, value);
	} else if (strcmp(name, "ns") == 0) {
		if (value) /* it was measured */
			lbx_printf(out, " in %.1f us", (double)value / 1e3);
	} else if (strcmp(name, "tensor") != 0 && strcmp(name, "hash") != 0) { /* its id says as much */
		lbx_printf(out, " %s %" PRId64, name, (int64_t)value);
	}
}

/* A negative number; nothing is "-0". */
static double seconds_before(const struct events *events, uint64_t ns)
{
	double before = (double)(events->end_ns - ns) / 1e9;

	return before >= 5e-7 ? -before : 0;
}

static json_t *json_event(struct lbx_context *context, const struct events *events, int64_t i)
{
	const struct lb_flight_event *event = &events->flight.events[i];
	const struct lbx_event_kind *kind = &events->flight.kinds[event->kind];
	json_t *o =
	    json_pack("{s:I,s:I,s:I,s:o}", "number", (json_int_t)event->number, "time_ns", (json_int_t)event->time_ns,
		      "thread", (json_int_t)event->thread, "event", lbx_json_string(kind->name));
	char text[512];

	for (int k = 0; k < kind->n_args; k++) {
		const char *name = kind->args[k];
		json_t *value;
		if (strcmp(name, "op") == 0) {
			value = lbx_json_string(lbx_table_op_name(context->table, event->args[k]));
		} else if (strcmp(name, "site") == 0) {
			lbx_describe_pc(context->target, event->args[k], text, sizeof text);
			value = lbx_json_string(text);
		} else if (is_text(name)) {
			value = json_text(context, &events->flight, event, name);
		} else if (strcmp(name, "address") == 0 || strcmp(name, "root") == 0 || strcmp(name, "tensor") == 0 ||
			   strcmp(name, "hash") == 0 || strcmp(name, "compiled") == 0) {
			value = lbx_json_address(event->args[k]);
		} else {
			value = json_integer((json_int_t)event->args[k]);
		}
		json_object_set_new(o, name, value);
	}
	return o;
}

/* Whether it tells of something that is not as it should be. */
static bool is_wrong(const char *kind)
{
	static const char *const kinds[] = { "error", "raw_misuse", "nan" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

static void tell_event(struct lbx_context *context, const struct events *events, int64_t i)
{
	const struct lb_flight_event *event = &events->flight.events[i];
	const struct lbx_event_kind *kind = &events->flight.kinds[event->kind];
	struct lbx_out *out = context->out;

	LBX_KEY(out, NULL, json_event(context, events, i));
	lbx_wrap(out, 0, 25);
	if (event->time_ns)
		lbx_printf(out, "%12.6f s", seconds_before(events, event->time_ns));
	else
		lbx_printf(out, "%14s", "");
	lbx_printf(out, "  %7" PRIu32 "  ", event->thread);
	lbx_styled(out, is_wrong(kind->name) ? LBX_WARNING : LBX_PLAIN, "%-13s", kind->name);
	for (int k = 0; k < kind->n_args; k++)
		if (is_text(kind->args[k]))
			print_text(context, &events->flight, event, kind->args[k]);
		else if (strcmp(kind->args[k], "compiled") != 0)
			print_arg(context, kind->args[k], event->args[k]);
	lbx_printf(out, "\n");
}

/* Finds out what is to be known beforehand. */
static void survey(const struct wanted *wanted, struct events *ret)
{
	const struct lbx_flight *flight = &ret->flight;

	ret->first = flight->n;
	ret->matching = 0;
	ret->end_ns = 0;
	for (int64_t i = flight->n; i-- > 0;) {
		if (flight->events[i].time_ns > ret->end_ns)
			ret->end_ns = flight->events[i].time_ns;
		if (!matches(flight, &flight->events[i], wanted))
			continue;
		if (++ret->matching <= wanted->last || wanted->last == 0)
			ret->first = i;
	}
}

static bool tell_each(struct lbx_context *context, const struct events *events, const struct wanted *wanted)
{
	const struct lbx_flight *flight = &events->flight;

	for (int64_t i = events->first; i < flight->n; i++) {
		if (i % 8192 == 8191 && !lbx_progress(context->out, "showing", i, flight->n))
			return false;
		if (matches(flight, &flight->events[i], wanted))
			tell_event(context, events, i);
	}
	return true;
}

static bool tell(struct lbx_context *context, const char *key, const struct events *events, const struct wanted *wanted)
{
	const struct lbx_flight *flight = &events->flight;
	struct lbx_out *out = context->out;

	lbx_begin(out, key);
	LBX_KEYS(out, json_pack("{s:I,s:I,s:I,s:I}", "recorded", (json_int_t)flight->newest, "capacity",
				(json_int_t)flight->capacity, "matching", (json_int_t)events->matching, "torn",
				(json_int_t)flight->torn));
	if (wanted->last && events->matching > wanted->last)
		lbx_printf(out, "… %" PRId64 " earlier (--last 0 shows all)\n", events->matching - wanted->last);
	lbx_begin_list(out, "events");
	bool done = tell_each(context, events, wanted);
	lbx_end(out);
	if (!done) {
		lbx_end(out);
		return false;
	}
	lbx_wrap(out, 0, 4);
	if (flight->capacity)
		lbx_printf(out,
			   "%" PRId64 " of %" PRIu64 " event%s, the ring holds the last %" PRIu64
			   "; times count back from the newest\n",
			   events->matching, flight->newest, LB_S(flight->newest), flight->capacity);
	else
		lbx_printf(out, "the program records no events: it was started with LAZYBONES_EVENTS=0, or by an older "
				"runtime\n");
	if (flight->torn)
		lbx_styled(out, LBX_WARNING, "%" PRIu64 " were being written and are skipped\n", flight->torn);
	lbx_end(out);
	return true;
}

bool lbx_events_tell(struct lbx_context *context, const char *key, int64_t last)
{
	struct wanted wanted = { .last = last };
	struct events events;

	if (!lbx_flight_read(context->table, &events.flight))
		return false;
	survey(&wanted, &events);
	bool done = tell(context, key, &events, &wanted);
	lbx_flight_free(&events.flight);
	return done;
}

static bool run_events(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_table *table;
	struct events events;
	struct wanted wanted;

	if (!parse(args, context->out->json, &wanted) || !lbx_context_table(context, &table) ||
	    !lbx_flight_read(table, &events.flight))
		return false;
	survey(&wanted, &events);
	lbx_set_int(context->out, "tensor_count", events.matching);
	bool ok = tell(context, NULL, &events, &wanted);
	lbx_flight_free(&events.flight);
	return ok && lb_ok();
}

const struct lbx_command lbx_command_events = {
	.name = "events",
	.arguments = "[GLOB]",
	.summary = "show what happened last: the flight recorder",
	.help = "The runtime keeps its last events in a ring: evaluations, operations,\n"
		"allocations, misuse, NaN, errors. GLOB selects by name, as in 'eval_*';\n"
		"probes/README.md lists the names. A time is when the event's thread last read a clock:\n"
		"at the start of its evaluation, and after each long operation.\n"
		"LAZYBONES_EVENTS=N in the program's environment sizes the ring; 0: none.\n"
		"Example: events op_done --tensor '#12'",
	.max_args = 1,
	.needs = LBX_NEEDS_RUNTIME,
	.options = {
		{ "last", "N", "show the last N (default 30, JSON all); 0: all" },
		{ "thread", "TID", "only those of one thread" },
		{ "tensor", "#ID", "only those about one tensor" },
	},
	.run = run_events,
};
