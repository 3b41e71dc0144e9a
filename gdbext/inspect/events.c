/* What happened last: the flight recorder's events, oldest first. */
#include "inspect/events.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/describe.h"
#include "inspect/format.h"
#include "table/flight.h"

enum { DEFAULT_LAST = 30 };

struct wanted {
	const char *glob; /* of the event's name, or NULL */
	int64_t thread, tensor, last; /* 0: any */
};

static bool parse_tensor(const char *text, int64_t *ret)
{
	char *end;
	const char *digits = text + (*text == '#');

	errno = 0;
	long long id = strtoll(digits, &end, 10);
	if (end == digits || *end || errno || id <= 0)
		return lb_fail("events: --tensor takes a number as in '#12', not '%s'", text);
	*ret = id;
	return true;
}

static bool parse(const struct lbx_args *args, bool json, struct wanted *ret)
{
	const char *tensor = lbx_args_option(args, "tensor");

	*ret = (struct wanted){ .glob = args->n ? args->v[0] : NULL, .last = json ? 0 : DEFAULT_LAST };
	return lbx_args_int(args, "last", 0, INT64_MAX, &ret->last) &&
	       lbx_args_int(args, "thread", 1, UINT32_MAX, &ret->thread) &&
	       (!tensor || parse_tensor(tensor, &ret->tensor));
}

static bool matches(const struct lbx_flight *flight, const struct lb_flight_event *event,
		    const struct wanted *wanted)
{
	uint64_t id;

	if (wanted->glob && fnmatch(wanted->glob, flight->kinds[event->kind].name, 0) != 0)
		return false;
	if (wanted->thread && event->thread != wanted->thread)
		return false;
	return !wanted->tensor || (lbx_event_arg(flight, event, "id", &id) &&
				   id == (uint64_t)wanted->tensor);
}

/* The message that an error's event points to; "" when later ones lie there by now. */
static void message_of(struct lbx_context *context, const struct lbx_flight *flight,
		       const struct lb_flight_event *event, char *ret, size_t size)
{
	uint64_t address, unused;
	int later = 0;

	*ret = '\0';
	for (const struct lb_flight_event *e = event + 1; e < flight->events + flight->n; e++)
		later += lbx_event_arg(flight, e, "message", &unused);
	if (later >= LB_FLIGHT_TEXTS || !lbx_event_arg(flight, event, "message", &address))
		return;
	bool clean = lb_ok();
	if (!lbx_target_read_string(context->target, address, ret, size) && clean) {
		lb_clear_error();
		*ret = '\0';
	}
	for (char *c = ret; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
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
	} else if (strcmp(name, "site") == 0) {
		lbx_describe_pc(context->target, value, text, sizeof text);
		lbx_printf(out, " by ");
		lbx_styled(out, LBX_FILE, "%s", text);
	} else if (strcmp(name, "address") == 0 || strcmp(name, "root") == 0) {
		lbx_styled(out, LBX_ADDRESS, " 0x%" PRIx64, value);
	} else if (strcmp(name, "tensor") != 0) { /* its id says as much */
		lbx_printf(out, " %s %" PRId64, name, (int64_t)value);
	}
}

static void print_event(struct lbx_context *context, const struct lbx_flight *flight,
			const struct lb_flight_event *event, uint64_t end_ns)
{
	const struct lbx_event_kind *kind = &flight->kinds[event->kind];
	struct lbx_out *out = context->out;
	char message[LB_FLIGHT_TEXT_BYTES];

	if (event->time_ns)
		lbx_printf(out, "%12.6f s", -(double)(int64_t)(end_ns - event->time_ns) / 1e9);
	else
		lbx_printf(out, "%14s", "");
	lbx_printf(out, "  %7" PRIu32 "  %-13s", event->thread, kind->name);
	for (int i = 0; i < kind->n_args; i++)
		if (strcmp(kind->args[i], "message") != 0)
			print_arg(context, kind->args[i], event->args[i]);
	message_of(context, flight, event, message, sizeof message);
	if (message[0])
		lbx_printf(out, ": %s", message);
	lbx_printf(out, "\n");
}

