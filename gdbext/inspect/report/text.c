#include <inttypes.h>

#include "base/plural.h"
#include "inspect/forensics/death.h"
#include "inspect/forensics/modules.h"
#include "inspect/report/report.h"
#include "inspect/operand/python_stack.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/trace/events.h"

enum { SITES_SHOWN = 8, EVENTS_SHOWN = 12, THREADS_SHOWN = 8, LABEL = LB_NAME_MAX + 320 };

static void title(struct lbx_out *out, const char *text)
{
	lbx_printf(out, "\n");
	lbx_styled(out, LBX_TITLE, "%s\n", text);
}

/* Why a section is not here, or not whole. */
static bool print_missing(struct lbx_out *out, const struct lbx_report *r, enum lbx_section section)
{
	if (r->missing[section][0])
		lbx_print_folded(out, "  not known: ", r->missing[section]);
	return r->missing[section][0];
}

/* Why sections are missing, by their keys. */
static json_t *json_missing(const struct lbx_report *r)
{
	static const char *const keys[] = {
		[LBX_SECTION_THREADS] = "threads",       [LBX_SECTION_FLIGHTS] = "in_flight",
		[LBX_SECTION_DIAGNOSIS] = "diagnosis",   [LBX_SECTION_MEMORY] = "memory",
		[LBX_SECTION_SUSPICIONS] = "suspicions",
	};
	json_t *o = json_object();

	for (int i = 0; i < LBX_SECTIONS; i++)
		if (r->missing[i][0])
			json_object_set_new(o, keys[i], lbx_json_string(r->missing[i]));
	if (r->has_runtime && r->root.uncounted[0])
		json_object_set_new(o, "counters", lbx_json_string(r->root.uncounted));
	return o;
}

static void tell_death(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;
	char text[256];

	LBX_KEYS(out, json_pack("{s:o,s:o,s:o}", "death", r->has_death ? lbx_json_death(&r->death) : json_null(),
				"fault", lbx_json_text(r->fault), "missing", json_missing(r)));
	lbx_describe_death(&r->death, text, sizeof text);
	lbx_wrap(out, 0, 4);
	if (context->stacks && r->death.tid)
		lbx_printf(out, "%s (process %" PRIu64 ") %s\n", r->death.command[0] ? r->death.command : "the program",
			   r->death.pid ? r->death.pid : r->death.tid, text);
	else
		lbx_printf(out, "a %s\n", lbx_target_kind(context->target));
	if (r->fault[0])
		lbx_wrap(out, 0, 4), lbx_printf(out, "%s\n", r->fault);
	if (lbx_describe_damage(r, text, sizeof text))
		lbx_wrap(out, 0, 4), lbx_styled(out, LBX_WARNING, "%s\n", text);
}

static void print_briefly(struct lbx_context *context, const struct lbx_thread_view *v)
{
	struct lbx_out *out = context->out;
	char where[512];

	lbx_wrap(out, 0, 11);
	lbx_printf(out, "  %-8" PRIu64, v->tid);
	for (int k = 0; k < v->n && k < 3; k++) {
		if (v->frames[k].line.function[0])
			snprintf(where, sizeof where, "%s", v->frames[k].line.function);
		else
			lbx_describe_frame(&v->frames[k], where, sizeof where);
		lbx_printf(out, "%s%s", k ? " < " : " ", where);
	}
	if (!out->json && lbx_describe_python(context, v->tid, where, sizeof where))
		lbx_printf(out, "; in Python %s", where);
	lbx_printf(out, "\n");
}

/* As text, the others are a line each. */
static void tell_threads(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;

	if (r->missing[LBX_SECTION_THREADS][0]) {
		title(out, "Threads");
		print_missing(out, r, LBX_SECTION_THREADS);
	}
	LBX_KEY(out, "total_threads", json_integer(r->total_threads));
	lbx_begin_list(out, "threads");
	if (r->n_threads)
		title(out, r->has_death ? "The thread that died" : "The first thread");
	for (int i = 0; i < r->n_threads; i++) {
		if (i == 0 || out->json)
			lbx_tell_thread(context, &r->threads[i]);
		if (i == 1)
			title(out, "Other threads");
		if (i && i <= THREADS_SHOWN)
			print_briefly(context, &r->threads[i]);
	}
	lbx_end(out);
	if (r->total_threads > THREADS_SHOWN + 1)
		lbx_printf(out, "  … %d more (`threads` shows them)\n", r->total_threads - THREADS_SHOWN - 1);
}

/* Why frames have no names; nothing where all is as it was. */
static void tell_files(struct lbx_context *context)
{
	struct lbx_module m;

	LBX_KEY(context->out, "modules", lbx_json_modules(context));
	for (size_t i = 0; lbx_target_module(context->target, i, &m); i++) {
		if (m.verdict == LBX_MODULE_SAME)
			continue;
		title(context->out, "Files");
		lbx_print_bad_modules(context);
		return;
	}
}

