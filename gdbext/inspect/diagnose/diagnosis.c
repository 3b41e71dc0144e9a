#include "inspect/diagnose/diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/diagnose/rule.h"

enum {
	RULES_MOST = 128,
	OF_TENSORS = LBX_SEES_TENSORS | LBX_SEES_RUNTIME | LBX_SEES_EVENTS | LBX_SEES_VALUES | LBX_SEES_HOLDERS |
		     LBX_SEES_GRADIENTS,
	OF_STACKS = LBX_SEES_DEATH | LBX_SEES_STACKS | LBX_SEES_VARIABLES,
	OF_ALL = LBX_SEES_RUNTIME | LBX_SEES_EVENTS | LBX_SEES_HOLDERS | OF_STACKS,
};

/* A rule that is checked, and what it knows so far. */
struct check {
	const struct lbx_rule *rule;
	void *state;
};

struct doctor {
	struct lbx_case c;
	const struct lbx_diagnose *what;
	int n;
	struct check checks[RULES_MOST];
	unsigned sees; /* what any of them does */
	bool failed;
};

void lbx_diagnosed_tensor(struct lbx_diagnosed *d, const struct lbx_key *key)
{
	if (d->n_tensors < LBX_DIAGNOSED_TENSORS)
		d->tensors[d->n_tensors++] = *key;
}

const char *lbx_severity_name(enum lbx_severity severity)
{
	static const char *const names[] = { "low", "medium", "high" };
	return names[severity];
}

enum lbx_severity lbx_diagnosis_worst(const struct lbx_diagnosis *diagnosis)
{
	return diagnosis->n ? diagnosis->list[0].severity : LBX_LOW;
}

void lbx_diagnosis_deinit(struct lbx_diagnosis *diagnosis)
{
	free(diagnosis->list);
	free(diagnosis->checked);
	free(diagnosis->unchecked);
	lbx_findings_deinit(&diagnosis->bad);
	*diagnosis = (struct lbx_diagnosis){ 0 };
}

static int worst_first(const void *a, const void *b)
{
	const struct lbx_diagnosed *x = a, *y = b;

	if (x->severity != y->severity)
		return y->severity > x->severity ? 1 : -1;
	if (x->confidence != y->confidence)
		return y->confidence > x->confidence ? 1 : -1;
	return strcmp(x->rule->id, y->rule->id);
}

static void sort(struct lbx_diagnosis *d)
{
	if (d->n)
		qsort(d->list, d->n, sizeof *d->list, worst_first);
}

/* "h[0…84]" is "h[0…32]", which has grown. */
static bool alike_but_for_numbers(const char *a, const char *b)
{
	while (*a && *b) {
		size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
		if (!n != !m || (!n && *a != *b))
			return false;
		a += n ? n : 1;
		b += m ? m : 1;
	}
	return *a == *b;
}

const struct lbx_diagnosed *lbx_diagnosis_same(const struct lbx_diagnosis *d, const struct lbx_diagnosed *as)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].rule == as->rule && d->list[i].pc == as->pc &&
		    (as->pc || alike_but_for_numbers(d->list[i].title, as->title)))
			return &d->list[i];
	return NULL;
}

/* What grew while it was loaded, and no longer does, is no finding: the later look knows better. */
static bool is_outdated(const struct lbx_diagnosed *found, bool is_end)
{
	return found->rule->sees & LBX_SEES_LOOKS && !is_end;
}

bool lbx_diagnosis_add(struct lbx_diagnosis *later, const struct lbx_diagnosis *earlier, bool is_end)
{
	for (size_t i = 0; i < earlier->n; i++) {
		if (lbx_diagnosis_same(later, &earlier->list[i]) || is_outdated(&earlier->list[i], is_end))
			continue;
		if (!lb_reserve(later->list, later->room, later->n + 1))
			return lb_fail("out of memory for %zu findings", later->n);
		later->list[later->n++] = earlier->list[i];
	}
	sort(later);
	return true;
}

