#include <inttypes.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/tensor/format.h"

enum { MAX_THREADS = 64, MAX_STREAMS = 64 };

struct counts {
	uint64_t by_state[LBX_STATES], named, watched, bad;
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
		ret->by_state[t.state]++;
		ret->named += t.name[0] != '\0';
		ret->watched += (t.watch & ((UINT32_C(1) << LB_WATCH_NAMED) - 1)) != 0;
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

static json_t *json_streams(const struct activity *a)
{
	json_t *list = json_array();

	for (int i = 0; i < a->n_streams; i++) {
		const struct lbx_stream *s = &a->streams[i];
		json_array_append_new(list, json_pack("{s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:o}", "id", (json_int_t)s->id,
						      "name", s->name[0] ? lbx_json_string(s->name) : json_null(),
						      "tid", (json_int_t)s->thread, "queued", (json_int_t)s->queued,
						      "done", (json_int_t)s->done, "failed", (json_int_t)s->failed,
						      "evaluation", (json_int_t)s->eval, "error",
						      s->error[0] ? lbx_json_string(s->error) : json_null()));
	}
	return list;
}

/* As the system numbers it; of a core, or behind gdbserver, as the runtime does. */
static uint64_t pid_of(const struct lbx_context *context, const struct lbx_root *root)
{
	uint64_t pid;

	return context->target->ops->pid && context->target->ops->pid(context->target, &pid) ? pid : root->pid;
}

static json_t *json_status(const struct lbx_context *context, const struct lbx_root *root, const struct counts *c,
			   const struct activity *a)
{
	json_t *counters = json_object(), *list = json_array();
	const struct lbx_thread *threads = a->threads;
	const struct lb_counters *k = &root->counters;

#define X(name, meaning) json_object_set_new(counters, #name, json_integer((json_int_t)k->name));
	LB_COUNTERS(X)
#undef X
	if (root->uncounted[0]) {
		json_decref(counters);
		counters = json_null();
	}
	for (int i = 0; i < a->n_threads; i++)
		json_array_append_new(list,
				      json_pack("{s:I,s:I,s:I,s:I,s:I}", "tid", (json_int_t)threads[i].tid,
						"evaluation", (json_int_t)threads[i].eval, "tensor",
						(json_int_t)threads[i].tensor, "done", (json_int_t)threads[i].done,
						"total", (json_int_t)threads[i].total));
	return json_pack("{s:s,s:o,s:[i,i],s:s,s:I,s:o,s:{s:I,s:I,s:I,s:I,s:I},s:o,s:o,s:o,s:i,s:i,s:I}", "version",
			 root->version, "root", lbx_json_address(root->address), "abi", (int)root->major,
			 (int)root->minor, "target", lbx_target_kind(context->target), "pid",
			 (json_int_t)pid_of(context, root), "rank",
			 root->rank < 0 ? json_null() : json_integer(root->rank), "tensors", "lazy",
			 (json_int_t)c->by_state[LBX_LAZY], "evaluating", (json_int_t)c->by_state[LBX_EVALUATING],
			 "ready", (json_int_t)c->by_state[LBX_READY], "named", (json_int_t)c->named, "unreadable",
			 (json_int_t)c->bad, "counters", counters, "threads", list, "streams", json_streams(a),
			 "watch_all", (int)root->watch_all, "want_stack", (int)root->want_stack, "watched",
			 (json_int_t)c->watched);
}

static void row(struct lbx_out *out, const char *name)
{
	lbx_printf(out, "%-11s", name);
	lbx_wrap(out, 11, 11);
}

static void print_streams(struct lbx_out *out, const struct activity *a)
{
	for (int i = 0; i < a->n_streams; i++) {
		const struct lbx_stream *s = &a->streams[i];
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
}

static void print_threads(struct lbx_out *out, const struct activity *a)
{
	const struct lbx_thread *threads = a->threads;
	for (int i = 0; i < a->n_threads; i++) {
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
}

static void print_watches(struct lbx_out *out, const struct lbx_root *root, const struct counts *c)
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

static void print_counters(struct lbx_out *out, const struct lbx_root *root)
{
	const struct lb_counters *k = &root->counters;
	char active[32], peak[32], cache[32], limit[32];

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
	lbx_printf(out,
		   "%" PRIu64 " raw accesses to strided views, %" PRIu64 " operation%s with NaN or Inf seen, %" PRIu64
		   " failed calls\n",
		   k->raw_misuse, k->nan_seen, LB_S(k->nan_seen), k->errors);
}

static void print_status(struct lbx_context *context, const struct lbx_root *root, const struct counts *c)
{
	struct lbx_out *out = context->out;

	row(out, "runtime");
	lbx_printf(out, "Lazybones %s, symbol table %u.%u at ", root->version, root->major, root->minor);
	lbx_styled(out, LBX_ADDRESS, "0x%" PRIx64, root->address);
	lbx_printf(out, "\n");
	row(out, "target");
	lbx_printf(out, "%s, pid %" PRIu64, lbx_target_kind(context->target), pid_of(context, root));
	if (root->rank >= 0)
		lbx_printf(out, ", rank %lld", (long long)root->rank);
	lbx_printf(out, "\n");
	row(out, "tensors");
	lbx_printf(out, "%" PRIu64 " ready, %" PRIu64 " lazy, %" PRIu64 " evaluating; %" PRIu64 " named\n",
		   c->by_state[LBX_READY], c->by_state[LBX_LAZY], c->by_state[LBX_EVALUATING], c->named);
	if (c->bad)
		lbx_styled(out, LBX_WARNING, "           %" PRIu64 " unreadable or damaged\n", c->bad);
	print_counters(out, root);
	print_watches(out, root, c);
}

/* To the status as JSON; NULL: printed. */
static void add_catches(struct lbx_context *context, json_t *status)
{
	json_t *catches = context->catches ? context->catches(context->out) : NULL;

	if (catches)
		json_object_set_new(status, "catches", catches);
}

/* The tensors of providers that are not the runtime, a row each; or, with `list`, objects there. */
static bool others(struct lbx_context *context, json_t *list)
{
	struct lbx_out *out = context->out;
	struct counts c;

	for (int i = 0; i < context->n_sets; i++) {
		struct lbx_tensors *set = context->sets[i];
		const char *sign = ":";
		if (set == lbx_table_tensors(context->table))
			continue;
		if (!count(context, set, &c))
			return false;
		json_t *states = json_object();
		if (!list) {
			row(out, "provider");
			lbx_printf(out, "%s", set->provider);
		}
		for (int state = LBX_LAZY; state < LBX_STATES; state++) {
			if (c.by_state[state] == 0)
				continue;
			json_object_set_new(states, lbx_state_name(state), json_integer((json_int_t)c.by_state[state]));
			if (!list)
				lbx_printf(out, "%s %" PRIu64 " %s", sign, c.by_state[state], lbx_state_name(state));
			sign = ",";
		}
		if (list)
			json_array_append_new(list, json_pack("{s:s,s:O,s:I,s:I}", "provider", set->provider, "tensors",
							      states, "named", (json_int_t)c.named, "unreadable",
							      (json_int_t)c.bad));
		else
			lbx_printf(out, "; %" PRIu64 " named\n", c.named);
		json_decref(states);
	}
	return true;
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

	if (out->json) {
		json_t *status = json_pack("{s:s,s:s?,s:o,s:s}", "reader", LB_VERSION, "target", kind, "version",
					   json_null(), "why", lb_error_message());
		add_catches(context, status);
		json_object_set_new(status, "providers", json_array());
		bool done = !finds(context, &tensors) || others(context, json_object_get(status, "providers"));
		if (!done) {
			json_decref(status);
			return false;
		}
		lbx_json(out, status);
	} else {
		lbx_printf(out, "reader     Lazybones %s, symbol tables %d.x\n", LB_VERSION, LB_ABI_MAJOR);
		lbx_printf(out, "target     %s\n", kind ? kind : "none");
		row(out, "runtime");
		lbx_printf(out, "not found: %s\n", lb_error_message());
		if (finds(context, &tensors) && !others(context, NULL))
			return false;
		add_catches(context, NULL);
	}
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
	if (context->out->json) {
		json_t *status = json_status(context, &root, &counts, &activity), *list = json_array();
		add_catches(context, status);
		json_object_set_new(status, "providers", list);
		if (!others(context, list)) {
			json_decref(status);
			return false;
		}
		lbx_json(context->out, status);
	} else {
		print_status(context, &root, &counts);
		if (!others(context, NULL))
			return false;
		print_streams(context->out, &activity);
		print_threads(context->out, &activity);
		add_catches(context, NULL);
	}
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
	.needs = LBX_NEEDS_KIND | LBX_NEEDS_CATCHES,
	.run = run_status,
};
