#include "inspect/trace/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/memory/memory.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/trace/tallies.h"
#include "table/flight.h"
#include "target/columns.h"

enum { MAX_OPEN = 256, SITES_UP_TO = 1 << 17 };

struct sample {
	uint64_t ns;
	struct lb_counters counters;
};

struct lbx_top {
	struct lbx_context *context;
	struct lbx_follow follow;
	struct lbx_root root;
	struct sample before, now;
	uint64_t lost;              /* events, in all, at the last look */
	uint64_t lost_before;       /* at the look before it */
	struct lbx_tallies ops, evals;  /* since the last look */
	struct lbx_tallies ops_seen, evals_seen; /* at the last look */
	struct lbx_snapshot held;   /* memory */
	struct lbx_holding_groups sites;
	uint64_t unmatched, unmatched_now, unmatched_before; /* evaluations whose beginning was forgotten, likewise */
	int n_open;
	struct {
		uint64_t eval, start_ns;
	} open[MAX_OPEN];
};

static void put(struct lbx_top *top, const struct lbx_flight *flight, const struct lb_flight_event *event)
{
	const char *kind = flight->kinds[event->kind].name;
	uint64_t eval, key, ns;

	if (strcmp(kind, "op_done") == 0) {
		lbx_event_arg(flight, event, "op", &key);
		lbx_event_arg(flight, event, "ns", &ns);
		lbx_tallies_add(&top->ops, key, ns);
	} else if (strcmp(kind, "eval_start") == 0) {
		lbx_event_arg(flight, event, "eval", &eval);
		if (top->n_open == MAX_OPEN) {
			memmove(top->open, top->open + 1, (size_t)--top->n_open * sizeof *top->open);
			top->unmatched++;
		}
		top->open[top->n_open].eval = eval;
		top->open[top->n_open++].start_ns = event->time_ns;
	} else if (strcmp(kind, "eval_done") == 0) {
		lbx_event_arg(flight, event, "eval", &eval);
		lbx_event_arg(flight, event, "site", &key);
		ns = 0;
		for (int i = 0; i < top->n_open; i++) {
			if (top->open[i].eval != eval)
				continue;
			ns = event->time_ns - top->open[i].start_ns;
			top->open[i] = top->open[--top->n_open];
			break;
		}
		lbx_tallies_add(&top->evals, key, ns);
	}
}

bool lbx_top_poll(struct lbx_top *top)
{
	struct lbx_table *table = top->context->table;
	struct lbx_flight flight;

	if (!lbx_table_valid(table))
		return lb_fail("process %" PRIu64 " has ended", top->root.pid);
	if (!lbx_flight_follow(table, &top->follow, false, &flight))
		return false;
	for (int64_t i = 0; i < flight.n; i++)
		put(top, &flight, &flight.events[i]);
	lbx_flight_free(&flight);
	return true;
}

static bool take_sample(struct lbx_top *top)
{
	if (!lbx_table_root(top->context->table, &top->root))
		return false;
	if (top->root.uncounted[0])
		return lb_fail("%s", top->root.uncounted);
	top->before = top->now;
	top->now.ns = lb_clock_ns();
	top->now.counters = top->root.counters;
	return true;
}

bool lbx_top_create(struct lbx_context *context, struct lbx_top **ret)
{
	struct lbx_flight flight;
	struct lbx_table *table;

	if (!lbx_context_table(context, &table) || !lbx_flight_read_after(table, UINT64_MAX, &flight))
		return false;
	struct lbx_top *top = calloc(1, sizeof *top);
	uint64_t newest = flight.newest;
	lbx_flight_free(&flight);
	if (!top)
		return lb_fail("out of memory");
	top->context = context;
	top->follow.seen = newest;
	*ret = top;
	if (take_sample(top))
		return true;
	lbx_top_destroy(top);
	return false;
}

static void forget_held(struct lbx_top *top)
{
	lbx_holding_groups_deinit(&top->sites);
	lbx_snapshot_deinit(&top->held);
	top->sites = (struct lbx_holding_groups){ 0 };
	top->held = (struct lbx_snapshot){ 0 };
}

static bool leaves_sites_out(const struct lbx_top *top)
{
	return top->root.n_tensor_slots > SITES_UP_TO;
}

/* Where tensors come and go meanwhile, it may fail: the next look may not. */
static void take_held(struct lbx_top *top)
{
	forget_held(top);
	if (leaves_sites_out(top))
		return;
	if (!lbx_snapshot_take(top->context, &top->held) || !lbx_snapshot_describe(top->context, &top->held) ||
	    !lbx_holding_groups_make(&top->held, NULL, LBX_BY_SITE, &top->sites)) {
		lb_clear_error();
		forget_held(top);
	}
}

