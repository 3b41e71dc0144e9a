/* What was alive when memory was at its peak, and is gone: told by what the flight recorder remembers of buffers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/format.h"

enum { OPS_TOLD = 3 };
static const uint64_t least = 64 << 20;

/* A buffer of the recorder's time. */
struct lived {
	uint64_t address, id, op; /* op: index + 1 of what made its first tensor; 0: not known */
	uint64_t nbytes;
	uint64_t born, died; /* numbers of events; died 0: it lives */
};

struct lives {
	size_t n, room;
	struct lived *list; /* in the order of birth */
	uint64_t events, peak, peak_at;
};

/* What lay there has died: the runtime keeps memory for reuse, and says nothing when it does. */
static void die(struct lives *l, uint64_t address)
{
	for (size_t i = l->n; i-- > 0;) {
		if (l->list[i].address != address)
			continue;
		if (!l->list[i].died)
			l->list[i].died = l->events;
		return;
	}
}

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	struct lives *l = state;
	uint64_t active, id;

	l->events++;
	switch (event->what) {
	case LBX_HAPPENED_alloc:
		die(l, lbx_happened_arg(c, event, "address"));
		if (!lb_reserve(l->list, l->room, l->n + 1))
			return lb_fail("out of memory for %zu buffers", l->n);
		l->list[l->n++] = (struct lived){ .address = lbx_happened_arg(c, event, "address"),
						  .id = lbx_happened_arg(c, event, "id"),
						  .nbytes = lbx_happened_arg(c, event, "nbytes"),
						  .born = l->events };
		active = lbx_happened_arg(c, event, "active");
		if (active > l->peak) {
			l->peak = active;
			l->peak_at = l->events;
		}
		break;
	case LBX_HAPPENED_dealloc: die(l, lbx_happened_arg(c, event, "address")); break;
	case LBX_HAPPENED_op_done:
		id = lbx_happened_arg(c, event, "id");
		for (size_t i = l->n; i-- > 0 && l->events - l->list[i].born < 64;)
			if (l->list[i].id == id && !l->list[i].op)
				l->list[i].op = lbx_happened_arg(c, event, "op") + 1;
		break;
	default: break;
	}
	return true;
}

static bool lived_then(const struct lives *l, const struct lived *b)
{
	return b->born <= l->peak_at && (!b->died || b->died > l->peak_at);
}

struct share {
	uint64_t op, nbytes;
	int64_t n;
};

static int by_bytes(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->nbytes < y->nbytes ? 1 : -(x->nbytes > y->nbytes);
}

/* "12 by exp (240 MiB), 3 by matmul (60 MiB)" */
static void tell_ops(struct lbx_case *c, const struct lives *l, struct lbx_diagnosed *f)
{
	struct share shares[64];
	int n = 0;
	char bytes[32];

	for (size_t i = 0; i < l->n; i++) {
		const struct lived *b = &l->list[i];
		int k = 0;
		if (!lived_then(l, b))
			continue;
		while (k < n && shares[k].op != b->op)
			k++;
		if (k == 64)
			continue;
		if (k == n)
			shares[n++] = (struct share){ .op = b->op };
		shares[k].n++;
		shares[k].nbytes += b->nbytes;
	}
	qsort(shares, (size_t)n, sizeof *shares, by_bytes);
	for (int i = 0; i < n && i < OPS_TOLD; i++) {
		lbx_format_bytes((int64_t)shares[i].nbytes, bytes, sizeof bytes);
		LBX_SAY(f->evidence, "%s%" PRId64 " of %s, %s", i ? "; " : " By op: ", shares[i].n,
			shares[i].op ? lbx_table_op_name(c->table, shares[i].op - 1) : "another", bytes);
	}
	if (n)
		LBX_SAY(f->evidence, ".");
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lives *l = state;
	uint64_t known = 0, now = c->root.counters.active_bytes;
	int64_t n = 0;
	char peak[32], bytes[32], active[32];

	/* a peak of before the recorder's time is not known */
	if (l->peak < least || l->peak < c->root.counters.peak_bytes || 2 * now > l->peak)
		return true;
	for (size_t i = 0; i < l->n; i++) {
		if (lived_then(l, &l->list[i])) {
			known += l->list[i].nbytes;
			n++;
		}
	}
	/* most of it is known; and were it more, some of them had died before */
	if (2 * known < l->peak || known > l->peak)
		return true;
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_LOW, 0.8);
	if (!f)
		return lb_ok();
	lbx_format_bytes((int64_t)l->peak, peak, sizeof peak);
	lbx_format_bytes((int64_t)(l->peak - now), bytes, sizeof bytes);
	lbx_format_bytes((int64_t)now, active, sizeof active);
	LBX_SAY(f->title, "%s of the peak of %s were temporaries", bytes, peak);
	LBX_SAY(f->evidence, "Then %" PRId64 " buffer%s lived that the recorder remembers; %s are in use now.", n,
		LB_S(n), active);
	tell_ops(c, l, f);
	LBX_SAY(f->cost, "%s that the program needs at its peak alone", bytes);
	LBX_SAY(f->advice,
		"Evaluate in parts, and let go of variables that are not needed any more: what the program holds is "
		"kept until it lets go.");
	return lb_ok();
}

static void deinit(void *state)
{
	free(((struct lives *)state)->list);
}

const struct lbx_rule lbx_rule_peak_temporaries = {
	.id = "L7f",
	.name = "peak-temporaries",
	.title = "temporaries that make the peak of memory",
	.sees = LBX_SEES_RUNTIME | LBX_SEES_EVENTS,
	.meaning =
	    "The peak is what a machine must have. Where most of it are intermediate values, the order of evaluation, or a\n"
	    "variable that still holds one, decides it, not the model.",
	.example = "lb_tensor *h = lb_exp(x), *y = lb_sum(h, …);   /* h is held */\n"
		   "lb_eval(h, y);                                 /* … and so it is computed and kept */",
	.demands =
	    "The recorder remembers the peak and most of its buffers, it is of 64 MiB at least, and at most half of it is in use\n"
	    "now. Always low.",
	.cure = "Evaluate what is needed alone, in parts; drop or replace variables that are not.",
	.state = sizeof(struct lives),
	.event = happen,
	.conclude = conclude,
	.deinit = deinit,
};
