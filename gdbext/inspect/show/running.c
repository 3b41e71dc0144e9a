/* What each thread and stream evaluates now, and what threads do with the tensors of others (work.h).
 *
 * The runtime keeps a record a thread of what it evaluates, whether in step mode or not; so a core
 * has it, too. A thread's clock was read when its evaluation began. What time it is now is known for
 * a process of this machine; elsewhere the newest event of the flight recorder tells how much has
 * passed at least. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/graph/listings.h"
#include "inspect/show/work.h"
#include "inspect/tensor/describe.h"
#include "table/flight.h"

enum { THREADS_MOST = 4096, STREAMS_MOST = 64, LABEL = LBX_DESCRIPTION_MAX };

struct running {
	struct lbx_context *context;
	struct lbx_table *table; /* NULL: the program has not the runtime */
	struct lbx_works works;
	int n_threads, n_streams;
	struct lbx_thread *threads;
	struct lbx_stream streams[STREAMS_MOST];
	uint64_t now_ns; /* 0: not known */
	bool at_least; /* it is later than that */
};

static void find_time(struct running *w)
{
	struct lbx_flight flight;

	if (w->context->target->liveness == LBX_LIVE) {
		w->now_ns = lb_clock_ns();
		return;
	}
	w->at_least = true;
	if (lbx_flight_read(w->table, &flight)) {
		for (int64_t i = 0; i < flight.n; i++)
			if (flight.events[i].time_ns > w->now_ns)
				w->now_ns = flight.events[i].time_ns;
		lbx_flight_free(&flight);
	}
	lb_clear_error();
}

/* "1.25 s", "at least 3 ms", or "" */
static void describe_time(const struct running *w, uint64_t started, char *ret, size_t size)
{
	*ret = '\0';
	if (w->now_ns <= started || started == 0)
		return;
	double seconds = (double)(w->now_ns - started) / 1e9;
	const char *prefix = w->at_least ? "at least " : "";
	if (seconds >= 1)
		snprintf(ret, size, "%s%.3g s", prefix, seconds);
	else if (seconds >= 1e-3)
		snprintf(ret, size, "%s%.3g ms", prefix, seconds * 1e3);
	else
		snprintf(ret, size, "%s%.3g us", prefix, seconds * 1e6);
}

static const struct lbx_stream *stream_of(const struct running *w, uint64_t tid)
{
	for (int i = 0; i < w->n_streams; i++)
		if (w->streams[i].thread == tid && tid)
			return &w->streams[i];
	return NULL;
}

static void stream_name(const struct lbx_stream *s, char *ret, size_t size)
{
	snprintf(ret, size, s->name[0] ? "stream %" PRIu64 " %s" : "stream %" PRIu64, s->id, s->name);
}

/* Who runs, or is to run, an evaluation: "evaluation 7 of thread 4711". */
static void describe_evaluation(const struct running *w, uint64_t eval, char *ret, size_t size)
{
	char name[LB_NAME_MAX + 40];
	int n = snprintf(ret, size, "evaluation %" PRIu64, eval);

	for (int i = 0; i < w->n_threads; i++) {
		if (w->threads[i].eval == eval) {
			snprintf(ret + n, size - (size_t)n, " of thread %" PRIu64, w->threads[i].tid);
			return;
		}
	}
	/* no record tells which stream's queue it is in */
	const char *before = ", a job that is queued on ";
	for (int i = 0; i < w->n_streams; i++) {
		if (w->streams[i].queued == 0 || n >= (int)size)
			continue;
		stream_name(&w->streams[i], name, sizeof name);
		n += snprintf(ret + n, size - (size_t)n, "%s%s", before, name);
		before = " or ";
	}
}

static bool find_now(const struct running *w, const struct lbx_thread *thread, struct lbx_tensor *ret)
{
	struct lbx_tensors *tensors = lbx_table_tensors(w->table);
	bool found = thread->tensor && lbx_tensors_by_id(tensors, thread->tensor, ret);

	lb_clear_error();
	return found;
}

/* ---- the answer ---- */