void lbx_top_destroy(struct lbx_top *top)
{
	if (!top)
		return;
	forget_held(top);
	lbx_tallies_deinit(&top->ops);
	lbx_tallies_deinit(&top->evals);
	lbx_tallies_deinit(&top->ops_seen);
	lbx_tallies_deinit(&top->evals_seen);
	free(top);
}

/* What was counted since the last look is what is shown; counting begins anew. */
static void see(struct lbx_tallies *counted, struct lbx_tallies *seen)
{
	struct lbx_tallies old = *seen;

	lbx_tallies_sort(counted);
	*seen = *counted;
	*counted = old;
	lbx_tallies_clear(counted);
}

bool lbx_top_look(struct lbx_top *top)
{
	if (!lbx_top_poll(top) || !take_sample(top))
		return false;
	top->lost_before = top->lost;
	top->lost = top->follow.lost;
	top->unmatched_before = top->unmatched_now;
	top->unmatched_now = top->unmatched;
	see(&top->ops, &top->ops_seen);
	see(&top->evals, &top->evals_seen);
	take_held(top);
	return true;
}

static double seconds(const struct lbx_top *top)
{
	return (double)(top->now.ns - top->before.ns) / 1e9;
}

static double per_second(const struct lbx_top *top, uint64_t before, uint64_t after)
{
	return (double)(int64_t)(after - before) / seconds(top);
}

#define RATE(top, counter) per_second(top, (top)->before.counters.counter, (top)->now.counters.counter)

static double growth(const struct lbx_top *top)
{
	return RATE(top, created) - RATE(top, freed);
}

/* Of the time, in evaluations: of all threads together. */
static double busy(const struct lbx_top *top)
{
	uint64_t ns = top->evals_seen.others.ns;

	for (uint32_t i = 0; i < top->evals_seen.n; i++)
		ns += top->evals_seen.list[i].ns;
	return (double)ns / 1e9 / seconds(top);
}

/* Events were lost since the last look, or forgotten: what was counted of them is less than what was. */
static bool is_partial(const struct lbx_top *top)
{
	return top->lost != top->lost_before || top->unmatched_now != top->unmatched_before;
}

static void tell_counters(struct lbx_top *top)
{
	struct lbx_out *out = top->context->out;
	const struct lb_counters *c = &top->now.counters;
	char active[32], peak[32], cache[32], limit[32];

	LBX_KEYS(out, json_pack("{s:I,s:f,s:f,s:f,s:f,s:f,s:b,s:I}", "pid", (json_int_t)top->root.pid, "seconds",
				seconds(top), "evals_per_second", RATE(top, evals), "ops_per_second", RATE(top, ops),
				"tensors_per_second", growth(top), "busy", busy(top), "at_least", is_partial(top),
				"events_lost", (json_int_t)top->lost));
	lbx_begin(out, "counters");
#define X(name, meaning) LBX_KEY(out, #name, json_integer((json_int_t)c->name));
	LB_COUNTERS(X)
#undef X
	lbx_end(out);
	lbx_format_bytes((int64_t)c->active_bytes, active, sizeof active);
	lbx_format_bytes((int64_t)c->peak_bytes, peak, sizeof peak);
	lbx_format_bytes((int64_t)c->cache_bytes, cache, sizeof cache);
	lbx_format_bytes((int64_t)c->memory_limit, limit, sizeof limit);
	lbx_printf(out, "lazybones top   process %" PRIu64 "   runtime %s   over %.1f s\n", top->root.pid,
		   top->root.version, seconds(top));
	lbx_printf(out, "memory   %s in use, %s at most, %s cached, limit %s\n", active, peak, cache, limit);
	lbx_printf(out, "evals    %.1f/s, %s%.0f %% of the time; %" PRIu64 " in all, %" PRIu64 " by reading a value\n",
		   RATE(top, evals), is_partial(top) ? "at least " : "", 100 * busy(top), c->evals, c->implicit_evals);
	lbx_printf(out, "ops      %.1f/s, %.0f %% of them in fused chains\n", RATE(top, ops),
		   RATE(top, ops) > 0 ? 100 * RATE(top, fused) / RATE(top, ops) : 0);
	lbx_printf(out, "tensors  %" PRIu64 " alive, %+.1f/s\n", c->created - c->freed, growth(top));
	lbx_printf(out, "trouble  %" PRIu64 " misuse%s of views, ", c->raw_misuse, LB_S(c->raw_misuse));
	if (c->nan_seen || (top->root.watch_all & LB_WATCH_NAN))
		lbx_printf(out, "%" PRIu64 " NaN", c->nan_seen);
	else
		lbx_printf(out, "NaN not watched");
	lbx_printf(out, ", %" PRIu64 " error%s, %" PRIu64 " event%s lost\n", c->errors, LB_S(c->errors), top->lost,
		   LB_S(top->lost));
}

