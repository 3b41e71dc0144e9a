#include <inttypes.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/memory/holdings.h"
#include "inspect/tensor/format.h"

enum { MAX_THREADS = 64, MAX_STREAMS = 64 };

struct counts {
	uint64_t by_state[LBX_STATES], named, watched, looked_at /* for NaN */, bad;
	uint64_t buffers;
	int64_t bytes; /* of the buffers */
};

/* What runs, or could. */
struct activity {
	int n_threads, n_streams;
	struct lbx_thread threads[MAX_THREADS];
	struct lbx_stream streams[MAX_STREAMS];
};

static bool count(struct lbx_context *context, struct lbx_tensors *tensors, struct counts *ret)
{
	struct lbx_tensor t;
	uint64_t slot = 0, n = 0;
	enum lbx_next next;

	*ret = (struct counts){ .bad = 0 };
	while ((next = lbx_tensors_next(tensors, &slot, &t, &ret->bad)) == LBX_NEXT_TENSOR) {
		ret->by_state[lbx_told_state(&t)]++;
		ret->named += t.name[0] != '\0';
		ret->looked_at += (t.watch & LB_WATCH_NAN) != 0;
		ret->watched += (t.watch & ~LB_WATCH_ODD & ((UINT32_C(1) << LB_WATCH_NAMED) - 1)) != 0;
		if (++n % 8192 == 0 && !lbx_progress(context->out, "counting", (int64_t)n, 0))
			return false;
	}
	return next == LBX_NEXT_END;
}

static void find_activity(struct lbx_table *table, struct activity *ret)
{
	uint64_t slot = 0;

	ret->n_threads = ret->n_streams = 0;
	while (ret->n_threads < MAX_THREADS && lbx_table_thread(table, &slot, &ret->threads[ret->n_threads]))
		ret->n_threads++;
	slot = 0;
	while (ret->n_streams < MAX_STREAMS && lbx_table_stream(table, &slot, &ret->streams[ret->n_streams]))
		ret->n_streams++;
}

/* As the system numbers it; of a core, or behind gdbserver, as the runtime does. */
static uint64_t pid_of(const struct lbx_context *context, const struct lbx_root *root)
{
	uint64_t pid;

	return context->target->ops->pid && context->target->ops->pid(context->target, &pid) ? pid : root->pid;
}

static void row(struct lbx_out *out, const char *name)
{
	lbx_printf(out, "%-11s", name);
	lbx_wrap(out, 11, 11);
}

static void tell_streams(struct lbx_out *out, const struct activity *a)
{
	lbx_begin_list(out, "streams");
	for (int i = 0; i < a->n_streams; i++) {
		const struct lbx_stream *s = &a->streams[i];
		LBX_KEY(out, NULL,
			json_pack("{s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:o}", "id", (json_int_t)s->id, "name",
				  lbx_json_text(s->name), "tid", (json_int_t)s->thread, "queued", (json_int_t)s->queued,
				  "done", (json_int_t)s->done, "failed", (json_int_t)s->failed, "evaluation",
				  (json_int_t)s->eval, "error", lbx_json_text(s->error)));
		row(out, "stream");
		lbx_printf(out, "%" PRIu64, s->id);
		if (s->name[0])
			lbx_styled(out, LBX_NAME, " %s", s->name);
		lbx_printf(out, ": %" PRIu64 " job%s queued, %" PRIu64 " done, %" PRIu64 " of them failed", s->queued,
			   LB_S(s->queued), s->done, s->failed);
		lbx_printf(out, "\n");
		if (s->eval) {
			row(out, "");
			lbx_printf(out, "thread %" PRIu64 " runs evaluation %" PRIu64 "\n", s->thread, s->eval);
		}
		if (s->error[0]) {
			row(out, "");
			lbx_styled(out, LBX_WARNING, "the last failure: %s", s->error);
			lbx_printf(out, "\n");
		}
	}
	lbx_end(out);
}

static void tell_threads(struct lbx_out *out, const struct activity *a)
{
	const struct lbx_thread *threads = a->threads;

	lbx_begin_list(out, "threads");
	for (int i = 0; i < a->n_threads; i++) {
		LBX_KEY(out, NULL,
			json_pack("{s:I,s:I,s:I,s:I,s:I}", "tid", (json_int_t)threads[i].tid, "evaluation",
				  (json_int_t)threads[i].eval, "tensor", (json_int_t)threads[i].tensor, "done",
				  (json_int_t)threads[i].done, "total", (json_int_t)threads[i].total));
		if (threads[i].eval == 0)
			continue;
		row(out, "thread");
		lbx_printf(out, "%" PRIu64 " runs evaluation %" PRIu64 ", %" PRIu64 " of %" PRIu64 " operation%s done",
			   threads[i].tid, threads[i].eval, threads[i].done, threads[i].total, LB_S(threads[i].total));
		if (threads[i].tensor)
			lbx_printf(out, ", now #%" PRIu64, threads[i].tensor);
		if (threads[i].waits_for)
			lbx_printf(out, ", waiting for evaluation %" PRIu64, threads[i].waits_for);
		lbx_printf(out, "\n");
	}
	lbx_end(out);
}