static json_t *json_event(struct lbx_context *context, const struct lbx_flight *flight,
			  const struct lb_flight_event *event)
{
	const struct lbx_event_kind *kind = &flight->kinds[event->kind];
	json_t *o = json_pack("{s:I,s:I,s:I,s:s}", "number", (json_int_t)event->number, "time_ns",
			      (json_int_t)event->time_ns, "thread", (json_int_t)event->thread,
			      "event", kind->name);
	char text[512];

	for (int i = 0; i < kind->n_args; i++) {
		const char *name = kind->args[i];
		json_t *value;
		if (strcmp(name, "op") == 0) {
			value = json_string(lbx_table_op_name(context->table, event->args[i]));
		} else if (strcmp(name, "site") == 0) {
			lbx_describe_pc(context->target, event->args[i], text, sizeof text);
			value = lbx_json_string(text);
		} else if (strcmp(name, "message") == 0) {
			message_of(context, flight, event, text, sizeof text);
			value = text[0] ? lbx_json_string(text) : json_null();
		} else if (strcmp(name, "address") == 0 || strcmp(name, "root") == 0 ||
			   strcmp(name, "tensor") == 0) {
			value = lbx_json_address(event->args[i]);
		} else {
			value = json_integer((json_int_t)event->args[i]);
		}
		json_object_set_new(o, name, value);
	}
	return o;
}

/* Index of the first event to show; *ret_n of those that match, the shown included. */
static int64_t find_first(const struct lbx_flight *flight, const struct wanted *wanted,
			  int64_t *ret_n)
{
	int64_t first = flight->n;

	*ret_n = 0;
	for (int64_t i = flight->n; i-- > 0;) {
		if (!matches(flight, &flight->events[i], wanted))
			continue;
		if (++*ret_n <= wanted->last || wanted->last == 0)
			first = i;
	}
	return first;
}

static void print_events(struct lbx_context *context, const struct lbx_flight *flight,
			 const struct wanted *wanted)
{
	struct lbx_out *out = context->out;
	uint64_t end_ns = 0;
	int64_t n, first = find_first(flight, wanted, &n);

	for (int64_t i = 0; i < flight->n; i++)
		if (flight->events[i].time_ns > end_ns)
			end_ns = flight->events[i].time_ns;
	if (wanted->last && n > wanted->last)
		lbx_printf(out, "… %" PRId64 " earlier (--last 0 shows all)\n", n - wanted->last);
	for (int64_t i = first; i < flight->n; i++)
		if (matches(flight, &flight->events[i], wanted))
			print_event(context, flight, &flight->events[i], end_ns);
	lbx_printf(out, "%" PRId64 " of %" PRIu64 " events, the ring holds the last %" PRIu64
		   "; times count back from the newest\n", n, flight->newest, flight->capacity);
	if (flight->torn)
		lbx_styled(out, LBX_WARNING, "%" PRIu64 " were being written and are skipped\n",
			   flight->torn);
	lbx_set_int(out, "tensor_count", n);
}

static void json_events(struct lbx_context *context, const struct lbx_flight *flight,
			const struct wanted *wanted)
{
	json_t *list = json_array();
	int64_t n;

	for (int64_t i = find_first(flight, wanted, &n); i < flight->n; i++)
		if (matches(flight, &flight->events[i], wanted))
			json_array_append_new(list, json_event(context, flight,
							       &flight->events[i]));
	lbx_json(context->out, json_pack("{s:I,s:I,s:I,s:I,s:o}", "recorded",
		(json_int_t)flight->newest, "capacity", (json_int_t)flight->capacity, "matching",
		(json_int_t)n, "torn", (json_int_t)flight->torn, "events", list));
}

bool lbx_run_events(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_table *table;
	struct lbx_flight flight;
	struct wanted wanted;

	if (!parse(args, context->out->json, &wanted) || !lbx_context_table(context, &table) ||
	    !lbx_flight_read(table, &flight))
		return false;
	if (context->out->json)
		json_events(context, &flight, &wanted);
	else if (flight.capacity == 0)
		lbx_printf(context->out, "the program records no events: it was started with "
			   "LAZYBONES_EVENTS=0, or by an older runtime\n");
	else
		print_events(context, &flight, &wanted);
	lbx_flight_free(&flight);
	return lb_ok();
}
