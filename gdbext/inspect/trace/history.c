/* What a name stood for: the tensors that have it, those that had it, and what a log tells of their values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/command.h"
#include "inspect/measure/digest.h"
#include "inspect/operand/select.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/describe.h"
#include "inspect/trace/value_log.h"
#include "lazybones.h"
#include "table/flight.h"

enum { ROWS = 50 };

/* One of the name, in the order in which they came about. */
struct one {
	uint64_t id; /* 0: a log's */
	uint64_t slot; /* of those that are there */
	uint64_t eval; /* that computed it; of what is gone, the last before it went; 0: none has */
	uint64_t site; /* that freed it, or 0 */
	enum { HERE, GONE, LOGGED } kind;
	const struct lbx_logged *logged;
};

struct history {
	const char *name;
	size_t n, room;
	struct one *list;
	uint64_t counts[LOGGED + 1];
	uint64_t oldest, newest; /* events that the flight recorder has; 0: none */
};

static bool add(struct history *h, struct one one)
{
	if (!lb_reserve(h->list, h->room, h->n + 1))
		return lb_fail("out of memory for a history of %zu tensors", h->n);
	h->list[h->n++] = one;
	h->counts[one.kind]++;
	return true;
}

/* ---- which there are and were ---- */

static bool find_here(struct lbx_context *context, struct history *h)
{
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	enum lbx_next next;

	if (!lbx_context_tensors(context, &tensors))
		return false;
	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR)
		if (strcmp(t.name, h->name) == 0 &&
		    !add(h, (struct one){ .id = t.id, .slot = slot, .eval = t.eval, .kind = HERE }))
			return false;
	return next == LBX_NEXT_END;
}

/* As far as the flight recorder goes back. */
static bool find_gone(struct lbx_context *context, struct history *h)
{
	struct lbx_flight flight;
	uint64_t hash, wanted = lb_hash_text(h->name);
	bool ok = true;

	if (!context->table)
		return true;
	if (!lbx_flight_read(context->table, &flight)) {
		if (lb_error_cause() == LB_INTERRUPTED)
			return false;
		lb_clear_error(); /* nothing is recorded */
		return true;
	}
	h->newest = flight.newest;
	h->oldest = flight.n ? flight.events[0].number : 0;
	for (int64_t i = 0; i < flight.n && ok; i++) {
		const struct lb_flight_event *event = &flight.events[i];
		struct one one = { .kind = GONE };

		if (strcmp(flight.kinds[event->kind].name, "gone") != 0 ||
		    !lbx_event_arg(&flight, event, "hash", &hash) || hash != wanted)
			continue;
		lbx_event_arg(&flight, event, "id", &one.id);
		lbx_event_arg(&flight, event, "eval", &one.eval);
		lbx_event_arg(&flight, event, "site", &one.site);
		ok = add(h, one);
	}
	lbx_flight_free(&flight);
	return ok;
}

static bool find_logged(const struct lbx_value_log *log, struct history *h)
{
	for (uint32_t nth = 1;; nth++) {
		const struct lbx_logged *logged = lbx_value_log_find(log, h->name, nth);
		if (!logged)
			return true;
		if (!add(h, (struct one){ .eval = logged->eval, .kind = LOGGED, .logged = logged }))
			return false;
	}
}

