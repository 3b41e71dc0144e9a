/* All parameters of a program beside a checkpoint: which are equal, which differ and how, which are missing, unexpected, or
 * have another name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/compare/judge.h"
#include "inspect/compare/pairing.h"
#include "inspect/convenience.h"
#include "inspect/tensor/format.h"

enum { DEFAULT_LIMIT = 20, DEFAULT_SECONDS = 10, MAX_SECONDS = 86400, TRIES = 1 << 16 };

struct weights {
	struct lbx_context *context;
	struct lbx_parameters parameters;
	struct lbx_checkpoint checkpoint;
	struct lbx_pairing pairing;
	size_t n, counts[LBX_JUDGEMENTS], n_missing, n_unexpected, n_tied, n_others;
	struct lbx_judged *judged;
	/* by the array that no parameter has by its name: the one that has its values, counted from 1 on; by such a
	 * parameter, if it has no array of its own: that array */
	size_t *renamed, *named;
	bool *is_tied; /* by the parameter, which has no array: another one that has the same memory has one */
	int64_t limit;
	double deadline; /* of searches: for explanations, then for other names */
	bool is_late;
};

/* ---- judging ---- */

static bool judge_all(struct weights *w)
{
	for (size_t i = 0; i < w->parameters.n; i++) {
		size_t saved = w->pairing.array_of[i];
		if (!lbx_progress(w->context->out, "comparing weights", (int64_t)i, (int64_t)w->parameters.n))
			return false;
		if (!saved)
			continue;
		struct lbx_judged *to = &w->judged[w->n];
		*to = (struct lbx_judged){ .parameter = i, .saved = saved - 1, .worst = -1 };
		if (!lbx_judge(w->context, &w->parameters.list[i], &w->checkpoint, &w->checkpoint.list[saved - 1],
			       w->deadline - lb_clock_seconds(), to))
			return false;
		w->counts[to->judgement]++;
		w->n++;
	}
	return true;
}

/* Named, but none that the program keeps, and nothing of the checkpoint's. */
static bool is_no_parameter(const struct weights *w, size_t i)
{
	return w->parameters.is_known && !w->parameters.list[i].is_said && !w->pairing.array_of[i] && !w->named[i];
}

static bool is_unexpected(const struct weights *w, size_t parameter)
{
	return !is_no_parameter(w, parameter) && !w->pairing.array_of[parameter] && !w->is_tied[parameter] &&
	       !w->parameters.list[parameter].overhead && lbx_pairing_has(&w->pairing, &w->parameters.list[parameter]);
}

/* The same memory under a name that the checkpoint has. */
static void find_tied(struct weights *w)
{
	for (size_t i = 0; i < w->parameters.n; i++) {
		const struct lbx_parameter *x = &w->parameters.list[i];
		for (size_t k = 0; k < w->n && is_unexpected(w, i); k++) {
			const struct lbx_parameter *y = &w->parameters.list[w->judged[k].parameter];
			w->is_tied[i] = x->end > x->low && x->low == y->low && x->end == y->end;
		}
		w->n_tied += w->is_tied[i];
	}
}

/* After those with another name are known. */
static void count_others(struct weights *w)
{
	for (size_t i = 0; i < w->parameters.n; i++) {
		w->n_unexpected += is_unexpected(w, i);
		w->n_others += is_no_parameter(w, i);
	}
}

/* Who has the values of an array that nobody has by its name: of those without an array of their own, or of the others, as
 * where a checkpoint has both names of one memory. */
static bool find_owner(struct weights *w, size_t array, struct lbx_sought *sought, bool has_own, size_t *tries)
{
	for (size_t p = 0; p < w->parameters.n && !w->renamed[array] && *tries < TRIES; p++) {
		bool has = w->named[p] || w->pairing.array_of[p];
		if (has != has_own)
			continue;
		w->is_late |= lb_clock_seconds() > w->deadline;
		if (w->is_late)
			break;
		++*tries;
		if (lbx_is_same(w->context, &w->parameters.list[p], sought)) {
			w->renamed[array] = p + 1;
			w->named[p] = has ? w->named[p] : array + 1;
		}
		if (!lb_ok())
			return false;
	}
	return true;
}

