#include "inspect/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/file.h"
#include "inspect/forensics/death.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { MAX_THREADS = 64, MAX_FRAMES = 64, MAX_FLIGHTS = 256 };

/* What cannot be told is no reason to tell nothing. False: the user has stopped it. */
static bool settle(struct lbx_report *r, enum lbx_section section, bool done)
{
	if (done)
		return true;
	if (lb_error_cause() == LB_INTERRUPTED)
		return false;
	if (!r->missing[section][0])
		snprintf(r->missing[section], sizeof r->missing[section], "%s", lb_error_message());
	lb_clear_error();
	return true;
}

/* Stacks are told also of a program without the runtime, and of damaged ones as far as they go. */
static bool collect_threads(struct lbx_context *context, struct lbx_places *places, struct lbx_report *ret)
{
	uint64_t tids[MAX_THREADS];

	if (!context->stacks)
		return true;
	ret->has_death = context->stacks->ops->death(context->stacks, &ret->death);
	ret->total_threads = context->stacks->ops->threads(context->stacks, tids, MAX_THREADS);
	if (ret->total_threads < 0)
		return false;
	int n = ret->total_threads < MAX_THREADS ? ret->total_threads : MAX_THREADS;
	ret->threads = calloc((size_t)n + 1, sizeof *ret->threads);
	if (!ret->threads)
		return lb_fail("out of memory");
	for (int i = 0; i < n; i++) {
		bool viewed =
		    lbx_thread_view(context, places, tids[i], MAX_FRAMES, LBX_TAIL, &ret->threads[ret->n_threads]);
		if (!settle(ret, LBX_SECTION_THREADS, viewed))
			return false;
		ret->n_threads += viewed;
	}
	return true;
}

static bool count(struct lbx_context *context, struct lbx_report *ret)
{
	struct lbx_tensors *tensors = context->tensors;
	struct lbx_tensor t;
	uint64_t slot = 0, seen = 0;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &ret->unreadable)) == LBX_NEXT_TENSOR) {
		ret->by_state[lbx_told_state(&t)]++;
		if (++seen % 8192 == 0 && !lbx_progress(context->out, "counting", (int64_t)seen, 0))
			return false;
	}
	lbx_tensors_damage(context->tensors, &ret->bad_first, &ret->bad_last);
	return next == LBX_NEXT_END;
}

bool lbx_describe_damage(const struct lbx_report *r, char *ret, size_t size)
{
	if (r->unreadable == 0)
		return false;
	int n = snprintf(ret, size, "The table of tensors is damaged, or cannot be read: %" PRIu64 " record%s",
			 r->unreadable, LB_S(r->unreadable));
	if (r->bad_first && n > 0 && (size_t)n < size)
		snprintf(ret + n, size - (size_t)n,
			 r->bad_first == r->bad_last ? " at 0x%" PRIx64 : " from 0x%" PRIx64 " to 0x%" PRIx64,
			 r->bad_first, r->bad_last);
	return true;
}

static bool collect_flights(struct lbx_context *context, struct lbx_report *ret)
{
	struct lbx_thread thread;
	uint64_t slot = 0;

	ret->flights = calloc(MAX_FLIGHTS, sizeof *ret->flights);
	if (!ret->flights)
		return lb_fail("out of memory");
	while (ret->n_flights < MAX_FLIGHTS && lbx_table_thread(context->table, &slot, &thread))
		if (thread.eval)
			ret->flights[ret->n_flights++] = thread;
	return true;
}

/* A raw pointer to a view's elements in a variable: once a pointer, however many frames pass it on. */
static bool suspect_pointers(struct lbx_report *r)
{
	char held[1024], where[512];
	uint64_t last = 0;

	for (int i = 0; i < r->n_threads; i++) {
		for (int k = 0; k < r->threads[i].n; k++) {
			const struct lbx_frame_view *f = &r->threads[i].frames[k];
			for (int h = 0; h < f->n_held; h++) {
				const struct lbx_frame_tensor *variable = &f->held[h];
				if (!lbx_frame_tensor_is_strided(variable) || variable->pointer.value == last)
					continue;
				last = variable->pointer.value;
				lbx_describe_frame_tensor(variable, held, sizeof held);
				lbx_describe_frame(f, where, sizeof where);
				if (!lbx_findings_add(&r->suspicions, "raw pointer", variable->place.tensor.id, last,
						      "in %s, %s: reading it raw gives the wrong elements", where,
						      held))
					return r->suspicions.capped;
			}
		}
	}
	return true;
}

