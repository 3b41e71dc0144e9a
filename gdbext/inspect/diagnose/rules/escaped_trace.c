/* Tensors that a function left behind while it was traced: its state, which it replaced. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

enum { FUNCTIONS_MOST = 1 << 16, KEPT_MOST = 16, WALK = 64, STEPS = 512 };

struct escaped {
	int n;
	bool has_tracer;
	struct lbx_tensor kept[KEPT_MOST];
};

static bool is_tracer(const struct lbx_tensor *t)
{
	return strcmp(t->op, "tracer") == 0;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct escaped *s = state;

	(void)c;
	if (t->torn || t->state != LBX_LAZY)
		return true;
	if (is_tracer(t))
		s->has_tracer = true;
	else if (t->refs > t->scope_refs && t->n_inputs > 0 && s->n < KEPT_MOST)
		s->kept[s->n++] = *t;
	return true;
}

/* The stand-in that t is computed from, by a walk of some steps; false, without an error, where there is none. */
static bool find_tracer(struct lbx_case *c, const struct lbx_tensor *t, struct lbx_tensor *ret)
{
	uint64_t waiting[WALK];
	int n = 0;

	for (uint32_t i = 0; i < t->n_inputs && n < WALK; i++)
		waiting[n++] = lbx_tensor_input_id(t, i);
	for (int step = 0; step < STEPS && n > 0; step++) {
		if (!lbx_tensors_by_id(c->tensors, waiting[--n], ret)) {
			lb_clear_error(); /* it is gone */
			continue;
		}
		if (is_tracer(ret))
			return true;
		for (uint32_t i = 0; ret->state == LBX_LAZY && i < ret->n_inputs && n < WALK; i++)
			waiting[n++] = lbx_tensor_input_id(ret, i);
	}
	return false;
}

/* Whether another that is kept is computed from it: then that one is told. */
static bool is_within(const struct escaped *s, const struct lbx_tensor *t)
{
	for (int i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->kept[i].n_inputs; k++)
			if (s->kept[i].of == t->of && lbx_tensor_input_id(&s->kept[i], k) == t->id)
				return true;
	return false;
}

static bool is_tracing(struct lbx_case *c)
{
	struct lbx_compiled x;
	uint64_t slot = 0;

	for (int i = 0; i < FUNCTIONS_MOST && lbx_table_compiled(c->table, &slot, &x); i++)
		if (x.tracing)
			return true;
	return false;
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct escaped *s = state;
	struct lbx_tensor tracer;
	char what[LBX_DESCRIPTION_MAX];

	if (!s->has_tracer || is_tracing(c))
		return true;
	for (int i = 0; i < s->n; i++) {
		const struct lbx_tensor *t = &s->kept[i];
		if (is_within(s, t) || !find_tracer(c, t, &tracer))
			continue;
		struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.9);
		if (!f)
			return lb_ok();
		lbx_describe(t, what, sizeof what);
		f->pc = t->site;
		LBX_SAY(f->title, "%s was made while a function was traced, and is kept",
			t->name[0] ? t->name : "a tensor");
		LBX_SAY(f->evidence, "%s depends on '%s', which stood for an input in a trace that has ended.", what,
			tracer.name);
		LBX_SAY(f->cost, "it can never be computed, and calls that a captured graph serves do not change it");
		LBX_SAY(
		    f->advice,
		    "Give the state to lb_call() as an input, return the new one as an output, and replace it outside.");
	}
	return lb_ok();
}

const struct lbx_rule lbx_rule_escaped_trace = {
	.id = "L6d",
	.name = "escaped-trace",
	.title = "a compiled function that replaces state of the program",
	.sees = LBX_SEES_TENSORS | LBX_SEES_RUNTIME,
	.meaning =
	    "A compiled function runs when it is traced, and not again for calls that its graph serves. State that it\n"
	    "replaces is replaced once, by a tensor of the trace, which has no value and never will.",
	.example = "static bool step(void *context, …)\n"
		   "{\n"
		   "	lb_replace(&state, lb_add(state, in[0]));   /* once, at the trace */",
	.demands = "A lazy tensor that the program keeps is computed from a stand-in for an input (op tracer), and no\n"
		   "function is being traced.",
	.cure = "State goes in as an input and comes out as an output.",
	.state = sizeof(struct escaped),
	.tensor = see,
	.conclude = conclude,
};