/* ---- which rules ---- */

static bool is_wanted(const struct lbx_rule *rule, const char *only)
{
	char word[64];

	for (size_t n; only && *only; only += n + (only[n] == ',')) {
		n = strcspn(only, ",");
		snprintf(word, sizeof word, "%.*s", (int)n, only);
		if (lbx_rule_is(rule, word))
			return true;
	}
	return false;
}

static bool means_a_rule(const char *word)
{
	for (const struct lbx_rule *const *r = lbx_rules; *r; r++)
		if (lbx_rule_is(*r, word))
			return true;
	return false;
}

/* Each word must mean one: else a finding would seem not to be there. */
static bool are_rules(const char *only)
{
	char word[64];

	for (size_t n; only && *only; only += n + (only[n] == ',')) {
		n = strcspn(only, ",");
		snprintf(word, sizeof word, "%.*s", (int)n, only);
		if (!means_a_rule(word))
			return lb_fail_because(LB_MISUSED, "there is no rule '%s': `explain` lists them", word);
	}
	return true;
}

/* NULL: it can be checked. */
static const char *why_not(const struct doctor *d, const struct lbx_rule *rule)
{
	if (rule->sees & (LBX_SEES_RUNTIME | LBX_SEES_EVENTS) && !d->c.table)
		return "only the runtime counts and records what they need";
	if (rule->sees & OF_ALL && d->c.names)
		return "they are of the whole program, not of some tensors";
	if (rule->sees & LBX_SEES_EVENTS && !d->c.flight.capacity)
		return "the program records no events";
	if (rule->sees & LBX_SEES_VALUES && d->c.seconds <= 0)
		return d->what->no_values ? d->what->no_values : "values were not looked at (--seconds 0)";
	return NULL;
}

static bool add_unchecked(struct lbx_diagnosis *ret, const struct lbx_rule *rule, const char *why)
{
	if (!lb_reserve(ret->unchecked, ret->unchecked_room, ret->n_unchecked + 1))
		return lb_fail("out of memory");
	ret->unchecked[ret->n_unchecked++] = (struct lbx_unchecked){ rule, why };
	return true;
}

static bool add_check(struct doctor *d, const struct lbx_rule *rule)
{
	struct lbx_diagnosis *ret = d->c.diagnosis;
	void *state = calloc(1, rule->state + 1);

	if (!state || d->n == RULES_MOST || !lb_reserve(ret->checked, ret->checked_room, ret->n_checked + 1)) {
		free(state);
		return lb_fail("out of memory for rule %s", rule->id);
	}
	d->checks[d->n++] = (struct check){ rule, state };
	ret->checked[ret->n_checked++] = rule;
	d->sees |= rule->sees;
	return true;
}

/* Whether the front end knows them: a debugger shows itself how a program has died. */
static bool has_stacks(const struct lbx_context *context)
{
	return context->stacks && context->stacks->ops->all_threads;
}

/* Rules that are not for this program, or not for this front end, are no business of who asks. */
static bool is_for(const struct doctor *d, const struct lbx_rule *rule)
{
	return (!(rule->sees & OF_TENSORS) || d->c.tensors) &&
	       (!(rule->sees & OF_STACKS) || has_stacks(d->c.context)) &&
	       (!(rule->sees & LBX_SEES_VARIABLES) || d->c.context->target->liveness == LBX_CORE) &&
	       (!(rule->sees & LBX_SEES_LOOKS) || d->c.looks);
}

/* None of those that were asked for can be checked. */
static bool fail_elsewhere(const struct doctor *d)
{
	char where[LBX_WHERE_MAX];

	for (const struct lbx_rule *const *r = lbx_rules; d->what->only && *r; r++) {
		if (!is_wanted(*r, d->what->only) || !lbx_rule_where(*r, where))
			continue;
		for (char *c = where; *c; c++)
			*c = *c == '\n' ? ' ' : *c;
		return lb_fail("%s cannot be checked here. It looks: %s", (*r)->id, where);
	}
	return lb_fail("of deaths and stacks the command `lazybones` checks the rules");
}

