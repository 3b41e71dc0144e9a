#include "inspect/trace/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/tensor/describe.h"
#include "table/flight.h"
#include "target/printable.h"

enum { MAX_OPEN = 256, MAX_ROWS = 256, SITES = 1024 };
enum { SAMPLE_NS = 5000000, MEMORY_NS = 50000 }; /* between two values of the counters, of memory */

struct open_eval {
	uint64_t eval, start_ns, site;
	uint32_t thread;
	uint64_t lost_ns; /* then events were lost, perhaps its end; or 0 */
	bool is_job;      /* an arrow leads to it from where it was queued */
	bool is_paused;   /* the stream's thread does other jobs meanwhile */
};

/* A thread that waits. */
struct open_wait {
	uint64_t other, id, start_ns;
	uint32_t thread;
};

/* Bytes in use, over a short while: the extremes and the ends. Each of the changes, drawn, would make the
 * file as long again. */
struct memory {
	bool is_known;
	struct bytes {
		uint64_t ns, bytes;
	} first, low, high, last;
};

struct site {
	uint64_t pc;
	json_t *text;
};

struct lbx_timeline {
	struct lbx_context *context;
	struct lbx_follow follow;
	struct lbx_timeline_totals totals;
	uint64_t pid, first_ns, last_ns, sampled_ns;
	uint64_t taken_ns; /* of the last event */
	uint64_t known_ns; /* what happened before is not known, or not all of it */
	bool *begun; /* something has been written */
	int n_open, n_rows;
	struct open_eval open[MAX_OPEN];
	int n_waits, n_queued;
	struct open_wait waits[MAX_OPEN];
	uint64_t queued[MAX_OPEN]; /* jobs that have not begun; the oldest give way */
	struct memory memory;
	uint32_t rows[MAX_ROWS]; /* threads whose rows have a name */
	struct site sites[SITES]; /* by hash; a collision replaces */
};

/* The text of a call site, for its owner. */
static json_t *site_text(struct lbx_timeline *timeline, uint64_t pc)
{
	struct site *site = &timeline->sites[(pc >> 1) % SITES];
	char text[512];

	if (site->pc != pc || !site->text) {
		json_decref(site->text);
		lbx_describe_pc(timeline->context->target, pc, text, sizeof text);
		site->text = lbx_json_string(text);
		site->pc = pc;
	}
	return json_incref(site->text);
}

/* One event of the file, but for its arguments. */
static void begin_event(struct lbx_timeline *timeline, const char *phase, uint32_t thread, uint64_t ns)
{
	lbx_write(timeline->context->out,
		  "%s{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".%03u",
		  *timeline->begun ? ",\n" : "[\n", phase, (int64_t)timeline->pid, thread, ns / 1000,
		  (unsigned)(ns % 1000));
	*timeline->begun = true;
	if (ns > timeline->last_ns)
		timeline->last_ns = ns;
}

static void put_name(struct lbx_timeline *timeline, const char *name, const char *category)
{
	lbx_write(timeline->context->out, ",\"cat\":\"%s\",\"name\":", category);
	lbx_json_write(timeline->context->out, lbx_json_string(name));
}

static void end_event(struct lbx_timeline *timeline, json_t *args)
{
	if (args) {
		lbx_write(timeline->context->out, ",\"args\":");
		lbx_json_write(timeline->context->out, args);
	}
	lbx_write(timeline->context->out, "}");
}

