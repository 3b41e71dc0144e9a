#include "inspect/memory/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/findings.h"
#include "inspect/memory/holders.h"
#include "inspect/memory/points.h"
#include "inspect/memory/resident.h"
#include "inspect/memory/unreached.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { DEFAULT_LIMIT = 12, LARGEST = 5, TEXT = 4096 };
static const int64_t caches_max = (int64_t)8 << 30; /* bytes; a second or two */

struct request {
	enum lbx_by by;
	int64_t limit;
	const char *since;
};

static const char *bytes_text(int64_t bytes, char ret[32])
{
	if (bytes < 0) {
		*ret = '-';
		lbx_format_bytes(bytes == INT64_MIN ? INT64_MAX : -bytes, ret + 1, 31);
	} else {
		lbx_format_bytes(bytes, ret, 32);
	}
	return ret;
}

/* ---- the answer ---- */

void lbx_describe_group(struct lbx_context *context, const struct lbx_holding_group *g, enum lbx_by by, char *ret,
			size_t size)
{
	if (by == LBX_BY_STREAM)
		snprintf(ret, size, "stream %" PRIu64, g->pc);
	else if (by == LBX_BY_SITE && !g->key && g->pc)
		lbx_describe_pc(context->target, g->pc, ret, size);
	else if (g->key && *g->key)
		snprintf(ret, size, "%s", g->key);
	else
		snprintf(ret, size,
			 by == LBX_BY_NAME                          ? "(no name)"
			 : by == LBX_BY_MODULE                      ? "(no module)"
			 : by == LBX_BY_DTYPE || by == LBX_BY_STATE ? "(no tensor's)"
								    : "(not known)");
}

static const char *change_text(int64_t bytes, char ret[33])
{
	*ret = '+';
	bytes_text(bytes, ret + (bytes >= 0));
	return ret;
}

static json_t *json_counters(const struct lbx_snapshot *s)
{
	const struct lb_counters *c = &s->counters;

	if (!s->counted)
		return json_pack("{s:n,s:n,s:n,s:n,s:n}", "active", "peak", "limit", "cache", "cache_limit");
	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "active", (json_int_t)c->active_bytes, "peak",
			 (json_int_t)c->peak_bytes, "limit", (json_int_t)c->memory_limit, "cache",
			 (json_int_t)c->cache_bytes, "cache_limit", (json_int_t)c->cache_limit);
}

static void tell_counters(struct lbx_out *out, const struct lbx_snapshot *s)
{
	const struct lb_counters *c = &s->counters;
	char active[32], peak[32], cache[32], limit[32], cache_limit[32];

	LBX_KEYS(out, json_counters(s));
	LBX_KEY(out, "unreadable", json_integer((json_int_t)s->unreadable));
	lbx_wrap(out, 0, 2);
	if (s->uncounted[0])
		lbx_styled(out, LBX_WARNING, "how much is in use is not known: %s\n", s->uncounted);
	else if (!s->counted)
		lbx_printf(out, "%s in %lld buffer%s\n", bytes_text(s->bytes, active), (long long)s->buffers,
			   LB_S(s->buffers));
	else
		lbx_printf(out, "%s in use, peak %s, limit %s; cache %s, limit %s\n",
			   bytes_text((int64_t)c->active_bytes, active), bytes_text((int64_t)c->peak_bytes, peak),
			   bytes_text((int64_t)c->memory_limit, limit), bytes_text((int64_t)c->cache_bytes, cache),
			   bytes_text((int64_t)c->cache_limit, cache_limit));
	if (s->unreadable)
		lbx_styled(out, LBX_WARNING, "%" PRIu64 " record%s unreadable or damaged: not counted\n", s->unreadable,
			   LB_S(s->unreadable));
}

static void print_counts(struct lbx_out *out, int64_t buffers, int64_t lazy, int64_t lazy_bytes)
{
	char bytes[32];

	if (buffers || !lazy)
		lbx_printf(out, "%lld buffer%s%s", (long long)buffers, LB_S(buffers), lazy ? ", " : "");
	if (lazy)
		lbx_printf(out, "%lld lazy that would take %s", (long long)lazy, bytes_text(lazy_bytes, bytes));
}