static int by_evaluation(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	/* what is there and not evaluated comes last */
	uint64_t x_at = x->eval - (x->kind == HERE && !x->eval), y_at = y->eval - (y->kind == HERE && !y->eval);

	if (x_at != y_at)
		return x_at < y_at ? -1 : 1;
	if (x->kind != y->kind)
		return (int)y->kind - (int)x->kind;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* ---- telling them ---- */

static void tell_figures(struct lbx_out *out, const char *key, int64_t count, int64_t nan, int64_t inf, double min,
			 double max, double mean, double std)
{
	lbx_begin(out, key);
	LBX_KEY(out, "count", json_integer(count));
	if (count - nan - inf > 0)
		lbx_tell(out, count == 1 ? "%pF" : min == max ? "all %pF" : "mean %pF", LBX_REAL("mean", "%.6g", mean));
	else
		LBX_KEY(out, "mean", json_null());
	LBX_KEY(out, "std", lbx_json_double(std));
	LBX_KEY(out, "min", lbx_json_double(min));
	LBX_KEY(out, "max", lbx_json_double(max));
	if (min < max)
		lbx_printf(out, ", std %.6g, %.6g … %.6g", std, min, max);
	LBX_KEY(out, "nan", json_integer(nan));
	LBX_KEY(out, "inf", json_integer(inf));
	if (nan)
		lbx_styled(out, LBX_WARNING, "%s%lld NaN", count > nan ? ", " : "", (long long)nan);
	if (inf)
		lbx_styled(out, LBX_WARNING, "%s%lld Inf", count - inf > 0 ? ", " : "", (long long)inf);
	if (count == 0)
		lbx_printf(out, "no elements");
	lbx_end(out);
}

/* Its value, or why it has none and none can be computed. */
static bool tell_value(struct lbx_context *context, const struct lbx_tensor *t)
{
	struct lbx_out *out = context->out;
	struct lbx_selection s = { .tensor = *t };
	struct lbx_sight sight;
	struct lbx_digest d;
	bool again = t->state == LBX_OVERWRITTEN, ok = false;

	if ((!again || lbx_select_again(&s)) && lbx_sight_begin(context, &s, &sight)) {
		ok = lbx_digest(&sight.array, out, &d);
		if (ok) {
			tell_figures(out, "figures", d.count, d.nan, d.inf, d.min, d.max, d.mean, d.std);
			if (t->state != LBX_READY)
				lbx_printf(out, ", computed again outside the program");
			LBX_KEY(out, "computed_outside", json_boolean(t->state != LBX_READY));
		}
		lbx_sight_end(&sight);
	}
	if (ok || lb_error_cause() == LB_INTERRUPTED)
		return ok;
	lbx_tell(out, "it cannot be computed again: %pF", LBX_TEXT("reason", lb_error_message()));
	lb_clear_error();
	return true;
}

static bool tell_here(struct lbx_context *context, struct one *one)
{
	struct lbx_out *out = context->out;
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	uint64_t slot = one->slot - 1, bad = 0; /* one less than what follows it: the same again */

	if (!lbx_context_tensors(context, &tensors) || lbx_tensors_next(tensors, &slot, &t, &bad) != LBX_NEXT_TENSOR ||
	    t.id != one->id)
		return lb_fail("#%" PRIu64 " has changed meanwhile", one->id);
	lbx_tell(out, ", %pF: ", LBX_TEXT("state", lbx_state_name(lbx_told_state(&t))));
	return tell_value(context, &t);
}

static void tell_gone(struct lbx_context *context, const struct one *one)
{
	char where[512];

	lbx_tell(context->out, ", %pF", LBX_TEXT("state", "gone"));
	if (one->site) {
		lbx_describe_pc(context->target, one->site, where, sizeof where);
		lbx_tell(context->out, ": freed by %pF", LBX_TEXT("freed_by", where));
	}
}

static bool tell_one(struct lbx_context *context, struct one *one)
{
	struct lbx_out *out = context->out;
	const struct lbx_logged *l = one->logged;
	bool ok = true;

	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 6);
	if (one->id)
		lbx_tell(out, "  #%pF", LBX_UINT("id", one->id));
	else
		lbx_tell(out, "  %pF", LBX_TEXT("state", "logged"));
	LBX_KEY(out, "evaluation", lbx_json_int_if(one->eval > 0, (int64_t)one->eval));
	if (one->eval)
		lbx_printf(out, ", %sevaluation %" PRIu64, one->kind == GONE ? "after " : "", one->eval);
	if (one->kind == HERE) {
		ok = tell_here(context, one);
	} else if (one->kind == GONE) {
		tell_gone(context, one);
	} else {
		lbx_printf(out, ": ");
		tell_figures(out, "figures", l->count, l->nan, l->inf, l->figures[LBX_LOGGED_MIN],
			     l->figures[LBX_LOGGED_MAX], l->figures[LBX_LOGGED_MEAN], l->figures[LBX_LOGGED_STD]);
	}
	lbx_printf(out, "\n");
	lbx_end(out);
	return ok;
}

