/* A stream that should run ahead, and is waited for as soon as something is queued on it. */
#include <inttypes.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

enum { THREADS_MOST = 256, WAITS_LEAST = 16, PLACE = 320 };

/* A thread that queues jobs. */
struct queuer {
	uint32_t thread;
	uint64_t job, stream, site; /* of the job that it has queued last */
	uint64_t site_of_waits, stream_of_waits;
	uint64_t began, waited_ns, id; /* of its waits for the newest job; id: what one of them was for */
	uint64_t jobs, waits;
};

struct queuers {
	int n;
	struct queuer list[THREADS_MOST];
};

static struct queuer *queuer_of(struct queuers *q, uint32_t thread)
{
	int i = 0;

	while (i < q->n && q->list[i].thread != thread)
		i++;
	if (i == THREADS_MOST)
		return NULL;
	if (i == q->n)
		q->list[q->n++] = (struct queuer){ .thread = thread };
	return &q->list[i];
}

static void queue(struct lbx_case *c, struct queuer *q, const struct lbx_happened *event)
{
	q->jobs++;
	q->job = lbx_happened_arg(c, event, "job");
	q->stream = lbx_happened_arg(c, event, "stream");
	q->site = lbx_happened_arg(c, event, "site");
}

static void begin_wait(struct lbx_case *c, struct queuer *q, const struct lbx_happened *event)
{
	if (!q->job || lbx_happened_arg(c, event, "other") != q->job)
		return;
	q->waits++;
	q->began = event->event->time_ns;
	q->id = lbx_happened_arg(c, event, "id");
	q->site_of_waits = q->site;
	q->stream_of_waits = q->stream;
}

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	struct queuer *q;

	if (event->what != LBX_HAPPENED_async_queue && event->what != LBX_HAPPENED_wait_start &&
	    event->what != LBX_HAPPENED_wait_done)
		return true;
	q = queuer_of(state, event->event->thread);
	if (!q)
		return true;
	if (event->what == LBX_HAPPENED_async_queue) {
		queue(c, q, event);
	} else if (event->what == LBX_HAPPENED_wait_start) {
		begin_wait(c, q, event);
	} else if (q->began) {
		q->waited_ns += event->event->time_ns > q->began ? event->event->time_ns - q->began : 0;
		q->began = 0;
	}
	return true;
}

static bool tell(struct lbx_case *c, const struct queuer *q)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_MEDIUM, 0.85);
	char place[PLACE];

	if (!f)
		return lb_ok();
	f->pc = q->site_of_waits;
	lbx_describe_pc(c->context->target, q->site_of_waits, place, sizeof place);
	LBX_SAY(f->title, "stream %" PRIu64 " is waited for as soon as something is queued on it", q->stream_of_waits);
	LBX_SAY(f->evidence,
		"Of %" PRIu64 " jobs that thread %" PRIu32
		" queued, as far as the flight recorder goes back, it waited for %" PRIu64
		" before it queued another; those of %s.",
		q->jobs, q->thread, q->waits, place);
	if (q->id)
		LBX_SAY(f->evidence, " The last wait was for tensor #%" PRIu64 ".", q->id);
	LBX_SAY(f->cost, "%.3g ms of waiting", 1e-6 * (double)q->waited_ns);
	LBX_SAY(
	    f->advice,
	    "Queue the next turn first, and read what the last one gave then: the stream works while the program does.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct queuers *q = state;

	for (int i = 0; i < q->n; i++)
		if (q->list[i].waits >= WAITS_LEAST && 4 * q->list[i].waits >= 3 * q->list[i].jobs &&
		    !tell(c, &q->list[i]))
			return false;
	return true;
}

const struct lbx_rule lbx_rule_stalled_stream = {
	.id = "L4",
	.name = "stalled-stream",
	.title = "a stream that is waited for instead of running ahead",
	.sees = LBX_SEES_EVENTS,
	.meaning =
	    "lb_async_eval() lets a stream compute while the program goes on. Where each job is waited for before the\n"
	    "next one is queued, the two take turns, and nothing runs at the same time.",
	.example = "for (int i = 0; i < n; i++) {\n"
		   "	y = step(y);\n"
		   "	lb_async_eval(y);\n"
		   "	use(lb_item(y));          /* waits for what was queued just now */\n"
		   "}",
	.demands =
	    "A thread has waited for the newest job that it had queued, before it queued another, 16 times or more,\n"
	    "and for three in four of its jobs.",
	.cure = "Build and queue the next turn before this one is read; `tensor events wait_start` lists the waits.",
	.state = sizeof(struct queuers),
	.event = happen,
	.conclude = conclude,
};