static json_t *json_group(const struct lbx_holding_group *g, const char *text, bool compared)
{
	json_t *o =
	    json_pack("{s:o,s:I,s:I,s:I,s:I}", "key", lbx_json_string(text), "bytes", (json_int_t)g->bytes, "buffers",
		      (json_int_t)g->buffers, "lazy", (json_int_t)g->lazy, "lazy_bytes", (json_int_t)g->lazy_bytes);

	if (compared)
		json_object_set_new(o, "before",
				    json_pack("{s:I,s:I,s:I}", "bytes", (json_int_t)g->before_bytes, "buffers",
					      (json_int_t)g->before_buffers, "lazy", (json_int_t)g->before_lazy));
	return o;
}

static void print_change(struct lbx_out *out, const struct lbx_holding_group *g, const char *text)
{
	char bytes[32], change[33], was[32];

	lbx_printf(out, "  %12s  %s: %s, was %s; %+lld buffer%s, %+lld lazy\n",
		   change_text(g->bytes - g->before_bytes, change), text, bytes_text(g->bytes, bytes),
		   bytes_text(g->before_bytes, was), (long long)(g->buffers - g->before_buffers),
		   LB_S((g->buffers - g->before_buffers)), (long long)(g->lazy - g->before_lazy));
}

static bool is_same(const struct lbx_holding_group *g)
{
	return g->bytes == g->before_bytes && g->buffers == g->before_buffers && g->lazy == g->before_lazy;
}

/* As text, what has not changed is left out of a comparison. */
static void tell_groups(struct lbx_context *context, const struct lbx_holding_groups *g, const struct request *r,
			const char *limits)
{
	struct lbx_out *out = context->out;
	size_t shown = 0, left = 0;
	char text[512], bytes[32];

	LBX_KEY(out, "bytes", json_integer(g->bytes));
	LBX_KEY(out, "by", json_string(lbx_by_names[r->by]));
	lbx_styled(out, LBX_TITLE, "by %s\n", lbx_by_names[r->by]);
	lbx_begin_list(out, "groups");
	for (size_t i = 0; i < g->n; i++) {
		const struct lbx_holding_group *row = &g->list[i];
		bool told = (int64_t)i < r->limit, skipped = r->since && is_same(row);
		bool printed = !skipped && (int64_t)shown < r->limit;
		left += !skipped && !printed;
		if (!told && !printed)
			continue;
		lbx_describe_group(context, row, r->by, text, sizeof text);
		if (told)
			LBX_KEY(out, NULL, json_group(row, text, r->since));
		if (!printed)
			continue;
		shown++;
		lbx_wrap(out, 0, 19);
		if (r->since) {
			print_change(out, row, text);
			continue;
		}
		lbx_printf(out, "  %10s %3.0f%%  %s: ", bytes_text(row->bytes, bytes),
			   g->bytes ? 100 * (double)row->bytes / (double)g->bytes : 0.0, text);
		print_counts(out, row->buffers, row->lazy, row->lazy_bytes);
		lbx_printf(out, "\n");
	}
	lbx_end(out);
	LBX_KEY(out, "holders_left_out", lbx_json_text(limits));
	if (left)
		lbx_printf(out, "  … and %zu more (--limit 0 shows all)\n", left);
	if (*limits)
		lbx_styled(out, LBX_WARNING, "  %s\n", limits);
	if (r->since && shown == 0)
		lbx_printf(out, "  nothing has changed\n");
}

static void tell_largest(struct lbx_context *context, const struct lbx_holder *list, int n)
{
	struct lbx_out *out = context->out;
	char text[TEXT], where[512], bytes[32], lead[48];

	lbx_begin_list(out, "largest");
	if (n)
		lbx_styled(out, LBX_TITLE, "the largest, and who holds them\n");
	for (int i = 0; i < n; i++) {
		size_t used;
		LBX_KEY(out, NULL, lbx_json_holder(&list[i]));
		lbx_describe_holder(&list[i], text, sizeof text);
		used = strlen(text);
		if (list[i].site) {
			lbx_describe_pc(context->target, list[i].site, where, sizeof where);
			snprintf(text + used, sizeof text - used, "; made in %s", where);
		}
		snprintf(lead, sizeof lead, "  %10s  ", bytes_text(list[i].bytes, bytes));
		lbx_print_folded(out, lead, text);
	}
	lbx_end(out);
}