static bool collect_memory(struct lbx_context *context, struct lbx_report *ret)
{
	ret->by = LBX_BY_SITE;
	if (!count(context, ret) || !lbx_snapshot_take(context, &ret->memory) ||
	    !lbx_snapshot_describe(context, &ret->memory))
		return false;
	bool any = ret->has_runtime;
	for (size_t i = 0; i < ret->memory.n; i++)
		any |= ret->memory.list[i].pc != 0;
	if (!any)
		ret->by = LBX_BY_NAME;
	return lbx_holding_groups_make(&ret->memory, NULL, ret->by, &ret->groups) &&
	       lbx_holding_groups_make(&ret->memory, NULL, LBX_BY_USAGE, &ret->usage);
}

bool lbx_describe_usage(const struct lbx_report *r, char *ret, size_t size)
{
	char bytes[32];
	bool any = false;
	int n = 0;

	*ret = '\0';
	for (size_t i = 0; i < r->usage.n && (size_t)n < size; i++) {
		const struct lbx_holding_group *g = &r->usage.list[i];
		if (!g->bytes)
			continue;
		any |= g->key && *g->key;
		lbx_format_bytes(g->bytes, bytes, sizeof bytes);
		n += snprintf(ret + n, size - (size_t)n, "%s%s %s", n ? ", " : "", bytes,
			      g->key && *g->key ? g->key : "of unknown use");
	}
	return any;
}

static bool collect_tensors(struct lbx_context *context, struct lbx_places *places, struct lbx_report *ret)
{
	if (places && ret->death.has_address)
		lbx_describe_address(places, ret->death.address, LBX_NEAR_FAULT, ret->fault, sizeof ret->fault);
	return (!ret->has_runtime || settle(ret, LBX_SECTION_FLIGHTS, collect_flights(context, ret))) &&
	       settle(ret, LBX_SECTION_FLIGHTS, lbx_works_collect(context, &ret->works)) &&
	       settle(ret, LBX_SECTION_MEMORY, collect_memory(context, ret));
}

static bool collect_suspicions(struct lbx_context *context, struct lbx_places *places, double seconds,
			       struct lbx_report *ret)
{
	return settle(ret, LBX_SECTION_SUSPICIONS, suspect_pointers(ret)) &&
	       (!places ||
		settle(ret, LBX_SECTION_SUSPICIONS,
		       lbx_find_storage_order(context, places, seconds / 2, false, &ret->suspicions, &ret->suspect)));
}

/* The runtime, and tensors of any provider: one without the other is enough for most of the report. */
static void find_program(struct lbx_context *context, struct lbx_report *ret)
{
	struct lbx_tensors *tensors;
	struct lbx_table *table;

	ret->has_runtime = lbx_context_table(context, &table) && lbx_table_root(table, &ret->root) &&
			   lbx_context_tensors(context, &tensors);
	if (!ret->has_runtime) {
		snprintf(ret->why, sizeof ret->why, "%s", lb_error_message());
		snprintf(ret->root.uncounted, sizeof ret->root.uncounted, "%s", ret->why);
		lb_clear_error();
	}
	ret->has_tensors = ret->has_runtime;
	if (!ret->has_runtime && lbx_context_tensors(context, &tensors))
		for (int i = 0; i < context->n_sets; i++)
			ret->has_tensors |= context->sets[i] != lbx_table_tensors(context->table);
	lb_clear_error();
}

void lbx_describe_unknown(const struct lbx_report *r, char *ret, size_t size)
{
	snprintf(ret, size, "only a runtime of Lazybones tells %sthe last events and how much memory was in use: %s",
		 r->works.is_told ? "" : "what was in flight, ", r->why);
}

bool lbx_report_collect(struct lbx_context *context, double seconds, struct lbx_report *ret)
{
	struct lbx_diagnose what = { .seconds = seconds / 2, .without_tensors = true };
	struct lbx_places *places = NULL;

	memset(ret, 0, sizeof *ret);
	if (!lbx_context_hold(context))
		return false;
	find_program(context, ret);
	bool done = (!ret->has_tensors || settle(ret, LBX_SECTION_SUSPICIONS, lbx_places_create(context, &places))) &&
		    settle(ret, LBX_SECTION_THREADS, collect_threads(context, places, ret)) &&
		    (!ret->has_tensors || collect_tensors(context, places, ret)) &&
		    settle(ret, LBX_SECTION_DIAGNOSIS, lbx_diagnose(context, &what, &ret->diagnosis)) &&
		    (!ret->has_tensors || collect_suspicions(context, places, seconds, ret));
	lbx_places_destroy(places);
	return done;
}

void lbx_report_deinit(struct lbx_report *report)
{
	for (int i = 0; i < report->n_threads; i++)
		lbx_thread_view_release(&report->threads[i]);
	free(report->threads);
	free(report->flights);
	lbx_works_free(&report->works);
	lbx_diagnosis_deinit(&report->diagnosis);
	lbx_findings_deinit(&report->suspicions);
	lbx_holding_groups_deinit(&report->groups);
	lbx_holding_groups_deinit(&report->usage);
	lbx_snapshot_deinit(&report->memory);
}
