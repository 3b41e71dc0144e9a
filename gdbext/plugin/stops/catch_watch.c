/* The runtime looks for NaN, compares with limits and guards pointers only while words in its root say
 * so. They are found by the root's own description of itself, in the live process at once, and in
 * one that is to come when it stops at the runtime's first probe (program.c). */
#include "plugin/stops/catch_watch.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"

struct lbx_watch lbx_watch_wanted(const struct lbx_catch *catches, int n)
{
	struct lbx_watch want = { .memory = UINT64_MAX, .graph = UINT64_MAX };
	bool range = false;

	for (int i = 0; i < n; i++) {
		const struct lbx_catch *c = &catches[i];
		int64_t low = lb_order_double(c->low), high = lb_order_double(c->high);

		if (!c->number)
			continue;
		want.all |= c->kind->watch | (c->pattern ? LB_WATCH_NAMES : 0);
		if (c->kind->watch & LB_WATCH_NAN && (c->id || *c->name))
			want.all |= LB_WATCH_MASKS;
		if (c->pattern)
			snprintf(want.patterns[c->pattern - 1], sizeof want.patterns[0], "%s", c->name);
		if (c->kind->takes == LBX_TAKES_BYTES)
			want.memory = c->limit;
		if (c->kind->takes == LBX_TAKES_COUNT)
			want.graph = c->limit;
		if (c->kind->takes != LBX_TAKES_RANGE)
			continue;
		/* what is inside of all is no news to any; gdb's conditions tell them apart */
		want.low = !range || low > want.low ? low : want.low;
		want.high = !range || high < want.high ? high : want.high;
		range = true;
	}
	return want;
}

bool lbx_watch_find(struct lbx_context *context, struct lbx_watch_place *ret)
{
	struct lbx_table *table;

	memset(ret, 0, sizeof *ret);
	if (context->target && lbx_context_table(context, &table) && lbx_table_root(table, &ret->root) &&
	    !ret->root.uncounted[0]) {
		ret->found = true;
		ret->offsets = lbx_table_offsets(table);
		ret->table = table;
	}
	if (lbx_bridge_waits())
		return false;
	if (!ret->found)
		lb_clear_error(); /* not there yet */
	return true;
}

static bool write_word(struct lbx_context *context, uint64_t at, uint64_t now, uint64_t want, size_t bytes)
{
	return now == want || !at || lbx_target_write(context->target, at, &want, bytes);
}

/* Word by word, as gdb writes; of each glob as far as it goes. */
static bool write_patterns(struct lbx_context *context, const struct lbx_root *root, const struct lbx_watch *want)
{
	uint64_t now, word;
	bool ok = true;

	for (size_t i = 0; i < LB_WATCH_PATTERNS; i++) {
		for (size_t k = 0; ok && k <= strlen(want->patterns[i]); k += sizeof word) {
			memcpy(&word, want->patterns[i] + k, sizeof word);
			memcpy(&now, root->watch_patterns[i] + k, sizeof now);
			ok = write_word(context, root->watch_patterns_at + i * LB_PATTERN_BYTES + k, now, word,
					sizeof word);
		}
	}
	return ok;
}

bool lbx_watch_check(const struct lbx_watch_place *place, const struct lbx_watch *want)
{
	const struct lbx_root *root = &place->root;

	if (!place->found)
		return true;
	if (!root->watch_all_at || (want->memory != UINT64_MAX && !root->watch_memory_at) ||
	    (want->graph != UINT64_MAX && !root->watch_graph_at) ||
	    ((want->all & LB_WATCH_NAMES) && (!root->watch_patterns_at || !place->offsets.watch)) ||
	    ((want->all & LB_WATCH_RANGE) && (!root->watch_low_at || !root->watch_high_at)))
		return lb_fail("the program's runtime (%s, symbol table %u.%u) is older than what is to "
			       "be caught",
			       root->version, root->major, root->minor);
	return true;
}

bool lbx_watch_is_passed(const struct lbx_watch_place *place, uint64_t limit)
{
	return place->found && place->root.counters.active_bytes > limit;
}

/* What is past a limit when that is set does not pass it any more. */
static uint32_t growth(const struct lbx_watch_place *place, const struct lbx_watch *want)
{
	bool is_new = place->root.watch_memory != want->memory;

	return lbx_watch_is_passed(place, want->memory) && is_new ? LB_WATCH_GROWTH
								  : place->root.watch_all & LB_WATCH_GROWTH;
}

bool lbx_watch_write(struct lbx_context *context, const struct lbx_watch_place *place, const struct lbx_watch *want)
{
	const struct lbx_root *root = &place->root;

	if (!place->found)
		return true;
	uint32_t all = want->all | (want->memory == UINT64_MAX ? 0 : growth(place, want));
	return write_word(context, root->watch_memory_at, root->watch_memory, want->memory, 8) &&
	       write_word(context, root->watch_graph_at, root->watch_graph, want->graph, 8) &&
	       write_word(context, root->watch_low_at, (uint64_t)root->watch_low, (uint64_t)want->low, 8) &&
	       write_word(context, root->watch_high_at, (uint64_t)root->watch_high, (uint64_t)want->high, 8) &&
	       (!(want->all & LB_WATCH_NAMES) || write_patterns(context, root, want)) &&
	       write_word(context, root->watch_all_at, root->watch_all, all, 4);
}

bool lbx_watch_has_closed_guards(struct lbx_context *context)
{
	struct lb_guard guards[LB_GUARDS];

	if (!context->target || !lbx_target_try_read(context->target, LB_GUARD_BASE, guards, sizeof guards))
		return false;
	for (int i = 1; i < LB_GUARDS; i++)
		if (guards[i].closed)
			return true;
	return false;
}

bool lbx_watch_take_back(struct lbx_context *context, const struct lbx_watch_place *place)
{
	struct lbx_watch nothing = { .memory = UINT64_MAX, .graph = UINT64_MAX };

	return lbx_watch_write(context, place, &nothing);
}
