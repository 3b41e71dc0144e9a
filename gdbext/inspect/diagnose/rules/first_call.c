/* A call that evaluates for much longer the first time: what that was spent on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/format.h"

enum { SITES_MOST = 256, LATER = 64 /* durations of a site */, LATER_LEAST = 4, TIMES_LEAST = 5, MS_LEAST = 5 };

/* A call of the program that evaluates. */
struct site {
	uint64_t site, began, first_ns, compile_ns, allocated;
	int64_t allocations, later_allocations; /* of the first; of all others */
	uint32_t thread;
	int n; /* evaluations that have ended */
	uint64_t later[LATER];
};

struct sites {
	int n;
	uint64_t compile_ns; /* since an evaluation ended */
	uint32_t compiler;   /* the thread that did it */
	struct site list[SITES_MOST];
};

static struct site *site_of(struct sites *s, uint64_t site)
{
	for (int i = 0; i < s->n; i++)
		if (s->list[i].site == site)
			return &s->list[i];
	if (s->n == SITES_MOST)
		return NULL;
	s->list[s->n] = (struct site){ .site = site };
	return &s->list[s->n++];
}

/* The one that the thread is in. */
static struct site *running(struct sites *s, uint32_t thread)
{
	for (int i = 0; i < s->n; i++)
		if (s->list[i].began && s->list[i].thread == thread)
			return &s->list[i];
	return NULL;
}

static void begin(struct lbx_case *c, struct sites *s, const struct lbx_happened *event)
{
	struct site *at = site_of(s, lbx_happened_arg(c, event, "site"));

	if (!at || at->began)
		return;
	at->began = event->event->time_ns;
	at->thread = event->event->thread;
	if (at->n == 0 && s->compiler == at->thread)
		at->compile_ns = s->compile_ns;
}

static void end(struct lbx_case *c, struct sites *s, const struct lbx_happened *event)
{
	struct site *at = site_of(s, lbx_happened_arg(c, event, "site"));
	uint64_t now = event->event->time_ns;

	s->compile_ns = 0;
	if (!at || !at->began || at->thread != event->event->thread)
		return;
	uint64_t ns = now > at->began ? now - at->began : 0;
	if (at->n == 0)
		at->first_ns = ns;
	else if (at->n <= LATER)
		at->later[at->n - 1] = ns;
	at->n++;
	at->began = 0;
}

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	struct sites *s = state;
	struct site *at;

	switch (event->what) {
	case LBX_HAPPENED_eval_start: begin(c, s, event); break;
	case LBX_HAPPENED_eval_done: end(c, s, event); break;
	case LBX_HAPPENED_compile:
		s->compile_ns += lbx_happened_arg(c, event, "ns");
		s->compiler = event->event->thread;
		break;
	case LBX_HAPPENED_alloc:
		at = running(s, event->event->thread);
		if (at && at->n == 0) {
			at->allocations++;
			at->allocated += lbx_happened_arg(c, event, "nbytes");
		} else if (at) {
			at->later_allocations++;
		}
		break;
	default: break;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The recorder's clock is a coarse one, but where the program is timed. */
static void format_time(uint64_t ns, char ret[32])
{
	if (ns)
		snprintf(ret, 32, "%.3g ms", 1e-6 * (double)ns);
	else
		snprintf(ret, 32, "too little to be told");
}

static bool tell(struct lbx_case *c, const struct site *at, uint64_t steady)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_LOW, 0.8);
	char bytes[32], all[32], first[32], others[32];

	if (!f)
		return lb_ok();
	f->pc = at->site;
	lbx_format_bytes((int64_t)at->allocated, bytes, sizeof bytes);
	format_time(at->first_ns + at->compile_ns, all);
	format_time(at->first_ns, first);
	format_time(steady, others);
	LBX_SAY(f->title, "the first call takes %s, the others %s", all, others);
	LBX_SAY(f->evidence, "Of %d evaluations here the first took %s, and the median of the others is %s.", at->n,
		first, others);
	if (at->compile_ns)
		LBX_SAY(f->evidence, " Before it, %.3g ms went to compiling.", 1e-6 * (double)at->compile_ns);
	if (at->allocations)
		LBX_SAY(f->evidence,
			" It allocated %" PRId64 " buffer%s, %s, whose pages it touched first; the others %.3g each.",
			at->allocations, LB_S(at->allocations), bytes,
			(double)at->later_allocations / (double)(at->n - 1));
	LBX_SAY(f->cost, "%.3g ms, once", 1e-6 * (double)(at->first_ns + at->compile_ns - steady));
	LBX_SAY(f->advice,
		"Call it once before what is timed, or before the first request: then measure the others apart.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct sites *s = state;

	if (c->flight.newest > (uint64_t)c->flight.n)
		return true; /* what was first is overwritten */
	for (int i = 0; i < s->n; i++) {
		struct site *at = &s->list[i];
		int n = at->n - 1 < LATER ? at->n - 1 : LATER;
		if (n < LATER_LEAST)
			continue;
		qsort(at->later, (size_t)n, sizeof *at->later, compare);
		uint64_t first = at->first_ns + at->compile_ns, steady = at->later[n / 2];
		if (first > TIMES_LEAST * steady && first - steady >= MS_LEAST * 1000000ULL && !tell(c, at, steady))
			return false;
	}
	return lb_ok();
}

const struct lbx_rule lbx_rule_first_call = {
	.id = "L12",
	.name = "first-call",
	.title = "a first call that takes much longer than the others",
	.sees = LBX_SEES_RUNTIME | LBX_SEES_EVENTS,
	.meaning =
	    "The first turn compiles functions, allocates what later ones reuse, and touches each page of it for the\n"
	    "first time. A measurement that counts it is of something else.",
	.example = "double t = now();\n"
		   "lb_eval(step(x));             /* compiles, allocates, then computes */\n"
		   "printf(\"%g ms\\n\", now() - t);",
	.demands =
	    "The recorder goes back to the beginning, a call has evaluated at least 5 times, and its first time, with the\n"
	    "compiling before it, is more than 5 times the median of the others and at least 5 ms longer. Always low.",
	.cure = "Warm up, and measure the turns after it.",
	.state = sizeof(struct sites),
	.event = happen,
	.conclude = conclude,
};