/* Says, too, of how many rows the screen has no room for. */
static void show_title(const struct lbx_top *top, const char *count, const char *second, const char *what, int shown,
		       int n)
{
	lbx_styled(top->context->out, LBX_TITLE, "\n%10s %8s  %s", count, second, what);
	if (n > shown)
		lbx_styled(top->context->out, LBX_TITLE, ": %d of %d", shown, n);
	lbx_printf(top->context->out, "\n");
}

/* A site's line, cut where the screen ends. */
static void show_text(struct lbx_top *top, const char *text)
{
	int room = top->context->out->width - 21;

	int columns;

	lbx_printf(top->context->out, "  %.*s\n", (int)lbx_columns_fit(text, room > 0 ? room : 0, &columns), text);
}

/* All of them; as text, the first `lines`. */
static void tell_tallies(struct lbx_top *top, const char *key, const struct lbx_tallies *tallies, bool sites, int lines)
{
	struct lbx_out *out = top->context->out;
	int rows = (int)tallies->n + (tallies->others.count > 0);
	char text[512];

	lbx_begin_list(out, key);
	for (int i = 0; i < rows; i++) {
		bool others = i == (int)tallies->n;
		const struct lbx_tally *t = others ? &tallies->others : &tallies->list[i];
		if (sites && !others)
			lbx_describe_pc(top->context->target, t->key, text, sizeof text);
		const char *name = sites ? text : lbx_table_op_name(top->context->table, t->key);
		LBX_KEY(out, NULL,
			json_pack("{s:o,s:I,s:f}", sites ? "site" : "op", others ? json_null() : lbx_json_string(name),
				  "count", (json_int_t)t->count, "ms", (double)t->ns / 1e6));
		if (i >= lines)
			continue;
		lbx_printf(out, "%10.1f %8.2f", (double)t->count / seconds(top), (double)t->ns / 1e6 / seconds(top));
		show_text(top, others ? "all others" : name);
	}
	lbx_end(out);
}

static void tell_sites(struct lbx_top *top, int lines)
{
	struct lbx_out *out = top->context->out;
	char text[512], bytes[32];

	if (leaves_sites_out(top)) {
		LBX_KEY(out, "memory_sites", json_null());
		return;
	}
	lbx_begin_list(out, "memory_sites");
	for (size_t i = 0; i < top->sites.n; i++) {
		const struct lbx_holding_group *g = &top->sites.list[i];
		lbx_describe_group(top->context, g, LBX_BY_SITE, text, sizeof text);
		LBX_KEY(out, NULL,
			json_pack("{s:o,s:I,s:I,s:I}", "site", lbx_json_string(text), "bytes", (json_int_t)g->bytes,
				  "buffers", (json_int_t)g->buffers, "lazy", (json_int_t)g->lazy));
		if ((int)i >= lines)
			continue;
		lbx_format_bytes(g->bytes, bytes, sizeof bytes);
		lbx_printf(out, "%10s %8" PRId64, bytes, g->buffers + g->lazy);
		show_text(top, text);
	}
	lbx_end(out);
}

enum { PARTS = 3 };

/* A third for each, and what one does not want for the others, the first first. */
static void share(int room, const int want[PARTS], int ret[PARTS])
{
	int each = room > 0 ? room / PARTS : 0;

	for (int i = 0; i < PARTS; i++) {
		ret[i] = want[i] < each ? want[i] : each;
		room -= ret[i];
	}
	for (int i = 0; i < PARTS && room > 0; i++) {
		int more = want[i] - ret[i] < room ? want[i] - ret[i] : room;
		ret[i] += more;
		room -= more;
	}
}

/* With the row for those that have none. */
static int rows(const struct lbx_tallies *tallies)
{
	return (int)tallies->n + (tallies->others.count > 0);
}

void lbx_top_show(struct lbx_top *top, int lines)
{
	enum { HEAD = 6, TITLES = 6 };
	bool partial = is_partial(top);
	int want[PARTS] = { rows(&top->ops_seen), rows(&top->evals_seen), (int)top->sites.n }, part[PARTS];

	lbx_begin(top->context->out, NULL);
	share(lines - HEAD - TITLES, want, part);
	tell_counters(top);
	show_title(top, "ops/s", "ms/s", partial ? "operation (at least: events were lost)" : "operation", part[0],
		   want[0]);
	tell_tallies(top, "ops", &top->ops_seen, false, part[0]);
	show_title(top, "evals/s", "ms/s", partial ? "evaluated by (at least)" : "evaluated by", part[1], want[1]);
	tell_tallies(top, "eval_sites", &top->evals_seen, true, part[1]);
	show_title(top, "memory", "buffers",
		   leaves_sites_out(top) ? "made by: not looked up: too many "
					   "tensors"
					 : "made by",
		   part[2], want[2]);
	tell_sites(top, part[2]);
	lbx_end(top->context->out);
}