static bool find_renamed(struct weights *w)
{
	size_t tries = 0;
	bool done = true;

	for (size_t i = 0; i < w->checkpoint.n && done; i++) {
		struct lbx_sought sought = { .checkpoint = &w->checkpoint, .saved = &w->checkpoint.list[i] };
		if (w->pairing.is_met[i])
			continue;
		w->n_missing++;
		done = find_owner(w, i, &sought, false, &tries) && find_owner(w, i, &sought, true, &tries);
		lbx_sought_close(&sought);
	}
	return done;
}

/* ---- telling ---- */

static const char *const judgements[] = { [LBX_EQUAL] = "equal",
					  [LBX_ROUNDED] = "rounded",
					  [LBX_DIFFERENT] = "different",
					  [LBX_RESHAPED] = "of another shape",
					  [LBX_UNJUDGED] = "not compared" };

/* "float32 (2, 3)" */
static void describe(const char *dtype, int rank, const int64_t *shape, char *ret, size_t size)
{
	char list[LBX_LIST_MAX];

	lbx_format_list(shape, rank, list, sizeof list);
	snprintf(ret, size, "%s %s", dtype, list);
}

static void describe_saved(const struct weights *w, const struct lbx_saved *saved, char *ret, size_t size)
{
	struct lbx_array a;

	ret[0] = '\0';
	if (lbx_array_list_describe(&w->checkpoint.files[saved->file], saved->i, &a))
		describe(lbx_array_dtype_name(&a), a.rank, a.shape, ret, size);
}

/* Behind the name of one that is not equal. */
static void say(struct lbx_out *out, const struct lbx_judged *j)
{
	char ours[LBX_LIST_MAX + 32], theirs[LBX_LIST_MAX + 32], where[LBX_LIST_MAX];
	int64_t at[LBX_ARRAY_RANK];

	if (j->judgement == LBX_UNJUDGED) {
		lbx_printf(out, "  %s\n", j->note);
		return;
	}
	describe(j->dtypes[0], j->ranks[0], j->shapes[0], ours, sizeof ours);
	describe(j->dtypes[1], j->ranks[1], j->shapes[1], theirs, sizeof theirs);
	if (j->judgement == LBX_RESHAPED)
		lbx_printf(out, "  %s, saved as %s", ours, theirs);
	else if (strcmp(ours, theirs) == 0)
		lbx_printf(out, "  %s", ours);
	else
		lbx_printf(out, "  %s, saved as %s", ours, j->dtypes[1]);
	if (j->judgement == LBX_DIFFERENT) {
		lbx_printf(out, ": %lld of %lld differ", (long long)j->different, (long long)j->count);
		if (j->worst >= 0) {
			lbx_coordinates(j->ranks[0], j->shapes[0], j->worst, at);
			lbx_format_place(at, j->ranks[0], where, sizeof where);
			if (j->nan_in_one)
				lbx_printf(out, ", NaN in one alone at %s", where);
			else
				lbx_printf(out, ", by %.4g at most, at %s", j->max, where);
		}
	}
	if (j->note[0])
		lbx_printf(out, "; %s", j->note);
	lbx_printf(out, "\n");
}

static void key_judged(struct lbx_out *out, const struct weights *w, const struct lbx_judged *j)
{
	const struct lbx_parameter *p = &w->parameters.list[j->parameter];
	bool compared = j->judgement <= LBX_DIFFERENT, known = j->judgement != LBX_UNJUDGED;

	LBX_KEY(out, NULL,
		json_pack("{s:o,s:I,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", lbx_json_string(p->name), "id",
			  (json_int_t)p->id, "saved_name", lbx_json_string(w->checkpoint.list[j->saved].name),
			  "judgement", judgements[j->judgement], "dtype", lbx_json_text(j->dtypes[0]), "saved_dtype",
			  lbx_json_text(j->dtypes[1]), "shape",
			  known ? lbx_json_list(j->shapes[0], j->ranks[0]) : json_null(), "saved_shape",
			  known ? lbx_json_list(j->shapes[1], j->ranks[1]) : json_null(), "different",
			  lbx_json_int_if(compared, j->different), "nan_in_one",
			  lbx_json_int_if(compared, j->nan_in_one), "max_error",
			  compared ? lbx_json_double(j->max) : json_null(), "note", lbx_json_text(j->note)));
}