static void tell_watches(struct lbx_out *out, const struct lbx_root *root, const struct counts *c)
{
	static const char *const strided[] = { "off", "warn", "stop" };
	static const struct {
		uint32_t bit;
		const char *what;
	} bits[] = {
		{ LB_WATCH_NAN, "NaN" },
		{ LB_WATCH_EVAL, "evaluations" },
		{ LB_WATCH_RANGE, "ranges" },
		{ LB_WATCH_ACCESS, "raw pointers of views" },
	};
	char bytes[32];
	bool any = false;

	LBX_KEYS(out, json_pack("{s:i,s:i,s:I}", "watch_all", (int)root->watch_all, "want_stack", (int)root->want_stack,
				"watched", (json_int_t)c->watched));
	row(out, "watches");
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		if (!(root->watch_all & bits[i].bit))
			continue;
		lbx_printf(out, "%s%s", any ? ", " : "", bits[i].what);
		any = true;
	}
	lbx_printf(out, "%s; %" PRIu64 " tensor%s watched; raw access to views: %s\n", any ? "" : "none", c->watched,
		   LB_S(c->watched), root->strided < 3 ? strided[root->strided] : "?");
	if (root->watch_memory != UINT64_MAX) {
		lbx_format_bytes((int64_t)root->watch_memory, bytes, sizeof bytes);
		row(out, "");
		lbx_printf(out, "more than %s in use\n", bytes);
	}
	if (root->watch_graph != UINT64_MAX) {
		row(out, "");
		lbx_printf(out, "more than %" PRIu64 " lazy tensors\n", root->watch_graph);
	}
	row(out, "stacks");
	if (root->want_stack)
		lbx_printf(out, "%u frame%s of each tensor's creation\n", root->want_stack, LB_S(root->want_stack));
	else
		lbx_printf(out, "the call site of each tensor's creation\n");
}

static json_t *json_counters(const struct lbx_root *root)
{
	json_t *o = json_object();

	if (root->uncounted[0]) {
		json_decref(o);
		return json_null();
	}
#define X(name, meaning) json_object_set_new(o, #name, json_integer((json_int_t)root->counters.name));
	LB_COUNTERS(X)
#undef X
	return o;
}

/* NaN is counted only while somebody looks: none seen is no news where nobody did. */
static void print_nan(struct lbx_context *context, uint64_t seen, bool looks)
{
	if (seen || looks)
		lbx_printf(context->out, "%" PRIu64 " operation%s with NaN or Inf seen", seen, LB_S(seen));
	else
		lbx_printf(
		    context->out,
		    "no debugger looks for NaN or Inf (`tensor catch nan` in gdb does; `%sdoctor` tells of values "
		    "that are there)",
		    context->prefix ? context->prefix : "");
}

static void tell_counters(struct lbx_context *context, const struct lbx_root *root, const struct counts *c)
{
	struct lbx_out *out = context->out;
	const struct lb_counters *k = &root->counters;
	char active[32], peak[32], cache[32], limit[32];

	bool looks = (root->watch_all & LB_WATCH_NAN) || c->looked_at;

	LBX_KEY(out, "counters", json_counters(root));
	LBX_KEY(out, "looks_for_nan", json_boolean(looks));
	if (root->uncounted[0]) {
		row(out, "counters");
		lbx_styled(out, LBX_WARNING, "not known: %s\n", root->uncounted);
		return;
	}
	lbx_format_bytes((int64_t)k->active_bytes, active, sizeof active);
	lbx_format_bytes((int64_t)k->peak_bytes, peak, sizeof peak);
	lbx_format_bytes((int64_t)k->cache_bytes, cache, sizeof cache);
	lbx_format_bytes((int64_t)k->memory_limit, limit, sizeof limit);
	lbx_printf(out, "made       %" PRIu64 ", freed %" PRIu64 "\n", k->created, k->freed);
	row(out, "memory");
	lbx_printf(out, "%s in use, peak %s, cache %s, limit %s\n", active, peak, cache, limit);
	row(out, "work");
	lbx_printf(out,
		   "%" PRIu64 " evaluation%s done, %" PRIu64 " implicit; %" PRIu64 " operation%s, %" PRIu64
		   " of them fused\n",
		   k->evals, LB_S(k->evals), k->implicit_evals, k->ops, LB_S(k->ops), k->fused);
	row(out, "trouble");
	lbx_printf(out, "%" PRIu64 " raw access%s to strided views, %" PRIu64 " failed call%s, ", k->raw_misuse,
		   LB_PLURAL(k->raw_misuse, "", "es"), k->errors, LB_S(k->errors));
	print_nan(context, k->nan_seen, looks);
	lbx_printf(out, "\n");
}

