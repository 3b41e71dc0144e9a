/* NaN and Inf among the values that are there, and, of the first that was computed, where it comes from. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/origin/origin.h"
#include "inspect/show/quant_parts.h"
#include "inspect/tensor/describe.h"

enum { OTHERS_TOLD = 4, ORIGIN_TENSORS = 64 /* that are looked at for where they come from */ };

/* The rest: how many, and the first of them. */
static void say_others(struct lbx_diagnosed *f, const struct lbx_findings *found)
{
	int told = 0;

	if (found->n < 2)
		return;
	LBX_SAY(f->evidence, " So do%s %d other%s%s: ", found->n == 2 ? "es" : "", found->n - 1, LB_S(found->n - 1),
		found->capped ? " at least" : "");
	for (int i = 1; i < found->n && told < OTHERS_TOLD; i++) {
		struct lbx_tensor t;
		char number[LBX_ID_TEXT_MAX];
		if (!lbx_tensor_by_key(&found->list[i].key, &t)) {
			lb_clear_error();
			continue;
		}
		lbx_tensor_id_text(&t, number);
		lbx_diagnosed_tensor(f, &found->list[i].key);
		LBX_SAY(f->evidence, "%s%s", told++ ? ", " : "", t.name[0] ? t.name : number);
	}
	LBX_SAY(f->evidence, "%s.", found->n - 1 > told ? ", …" : "");
}

/* Of scales and biases: what each is for. */
static void say_groups(struct lbx_diagnosed *f, const struct lbx_tensor *t)
{
	struct lbx_quant_parts p;
	bool clean = lb_ok();

	if (clean && lbx_quant_words_of(t, &p)) {
		LBX_SAY(f->evidence, " Each makes a group of ");
		if (p.group)
			LBX_SAY(f->evidence, "%d ", p.group);
		LBX_SAY(f->evidence, "values of %s so.", p.parts[LBX_QUANT_WORDS].name);
	}
}

/* Where the first of them begins, as far as that is certain. */
static bool say_origin(struct lbx_case *c, struct lbx_diagnosed *f, const struct lbx_tensor *t)
{
	struct lbx_origins origins;
	struct lbx_origin_story story = { .site = 0 };

	if (lbx_find_origins(c->context, t, ORIGIN_TENSORS, c->seconds, &origins)) {
		lbx_tell_story(c->context, &origins, &story);
		lbx_origins_deinit(&origins);
	} else if (lb_error_cause() != LB_INTERRUPTED) {
		lb_clear_error(); /* it has been evaluated again, or is gone */
	}
	if (!story.text[0])
		return false;
	LBX_SAY(f->evidence, " Its origin: %s", story.text);
	if (story.advice[0])
		LBX_SAY(f->advice, "%c%s. ", toupper(story.advice[0]), story.advice + 1);
	lbx_diagnosed_tensor(f, &story.end);
	if (story.site)
		f->pc = story.site;
	return true;
}

static bool tell(struct lbx_case *c, const struct lbx_findings *found)
{
	const struct lbx_finding *first = &found->list[0];
	bool is_nan = strcmp(first->kind, "nan") == 0, is_told;
	char number[LBX_ID_TEXT_MAX];
	struct lbx_tensor t;
	struct lbx_diagnosed *f = lbx_case_found_of(c, LBX_HIGH, is_nan ? 0.95 : 0.7, &first->key, &t);

	if (!f)
		return lb_ok();
	lbx_tensor_take_computed(&t);
	lbx_tensor_id_text(&t, number);
	LBX_SAY(f->title, "%s in %s, and in what was computed after it", is_nan ? "NaN" : "Inf",
		t.name[0] ? t.name : number);
	LBX_SAY(f->evidence, "%s.", first->text);
	say_groups(f, &t);
	say_others(f, found);
	is_told = say_origin(c, f, &t);
	LBX_SAY(f->advice, "`%sorigin %s` %s.", c->context->prefix ? c->context->prefix : "",
		t.name[0] ? t.name : number,
		is_told ? "shows the way from there" : "follows it to the operation or the data that it comes from");
	return lb_ok();
}

/* Those that were not asked for. */
static void drop_others(struct lbx_case *c, struct lbx_findings *found)
{
	struct lbx_tensor t;
	int n = 0;

	for (int i = 0; i < found->n; i++)
		if (lbx_tensor_by_key(&found->list[i].key, &t) && lbx_case_means(c, &t))
			found->list[n++] = found->list[i];
	found->n = n;
	lb_clear_error();
}

static bool conclude(struct lbx_case *c, void *state)
{
	(void)state;
	drop_others(c, &c->diagnosis->bad);
	return !c->diagnosis->bad.n || tell(c, &c->diagnosis->bad);
}

const struct lbx_rule lbx_rule_nonfinite = {
	.id = "N1",
	.name = "nonfinite",
	.title = "NaN or Inf among the values",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES,
	.meaning =
	    "A NaN spreads over everything that is computed from it. The first one that was computed is told, since\n"
	    "the others come of it. One in the scale of a block, or of a group, makes NaN of all its values.",
	.example = "lb_log(x)     /* of a negative element */",
	.demands =
	    "A ready floating tensor holds NaN or Inf. -Inf that was put into a mask is none, nor what has it from\n"
	    "there.",
	.cure =
	    "`origin T` finds the operation that made it of finite inputs, or the data that held it; `tensor catch nan`\n"
	    "stops where it is made.",
	.conclude = conclude,
};