/* The program is one for it, but this front end does not look there; who asks for it by name is told where it is checked. */
static bool is_for_command(const struct doctor *d, const struct lbx_rule *rule)
{
	return rule->sees & OF_STACKS && !has_stacks(d->c.context) && !d->what->only &&
	       (!(rule->sees & OF_TENSORS) || d->c.tensors);
}

static bool choose(struct doctor *d)
{
	for (const struct lbx_rule *const *r = lbx_rules; *r; r++) {
		bool is_elsewhere = is_for_command(d, *r);
		const char *why = is_elsewhere ? "the command `lazybones` does" : why_not(d, *r);
		if ((d->what->only && !is_wanted(*r, d->what->only)) || (!is_elsewhere && !is_for(d, *r)))
			continue;
		if (why ? !add_unchecked(d->c.diagnosis, *r, why) : !add_check(d, *r))
			return false;
	}
	if (d->n || d->c.diagnosis->n_unchecked)
		return true;
	return d->c.tensors ? fail_elsewhere(d) : lb_fail("%s", d->c.diagnosis->no_tensors);
}

/* ---- the program ---- */

/* That there are no tensors is no failure where something else can be checked. */
static bool do_without_tensors(struct doctor *d)
{
	struct lbx_context *context = d->c.context;

	d->c.tensors = NULL;
	if (!d->what->without_tensors || d->c.names || lb_error_cause() == LB_INTERRUPTED || !has_stacks(context))
		return false;
	snprintf(d->c.diagnosis->no_tensors, sizeof d->c.diagnosis->no_tensors, "%s", lb_error_message());
	lb_clear_error();
	return true;
}

static bool open_program(struct doctor *d)
{
	struct lbx_context *context = d->c.context;
	bool has_runtime;

	if (has_stacks(context))
		d->c.has_death = context->stacks->ops->death(context->stacks, &d->c.death);
	if (!lbx_context_tensors(context, &d->c.tensors))
		return do_without_tensors(d);
	has_runtime = lbx_context_table(context, &d->c.table);
	if (!has_runtime || !lbx_table_root(d->c.table, &d->c.root)) {
		lb_clear_error();
		d->c.table = NULL;
		return true;
	}
	if (!lbx_flight_read(d->c.table, &d->c.flight)) {
		lb_clear_error();
		d->c.flight = (struct lbx_flight){ 0 };
	}
	return true;
}

