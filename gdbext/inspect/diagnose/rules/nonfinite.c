/* NaN and Inf among the values that are there, and where they come from. */
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
static void say_others(struct lbx_diagnosed *f, const struct lbx_findings *found, int first)
{
	int told = 0;

	if (found->n < 2)
		return;
	LBX_SAY(f->evidence, " So do%s %s%d other%s: ", found->n == 2 ? "es" : "", found->capped ? "at least " : "",
		found->n - 1, LB_S(found->n - 1));
	for (int i = 0; i < found->n && told < OTHERS_TOLD; i++) {
		struct lbx_tensor t;
		char number[LBX_ID_TEXT_MAX];
		if (i == first)
			continue;
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

/* Where the values of one of them come from. False: that is not known. */
static bool find_story(struct lbx_case *c, const struct lbx_key *key, struct lbx_origin_story *ret)
{
	struct lbx_origins origins;
	struct lbx_tensor t;

	*ret = (struct lbx_origin_story){ .site = 0 };
	if (!lbx_tensor_by_key(key, &t)) {
		lb_clear_error();
		return false;
	}
	lbx_tensor_take_computed(&t);
	if (lbx_find_origins(c->context, &t, ORIGIN_TENSORS, c->seconds, &origins)) {
		lbx_tell_story(c->context, &origins, ret);
		lbx_origins_deinit(&origins);
	} else if (lb_error_cause() != LB_INTERRUPTED) {
		lb_clear_error(); /* it has been evaluated again, or is gone */
	}
	return ret->text[0];
}

/* Which of them is told: the first that was computed, or, where it is known to come from another of them, that. */
static int first_of(const struct lbx_findings *found, const struct lbx_origin_story *story)
{
	for (int i = 1; story->text[0] && i < found->n; i++)
		if (lbx_key_is_same(&found->list[i].key, &story->end))
			return i;
	return 0;
}

/* Of those that were asked for. */
static void say_title(const struct lbx_case *c, struct lbx_diagnosed *f, const struct lbx_findings *found,
		      const char *what, const char *name)
{
	LBX_SAY(f->title, "%s in %s", what, name);
	if (found->n > 1)
		LBX_SAY(f->title, ", and in %s%d other tensor%s", found->capped ? "at least " : "", found->n - 1,
			LB_S(found->n - 1));
	if (found->n > 1 && c->names)
		LBX_SAY(f->title, " named %s", c->names);
}

/* What is known of where it begins. */
static void say_begin(struct lbx_case *c, struct lbx_diagnosed *f, const struct lbx_findings *found,
		      const struct lbx_origin_story *story)
{
	if (story->text[0]) {
		LBX_SAY(f->evidence, " Its origin: %s", story->text);
		lbx_diagnosed_tensor(f, &story->end);
		f->pc = story->site ? story->site : f->pc;
	} else if (found->n > 1) {
		LBX_SAY(f->evidence, " It is the first that was computed of those that are there%s.",
			c->names ? " and were asked for" : "");
	} else if (c->names) {
		LBX_SAY(f->evidence, " Tensors that were not asked for may have had it before.");
	}
	if (story->is_gone)
		LBX_SAY(f->evidence, " What it was computed from is gone, and may have had it before.");
}

static bool tell(struct lbx_case *c, const struct lbx_findings *found)
{
	struct lbx_origin_story story;
	char number[LBX_ID_TEXT_MAX], operand[LBX_OPERAND_MAX];
	struct lbx_tensor t;

	find_story(c, &found->list[0].key, &story);
	int i = first_of(found, &story);
	const struct lbx_finding *first = &found->list[i];
	bool is_nan = strcmp(first->kind, "nan") == 0;
	struct lbx_diagnosed *f = lbx_case_found_of(c, LBX_HIGH, is_nan ? 0.95 : 0.7, &first->key, &t);
	if (!f)
		return lb_ok();
	if (i)
		find_story(c, &first->key, &story);
	lbx_tensor_take_computed(&t);
	lbx_tensor_id_text(&t, number);
	say_title(c, f, found, is_nan ? "NaN" : "Inf", t.name[0] ? t.name : number);
	LBX_SAY(f->evidence, "%s.", first->text);
	say_groups(f, &t);
	say_others(f, found, i);
	say_begin(c, f, found, &story);
	if (story.advice[0])
		LBX_SAY(f->advice, "%c%s. ", toupper(story.advice[0]), story.advice + 1);
	lbx_case_operand(c, &t, operand);
	if (story.is_gone)
		LBX_SAY(f->advice, "Run again with `tensor catch nan` in gdb: it stops where the first is made.");
	else
		LBX_SAY(f->advice, "`%sorigin %s` %s.", c->context->prefix ? c->context->prefix : "", operand,
			story.text[0] ? "shows the way from there"
				      : "follows it to the operation or the data that it comes from");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	(void)state;
	return !c->diagnosis->bad.n || tell(c, &c->diagnosis->bad);
}

const struct lbx_rule lbx_rule_nonfinite = {
	.id = "N1",
	.name = "nonfinite",
	.title = "NaN or Inf among the values",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES,
	.meaning =
	    "A NaN spreads over everything that is computed from it. The first one that was computed is told, since\n"
	    "the others may come of it. One in the scale of a block, or of a group, makes NaN of all its values.",
	.example = "lb_log(x)     /* of a negative element */",
	.demands =
	    "A ready floating tensor holds NaN or Inf. -Inf that was put into a mask is none, nor what has it from\n"
	    "there.",
	.cure =
	    "`origin T` finds the operation that made it of finite inputs, or the data that held it; `tensor catch nan`\n"
	    "stops where it is made.",
	.conclude = conclude,
};