/* What a runtime counts for itself is in use; where none does on both sides, what was found. */
static void tell_since(struct lbx_out *out, const struct lbx_snapshot *s, const struct lbx_snapshot *before,
		       const char *since)
{
	char change[33], now[32], was[32];
	bool counted = s->counted && before->counted;
	/* damaged ones too: nothing here overflows */
	uint64_t a = counted ? s->counters.active_bytes : (uint64_t)s->bytes;
	uint64_t b = counted ? before->counters.active_bytes : (uint64_t)before->bytes;
	int64_t more = (int64_t)((uint64_t)s->tensors - (uint64_t)before->tensors);

	LBX_KEY(out, "since", lbx_json_string(since));
	LBX_KEY(out, "before", json_counters(before));
	LBX_KEY(out, "bytes_before", json_integer(before->bytes));
	LBX_KEY(out, "tensors", json_integer(s->tensors));
	LBX_KEY(out, "tensors_before", json_integer(before->tensors));
	lbx_wrap(out, 0, 2);
	lbx_printf(out, "since %s: %s %s (%s, was %s), %+lld tensor%s\n", since, change_text((int64_t)(a - b), change),
		   counted ? "in use" : "in buffers", bytes_text((int64_t)a, now), bytes_text((int64_t)b, was),
		   (long long)more, LB_S(more));
}

static bool take_resident(struct lbx_context *context, struct lbx_resident *ret)
{
	struct lbx_footprint f;

	if (!lbx_target_footprint(context->target, &f)) /* not told then */
		return true;
	if (!lbx_resident_take(context, ret))
		return false;
	lbx_resident_look(ret, context->target);
	return lbx_resident_fill(ret, context->target, caches_max, context->out);
}

/* Beside what the process takes as a whole. */
static void tell_resident(struct lbx_context *context, const struct lbx_resident *r)
{
	struct lbx_out *out = context->out;
	struct lbx_footprint f;

	if (!r->tensors || !lbx_target_footprint(context->target, &f))
		return;
	lbx_styled(out, LBX_TITLE, "of the process\n");
	lbx_begin(out, "process");
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "  %pF resident, %pF of it its own; %pF proportional; %pF swapped out\n",
		 LBX_SIZE("resident", f.resident), LBX_SIZE("own", f.own), LBX_SIZE("proportional", f.proportional),
		 LBX_SIZE("swapped", f.swapped));
	lbx_resident_tell(out, r, LBX_RESIDENT_ROWS);
	lbx_end(out);
}

/* ---- the command ---- */

static bool tell(struct lbx_context *context, struct lbx_snapshot *s, const struct lbx_snapshot *before,
		 const struct request *r)
{
	lb_auto_free struct lbx_holder *holders = calloc(LBX_HOLDERS_MAX, sizeof *holders);
	struct lbx_resident resident = { .n = 0 };
	struct lbx_holding_groups groups;
	int n = 0;

	if (!holders)
		return lb_fail("out of memory");
	bool ok = lbx_holding_groups_make(s, before, r->by, &groups);
	if (ok && !before)
		ok = lbx_holders_find(context, LARGEST, holders, &n);
	/* a runtime that counts has told already what it holds */
	if (ok && !before && !context->table)
		ok = take_resident(context, &resident);
	if (ok) {
		lbx_begin(context->out, NULL);
		if (before)
			tell_since(context->out, s, before, r->since);
		tell_counters(context->out, s);
		tell_groups(context, &groups, r, r->by == LBX_BY_HOLDER ? s->limits : "");
		if (!before)
			lbx_unreached_tell(context, s, r->limit);
		tell_resident(context, &resident);
		tell_largest(context, holders, n);
		lbx_end(context->out);
	}
	lbx_resident_deinit(&resident);
	lbx_holding_groups_deinit(&groups);
	return ok && lb_ok();
}

