/* What a compiled function holds of tensors that it was not given: those that the program has replaced since, and large ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { FUNCTIONS_MOST = 1 << 12, CAPTURES_MOST = 1 << 12, NAMES_MOST = 256 };
static const uint64_t large = 64 << 20;

/* A captured tensor that has a name, and that the program does not keep: a scope may hold it, if it has not ended. */
struct held {
	struct lbx_compiled function;
	struct lbx_tensor tensor;
	struct lbx_tensor newer; /* of that name, made later, which the program holds; its id is 0 without */
};

struct captures {
	int n;
	bool has_looked;
	struct held *list;
};

static bool is_let_go(const struct lbx_tensor *t)
{
	return t->name[0] && t->refs == t->scope_refs + 1 && !t->torn;
}

static void find_captures(struct lbx_case *c, struct captures *s)
{
	struct lbx_compiled f;
	struct lbx_tensor t;
	uint64_t slot = 0;

	s->has_looked = true;
	s->list = calloc(NAMES_MOST, sizeof *s->list);
	for (int i = 0; s->list && i < FUNCTIONS_MOST && lbx_table_compiled(c->table, &slot, &f); i++)
		for (uint64_t k = 0; !f.torn && f.calls > f.compiles && k < f.n_captured && k < CAPTURES_MOST; k++)
			if (s->n < NAMES_MOST && lbx_table_captured(c->table, &f, k, &t) && is_let_go(&t))
				s->list[s->n++] = (struct held){ .function = f, .tensor = t };
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct captures *s = state;

	if (!s->has_looked)
		find_captures(c, s);
	for (int i = 0; i < s->n; i++) {
		struct held *h = &s->list[i];
		if (t->id > h->tensor.id && t->of == h->tensor.of && !t->torn && t->refs > t->scope_refs &&
		    strcmp(t->name, h->tensor.name) == 0 && lbx_tensors_alike(t, &h->tensor))
			h->newer = *t;
	}
	return true;
}

static bool tell_stale(struct lbx_case *c, const struct held *h)
{
	char old[LBX_DESCRIPTION_MAX], new[LBX_DESCRIPTION_MAX];
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.85);

	if (!f)
		return lb_ok();
	f->pc = h->function.site;
	lbx_describe(&h->tensor, old, sizeof old);
	lbx_describe(&h->newer, new, sizeof new);
	LBX_SAY(f->title, "%s computes with a %s that the program has replaced", h->function.name, h->tensor.name);
	LBX_SAY(f->evidence,
		"Its graph holds %s, which the program does not keep any more: that has %s. %" PRIu64
		" calls were served by graphs that had been captured.",
		old, new, h->function.hits);
	LBX_SAY(f->advice,
		"Give %s to lb_call() as an input: what a compiled function takes from elsewhere is as it was when it "
		"was traced.",
		h->tensor.name);
	return lb_ok();
}

static bool tell_large(struct lbx_case *c, const struct lbx_compiled *x)
{
	char bytes[32];
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_LOW, 0.7);

	if (!f)
		return lb_ok();
	f->pc = x->site;
	lbx_format_bytes((int64_t)x->captured_bytes, bytes, sizeof bytes);
	LBX_SAY(f->title, "%s holds %s of tensors that it was not given", x->name[0] ? x->name : "a compiled function",
		bytes);
	LBX_SAY(f->evidence, "Its last graph captured %" PRIu64 " (`compiled` names them).", x->n_captured);
	LBX_SAY(f->cost, "%s, for as long as the graph is kept, though the program may let go of them", bytes);
	LBX_SAY(f->advice, "Give weights to lb_call() as inputs.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct captures *s = state;
	struct lbx_compiled x;
	uint64_t slot = 0;

	for (int i = 0; i < s->n; i++)
		if (s->list[i].newer.id && !tell_stale(c, &s->list[i]))
			return false;
	for (int i = 0; i < FUNCTIONS_MOST && lbx_table_compiled(c->table, &slot, &x); i++)
		if (!x.torn && x.captured && x.captured_bytes >= large && x.captured_bytes <= INT64_MAX &&
		    !tell_large(c, &x))
			return false;
	return lb_ok();
}

static void deinit(void *state)
{
	free(((struct captures *)state)->list);
}

const struct lbx_rule lbx_rule_captures = {
	.id = "L6b",
	.name = "captures",
	.title = "a compiled function that computes with tensors of long ago",
	.sees = LBX_SEES_TENSORS | LBX_SEES_RUNTIME,
	.meaning =
	    "What a compiled function uses and was not given is captured when it is traced, and stays as it was then. A\n"
	    "weight that the program replaces later is another tensor: the function goes on with the old one.",
	.example = "lb_tensor *w = …;                     /* step() multiplies by w */\n"
		   "lb_call(step, 1, &x, 1, &y);\n"
		   "lb_replace(&w, update(w));\n"
		   "lb_call(step, 1, &x, 1, &y);          /* by the first w still */",
	.demands =
	    "A tensor with a name that the last graph of a function holds and the program does not keep, where another\n"
	    "of that name, dtype and shape was made later and is kept, and calls were served since. Low: a graph\n"
	    "that holds 64 MiB or more.",
	.cure = "Pass what changes as an input of lb_call().",
	.state = sizeof(struct captures),
	.tensor = see,
	.conclude = conclude,
	.deinit = deinit,
};
