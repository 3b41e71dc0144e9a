/* The sets of tensors that a context sees: one of each provider that has any, and all as one. Those that are costly to
 * find are kept between commands (struct lbx_kept). */
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "lazybones.h"
#include "inspect/context.h"
#include "inspect/formula/formula.h"
#include "inspect/name_index.h"
#include "tensors/axes.h"

static const struct lbx_provider *providers_of(const struct lbx_context *context)
{
	return context->providers ? context->providers : lbx_providers;
}

static void close_sets(struct lbx_context *context)
{
	for (int i = 0; i < context->n_sets; i++)
		lbx_tensors_close(context->sets[i]);
	context->n_sets = 0;
}

void lbx_kept_close(struct lbx_kept *kept)
{
	for (int i = 0; i < kept->n; i++)
		lbx_tensors_close(kept->sets[i].tensors);
	lbx_name_index_destroy(kept->names);
	*kept = (struct lbx_kept){ .n = 0 };
}

/* When it is, for the sets that are found from here on. False: this is not known yet. */
static bool date_kept(struct lbx_context *context)
{
	struct lbx_kept *kept = context->kept;

	if (!kept)
		return true;
	kept->is_dated = lbx_target_moment(context->target, &kept->moment);
	return kept->is_dated || !lbx_target_waits(context->target);
}

/* Drops those that are good no longer. False: it is not known yet which. */
static bool check_kept(struct lbx_context *context)
{
	struct lbx_kept *kept = context->kept;
	int n = 0;

	if (!kept || kept->n == 0)
		return true;
	if (kept->target != context->target) {
		lbx_kept_close(kept);
		return true;
	}
	struct lbx_kept before = *kept;
	if (!date_kept(context)) {
		*kept = before;
		return false;
	}
	bool stood = before.is_dated && kept->is_dated && before.moment == kept->moment;
	bool valid[LBX_SETS_MAX];
	for (int i = 0; i < kept->n; i++)
		valid[i] = stood || lbx_tensors_valid(kept->sets[i].tensors);
	if (!stood && lbx_target_waits(context->target)) {
		*kept = before;
		return false;
	}
	for (int i = 0; i < kept->n; i++) {
		if (valid[i])
			kept->sets[n++] = kept->sets[i];
		else
			lbx_tensors_close(kept->sets[i].tensors);
	}
	kept->n = n;
	return true;
}

static bool take_kept(struct lbx_kept *kept, const struct lbx_provider *provider, struct lbx_tensors **ret)
{
	for (int i = 0; kept && i < kept->n; i++) {
		if (kept->sets[i].provider != provider)
			continue;
		*ret = kept->sets[i].tensors;
		kept->sets[i] = kept->sets[--kept->n];
		return true;
	}
	return false;
}

/* Instead of closing them. */
static void keep_costly(struct lbx_context *context)
{
	struct lbx_kept *kept = context->kept;
	int n = 0;

	for (int i = 0; kept && i < context->n_sets; i++) {
		const struct lbx_provider *provider = context->set_providers[i];
		if (provider->is_costly && kept->n < LBX_SETS_MAX) {
			kept->target = context->target;
			kept->sets[kept->n++] = (struct lbx_kept_set){ provider, context->sets[i] };
		} else {
			context->sets[n++] = context->sets[i];
		}
	}
	context->n_sets = kept ? n : context->n_sets;
}

/* ---- providers that the program has nothing of ---- */

static void note_absent(struct lbx_context *context, const struct lbx_provider *provider, uint64_t modules)
{
	struct lbx_kept *kept = context->kept;
	int i = 0;

	if (kept->target != context->target)
		kept->n_absent = 0;
	kept->target = context->target;
	while (i < kept->n_absent && kept->absent[i].provider != provider)
		i++;
	if (i < LBX_SETS_MAX)
		kept->absent[i] = (struct lbx_kept_absence){ provider, modules };
	if (i == kept->n_absent && i < LBX_SETS_MAX)
		kept->n_absent++;
}

static bool was_absent(const struct lbx_context *context, const struct lbx_provider *provider, uint64_t modules)
{
	const struct lbx_kept *kept = context->kept;

	for (int i = 0; kept->target == context->target && i < kept->n_absent; i++)
		if (kept->absent[i].provider == provider)
			return kept->absent[i].modules == modules;
	return false;
}

/* What cannot be read because of it may quietly seem not to be there. */
static bool is_interrupted(struct lbx_context *context)
{
	return !lbx_target_waits(context->target) && !lbx_progress(context->out, "looking for tensors", 0, 0);
}