static void tell_flights(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;
	char run[2 * LABEL];

	if (!r->has_runtime) {
		LBX_KEY(out, "in_flight", json_null());
		return;
	}
	lbx_begin_list(out, "in_flight");
	for (int i = 0; i < r->n_flights; i++) {
		const struct lbx_thread *f = &r->flights[i];
		LBX_KEY(out, NULL,
			json_pack("{s:I,s:I,s:I,s:I,s:I}", "thread", (json_int_t)f->tid, "evaluation",
				  (json_int_t)f->eval, "tensor", (json_int_t)f->tensor, "done", (json_int_t)f->done,
				  "total", (json_int_t)f->total));
		lbx_describe_run(context, f, run, sizeof run);
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "  thread %" PRIu64 ", %s\n", f->tid, run);
	}
	lbx_end(out);
	if (!print_missing(out, r, LBX_SECTION_FLIGHTS) && r->n_flights == 0)
		lbx_printf(out, "  no thread was evaluating\n");
}

/* Of other providers. */
static void tell_works(struct lbx_context *context, const struct lbx_report *r)
{
	lbx_begin_list(context->out, "work");
	lbx_tell_works(context, &r->works, 2);
	lbx_end(context->out);
}

static void tell_values(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;
	const struct lbx_nonfinite *n = &r->diagnosis.nonfinite;
	char bytes[32], how[64];

	lbx_begin(out, "nonfinite");
	title(out, "NaN and Inf");
	snprintf(how, sizeof how, "%slist --nan --inf", context->prefix ? context->prefix : "");
	lbx_findings_tell_first(out, "findings", &r->diagnosis.bad, LBX_BAD_SHOWN, how);
	LBX_KEYS(out, json_pack("{s:I,s:I,s:I}", "searched", (json_int_t)n->searched, "skipped", (json_int_t)n->skipped,
				"masked", (json_int_t)n->masked));
	lbx_end(out);
	LBX_KEY(out, "damage",
		json_pack("{s:I,s:o,s:o}", "records", (json_int_t)r->unreadable, "first",
			  lbx_json_address(r->bad_first), "last", lbx_json_address(r->bad_last)));
	if (r->missing[LBX_SECTION_DIAGNOSIS][0]) {
		lbx_printf(out, "  not known\n");
		return;
	}
	lbx_format_bytes((int64_t)n->bytes, bytes, sizeof bytes);
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "  %s%" PRIu64 " floating tensors looked at (%s)",
		   r->diagnosis.bad.n ? "" : "none: ", n->searched, bytes);
	if (n->skipped)
		lbx_printf(out, ", %" PRIu64 " not: unreadable, or no time left", n->skipped);
	if (n->masked)
		lbx_printf(out, "; -Inf that was put there, as into a mask, does not count: %s%s", n->mask,
			   n->masked > 1 ? ", and what has it from there" : "");
	lbx_printf(out, "\n");
}

static json_t *json_count(bool known, uint64_t value)
{
	return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *json_memory(struct lbx_context *context, const struct lbx_report *r)
{
	const struct lb_counters *c = &r->root.counters;
	json_t *sites = json_array();
	char where[512];

	for (size_t i = 0; i < r->groups.n && i < SITES_SHOWN; i++) {
		const struct lbx_holding_group *s = &r->groups.list[i];
		json_t *site = json_object();
		lbx_describe_group(context, s, r->by, where, sizeof where);
		if (r->by == LBX_BY_SITE)
			json_object_set_new(site, "site", lbx_json_address(s->pc));
		json_object_set_new(site, r->by == LBX_BY_SITE ? "where" : "name", lbx_json_string(where));
		json_object_set_new(site, "bytes", json_integer((json_int_t)s->bytes));
		json_object_set_new(site, "buffers", json_integer((json_int_t)s->buffers));
		json_object_set_new(site, "lazy", json_integer((json_int_t)s->lazy));
		json_array_append_new(sites, site);
	}
	json_t *usage = json_object();
	for (size_t i = 0; i < r->usage.n; i++)
		if (r->usage.list[i].key && *r->usage.list[i].key)
			json_object_set_new(usage, r->usage.list[i].key,
					    json_integer((json_int_t)r->usage.list[i].bytes));
	bool counted = !r->root.uncounted[0];
	return json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:o,s:o}", "active", json_count(counted, c->active_bytes),
			 "peak", json_count(counted, c->peak_bytes), "cache", json_count(counted, c->cache_bytes),
			 "ready", (json_int_t)r->by_state[LBX_READY], "lazy", (json_int_t)r->by_state[LBX_LAZY],
			 "evaluating", (json_int_t)r->by_state[LBX_EVALUATING], "unreadable", (json_int_t)r->unreadable,
			 r->by == LBX_BY_SITE ? "sites" : "names", sites, "usage", usage);
}