static void tell_status(struct lbx_context *context, const struct lbx_root *root, const struct counts *c)
{
	struct lbx_out *out = context->out;

	row(out, "runtime");
	lbx_tell(out, "Lazybones %pF, symbol table %u.%u at %pF\n", LBX_TEXT("version", root->version), root->major,
		 root->minor, LBX_HEX("root", root->address));
	LBX_KEY(out, "abi", json_pack("[i,i]", (int)root->major, (int)root->minor));
	row(out, "target");
	lbx_tell(out, "%pF, pid %pF", LBX_TEXT("target", lbx_target_kind(context->target)),
		 LBX_UINT("pid", pid_of(context, root)));
	LBX_KEY(out, "rank", lbx_json_int_if(root->rank >= 0, root->rank));
	if (root->rank >= 0)
		lbx_printf(out, ", rank %lld", (long long)root->rank);
	lbx_printf(out, "\n");
	row(out, "tensors");
	lbx_begin(out, "tensors");
	lbx_tell(out, "%pF ready, %pF lazy, %pF evaluating; %pF named\n", LBX_INT("ready", c->by_state[LBX_READY]),
		 LBX_INT("lazy", c->by_state[LBX_LAZY]), LBX_INT("evaluating", c->by_state[LBX_EVALUATING]),
		 LBX_INT("named", c->named));
	LBX_KEY(out, "unreadable", json_integer((json_int_t)c->bad));
	lbx_end(out);
	if (c->bad)
		lbx_styled(out, LBX_WARNING, "           %" PRIu64 " unreadable or damaged\n", c->bad);
	tell_counters(context, root, c);
	tell_watches(out, root, c);
}

static void tell_catches(struct lbx_context *context)
{
	if (context->catches)
		context->catches(context->out);
}

static void tell_fact(void *context, const char *name, const char *text)
{
	struct lbx_out *out = context;

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:s,s:o}", "name", name, "text", lbx_json_string(text)));
	lbx_end(out);
	row(out, "");
	lbx_wrap(out, 11, 13);
	lbx_printf(out, "%s %s\n", name, text);
}

static void tell_set(struct lbx_out *out, struct lbx_tensors *set, const struct counts *c)
{
	const char *sign = ":";

	lbx_begin(out, NULL);
	row(out, "provider");
	lbx_tell(out, "%pF", LBX_TEXT("provider", set->provider));
	lbx_begin(out, "tensors");
	for (int state = LBX_LAZY; state < LBX_STATES; state++) {
		if (c->by_state[state] == 0)
			continue;
		lbx_tell(out, "%s %pF %s", sign, LBX_INT(lbx_state_name(state), c->by_state[state]),
			 lbx_state_name(state));
		sign = ",";
	}
	lbx_end(out);
	lbx_tell(out, "; %pF named", LBX_INT("named", c->named));
	if (c->buffers)
		lbx_tell(out, "; %pF of %pF", LBX_COUNT("buffers", c->buffers, "buffer"), LBX_SIZE("nbytes", c->bytes));
	else
		LBX_KEYS(out, json_pack("{s:i,s:i}", "buffers", 0, "nbytes", 0));
	lbx_printf(out, "\n");
	LBX_KEY(out, "unreadable", json_integer((json_int_t)c->bad));
	lbx_begin_list(out, "facts");
	lbx_tensors_facts(set, NULL, tell_fact, out);
	lbx_end(out);
	lbx_end(out);
}

/* The runtime counts its own. */
static void count_buffers(struct lbx_tensors *tensors, struct counts *ret)
{
	struct lbx_buffer b;
	uint64_t slot = 0;

	for (; lbx_tensors_next_buffer(tensors, &slot, &b); ret->buffers++)
		if (!lb_sum_of(ret->bytes, b.capacity ? b.capacity : b.nbytes, &ret->bytes))
			ret->bytes = INT64_MAX;
}

