/* Results that are kept time after time, as many of each evaluation, by the call that makes them: a list that grows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { SITES = 64, LEAST = 64, TURNS = 64, TURNS_LEAST = 60, BYTES_LEAST = 1 << 20, BYTES_MEDIUM = 16 << 20 };

struct site {
	uint64_t pc, n, first, last; /* tensors; the first and the last evaluation */
	int64_t bytes;
	struct lbx_tensor like; /* the first that was seen */
	bool is_named; /* all have its name */
	int n_turns;
	struct turn {
		uint64_t eval, n;
	} turns[TURNS]; /* the evaluations of which some were seen first, and how many of each */
};

struct growing {
	int n;
	struct site list[SITES];
};

static struct site *site_of(struct growing *g, const struct lbx_tensor *t)
{
	for (int i = 0; i < g->n; i++)
		if (g->list[i].pc == t->site)
			return &g->list[i];
	if (g->n == SITES)
		return NULL;
	g->list[g->n] = (struct site){ .pc = t->site, .first = t->eval, .like = *t, .is_named = t->name[0] };
	return &g->list[g->n++];
}

static void count(struct site *s, uint64_t eval)
{
	for (int i = 0; i < s->n_turns; i++) {
		if (s->turns[i].eval == eval) {
			s->turns[i].n++;
			return;
		}
	}
	if (s->n_turns < TURNS)
		s->turns[s->n_turns++] = (struct turn){ eval, 1 };
}

/* What something holds besides scopes, a variable or a graph, and has memory of its own. */
static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	bool is_kept = t->state == LBX_READY && !t->torn && t->refs > t->scope_refs && t->eval && t->site;

	(void)c;
	if (!is_kept || t->op_class == LB_CLASS_VIEW || t->size == 0)
		return true;
	struct site *s = site_of(state, t);
	if (!s || !lbx_tensors_alike(&s->like, t))
		return true;
	count(s, t->eval);
	s->n++;
	s->is_named &= strcmp(s->like.name, t->name) == 0;
	s->bytes += t->buffer_bytes;
	s->first = t->eval < s->first ? t->eval : s->first;
	s->last = t->eval > s->last ? t->eval : s->last;
	return true;
}

/* How many most of the evaluations have left; 0: one has left more than another. */
static uint64_t of_each(const struct site *s)
{
	for (int i = 0; i < s->n_turns; i++) {
		int like = 0;
		for (int k = 0; k < s->n_turns; k++)
			like += s->turns[k].n == s->turns[i].n;
		if (like >= TURNS_LEAST)
			return s->turns[i].n;
	}
	return 0;
}

/* Each time, and up to now. What runs may be further on than its counters, which were read before its tensors. */
static bool grows(const struct lbx_case *c, const struct site *s)
{
	uint64_t newest = c->root.counters.evals;

	return s->n >= LEAST && s->bytes >= BYTES_LEAST && of_each(s) &&
	       newest - (s->last < newest ? s->last : newest) <= (s->last - s->first) / 8;
}

static bool tell(struct lbx_case *c, const struct site *s)
{
	bool is_much = s->bytes >= BYTES_MEDIUM;
	struct lbx_diagnosed *f = lbx_case_found(c, is_much ? LBX_MEDIUM : LBX_LOW, is_much ? 0.7 : 0.6);
	char bytes[32], type[LBX_TYPE_MAX], first[LBX_DESCRIPTION_MAX], each[24] = "one";
	struct lbx_key key = lbx_tensor_key(&s->like);

	if (!f)
		return lb_ok();
	f->pc = s->pc;
	lbx_diagnosed_tensor(f, &key);
	lbx_describe(&s->like, first, sizeof first);
	lbx_format_bytes(s->bytes, bytes, sizeof bytes);
	lbx_describe_type(&s->like, type, sizeof type);
	if (of_each(s) > 1)
		snprintf(each, sizeof each, "%" PRIu64, of_each(s));
	LBX_SAY(f->title, "%" PRIu64 " results of one call are held, %s of each evaluation%s%s", s->n, each,
		s->is_named ? ": " : "", s->is_named ? s->like.name : "");
	LBX_SAY(f->evidence,
		"Each is %s, made by %s, and none has been let go of: of evaluations %" PRIu64 " to %" PRIu64
		". One is %s.",
		type, s->like.op, s->first, s->last, first);
	LBX_SAY(f->cost, "%s, and more with each turn", bytes);
	LBX_SAY(f->advice,
		"Keep what is needed of them (lb_item()), release the rest, or write over one (lb_replace()).");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct growing *g = state;

	for (int i = 0; i < g->n; i++)
		if (grows(c, &g->list[i]) && !tell(c, &g->list[i]))
			return false;
	return lb_ok();
}

const struct lbx_rule lbx_rule_growing_list = {
	.id = "L7e",
	.name = "growing-list",
	.title = "results of one call that are held turn after turn",
	.sees = LBX_SEES_TENSORS | LBX_SEES_RUNTIME,
	.meaning =
	    "A list to which each turn adds its result, a cache whose keys never come again, or a result that nobody\n"
	    "releases, grows for as long as the program runs.",
	.example = "while (step(&loss))\n"
		   "	history[n++] = lb_keep(loss);      /* nobody releases them */",
	.demands =
	    "64 tensors or more of one call, alike in dtype and shape, with values and memory of their own, which\n"
	    "something holds besides scopes; of 64 evaluations that left some 60 or more have left as many, one or more, and the\n"
	    "newest is of the last eighth of the time. From 1 MiB on; above low from 16 MiB on.",
	.cure = "lb_item() where a number is enough; lb_release(), lb_replace().",
	.state = sizeof(struct growing),
	.tensor = see,
	.conclude = conclude,
};