static void tell_memory(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;
	const struct lb_counters *c = &r->root.counters;
	char active[32], peak[32], cache[32], bytes[32], where[512];

	LBX_KEY(out, "memory", json_memory(context, r));
	title(out, "Memory");
	print_missing(out, r, LBX_SECTION_MEMORY);
	lbx_format_bytes((int64_t)c->active_bytes, active, sizeof active);
	lbx_format_bytes((int64_t)c->peak_bytes, peak, sizeof peak);
	lbx_format_bytes((int64_t)c->cache_bytes, cache, sizeof cache);
	if (r->has_runtime && r->root.uncounted[0])
		lbx_print_folded(out, "  how much is in use is not known: ", r->root.uncounted);
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "  ");
	for (int i = 0; !r->has_runtime && i < context->n_sets; i++)
		lbx_printf(out, "%s%s", context->sets[i]->provider, i + 1 < context->n_sets ? ", " : ": ");
	if (!r->root.uncounted[0])
		lbx_printf(out, "%s in use, peak %s, cache %s; ", active, peak, cache);
	lbx_printf(out, "%" PRIu64 " tensor%s ready, %" PRIu64 " lazy", r->by_state[LBX_READY],
		   LB_S(r->by_state[LBX_READY]), r->by_state[LBX_LAZY]);
	for (int i = 0; i < LBX_STATES; i++)
		if (i == LBX_EVALUATING ? r->has_runtime : r->by_state[i] && i != LBX_READY && i != LBX_LAZY)
			lbx_printf(out, ", %" PRIu64 " %s", r->by_state[i], lbx_state_name((enum lbx_state)i));
	lbx_printf(out, "\n");
	if (lbx_describe_usage(r, where, sizeof where))
		lbx_print_folded(out, "  ", where);
	for (size_t i = 0; i < r->groups.n && i < SITES_SHOWN && r->groups.list[i].bytes; i++) {
		const struct lbx_holding_group *s = &r->groups.list[i];
		if (r->by == LBX_BY_SITE && s->pc == 0)
			continue; /* no tensor's */
		lbx_format_bytes(s->bytes, bytes, sizeof bytes);
		lbx_describe_group(context, s, r->by, where, sizeof where);
		lbx_wrap(out, 0, 19);
		lbx_printf(out, "  %10s %3.0f%%  %" PRId64 " buffer%s %s %s\n", bytes,
			   100 * (double)s->bytes / (double)r->groups.bytes, s->buffers, LB_S(s->buffers),
			   r->by == LBX_BY_SITE ? "made in" : "of", where);
	}
}

static void tell_events(struct lbx_context *context, const struct lbx_report *r)
{
	if (r->has_runtime) {
		title(context->out, "Last events");
		if (lbx_events_tell(context, "events", EVENTS_SHOWN))
			return;
		if (lb_error_cause() == LB_INTERRUPTED)
			return;
		lbx_print_folded(context->out, "  none: ", lb_error_message());
		lb_clear_error();
	}
	LBX_KEY(context->out, "events", json_null());
}

static void tell_suspicions(struct lbx_out *out, const struct lbx_report *r)
{
	char bytes[32];

	title(out, "Suspicions");
	lbx_findings_tell(out, "suspicions", &r->suspicions);
	if (print_missing(out, r, LBX_SECTION_SUSPICIONS))
		return;
	lbx_format_bytes((int64_t)r->suspect.bytes, bytes, sizeof bytes);
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "  %s%" PRIu64 " view%s looked for in %s of memory%s\n",
		   r->suspicions.n ? "" : "none: ", r->suspect.views, LB_S(r->suspect.views), bytes,
		   r->suspect.late ? ", then time was up" : "");
}

static void print_unknown(struct lbx_out *out, const struct lbx_report *r)
{
	char text[1024];

	title(out, "Not known");
	lbx_describe_unknown(r, text, sizeof text);
	lbx_print_folded(out, "  ", text);
}

/* What the doctor says comes first: the rest is the evidence. */
static void tell_diagnosis(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;

	title(out, "What is wrong");
	lbx_begin(out, "diagnosis");
	if (!print_missing(out, r, LBX_SECTION_DIAGNOSIS))
		lbx_diagnosis_tell(context, &r->diagnosis, false);
	lbx_end(out);
}

static void tell_tensors(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;

	if (r->has_runtime || r->works.is_told)
		title(out, "In flight");
	tell_flights(context, r);
	tell_works(context, r);
	tell_values(context, r);
	tell_memory(context, r);
	tell_events(context, r);
	tell_suspicions(out, r);
	if (!r->has_runtime)
		print_unknown(out, r);
}

void lbx_report_tell(struct lbx_context *context, const struct lbx_report *r)
{
	struct lbx_out *out = context->out;

	lbx_begin(out, NULL);
	tell_death(context, r);
	tell_diagnosis(context, r);
	tell_threads(context, r);
	tell_files(context);
	LBX_KEY(out, "runtime", r->has_runtime ? lbx_json_string(r->root.version) : json_null());
	lbx_begin_list(out, "providers");
	for (int i = 0; r->has_tensors && i < context->n_sets; i++)
		LBX_KEY(out, NULL, json_string(context->sets[i]->provider));
	lbx_end(out);
	if (!r->has_runtime)
		LBX_KEY(out, "why", lbx_json_string(r->why));
	if (r->has_tensors) {
		tell_tensors(context, r);
	} else {
		title(out, "Tensors");
		lbx_print_folded(out, "  none: ", r->why);
	}
	lbx_end(out);
}