/* A title with its number; whether rows follow. */
static bool title(struct lbx_out *out, const char *name, size_t n)
{
	if (n == 0)
		return false;
	lbx_styled(out, LBX_TITLE, "%s", name);
	lbx_printf(out, ": %zu\n", n);
	return true;
}

/* The name of a row, unless it is one too many. */
static bool begin_row(const struct weights *w, int64_t i, const char *name)
{
	if (i >= w->limit)
		return false;
	lbx_wrap(w->context->out, 0, 6);
	lbx_printf(w->context->out, "  ");
	lbx_styled(w->context->out, LBX_NAME, "%s", name);
	return true;
}

static void left_out(const struct weights *w, size_t n)
{
	if (n > (size_t)w->limit)
		lbx_printf(w->context->out, "  … and %zu more (--limit 0 shows all)\n", n - (size_t)w->limit);
}

static void tell_judged(const struct weights *w, enum lbx_judgement judgement)
{
	int64_t shown = 0;

	if (!title(w->context->out, judgements[judgement], w->counts[judgement]))
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->judged[i].judgement == judgement &&
		    begin_row(w, shown++, w->parameters.list[w->judged[i].parameter].name))
			say(w->context->out, &w->judged[i]);
	left_out(w, w->counts[judgement]);
}

static void tell_missing(const struct weights *w)
{
	struct lbx_out *out = w->context->out;
	char text[LBX_LIST_MAX + 32];
	int64_t shown = 0;

	title(out, "missing in the program", w->n_missing);
	lbx_begin_list(out, "missing");
	for (size_t i = 0; i < w->checkpoint.n; i++) {
		const struct lbx_saved *saved = &w->checkpoint.list[i];
		const char *own = w->renamed[i] ? w->parameters.list[w->renamed[i] - 1].name : NULL;
		if (w->pairing.is_met[i])
			continue;
		LBX_KEY(out, NULL,
			json_pack("{s:o,s:o,s:o}", "saved_name", lbx_json_string(saved->name), "file",
				  lbx_json_string(w->checkpoint.files[saved->file].path), "renamed",
				  lbx_json_text(own)));
		if (!begin_row(w, shown++, saved->name))
			continue;
		describe_saved(w, saved, text, sizeof text);
		lbx_printf(out, "%s%s", text[0] ? "  " : "", text);
		if (own)
			lbx_printf(out, ": its values are those of %s", own);
		lbx_printf(out, "\n");
	}
	lbx_end(out);
	LBX_KEY(out, "out_of_time", json_boolean(w->is_late));
	left_out(w, w->n_missing);
	if (w->is_late)
		lbx_printf(out, "  not all were looked for under other names: out of time (--seconds)\n");
}

static void tell_unexpected(const struct weights *w)
{
	struct lbx_out *out = w->context->out;
	int64_t shown = 0;

	title(out, "not in the checkpoint", w->n_unexpected);
	lbx_begin_list(out, "unexpected");
	for (size_t i = 0; i < w->parameters.n; i++) {
		const struct lbx_parameter *p = &w->parameters.list[i];
		const char *saved = w->named[i] ? w->checkpoint.list[w->named[i] - 1].name : NULL;
		if (!is_unexpected(w, i))
			continue;
		LBX_KEY(out, NULL,
			json_pack("{s:o,s:I,s:o}", "name", lbx_json_string(p->name), "id", (json_int_t)p->id, "renamed",
				  lbx_json_text(saved)));
		if (!begin_row(w, shown++, p->name))
			continue;
		if (saved)
			lbx_printf(out, "  its values are those of %s", saved);
		lbx_printf(out, "\n");
	}
	lbx_end(out);
	left_out(w, w->n_unexpected);
}