static void tell_work(const struct running *w, const struct lbx_thread *thread)
{
	struct lbx_out *out = w->context->out;
	bool timed = thread->eval && thread->started_ns && w->now_ns > thread->started_ns;
	char elapsed[64];

	LBX_KEY(out, "evaluation", json_integer((json_int_t)thread->eval));
	LBX_KEY(out, "graph", lbx_json_int_if(thread->graph, (int64_t)thread->graph));
	LBX_KEY(out, "line", lbx_json_int_if(thread->graph && thread->line, (int64_t)thread->line));
	LBX_KEYS(out,
		 json_pack("{s:I,s:I,s:o,s:b}", "done", (json_int_t)thread->done, "total", (json_int_t)thread->total,
			   "elapsed_ns", lbx_json_int_if(timed, (int64_t)(w->now_ns - thread->started_ns)), "at_least",
			   w->at_least));
	if (!thread->eval) {
		lbx_printf(out, ": no evaluation\n");
		return;
	}
	lbx_printf(out, ": evaluation %" PRIu64, thread->eval);
	if (thread->graph)
		lbx_printf(out, " of graph %" PRIu64, thread->graph);
	lbx_printf(out, ", %" PRIu64 " of %" PRIu64 " op%s done", thread->done, thread->total, LB_S(thread->total));
	describe_time(w, thread->started_ns, elapsed, sizeof elapsed);
	lbx_printf(out, "%s%s\n", *elapsed ? ", " : "", elapsed);
}

/* The op that runs. */
static void tell_now(const struct running *w, const struct lbx_thread *thread)
{
	struct lbx_out *out = w->context->out;
	char text[LABEL];
	struct lbx_tensor t;
	bool found = find_now(w, thread, &t);

	LBX_KEY(out, "op", found ? lbx_json_string(t.op) : json_null());
	LBX_KEY(out, "tensor", lbx_json_int_if(thread->tensor, (int64_t)thread->tensor));
	if (found) {
		lbx_describe(&t, text, sizeof text);
		lbx_wrap(out, 0, 8);
		lbx_printf(out, "    runs ");
		lbx_styled(out, LBX_NAME, "%s", t.op);
		lbx_printf(out, " of %s", text);
		if (t.site) {
			lbx_describe_pc(w->context->target, t.site, text, sizeof text);
			lbx_printf(out, ", made by %s", text);
		}
		lbx_printf(out, "\n");
	} else if (thread->eval && !thread->graph) {
		lbx_printf(out, "    between two ops\n");
	}
	if (thread->graph && thread->line)
		lbx_printf(out, "    %s graph-%" PRIu64 ".lb:%" PRIu64 "\n", thread->tensor ? "at" : "after",
			   thread->graph, thread->line);
}

static void tell_thread(const struct running *w, const struct lbx_thread *thread)
{
	struct lbx_out *out = w->context->out;
	const struct lbx_stream *stream = stream_of(w, thread->tid);
	char text[LABEL];

	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_TITLE, "thread %" PRIu64, thread->tid);
	LBX_KEYS(out, json_pack("{s:s,s:I}", "provider", lbx_table_tensors(w->table)->provider, "thread",
				(json_int_t)thread->tid));
	LBX_KEY(out, "stream", stream ? json_integer((json_int_t)stream->id) : json_null());
	if (stream) {
		stream_name(stream, text, sizeof text);
		lbx_printf(out, ", %s", text);
	}
	tell_work(w, thread);
	tell_now(w, thread);
	LBX_KEY(out, "site", lbx_json_address(thread->eval ? thread->site : 0));
	if (thread->eval && thread->site) {
		lbx_describe_pc(w->context->target, thread->site, text, sizeof text);
		lbx_wrap(out, 0, 8);
		lbx_printf(out, "    asked for by %s\n", text);
	}
	LBX_KEY(out, "waits_for", lbx_json_int_if(thread->waits_for, (int64_t)thread->waits_for));
	if (thread->waits_for) {
		describe_evaluation(w, thread->waits_for, text, sizeof text);
		lbx_wrap(out, 0, 8);
		lbx_printf(out, "    waits for %s\n", text);
	}
	lbx_end(out);
}