static bool show_tensors(struct doctor *d)
{
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0, n = 0, meant = 0;
	enum lbx_next next;

	if (!d->c.tensors)
		return true;
	while ((next = lbx_tensors_next(d->c.tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (++n % 8192 == 0 && !lbx_progress(d->c.context->out, "looking at tensors", (int64_t)n, 0))
			return false;
		if (!lbx_case_means(&d->c, &t))
			continue;
		meant++;
		for (int i = 0; i < d->n; i++) {
			d->c.rule = d->checks[i].rule;
			if (d->c.rule->tensor && !d->c.rule->tensor(&d->c, d->checks[i].state, &t))
				return false;
		}
	}
	if (d->c.names && !meant && next == LBX_NEXT_END)
		return lb_fail("no tensor is called '%s'", d->c.names);
	return next == LBX_NEXT_END;
}

static bool name_kinds(struct lbx_case *c)
{
	static const char *const names[LBX_HAPPENINGS_N] = {
#define X(name) [LBX_HAPPENED_##name] = #name,
		LBX_HAPPENINGS(X)
#undef X
	};

	c->kinds = calloc((size_t)c->flight.n_kinds + 1, sizeof *c->kinds);
	if (!c->kinds)
		return lb_fail("out of memory");
	for (int k = 0; k < c->flight.n_kinds; k++)
		for (int i = 1; i < LBX_HAPPENINGS_N; i++)
			if (strcmp(c->flight.kinds[k].name, names[i]) == 0)
				c->kinds[k] = (enum lbx_happening)i;
	return true;
}

static bool show_events(struct doctor *d)
{
	const struct lbx_flight *flight = &d->c.flight;

	if (!name_kinds(&d->c))
		return false;
	for (int64_t k = 0; k < flight->n; k++) {
		struct lbx_happened event = { d->c.kinds[flight->events[k].kind], &flight->events[k] };
		if (k % 65536 == 65535 && !lbx_progress(d->c.context->out, "looking at events", k, flight->n))
			return false;
		for (int i = 0; i < d->n; i++) {
			d->c.rule = d->checks[i].rule;
			if (d->c.rule->event && !d->c.rule->event(&d->c, d->checks[i].state, &event))
				return false;
		}
	}
	return true;
}

static bool show_values(void *arg, const struct lbx_tensor *t, const struct lbx_summary *summary)
{
	struct doctor *d = arg;

	if (d->failed || !lbx_case_means(&d->c, t))
		return false;
	if (d->sees & LBX_SEES_GRADIENTS && !lbx_gradients_take(&d->c.gradients, t, summary))
		d->failed = true;
	for (int i = 0; i < d->n; i++) {
		d->c.rule = d->checks[i].rule;
		if (d->c.rule->values && !d->c.rule->values(&d->c, d->checks[i].state, t, summary))
			d->failed = true;
	}
	return true;
}

static bool look_at_values(struct doctor *d)
{
	return !(d->sees & LBX_SEES_VALUES) || (lbx_find_nonfinite(d->c.context, d->c.seconds, show_values, d,
								   &d->c.diagnosis->bad, &d->c.diagnosis->nonfinite) &&
						!d->failed);
}

/* Those that look at values come last: a debugger is asked before, what the others want to know. */
static bool conclude(struct doctor *d, bool values)
{
	for (int i = 0; i < d->n; i++) {
		d->c.rule = d->checks[i].rule;
		if (!!(d->c.rule->sees & LBX_SEES_VALUES) == values && !d->c.rule->conclude(&d->c, d->checks[i].state))
			return false;
	}
	return true;
}

static void find_lines(struct doctor *d)
{
	for (size_t i = 0; i < d->c.diagnosis->n; i++) {
		struct lbx_diagnosed *f = &d->c.diagnosis->list[i];
		if (f->pc && !f->line.function[0] && !lbx_target_source_line(d->c.context->target, f->pc - 1, &f->line))
			f->line = (struct lbx_source_line){ 0 };
	}
}

static bool examine(struct doctor *d)
{
	bool done = show_tensors(d) && (!(d->sees & LBX_SEES_EVENTS) || show_events(d)) && conclude(d, false);

	if (done)
		find_lines(d);
	if (!done || lbx_target_waits(d->c.context->target) || !look_at_values(d) || !conclude(d, true))
		return false;
	find_lines(d);
	return true;
}

bool lbx_diagnose(struct lbx_context *context, const struct lbx_diagnose *what, struct lbx_diagnosis *ret)
{
	struct doctor d = { .c = { .context = context,
				   .seconds = what->seconds,
				   .names = what->tensors,
				   .looks = what->looks,
				   .diagnosis = ret },
			    .what = what };
	bool done = are_rules(what->only) && open_program(&d) && choose(&d) && examine(&d);

	if (done)
		sort(ret);
	for (int i = 0; i < d.n; i++) {
		if (d.checks[i].rule->deinit)
			d.checks[i].rule->deinit(d.checks[i].state);
		free(d.checks[i].state);
	}
	lbx_gradients_deinit(&d.c.gradients);
	lbx_case_release_stack(&d.c);
	free(d.c.kinds);
	free(d.c.evaluations.list);
	lbx_flight_free(&d.c.flight);
	return done;
}