static void tell_heading(const struct weights *w)
{
	struct lbx_out *out = w->context->out;
	const struct lbx_checkpoint *c = &w->checkpoint;

	lbx_wrap(out, 0, 2);
	size_t n = w->parameters.n - w->n_others;
	lbx_printf(out, "%zu of %zu parameter%s %s in ", w->n, n, LB_S(n), LB_PLURAL(w->n, "is", "are"));
	lbx_styled(out, LBX_FILE, "%s", c->n_files ? c->files[0].path : "");
	if (c->n_files > 1)
		lbx_printf(out, " and %zu file%s more", c->n_files - 1, LB_S(c->n_files - 1));
	lbx_printf(out, " by name: %zu equal", w->counts[LBX_EQUAL]);
	for (int i = LBX_EQUAL + 1; i < LBX_JUDGEMENTS; i++)
		if (w->counts[i])
			lbx_printf(out, ", %zu %s", w->counts[i], judgements[i]);
	lbx_printf(out, "\n");
	if (w->counts[LBX_ROUNDED]) {
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "  rounded: equal but for the rounding of a dtype\n");
	}
	if (w->n == 0) {
		lbx_wrap(out, 0, 4);
		lbx_printf(
		    out,
		    "  no name is in both: --prefix and --saved-prefix take what names begin with in one of them\n");
	}
	if (w->pairing.ours[0] || w->pairing.theirs[0]) {
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "  names in the program begin with '%s', in the checkpoint with '%s'\n",
			   w->pairing.ours, w->pairing.theirs);
	}
	if (w->pairing.elsewhere) {
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "  %zu name%s of the program %s not so, and %s left out\n", w->pairing.elsewhere,
			   LB_S(w->pairing.elsewhere), LB_PLURAL(w->pairing.elsewhere, "begins", "begin"),
			   LB_PLURAL(w->pairing.elsewhere, "is", "are"));
	}
	if (w->n_others) {
		lbx_wrap(out, 0, 4);
		lbx_printf(out,
			   "  not counted: %zu with a name that the program does not keep, as activations and inputs\n",
			   w->n_others);
	}
	if (!w->parameters.is_known && w->n_unexpected) {
		lbx_wrap(out, 0, 4);
		lbx_printf(
		    out,
		    "  nothing here tells parameters from other tensors with names, as activations: they are counted, too\n");
	}
	if (w->n_tied) {
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "  %zu more share%s memory with these\n", w->n_tied, w->n_tied == 1 ? "s" : "");
	}
	LBX_KEYS(out,
		 json_pack("{s:I,s:I,s:b,s:I,s:o,s:o,s:I,s:I,s:I,s:I,s:I}", "parameters", (json_int_t)n, "others",
			   (json_int_t)w->n_others, "parameters_known", w->parameters.is_known, "arrays",
			   (json_int_t)c->n, "prefix", lbx_json_string(w->pairing.ours), "saved_prefix",
			   lbx_json_string(w->pairing.theirs), "equal", (json_int_t)w->counts[LBX_EQUAL], "rounded",
			   (json_int_t)w->counts[LBX_ROUNDED], "different", (json_int_t)w->counts[LBX_DIFFERENT],
			   "tied", (json_int_t)w->n_tied, "elsewhere", (json_int_t)w->pairing.elsewhere));
}

static void tell(const struct weights *w)
{
	struct lbx_out *out = w->context->out;

	lbx_begin(out, NULL);
	tell_heading(w);
	lbx_begin_list(out, "tensors");
	for (size_t i = 0; i < w->n; i++)
		key_judged(out, w, &w->judged[i]);
	lbx_end(out);
	tell_judged(w, LBX_DIFFERENT);
	tell_judged(w, LBX_RESHAPED);
	tell_judged(w, LBX_UNJUDGED);
	tell_missing(w);
	tell_unexpected(w);
	lbx_end(out);
}