static void begin_slice(struct lbx_timeline *timeline, const char *name, const char *category, uint32_t thread,
			uint64_t start, uint64_t ns)
{
	begin_event(timeline, "X", thread, start);
	lbx_write(timeline->context->out, ",\"dur\":%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
	put_name(timeline, name, category);
}

static void slice(struct lbx_timeline *timeline, const char *name, const char *category, uint32_t thread,
		  uint64_t start, uint64_t ns, json_t *args)
{
	begin_slice(timeline, name, category, thread, start, ns);
	end_event(timeline, args);
}

/* Of a slice: an arrow leads from each slice of the job to the next. */
static void put_flow(struct lbx_timeline *timeline, uint64_t job, bool in, bool out)
{
	lbx_write(timeline->context->out, ",\"bind_id\":\"0x%" PRIx64 "\"%s%s",
		  timeline->pid << 40 | (job & 0xffffffffff), in ? ",\"flow_in\":true" : "",
		  out ? ",\"flow_out\":true" : "");
}

/* scope: 't' a mark in the thread's row, 'p' through the process. */
static void mark(struct lbx_timeline *timeline, const char *name, const char *category, uint32_t thread, uint64_t ns,
		 char scope, json_t *args)
{
	begin_event(timeline, "i", thread, ns);
	lbx_write(timeline->context->out, ",\"s\":\"%c\"", scope);
	put_name(timeline, name, category);
	end_event(timeline, args);
}

static void name_row(struct lbx_timeline *timeline, const char *what, uint32_t thread, const char *name)
{
	begin_event(timeline, "M", thread, timeline->first_ns);
	put_name(timeline, what, "__metadata");
	end_event(timeline, json_pack("{s:o}", "name", lbx_json_string(name)));
}

/* A stream's thread bears its name. */
static void name_thread(struct lbx_timeline *timeline, uint32_t thread)
{
	struct lbx_stream stream;
	uint64_t slot = 0;
	char name[LB_NAME_MAX + 64];

	for (int i = 0; i < timeline->n_rows; i++)
		if (timeline->rows[i] == thread)
			return;
	if (timeline->n_rows == MAX_ROWS)
		return;
	timeline->rows[timeline->n_rows++] = thread;
	snprintf(name, sizeof name, thread == timeline->pid ? "main thread" : "thread %" PRIu32, thread);
	while (lbx_table_stream(timeline->context->table, &slot, &stream))
		if (stream.thread == thread)
			snprintf(name, sizeof name, "stream %" PRIu64 " %s", stream.id, stream.name);
	name_row(timeline, "thread_name", thread, name);
}

static uint64_t arg(const struct lbx_flight *flight, const struct lb_flight_event *event, const char *name)
{
	uint64_t value;

	lbx_event_arg(flight, event, name, &value);
	return value;
}

static bool take_queued(struct lbx_timeline *timeline, uint64_t job)
{
	for (int i = 0; i < timeline->n_queued; i++) {
		if (timeline->queued[i] != job)
			continue;
		timeline->queued[i] = timeline->queued[--timeline->n_queued];
		return true;
	}
	return false;
}

/* A slice without length, from which an arrow leads to the job. */
static void async_queue(struct lbx_timeline *timeline, const struct lbx_flight *flight,
			const struct lb_flight_event *event)
{
	uint64_t job = arg(flight, event, "job");
	char name[32];

	if (timeline->n_queued == MAX_OPEN)
		memmove(timeline->queued, timeline->queued + 1, --timeline->n_queued * sizeof *timeline->queued);
	timeline->queued[timeline->n_queued++] = job;
	snprintf(name, sizeof name, "queue %" PRIu64, job);
	begin_slice(timeline, name, "queue", event->thread, event->time_ns, 0);
	put_flow(timeline, job, false, true);
	end_event(timeline, json_pack("{s:I,s:I,s:o}", "stream", (json_int_t)arg(flight, event, "stream"), "tensors",
				      (json_int_t)arg(flight, event, "roots"), "site",
				      site_text(timeline, arg(flight, event, "site"))));
}

static void eval_start(struct lbx_timeline *timeline, const struct lbx_flight *flight,
		       const struct lb_flight_event *event)
{
	/* the oldest one gives way: its end may have been lost */
	if (timeline->n_open == MAX_OPEN)
		memmove(timeline->open, timeline->open + 1, --timeline->n_open * sizeof *timeline->open);
	uint64_t eval = arg(flight, event, "eval");
	timeline->open[timeline->n_open++] = (struct open_eval){
		.eval = eval,
		.start_ns = event->time_ns,
		.site = arg(flight, event, "site"),
		.thread = event->thread,
		.is_job = take_queued(timeline, eval),
	};
}

/* `part`: it was set aside then. */
static void eval_slice(struct lbx_timeline *timeline, const struct open_eval *open, uint64_t end_ns, bool part,
		       json_t *args)
{
	char name[32];

	snprintf(name, sizeof name, "eval %" PRIu64, open->eval);
	json_object_set_new(args, "site", site_text(timeline, open->site));
	begin_slice(timeline, name, part ? "part" : "eval", open->thread, open->start_ns,
		    end_ns > open->start_ns ? end_ns - open->start_ns : 0);
	if (open->is_job)
		put_flow(timeline, open->eval, true, part);
	end_event(timeline, args);
}

static struct open_eval *find_open(struct lbx_timeline *timeline, uint64_t eval)
{
	for (int i = timeline->n_open; i-- > 0;)
		if (timeline->open[i].eval == eval)
			return &timeline->open[i];
	return NULL;
}

static void async_pause(struct lbx_timeline *timeline, const struct lbx_flight *flight,
			const struct lb_flight_event *event)
{
	struct open_eval *open = find_open(timeline, arg(flight, event, "job"));

	if (!open)
		return;
	eval_slice(timeline, open, event->time_ns, true,
		   json_pack("{s:I,s:I}", "waits for", (json_int_t)arg(flight, event, "other"), "tensor",
			     (json_int_t)arg(flight, event, "id")));
	open->is_paused = true;
}

static void async_resume(struct lbx_timeline *timeline, const struct lbx_flight *flight,
			 const struct lb_flight_event *event)
{
	struct open_eval *open = find_open(timeline, arg(flight, event, "job"));

	if (!open)
		return;
	open->is_paused = false;
	open->start_ns = event->time_ns;
	open->thread = event->thread;
}

static void wait_start(struct lbx_timeline *timeline, const struct lbx_flight *flight,
		       const struct lb_flight_event *event)
{
	if (timeline->n_waits == MAX_OPEN)
		memmove(timeline->waits, timeline->waits + 1, --timeline->n_waits * sizeof *timeline->waits);
	timeline->waits[timeline->n_waits++] = (struct open_wait){
		arg(flight, event, "other"),
		arg(flight, event, "id"),
		event->time_ns,
		event->thread,
	};
}

static void wait_slice(struct lbx_timeline *timeline, const struct open_wait *wait, uint64_t end_ns, bool ended)
{
	char name[40] = "wait for room in a queue";

	if (wait->other)
		snprintf(name, sizeof name, "wait for eval %" PRIu64, wait->other);
	slice(timeline, name, "wait", wait->thread, wait->start_ns,
	      end_ns > wait->start_ns ? end_ns - wait->start_ns : 0,
	      json_pack(wait->id ? "{s:b,s:I}" : "{s:b}", "ended", ended, "tensor", (json_int_t)wait->id));
}

/* Without a beginning it is not shown: what the thread did before is not known. */
static void wait_done(struct lbx_timeline *timeline, const struct lb_flight_event *event)
{
	for (int i = timeline->n_waits; i-- > 0;) {
		if (timeline->waits[i].thread != event->thread)
			continue;
		wait_slice(timeline, &timeline->waits[i], event->time_ns, true);
		timeline->waits[i] = timeline->waits[--timeline->n_waits];
		return;
	}
}

static void eval_done(struct lbx_timeline *timeline, const struct lbx_flight *flight,
		      const struct lb_flight_event *event)
{
	/* without a beginning: it began before the timeline, or that was lost */
	struct open_eval open = {
		.eval = arg(flight, event, "eval"),
		.start_ns = timeline->known_ns ? timeline->known_ns : event->time_ns,
		.site = arg(flight, event, "site"), .thread = event->thread,
	}, *begun = find_open(timeline, open.eval);

	timeline->totals.evals++;
	if (begun) {
		open = *begun;
		timeline->n_open--;
		memmove(begun, begun + 1, (size_t)(timeline->open + timeline->n_open - begun) * sizeof open);
	}
	eval_slice(timeline, &open, event->time_ns, false,
		   json_pack("{s:I,s:b}", "ops", (json_int_t)arg(flight, event, "ops"), "ok",
			     arg(flight, event, "ok") != 0));
}

/* When something began that took `ns`; *ns becomes what is shown of it. */
static uint64_t begun_at(const struct lbx_timeline *timeline, const struct lb_flight_event *event, uint64_t *ns)
{
	uint64_t start = event->time_ns > *ns ? event->time_ns - *ns : 0;

	if (start < timeline->known_ns)
		start = timeline->known_ns;
	*ns = event->time_ns > start ? event->time_ns - start : 0;
	return start;
}

static void op_done(struct lbx_timeline *timeline, const struct lbx_flight *flight, const struct lb_flight_event *event)
{
	uint64_t ns = arg(flight, event, "ns"), start = begun_at(timeline, event, &ns);

	const char *name = lbx_table_op_name(timeline->context->table, arg(flight, event, "op"));
	/* by hand: there may be millions */
	timeline->totals.ops++;
	begin_event(timeline, "X", event->thread, start);
	lbx_write(timeline->context->out,
		  ",\"dur\":%" PRIu64 ".%03u,\"cat\":\"op\",\"name\":\"%s\",\"args\":{\"tensor\":%" PRId64
		  ",\"ok\":%s}}",
		  ns / 1000, (unsigned)(ns % 1000), strpbrk(name, "\"\\") ? "?" : name,
		  (int64_t)arg(flight, event, "id"), arg(flight, event, "ok") ? "true" : "false");
}

static void compile(struct lbx_timeline *timeline, const struct lbx_flight *flight, const struct lb_flight_event *event)
{
	char function[LB_FLIGHT_TEXT_BYTES], reason[LB_FLIGHT_TEXT_BYTES], name[LB_FLIGHT_TEXT_BYTES + 16];
	uint64_t ns = arg(flight, event, "ns"), start = begun_at(timeline, event, &ns);

	lbx_event_text(timeline->context->table, flight, event, "name", function);
	lbx_event_text(timeline->context->table, flight, event, "reason", reason);
	bool again = reason[0] && strcmp(reason, "first call") != 0;
	snprintf(name, sizeof name, "%s%s%s", again ? "recompile" : "compile", function[0] ? " " : "", function);
	slice(timeline, name, "compile", event->thread, start, ns,
	      reason[0] ? json_pack("{s:o}", "reason", lbx_json_string(reason)) : NULL);
}

static void other(struct lbx_timeline *timeline, const struct lbx_flight *flight, const struct lb_flight_event *event,
		  const char *kind)
{
	json_t *args = json_object();
	char text[LB_FLIGHT_TEXT_BYTES];
	uint64_t value;

	if (lbx_event_arg(flight, event, "id", &value))
		json_object_set_new(args, "tensor", json_integer((json_int_t)value));
	if (lbx_event_arg(flight, event, "count", &value))
		json_object_set_new(args, "count", json_integer((json_int_t)value));
	if (lbx_event_arg(flight, event, "site", &value))
		json_object_set_new(args, "site", site_text(timeline, value));
	lbx_event_text(timeline->context->table, flight, event, "message", text);
	if (text[0])
		json_object_set_new(args, "message", lbx_json_string(text));
	mark(timeline, kind, "mark", event->thread, event->time_ns, 't', args);
}

static void count(struct lbx_timeline *timeline, const char *name, uint64_t ns, json_t *values)
{
	begin_event(timeline, "C", (uint32_t)timeline->pid, ns);
	put_name(timeline, name, "counter");
	end_event(timeline, values);
}

static void count_memory(struct lbx_timeline *timeline, uint64_t ns, uint64_t bytes)
{
	count(timeline, "memory in use (bytes)", ns, json_pack("{s:I}", "in use", (json_int_t)bytes));
}

static void put_memory(struct lbx_timeline *timeline)
{
	struct memory *m = &timeline->memory;

	if (!m->is_known)
		return;
	bool rises = m->low.ns < m->high.ns;
	const struct bytes points[] = { m->first, rises ? m->low : m->high, rises ? m->high : m->low, m->last };
	for (int i = 0; i < 4; i++)
		if (i == 0 || points[i].ns != points[i - 1].ns || points[i].bytes != points[i - 1].bytes)
			count_memory(timeline, points[i].ns, points[i].bytes);
	m->is_known = false;
}

static void take_memory(struct lbx_timeline *timeline, uint64_t ns, uint64_t bytes)
{
	struct memory *m = &timeline->memory;
	struct bytes point = { ns, bytes };

	if (m->is_known && (ns < m->first.ns || ns - m->first.ns > MEMORY_NS))
		put_memory(timeline);
	if (!m->is_known)
		*m = (struct memory){ true, point, point, point, point };
	if (bytes < m->low.bytes)
		m->low = point;
	if (bytes > m->high.bytes)
		m->high = point;
	m->last = point;
}

/* A buffer came from the system, or went back. */
static void from_system(struct lbx_timeline *timeline, const struct lbx_flight *flight,
			const struct lb_flight_event *event, const char *kind)
{
	uint64_t id = arg(flight, event, "id");
	json_t *args = json_pack("{s:I,s:I}", "bytes", (json_int_t)arg(flight, event, "nbytes"), "buffer",
				 (json_int_t)arg(flight, event, "buffer"));

	if (id)
		json_object_set_new(args, "tensor", json_integer((json_int_t)id));
	mark(timeline, kind, "memory", event->thread, event->time_ns, 't', args);
}

static void put(struct lbx_timeline *timeline, const struct lbx_flight *flight, const struct lb_flight_event *event)
{
	const char *kind = flight->kinds[event->kind].name;
	uint64_t active;

	timeline->totals.events++;
	timeline->taken_ns = event->time_ns;
	name_thread(timeline, event->thread);
	if (lbx_event_arg(flight, event, "active", &active))
		take_memory(timeline, event->time_ns, active);
	if (strcmp(kind, "eval_start") == 0)
		eval_start(timeline, flight, event);
	else if (strcmp(kind, "eval_done") == 0)
		eval_done(timeline, flight, event);
	else if (strcmp(kind, "op_done") == 0)
		op_done(timeline, flight, event);
	else if (strcmp(kind, "compile") == 0)
		compile(timeline, flight, event);
	else if (strcmp(kind, "async_queue") == 0)
		async_queue(timeline, flight, event);
	else if (strcmp(kind, "async_pause") == 0)
		async_pause(timeline, flight, event);
	else if (strcmp(kind, "async_resume") == 0)
		async_resume(timeline, flight, event);
	else if (strcmp(kind, "wait_start") == 0)
		wait_start(timeline, flight, event);
	else if (strcmp(kind, "wait_done") == 0)
		wait_done(timeline, event);
	else if (strcmp(kind, "alloc") == 0 || strcmp(kind, "dealloc") == 0)
		from_system(timeline, flight, event, kind);
	else if (strcmp(kind, "async_done") != 0 && strncmp(kind, "cache_", 6) != 0)
		other(timeline, flight, event, kind);
}

static bool sample(struct lbx_timeline *timeline, uint64_t ns)
{
	struct lbx_root root;

	if (!lbx_table_root(timeline->context->table, &root))
		return false;
	if (root.uncounted[0])
		return true;
	const struct lb_counters *c = &root.counters;
	count_memory(timeline, ns, c->active_bytes);
	count(timeline, "cache (bytes)", ns, json_pack("{s:I}", "cached", (json_int_t)c->cache_bytes));
	count(timeline, "tensors", ns, json_pack("{s:I}", "alive", (json_int_t)(c->created - c->freed)));
	timeline->sampled_ns = ns;
	return true;
}

bool lbx_timeline_create(struct lbx_context *context, uint64_t seen, bool *begun, struct lbx_timeline **ret)
{
	struct lbx_flight flight;
	struct lbx_table *table;
	struct lbx_root root;
	char name[64];

	if (!lbx_context_table(context, &table) || !lbx_table_root(table, &root) ||
	    !lbx_flight_read_after(table, UINT64_MAX, &flight))
		return false;
	bool records = flight.capacity != 0;
	uint64_t newest = flight.newest;
	lbx_flight_free(&flight);
	if (!records)
		return lb_fail("the program records no events: it was started with LAZYBONES_EVENTS=0");
	struct lbx_timeline *timeline = calloc(1, sizeof *timeline);
	if (!timeline)
		return lb_fail("out of memory");
	timeline->context = context;
	timeline->begun = begun;
	timeline->pid = root.pid;
	timeline->first_ns = lb_clock_ns();
	timeline->known_ns = seen == LBX_TIMELINE_NOW ? timeline->first_ns : 0;
	timeline->follow.seen = seen < newest ? seen : newest;
	snprintf(name, sizeof name, "lazybones %s, process %" PRIu64, root.version, root.pid);
	name_row(timeline, "process_name", (uint32_t)root.pid, name);
	*ret = timeline;
	return true;
}

void lbx_timeline_destroy(struct lbx_timeline *timeline)
{
	if (!timeline)
		return;
	for (int i = 0; i < SITES; i++)
		json_decref(timeline->sites[i].text);
	free(timeline);
}

bool lbx_timeline_poll(struct lbx_timeline *timeline, bool last)
{
	struct lbx_table *table = timeline->context->table;
	struct lbx_flight flight;
	uint64_t lost = timeline->follow.lost, ns = lb_clock_ns();
	char text[64];

	if (!lbx_table_valid(table) || !lbx_flight_follow(table, &timeline->follow, last, &flight))
		return false;
	lost = timeline->follow.lost - lost;
	if (lost) {
		snprintf(text, sizeof text, "%" PRIu64 " event%s lost", lost, LB_S(lost));
		timeline->known_ns = flight.n ? flight.events[0].time_ns : ns;
		mark(timeline, text, "lost", (uint32_t)timeline->pid, timeline->known_ns, 'p', NULL);
		for (int i = 0; i < timeline->n_open; i++)
			if (!timeline->open[i].lost_ns)
				timeline->open[i].lost_ns = timeline->taken_ns;
		timeline->n_waits = 0; /* their ends may be among them */
	}
	for (int64_t i = 0; i < flight.n; i++)
		put(timeline, &flight, &flight.events[i]);
	put_memory(timeline);
	lbx_flight_free(&flight);
	return (!last && ns - timeline->sampled_ns < SAMPLE_NS) || sample(timeline, ns);
}

void lbx_timeline_end(struct lbx_timeline *timeline, struct lbx_timeline_totals *ret)
{
	for (int i = 0; i < timeline->n_waits; i++)
		wait_slice(timeline, &timeline->waits[i], timeline->last_ns, false);
	for (int i = 0; i < timeline->n_open; i++) {
		const struct open_eval *open = &timeline->open[i];
		if (open->is_paused)
			continue; /* its parts are shown */
		eval_slice(timeline, open, open->lost_ns ? open->lost_ns : timeline->last_ns, false,
			   open->lost_ns ? json_pack("{s:s}", "ended", "unknown") : json_pack("{s:b}", "ended", 0));
	}
	timeline->totals.lost = timeline->follow.lost;
	ret->events += timeline->totals.events;
	ret->lost += timeline->totals.lost;
	ret->evals += timeline->totals.evals;
	ret->ops += timeline->totals.ops;
	begin_event(timeline, "M", (uint32_t)timeline->pid, timeline->last_ns);
	put_name(timeline, "lazybones_totals", "__metadata");
	end_event(timeline,
		  json_pack("{s:I,s:I,s:I,s:I}", "events", (json_int_t)timeline->totals.events, "lost",
			    (json_int_t)timeline->totals.lost, "evaluations", (json_int_t)timeline->totals.evals,
			    "operations", (json_int_t)timeline->totals.ops));
}

void lbx_timeline_close(struct lbx_out *out)
{
	lbx_write(out, "\n]\n");
}