/* How much each device has, by all that was found. */
static bool tell_devices(struct lbx_context *context)
{
	struct lbx_out *out = context->out;
	struct lbx_snapshot s;
	struct lbx_holding_groups g = { .n = 0 };
	bool ok = lbx_snapshot_take(context, &s) && lbx_holding_groups_make(&s, NULL, LBX_BY_DEVICE, &g);
	const char *sign = "";

	lbx_begin_list(out, "devices");
	row(out, "memory");
	for (size_t i = 0; i < g.n; i++) {
		if (!g.list[i].key[0] || !g.list[i].buffers)
			continue;
		lbx_printf(out, "%s", sign);
		lbx_begin(out, NULL);
		lbx_tell(out, "%pF: %pF in %pF", LBX_TEXT("device", g.list[i].key), LBX_SIZE("bytes", g.list[i].bytes),
			 LBX_COUNT("buffers", (uint64_t)g.list[i].buffers, "buffer"));
		lbx_end(out);
		sign = "; ";
	}
	lbx_printf(out, "%s\n", *sign ? "" : "none");
	lbx_end(out);
	lbx_holding_groups_deinit(&g);
	lbx_snapshot_deinit(&s);
	return ok;
}

/* The tensors of providers that are not the runtime. */
static bool tell_others(struct lbx_context *context)
{
	struct counts c;
	int n = 0;

	lbx_begin_list(context->out, "providers");
	for (int i = 0; i < context->n_sets; i++) {
		struct lbx_tensors *set = context->sets[i];
		if (set == lbx_table_tensors(context->table))
			continue;
		if (!count(context, set, &c))
			return false;
		count_buffers(set, &c);
		tell_set(context->out, set, &c);
		n++;
	}
	lbx_end(context->out);
	return n == 0 || tell_devices(context);
}

/* Quietly: that there is no runtime has been said. */
static bool finds(struct lbx_context *context, struct lbx_tensors **ret)
{
	bool found;

	lb_clear_error();
	found = context->target && lbx_context_tensors(context, ret);
	lb_clear_error();
	return found;
}

/* Without a program, or without a runtime in it, that is the answer. */
static bool nothing(struct lbx_context *context)
{
	struct lbx_tensors *tensors;
	struct lbx_out *out = context->out;
	const char *kind = context->target ? lbx_target_kind(context->target) : NULL;

	lbx_begin(out, NULL);
	lbx_tell(out, "reader     Lazybones %pF, symbol tables %d.x\n", LBX_TEXT("reader", LB_VERSION), LB_ABI_MAJOR);
	LBX_KEY(out, "target", lbx_json_text(kind));
	lbx_printf(out, "target     %s\n", kind ? kind : "none");
	LBX_KEY(out, "version", json_null());
	row(out, "runtime");
	lbx_tell(out, "not found: %pF\n", LBX_TEXT("why", lb_error_message()));
	if (!finds(context, &tensors))
		LBX_KEY(out, "providers", json_array());
	else if (!tell_others(context))
		return false;
	tell_catches(context);
	lbx_end(out);
	lb_clear_error();
	return true;
}

static bool run_status(struct lbx_context *context, const struct lbx_args *args)
{
	struct activity activity;
	struct lbx_tensors *tensors;
	struct lbx_table *table;
	struct lbx_root root;
	struct counts counts;

	(void)args;
	if (!lbx_context_table(context, &table) || !lbx_table_root(table, &root) ||
	    !lbx_context_tensors(context, &tensors))
		return nothing(context);
	if (!count(context, lbx_table_tensors(table), &counts))
		return false;
	find_activity(table, &activity);
	lbx_begin(context->out, NULL);
	tell_status(context, &root, &counts);
	if (!tell_others(context))
		return false;
	tell_streams(context->out, &activity);
	tell_threads(context->out, &activity);
	tell_catches(context);
	lbx_end(context->out);
	lbx_set_int(context->out, "tensor_count",
		    (int64_t)(counts.by_state[LBX_READY] + counts.by_state[LBX_LAZY] +
			      counts.by_state[LBX_EVALUATING]));
	return lb_ok();
}

const struct lbx_command lbx_command_status = {
	.name = "status",
	.arguments = "",
	.summary = "show what was found: runtime, version, counts, memory",
	.help = "Works at any time; without a program it says so.",
	.needs = LBX_NEEDS_KIND | LBX_NEEDS_CATCHES | LBX_LETS_GO,
	.run = run_status,
};