static bool compare(struct lbx_context *context, struct lbx_snapshot *s, const struct request *r)
{
	struct lbx_point before;
	bool ok = lbx_point_open(context, r->since, &before) && lbx_snapshot_describe(context, s) &&
		  tell(context, s, before.snapshot, r);

	lbx_point_close(&before);
	return ok;
}

static bool parse(const struct lbx_args *args, struct request *ret)
{
	const char *by = lbx_args_option(args, "by");

	*ret = (struct request){ .limit = DEFAULT_LIMIT, .since = lbx_args_option(args, "since") };
	if (args->n && (strcmp(args->v[0], "mark") != 0 || args->n != 2))
		return lbx_misuse("memory: unexpected argument '%s'; `memory mark NAME` keeps this moment", args->v[0]);
	if (by && !lbx_by_parse(by, &ret->by))
		return lbx_misuse("memory: cannot group by '%s': expected site, dtype, name, stream, state, usage, "
				  "kind, device, module or holder",
				  by);
	return lbx_args_limit(args, &ret->limit);
}

static bool run_memory(struct lbx_context *context, const struct lbx_args *args)
{
	const char *path = lbx_args_option(args, "save");
	struct lbx_snapshot s;
	struct request r;

	if (!parse(args, &r))
		return false;
	bool has_holders = r.by == LBX_BY_HOLDER || path; /* they take time */
	if (!(has_holders ? lbx_snapshot_take_with_holders : lbx_snapshot_take)(context, &s))
		return false;
	if (!context->table && !lbx_args_option(args, "by"))
		r.by = LBX_BY_NAME; /* nobody else knows sites */
	int64_t active = s.counted ? (int64_t)s.counters.active_bytes : s.bytes;
	bool ok = !path || lbx_point_save(context, path, &s);
	/* calls on one line are one site */
	if (ok && (r.by == LBX_BY_SITE || args->n))
		ok = lbx_snapshot_describe(context, &s);
	if (ok && args->n && lbx_target_waits(context->target))
		; /* it all comes again, with the places' names */
	else if (ok && args->n)
		ok = lbx_memory_mark(context, args->v[1], &s);
	else if (ok)
		ok = r.since ? compare(context, &s, &r) : tell(context, &s, NULL, &r);
	lbx_snapshot_deinit(&s);
	lbx_set_int(context->out, "tensor_bytes", active);
	return ok;
}

static const char *memory_word(int i)
{
	return i == 0 ? "mark" : NULL;
}

static const char *memory_value(const char *option, int i)
{
	return strcmp(option, "by") == 0 && i < LBX_BYS ? lbx_by_names[i] : NULL;
}

const struct lbx_command lbx_command_memory = {
	.name = "memory",
	.arguments = "[mark NAME]",
	.word = memory_word,
	.value = memory_value,
	.summary = "show what holds memory, or what has changed since a mark, a file or a core",
	.help = "Each buffer counts once, for the tensor that owns it; views own nothing. Then come\n"
		"the largest buffers, with the tensors over them and what needs these. --save keeps\n"
		"this moment in a file, and in gdb `mark NAME` under a name; --since compares with it,\n"
		"or with an older core, even of another run, by what buffers have in common.\n"
		"By holder: the variable that leads to it, of Python, or in C and C++ a global one, a\n"
		"static or one of a frame (`owner T` shows each).\n"
		"Of PyTorch in Python also what no variable leads to, who holds it where that is\n"
		"certain, and which variables keep the graph that computed them.\n"
		"Of a running process whose runtime counts nothing, as ggml: what the process takes,\n"
		"and how much of the tensors' memory is in memory now.\n"
		"Example: memory --by name, memory --save before, memory --since before",
	.max_args = 2,
	.needs = LBX_NEEDS_TENSORS | LBX_LETS_GO,
	.options = {
		{ "by", "KEY", "site (of a runtime's tensors the default), dtype, name (its first part), stream, state, usage (weights, compute, …), kind (of memory), device, module or holder" },
		{ "since", "POINT", "compare with a mark, a file of --save, or a core" },
		{ "save", "FILE", "write what --since compares with" },
		{ "limit", "N", "show N groups at most (default 12); 0: all" },
	},
	.run = run_memory,
};