/* What "gone" means, and how far back that is known. */
static void explain_gone(struct lbx_out *out, const struct history *h)
{
	if (h->counts[GONE]) {
		lbx_wrap(out, 0, 4);
		lbx_printf(
		    out,
		    "Gone: the program has freed them. Nothing keeps their values, nor what they were computed from%s.\n",
		    h->counts[LOGGED] ? "" : "; a log has the figures (--log)");
	}
	if (h->oldest > 1) {
		lbx_wrap(out, 0, 4);
		lbx_printf(out,
			   "What went before event %" PRIu64 " of %" PRIu64
			   " is not counted: the flight recorder has overwritten it; "
			   "a program with LAZYBONES_EVENTS=N keeps the last N.\n",
			   h->oldest, h->newest);
	}
}

static bool tell(struct lbx_context *context, struct history *h, size_t limit)
{
	struct lbx_out *out = context->out;
	size_t first = limit && limit < h->n ? h->n - limit : 0;
	bool ok = true;

	lbx_begin(out, NULL);
	lbx_tell(out, "%pF: %pF there, %pF gone", LBX_TEXT("name", h->name),
		 LBX_COUNT("there", h->counts[HERE], "tensor"), LBX_INT("gone", h->counts[GONE]));
	LBX_KEY(out, "gone_since_event", lbx_json_int_if(h->oldest > 0, (int64_t)h->oldest));
	if (h->counts[LOGGED])
		lbx_printf(out, ", logged %" PRIu64 " time%s", h->counts[LOGGED], LB_S(h->counts[LOGGED]));
	lbx_printf(out, "\n");
	if (first)
		lbx_printf(out, "  … %zu before (--limit 0 shows all)\n", first);
	lbx_begin_list(out, "values");
	for (size_t i = first; i < h->n && ok; i++)
		ok =
		    (!out->progress || out->progress(out, "computing", (int64_t)(i - first), (int64_t)(h->n - first)) ||
		     lb_fail_because(LB_INTERRUPTED, "interrupted")) &&
		    tell_one(context, &h->list[i]);
	lbx_end(out);
	if (ok)
		explain_gone(out, h);
	lbx_end(out);
	return ok;
}

static bool run_history(struct lbx_context *context, const struct lbx_args *args)
{
	const char *path = lbx_args_option(args, "log");
	struct history h = { .name = args->v[0] };
	struct lbx_value_log log = { .n = 0 };
	int64_t limit = ROWS;

	bool ok = lbx_args_limit(args, &limit) && (!path || lbx_value_log_read(path, context->out, &log)) &&
		  find_here(context, &h) && find_gone(context, &h) && (!path || find_logged(&log, &h));
	if (ok && h.n == 0)
		ok = lb_fail(
		    "no tensor has or had the name '%s', as far as the program's flight recorder goes back; a name as "
		    "`list` shows it is meant, no expression",
		    h.name);
	if (ok) {
		qsort(h.list, h.n, sizeof *h.list, by_evaluation);
		ok = tell(context, &h, (size_t)limit);
	}
	free(h.list);
	lbx_value_log_close(&log);
	return ok;
}

const struct lbx_command lbx_command_history = {
	.name = "history",
	.arguments = "NAME",
	.summary = "show the values that a name has had, as far as they can be had again",
	.help = "Of each tensor that has the name, in the order of their evaluations: its value, or its figures; what is\n"
		"lazy, or was overwritten, is computed again outside the program, from recipes and leaves that are\n"
		"there. Of tensors that are gone, which the program has freed, its flight recorder knows when and\n"
		"where they went, as far as its ring goes back; their values are gone, too, unless a log has\n"
		"their figures: the program ran with LAZYBONES_LOG=FILE, and --log names that file.\n"
		"Example: history loss, history loss --log run.jsonl",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "log", "FILE", "with what a log of values tells of the name" },
		{ "limit", "N", "show the last N at most (default 50); 0: all" },
	},
	.run = run_history,
};