/* As text, those that have nothing to do are left out. */
static void tell_stream(const struct running *w, const struct lbx_stream *s)
{
	struct lbx_out *out = w->context->out;
	char name[LB_NAME_MAX + 40];

	LBX_KEY(out, NULL,
		json_pack("{s:I,s:o,s:I,s:I,s:I,s:I,s:o}", "id", (json_int_t)s->id, "name", lbx_json_text(s->name),
			  "thread", (json_int_t)s->thread, "queued", (json_int_t)s->queued, "done", (json_int_t)s->done,
			  "failed", (json_int_t)s->failed, "job", lbx_json_int_if(s->eval, (int64_t)s->eval)));
	if (!s->queued && !s->eval)
		return;
	stream_name(s, name, sizeof name);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_TITLE, "%s", name);
	lbx_printf(out, ": ");
	if (s->eval)
		lbx_printf(out, "runs job %" PRIu64 " on thread %" PRIu64 ", ", s->eval, s->thread);
	lbx_printf(out, "%" PRIu64 " job%s queued, %" PRIu64 " done", s->queued, LB_S(s->queued), s->done);
	if (s->failed)
		lbx_printf(out, ", %" PRIu64 " of them failed", s->failed);
	lbx_printf(out, "\n");
}

static void tell(const struct running *w)
{
	struct lbx_out *out = w->context->out;
	int busy = w->works.n;

	lbx_begin(out, NULL);
	lbx_begin_list(out, "threads");
	for (int i = 0; i < w->n_threads; i++) {
		if (!w->threads[i].eval && !w->threads[i].waits_for)
			continue;
		busy++;
		tell_thread(w, &w->threads[i]);
	}
	if (w->table && busy == w->works.n)
		lbx_printf(out, "No thread is evaluating; %d %s evaluated before.\n", w->n_threads,
			   LB_PLURAL(w->n_threads, "has", "have"));
	lbx_tell_works(w->context, &w->works, 0);
	lbx_end(out);
	LBX_KEY(out, "idle", json_integer(w->works.n_idle));
	lbx_begin_list(out, "streams");
	for (int i = 0; i < w->n_streams; i++)
		tell_stream(w, &w->streams[i]);
	lbx_end(out);
	lbx_set_int(out, "tensor_count", busy);
	lbx_end(out);
}

static void take_runtime(struct running *w)
{
	uint64_t thread = 0, stream = 0; /* slots */

	while (w->n_threads < THREADS_MOST && lbx_table_thread(w->table, &thread, &w->threads[w->n_threads]))
		w->n_threads++;
	while (w->n_streams < STREAMS_MOST && lbx_table_stream(w->table, &stream, &w->streams[w->n_streams]))
		w->n_streams++;
	find_time(w);
}

static bool run_where(struct lbx_context *context, const struct lbx_args *args)
{
	struct running w = { .context = context, .table = context->table };

	(void)args;
	w.threads = malloc(THREADS_MOST * sizeof *w.threads);
	if (!w.threads)
		return lb_fail("out of memory");
	if (w.table)
		take_runtime(&w);
	/* where no set tells, the runtime is missed */
	if (lbx_works_collect(context, &w.works) &&
	    (w.works.is_told || lbx_command_open_runtime(context, &lbx_command_where)))
		tell(&w);
	lbx_works_free(&w.works);
	free(w.threads);
	return lb_ok();
}

const struct lbx_command lbx_command_where = {
	.name = "where",
	.arguments = "",
	.summary = "tell what each thread and stream evaluates now",
	.help = "Shows the evaluation and its graph, the op that runs, how many of how many are done,\n"
		"the time since it began, the call that asked for it, and what it waits for. Works in\n"
		"step mode or not, in a running program and in a core. Of ggml: the node that each\n"
		"thread computes, its place in the graph, its inputs, and what the program has called.\n"
		"Of MLX: the function that each stream's thread is in, for which array, as far as its task\n"
		"tells, how many tasks wait behind it, and who waits for streams.\n"
		"Example: where --json",
	.needs = LBX_NEEDS_TENSORS | LBX_NEEDS_KIND | LBX_OF_ONE_MOMENT,
	.run = run_where,
};