/* ---- the command ---- */

static bool take(struct weights *w, const struct lbx_args *args)
{
	const char *names = lbx_args_option(args, "names");

	if (!lbx_parameters_find(w->context, names, LBX_TIED_EACH, &w->parameters))
		return false;
	if (w->parameters.n == 0)
		return names ? lb_fail("no ready tensor's name matches %s", names)
			     : lb_fail("no ready tensor has a name: there is nothing to compare");
	if (!lbx_checkpoint_open(w->context, args->v, args->n, &w->checkpoint) ||
	    !lbx_pair(&w->parameters, &w->checkpoint, lbx_args_option(args, "prefix"),
		      lbx_args_option(args, "saved-prefix"), &w->pairing))
		return false;
	w->judged = calloc(w->parameters.n, sizeof *w->judged);
	w->is_tied = calloc(w->parameters.n, sizeof *w->is_tied);
	w->named = calloc(w->parameters.n, sizeof *w->named);
	w->renamed = calloc(w->checkpoint.n + 1, sizeof *w->renamed);
	return (w->judged && w->is_tied && w->named && w->renamed) ||
	       lb_fail("out of memory for %zu parameters", w->parameters.n);
}

static void release(struct weights *w)
{
	free(w->renamed);
	free(w->named);
	free(w->is_tied);
	free(w->judged);
	lbx_pairing_deinit(&w->pairing);
	lbx_checkpoint_close(&w->checkpoint);
	lbx_parameters_deinit(&w->parameters);
}

static bool run_weights(struct lbx_context *context, const struct lbx_args *args)
{
	struct weights w = { .context = context, .limit = DEFAULT_LIMIT };
	int64_t seconds = DEFAULT_SECONDS;

	if (!lbx_args_limit(args, &w.limit) || !lbx_args_int(args, "seconds", 0, MAX_SECONDS, &seconds))
		return false;
	w.deadline = lb_clock_seconds() + (double)seconds;
	bool done = take(&w, args) && judge_all(&w);
	if (done) {
		find_tied(&w);
		done = find_renamed(&w);
	}
	if (done) {
		count_others(&w);
		tell(&w);
		lbx_set_int(context->out, "tensor_count", (int64_t)w.n);
		lbx_set_int(context->out, "tensor_diff_count", (int64_t)(w.n - w.counts[LBX_EQUAL]));
	}
	release(&w);
	return done && lb_ok();
}

const struct lbx_command lbx_command_weights = {
	.name = "weights",
	.arguments = "FILE [FILE…]",
	.summary = "compare all parameters with a checkpoint: equal, different, missing, renamed",
	.help = "FILE is .safetensors, GGUF, .npz or .npy, or a folder of such files: together they are one\n"
		"checkpoint. Each ready tensor that has a name is compared with the array of that name; those\n"
		"without such an array are told, too, but for activations and inputs: what is no weight by what\n"
		"its runtime says, or is held by scopes and lazy tensors alone. Where names begin otherwise in\n"
		"one of the two (model., module.), the beginnings that pair the most are taken, and told. Then\n"
		"come those that differ, with an explanation if there is one (see diff), those of another shape,\n"
		"those that one of the two lacks, and whose values are there under another name.\n"
		"Example: weights model.safetensors, weights checkpoint/ --names 'model.layers.0.*'",
	.min_args = 1,
	.max_args = LBX_ARGS_MAX,
	.needs = LBX_NEEDS_TENSORS,
	.options = {
		{ "names", "GLOB", "only tensors whose name matches" },
		{ "prefix", "TEXT", "what names in the program begin with, and not in the checkpoint" },
		{ "saved-prefix", "TEXT", "what names in the checkpoint begin with, and not in the program" },
		{ "limit", "N", "show N rows of each kind (default 20, JSON all); 0: all" },
		{ "seconds", "N", "search for explanations and other names for N seconds at most (default 10)" },
	},
	.run = run_weights,
};