/* Whether a costly provider may have something, by what a front end that lives on remembers. */
static bool may_be_there(struct lbx_context *context, const struct lbx_provider *provider)
{
	uint64_t modules;

	ptrdiff_t i = provider - providers_of(context);
	if (i < LBX_SETS_MAX && context->absent[i])
		return false;
	if (!context->kept || !provider->is_there)
		return true;
	bool known = lbx_target_loaded(context->target, &modules);
	if (!known && lbx_target_waits(context->target))
		return false;
	if (known && was_absent(context, provider, modules))
		return false;
	if (provider->is_there(context))
		return true;
	if (known && !lbx_target_waits(context->target) && !is_interrupted(context))
		note_absent(context, provider, modules);
	return false;
}

/* ---- all of them ---- */

/* Why the providers that were asked had nothing: the last one's reason counts, since who says nothing has nothing to
 * say, and the first one, the runtime, always says why. But an interruption counts most. */
struct reason {
	enum lb_cause cause;
	char text[LB_ERROR_MAX];
};

static void take_reason(struct reason *ret)
{
	if (lb_ok() || ret->cause == LB_INTERRUPTED)
		return;
	ret->cause = lb_error_cause();
	snprintf(ret->text, sizeof ret->text, "%s", lb_error_message());
}

/* False: it has to be waited for, or was interrupted. What is there already lets a command that waits ask what else it
 * wants to know. */
static bool open_sets(struct lbx_context *context)
{
	const struct lbx_provider *provider = providers_of(context);
	struct reason reason = { .text = "" };
	bool clean = lb_ok();

	for (; provider->name && context->n_sets < LBX_SETS_MAX; provider++) {
		struct lbx_tensors **set = &context->sets[context->n_sets];
		context->set_providers[context->n_sets] = provider;
		bool kept = take_kept(context->kept, provider, set);
		/* the date first, lest it be found out for nothing */
		bool looks = kept || !provider->is_costly || (may_be_there(context, provider) && date_kept(context));
		if (looks && (kept || provider->open(context, set)))
			context->n_sets++;
		if (!clean)
			continue;
		take_reason(&reason);
		lb_clear_error();
		if (is_interrupted(context)) {
			take_reason(&reason);
			lb_clear_error();
			break;
		}
	}
	bool interrupted = reason.cause == LB_INTERRUPTED;
	if (reason.text[0] && (context->n_sets == 0 || interrupted))
		lb_fail_because(reason.cause, "%s", reason.text);
	return !interrupted && (context->n_sets || !lbx_target_waits(context->target));
}

/* What the providers have; that of one which cannot be read does not keep the others' from being seen. */
static bool find_sets(struct lbx_context *context)
{
	if (!check_kept(context))
		return false;
	if (!open_sets(context)) {
		/* what could not be read any more after an interruption is missing in what was found then */
		if (lb_error_cause() != LB_INTERRUPTED)
			keep_costly(context);
		close_sets(context);
		return false;
	}
	if (context->n_sets == 0 && lb_ok())
		return lb_fail("the program has no tensors that are known here");
	for (int i = 0; i < context->n_sets; i++)
		context->sets[i]->is_one_of_several = context->n_sets > 1;
	return context->n_sets > 0;
}

void lbx_context_prepare(struct lbx_context *context)
{
	const struct lbx_provider *provider = providers_of(context);

	if (!context->target || !lbx_target_runs(context->target))
		return;
	for (int i = 0; provider[i].name && i < LBX_SETS_MAX; i++) {
		if (!provider[i].is_there)
			continue;
		context->absent[i] = !provider[i].is_there(context);
		if (provider[i].copies && !context->absent[i])
			lbx_target_prepare(context->target);
	}
}

bool lbx_context_hold(struct lbx_context *context)
{
	lbx_context_prepare(context);
	return lbx_stacks_hold(context->stacks, context->target);
}

bool lbx_context_tensors(struct lbx_context *context, struct lbx_tensors **ret)
{
	if (!lbx_context_program(context))
		return false;
	if (!context->tensors && (context->n_sets || find_sets(context)))
		context->tensors =
		    context->n_sets == 1 ? context->sets[0] : lbx_tensors_union(context->sets, context->n_sets);
	*ret = context->tensors;
	return context->tensors != NULL;
}

void lbx_context_close(struct lbx_context *context)
{
	if (context->n_sets > 1)
		lbx_tensors_close(context->tensors);
	if (context->kept && (!context->target || !lbx_target_waits(context->target)))
		lbx_name_index_age(context->kept);
	keep_costly(context);
	close_sets(context);
	lbx_table_destroy(context->table);
	lbx_axes_destroy(context->axes);
	lbx_formulas_destroy(context->formulas);
	context->formulas = NULL;
	lbx_python_close(context->python);
	context->python = NULL;
	context->looked_for_python = false;
	context->no_python[0] = '\0';
	context->axes = NULL;
	context->tensors = NULL;
	context->table = NULL;
}
