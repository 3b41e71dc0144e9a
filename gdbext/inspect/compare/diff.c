/* Two tensors, or one and a file, element by element: how many differ, by how much, where, and why that may be
 * (explain.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/compare/compare.h"
#include "inspect/compare/exchanged.h"
#include "inspect/compare/explain.h"
#include "inspect/compare/formats.h"
#include "inspect/compare/groups.h"
#include "inspect/compare/closeness.h"
#include "inspect/compare/many.h"
#include "inspect/compare/turned.h"
#include "inspect/compare/where.h"
#include "inspect/convenience.h"
#include "inspect/formula/formula.h"
#include "inspect/operand/operand.h"
#include "inspect/operand/select.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/name.h"
#include "inspect/tensor/number.h"

enum { DEFAULT_SECONDS = 10, MAX_SECONDS = 86400 };

struct diff {
	struct lbx_operand a, b;
	bool same_shape, explains, has_groups;
	struct lbx_levels levels;
	struct lbx_explain_options options;
	struct lbx_comparison c;
	struct lbx_where where;
	struct lbx_explanations explanations;
	struct lbx_turned turned; /* where there is none */
	bool is_of_part; /* they are of the part alone in which the two differ */
	struct lbx_groups groups;
	int64_t group;
};

static void place(const struct diff *d, int64_t i, char *ret, size_t size)
{
	int64_t at[LBX_ARRAY_RANK];

	lbx_array_coordinates(&d->a.array, i, at);
	lbx_format_place(at, d->a.array.rank, ret, size);
}

static void values(const struct diff *d, int64_t i, char a[LBX_NUMBER_MAX], char b[LBX_NUMBER_MAX])
{
	unsigned char element[8];

	strcpy(a, "?");
	strcpy(b, "?");
	if (lbx_array_copy(&d->a.array, i, 1, element))
		lbx_number_scalar(element, d->a.array.dtype, a);
	if (lbx_array_copy(&d->b.array, i, 1, element))
		lbx_number_scalar(element, d->b.array.dtype, b);
}

static const char *format_of(const struct diff *d)
{
	return d->a.format[0] ? d->a.format : d->b.format;
}

static enum lbx_closeness verdict(const struct diff *d)
{
	enum lbx_closeness plain = lbx_closeness(&d->c, &d->levels);

	return d->has_groups && d->c.nan_in_one == 0
		   ? lbx_closeness_of_format(plain, d->groups.relative, format_of(d), &d->levels)
		   : plain;
}

/* ---- text ---- */

enum { FIELD = 17 };

static void field(struct lbx_out *out, const char *name)
{
	lbx_field(out, name, FIELD);
}

static void row(struct lbx_out *out, const struct diff *d, const char *name, const char *value, int64_t at)
{
	char where[LBX_LIST_MAX], a[LBX_NUMBER_MAX], b[LBX_NUMBER_MAX];

	place(d, at, where, sizeof where);
	values(d, at, a, b);
	field(out, name);
	lbx_printf(out, "%s at %s: %s and %s\n", value, where, a, b);
}

static void print_heading(struct lbx_out *out, const struct diff *d)
{
	char shape[LBX_LIST_MAX], other[LBX_LIST_MAX];

	lbx_format_list(d->a.array.shape, d->a.array.rank, shape, sizeof shape);
	lbx_format_list(d->b.array.shape, d->b.array.rank, other, sizeof other);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_NAME, "%s", d->a.label);
	lbx_printf(out, " (%s%s) and ", lbx_array_dtype_name(&d->a.array), d->a.was_lazy ? ", replayed" : "");
	lbx_styled(out, LBX_NAME, "%s", d->b.label);
	lbx_printf(out, " (%s%s), ", lbx_array_dtype_name(&d->b.array), d->b.was_lazy ? ", replayed" : "");
	if (d->same_shape)
		lbx_printf(out, "shape %s\n", shape);
	else
		lbx_printf(out, "of different shapes: %s and %s\n", shape, other);
}

static void print_counts(struct lbx_out *out, const struct diff *d)
{
	const struct lbx_comparison *c = &d->c;
	char text[128];

	snprintf(text, sizeof text, "%lld of %lld (%.3g%%), the first", (long long)c->different, (long long)c->count,
		 100 * (double)c->different / (double)c->count);
	row(out, d, "different", text, c->first);
	if (c->nan_in_one) {
		snprintf(text, sizeof text, "%lld, the first", (long long)c->nan_in_one);
		row(out, d, "NaN in one", text, c->first_nan);
	}
	if (c->max > 0) {
		snprintf(text, sizeof text, "%.6g", c->max);
		row(out, d, "largest error", text, c->worst);
	}
	if (c->max_relative > 0) {
		snprintf(text, sizeof text, "%.6g", c->max_relative);
		row(out, d, "relative", text, c->worst_relative);
	}
	if (c->nan_in_both) {
		field(out, "NaN in both");
		lbx_printf(out, "%lld\n", (long long)c->nan_in_both);
	}
	field(out, "mean error");
	if (lbx_compared(c))
		lbx_printf(out, "%.6Lg\n", c->sum / lbx_compared(c));
	else
		lbx_printf(out, "none: nowhere do both have numbers\n");
	field(out, "beyond");
	lbx_printf(out, "%lld by %g or more\n", (long long)c->beyond, d->levels.tolerance.level);
	field(out, "allclose");
	if (c->far == 0) {
		lbx_printf(out, "yes, at rtol %g, atol %g\n", d->levels.tolerance.rtol, d->levels.tolerance.atol);
		return;
	}
	place(d, c->first_far, text, sizeof text);
	lbx_printf(out, "no: %lld beyond rtol %g, atol %g, the first at %s\n", (long long)c->far,
		   d->levels.tolerance.rtol, d->levels.tolerance.atol, text);
}

static void print_where(struct lbx_out *out, const struct diff *d)
{
	const struct lbx_where *w = &d->where;

	bool nan_alone = w->nan_alone && lbx_compared(&d->c) > 0;

	if (nan_alone) {
		field(out, "where");
		lbx_printf(out, "NaN alone: where both have numbers, they are equal\n");
	}
	for (int i = 0; i < w->n; i++) {
		field(out, i || nan_alone ? "" : "where");
		lbx_printf(out, "%s %s\n", i ? "and in" : "only in", w->axes[i].text);
	}
	if (w->n) {
		field(out, "");
		lbx_printf(out, "where %.3g%% of the elements differ%s\n", 100 * w->share,
			   w->is_of_far ? " by more than rounding" : "");
	}
}

static double percent(int64_t part, int64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_explanation(struct lbx_out *out, const struct lbx_explanation *x, bool first, bool is_of_part)
{
	field(out, first ? "explanation" : "or");
	lbx_styled(out, first ? LBX_WARNING : LBX_PLAIN, "%s%s\n", is_of_part ? "there alone: " : "", x->text);
	field(out, "");
	lbx_printf(out, "%.4g%% agree", percent(x->agree, x->covered));
	if (x->agree < x->covered)
		lbx_printf(out, " (%lld do not)", (long long)(x->covered - x->agree));
	if (x->exact == x->agree)
		lbx_printf(out, " exactly");
	else
		lbx_printf(out, " within rtol %.3g, atol %.3g", x->rtol, x->atol);
	if (x->before >= 0)
		lbx_printf(out, ", %.3g%% without it", percent(x->before, x->covered));
	lbx_printf(out, "\n");
}

static void print_explanations(struct lbx_out *out, const struct diff *d)
{
	const struct lbx_explanations *e = &d->explanations;

	for (int i = 0; i < e->n; i++)
		print_explanation(out, &e->list[i], i == 0, d->is_of_part);
	if (e->n)
		return;
	field(out, "explanation");
	if (e->why_not)
		lbx_printf(out, "not searched for: %s\n", e->why_not);
	else
		lbx_printf(out, "none found%s\n", e->out_of_time ? ": out of time (--seconds)" : "");
}

/* No explanation: it does not hold for the elements. */
static void tell_turned(struct lbx_out *out, const struct diff *d)
{
	const struct lbx_turned *t = &d->turned;

	if (!t->is_near) {
		LBX_KEY(out, "turned", json_null());
		return;
	}
	LBX_KEY(out, "turned",
		json_pack("{s:[i,i],s:o,s:o}", "axes", t->axes[0], t->axes[1], "correlation",
			  lbx_json_double(t->turned), "without",
			  d->same_shape ? lbx_json_double(t->plain) : json_null()));
	field(out, "hint");
	lbx_printf(out, "one of them is transposed? With axes %d and %d exchanged their correlation is %.4f",
		   t->axes[0], t->axes[1], t->turned);
	if (d->same_shape)
		lbx_printf(out, ", and %.4f as they are", t->plain);
	lbx_printf(out, "; swapaxes(T, %d, %d) in the place of T compares these\n", t->axes[0], t->axes[1]);
}

static void print_groups(struct lbx_out *out, const struct diff *d)
{
	const struct lbx_groups *g = &d->groups;
	char where[LBX_LIST_MAX];

	field(out, "quantised");
	lbx_printf(out, "relative error %.4g (by L2 norms)\n", g->relative);
	field(out, "");
	lbx_printf(out, "in %lld group%s of %lld: %.4g on average", (long long)g->n, LB_S(g->n), (long long)g->group,
		   g->mean);
	if (g->worst_at >= 0) {
		place(d, g->worst_at, where, sizeof where);
		lbx_printf(out, ", %.4g at most, from %s on", g->worst, where);
	}
	lbx_printf(out, "\n");
}

static void print_equal(struct lbx_out *out, const struct lbx_comparison *c)
{
	if (c->count == 1)
		lbx_printf(out, "  the one element is equal");
	else
		lbx_printf(out, "  all %lld elements are equal", (long long)c->count);
	if (c->nan_in_both == 1 && c->count == 1)
		lbx_printf(out, ": NaN in both");
	else if (c->nan_in_both == c->count && c->count)
		lbx_printf(out, ": all are NaN in both");
	else if (c->nan_in_both)
		lbx_printf(out, ", %lld of them NaN in both", (long long)c->nan_in_both);
	lbx_printf(out, "\n");
}

/* ---- keys ---- */

static json_t *json_place(const struct diff *d, int64_t i)
{
	int64_t at[LBX_ARRAY_RANK];

	if (i < 0)
		return json_null();
	lbx_array_coordinates(&d->a.array, i, at);
	return lbx_json_list(at, d->a.array.rank);
}

static json_t *json_where(const struct lbx_where *w)
{
	json_t *axes = json_array();

	for (int i = 0; i < w->n; i++)
		json_array_append_new(axes,
				      json_pack("{s:i,s:I,s:I,s:I,s:I,s:o}", "axis", w->axes[i].axis, "count",
						(json_int_t)w->axes[i].n, "first", (json_int_t)w->axes[i].first, "last",
						(json_int_t)w->axes[i].last, "step", (json_int_t)w->axes[i].step,
						"text", lbx_json_string(w->axes[i].text)));
	return json_pack("{s:b,s:o,s:o}", "nan_alone", w->nan_alone, "axes", axes, "share",
			 w->n ? lbx_json_double(w->share) : json_null());
}

static json_t *json_explanations(const struct lbx_explanations *e, bool is_of_part)
{
	json_t *list = json_array();

	for (int i = 0; i < e->n; i++) {
		const struct lbx_explanation *x = &e->list[i];
		json_array_append_new(list,
				      json_pack("{s:s,s:o,s:I,s:I,s:I,s:o,s:o,s:o}", "kind", x->kind, "text",
						lbx_json_string(x->text), "covered", (json_int_t)x->covered, "agree",
						(json_int_t)x->agree, "exact", (json_int_t)x->exact, "before",
						x->before < 0 ? json_null() : json_integer(x->before), "rtol",
						lbx_json_double(x->rtol), "atol", lbx_json_double(x->atol)));
	}
	return json_pack("{s:o,s:b,s:I,s:b,s:o}", "found", list, "of_part", is_of_part, "tried", (json_int_t)e->tried,
			 "out_of_time", e->out_of_time, "not_searched",
			 e->why_not ? lbx_json_string(e->why_not) : json_null());
}

static json_t *json_groups(const struct diff *d)
{
	const struct lbx_groups *g = &d->groups;

	return json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:I}", "group", (json_int_t)g->group, "groups", (json_int_t)g->n,
			 "relative", lbx_json_double(g->relative), "mean", lbx_json_double(g->mean), "worst",
			 lbx_json_double(g->worst), "worst_at", json_place(d, g->worst_at), "over_a_tenth",
			 (json_int_t)g->over);
}

static void key_counts(struct lbx_out *out, const struct diff *d)
{
	const struct lbx_comparison *c = &d->c;
	int64_t numbers = lbx_compared(c);

#define SET(key, value) LBX_KEY(out, key, value)
	SET("count", json_integer(c->count));
	SET("different", json_integer(c->different));
	SET("beyond", json_integer(c->beyond));
	SET("nan_in_one", json_integer(c->nan_in_one));
	SET("nan_in_both", json_integer(c->nan_in_both));
	SET("equal", json_boolean(c->different == 0));
	SET("verdict", json_string(lbx_closeness_name(verdict(d))));
	SET("allclose", json_pack("{s:b,s:I,s:o,s:o,s:o}", "close", c->far == 0, "beyond", (json_int_t)c->far, "rtol",
				  lbx_json_double(c->tolerance.rtol), "atol", lbx_json_double(c->tolerance.atol),
				  "first", json_place(d, c->first_far)));
	SET("first", json_place(d, c->first));
	SET("max_error", numbers || !c->count ? lbx_json_double(c->max) : json_null());
	SET("max_error_at", json_place(d, c->worst));
	SET("max_relative", lbx_json_double(c->max_relative));
	SET("max_relative_at", json_place(d, c->worst_relative));
	SET("mean_error", numbers    ? lbx_json_double((double)(c->sum / numbers))
			  : c->count ? json_null()
				     : json_real(0));
	if (c->different)
		SET("where", json_where(&d->where));
}

#undef SET

static void tell_verdict(struct lbx_out *out, const struct diff *d)
{
	double cost = lbx_format_error(format_of(d));

	if ((d->a.was_lazy || d->b.was_lazy) && d->c.far == 0 &&
	    d->levels.tolerance.rtol <= lbx_default_levels.tolerance.rtol &&
	    d->levels.tolerance.atol <= lbx_default_levels.tolerance.atol) {
		field(out, "replay");
		lbx_printf(out, "within rounding: a replay may add in another order than the program\n");
	}
	field(out, "verdict");
	lbx_styled(out, verdict(d) == LBX_CORRECT || verdict(d) == LBX_AS_EXPECTED ? LBX_PLAIN : LBX_WARNING, "%s",
		   lbx_closeness_name(verdict(d)));
	if (verdict(d) == LBX_AS_EXPECTED)
		lbx_printf(out, " of %s, which costs normally distributed numbers %.3g", format_of(d), cost);
	else if (d->has_groups && cost > 0 && d->groups.relative > 2 * cost)
		lbx_printf(out, ": %s costs normally distributed numbers %.3g alone", format_of(d), cost);
	lbx_printf(out, "\n");
}

static void tell(struct lbx_out *out, const struct diff *d)
{
	bool equal = d->same_shape && d->c.different == 0;

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:o,s:o,s:o,s:o}", "a", lbx_json_string(d->a.label), "b", lbx_json_string(d->b.label),
				"shape", lbx_json_list(d->a.array.shape, d->a.array.rank), "other_shape",
				lbx_json_list(d->b.array.shape, d->b.array.rank)));
	print_heading(out, d);
	if (d->same_shape)
		key_counts(out, d);
	if (equal) {
		print_equal(out, &d->c);
	} else if (d->same_shape) {
		print_counts(out, d);
		print_where(out, d);
	}
	if (d->has_groups) {
		LBX_KEY(out, "groups", json_groups(d));
		print_groups(out, d);
	}
	if (d->explains) {
		LBX_KEY(out, "explanations", json_explanations(&d->explanations, d->is_of_part));
		print_explanations(out, d);
		tell_turned(out, d);
	}
	if (d->same_shape && !equal)
		tell_verdict(out, d);
	lbx_end(out);
}

/* ---- the command ---- */

static bool explains(const struct lbx_args *args, bool *ret)
{
	const char *text = lbx_args_option(args, "explain");

	*ret = !text || strcmp(text, "off") != 0;
	return !text || !*ret || strcmp(text, "on") == 0 ||
	       lbx_misuse("diff: --explain takes on or off, not '%s'", text);
}

/* By the groups that one of the two was quantised in, where it holds whole ones. */
static bool compare_groups(struct diff *d, struct lbx_out *out)
{
	int64_t row = d->a.array.rank ? d->a.array.shape[d->a.array.rank - 1] : 1;
	int64_t own = d->a.group ? d->a.group : d->b.group, group = d->group ? d->group : own;
	/* the reference is the one that was not quantised, or else the second */
	bool turned = d->b.group && !d->a.group;

	d->has_groups = group && (d->group || row % group == 0);
	return !d->has_groups || lbx_groups(turned ? &d->b.array : &d->a.array, turned ? &d->a.array : &d->b.array,
					    group, out, &d->groups);
}

static bool compare(struct diff *d, struct lbx_out *out)
{
	struct lbx_marks marks;
	struct lbx_observer observer = { lbx_marks_see, &marks };

	if (!lbx_marks_init(&marks, &d->a.array, &d->b.array, &d->levels.tolerance))
		return false;
	bool done = lbx_compare(&d->a.array, &d->b.array, &d->levels.tolerance, &observer, out, &d->c);
	if (done)
		lbx_where(&marks, &d->c, &d->where);
	d->c.observer = NULL;
	lbx_marks_deinit(&marks);
	return done;
}

static bool fail_for_shapes(const struct diff *d)
{
	char left[LBX_LIST_MAX], right[LBX_LIST_MAX];

	lbx_format_list(d->a.array.shape, d->a.array.rank, left, sizeof left);
	lbx_format_list(d->b.array.shape, d->b.array.rank, right, sizeof right);
	return lb_fail("%s has shape %s, but %s has %s%s", d->a.label, left, d->b.label, right,
		       lbx_turns(&d->a.array, &d->b.array)
			   ? ": one of them is transposed? (swapaxes(T, -2, -1) exchanges the axes)"
			   : "");
}

static bool compare_shapes(struct diff *d)
{
	const struct lbx_array *a = &d->a.array, *b = &d->b.array;

	d->same_shape = a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
	return d->same_shape || (d->explains && a->size == b->size) || fail_for_shapes(d);
}

/* Of all elements; where there is none, of the part in which they differ. */
static bool explain(struct lbx_context *context, struct diff *d)
{
	struct lbx_out *out = context->out;
	struct lbx_array a, b;
	struct lbx_comparison c;

	if (!lbx_explain(&d->a.array, &d->b.array, d->same_shape ? &d->c : NULL, &d->options, out, &d->explanations))
		return false;
	if (d->explanations.n || d->explanations.out_of_time || !d->same_shape)
		return true;
	if (!lbx_explain_exchanged(context, &d->a, &d->b, &d->c, &d->explanations))
		return false;
	if (d->explanations.n || !lbx_where_part(&d->where, &d->a.array, &a) ||
	    !lbx_where_part(&d->where, &d->b.array, &b))
		return true;
	d->is_of_part = true;
	return lbx_compare(&a, &b, &d->levels.tolerance, NULL, out, &c) &&
	       lbx_explain(&a, &b, &c, &d->options, out, &d->explanations);
}

static bool run(struct lbx_context *context, struct diff *d)
{
	struct lbx_out *out = context->out;

	if (!compare_shapes(d))
		return false;
	if (d->same_shape && !compare(d, out))
		return false;
	bool equal = d->same_shape && d->c.different == 0;
	if (d->same_shape && !equal && !compare_groups(d, out))
		return false;
	d->explains = d->explains && !equal && !d->where.nan_alone;
	if (d->explains && !explain(context, d))
		return false;
	if (d->explains && d->explanations.n == 0 && !lbx_find_turned(&d->a.array, &d->b.array, out, &d->turned))
		return false;
	if (!d->same_shape && d->explanations.n == 0 && !d->turned.is_near)
		return fail_for_shapes(d);
	tell(out, d);
	if (d->same_shape) {
		lbx_set_int(out, "tensor_diff_count", d->c.different);
		lbx_set_double(out, "tensor_diff_max", lbx_compared(&d->c) || !d->c.count ? d->c.max : NAN);
	}
	return lb_ok();
}

/* The shape of the first side, before it is computed. */
static bool shape_of(struct lbx_context *context, const char *text, struct diff *d)
{
	struct lbx_array *a = &d->a.array;
	struct lbx_selection s;

	if (!lbx_select_values(context, text, &s))
		return false;
	lbx_selection_label(&s, d->a.label, sizeof d->a.label);
	memcpy(d->a.name, s.tensor.name, sizeof d->a.name);
	*a = (struct lbx_array){ .dtype = s.tensor.dtype, .rank = s.tensor.rank, .size = s.tensor.size };
	memcpy(a->shape, lbx_shape(&s.tensor), (size_t)s.tensor.rank * sizeof *a->shape);
	if (!lbx_slice_apply(&s.slice, a))
		return false;
	a->size = 1;
	for (int i = 0; i < a->rank; i++)
		a->size *= a->shape[i];
	return true;
}

/* Sides whose shapes do not go together are refused before the first, which may be a giant, is computed. */
static bool take_sides(struct lbx_context *context, const struct lbx_args *args, struct diff *d)
{
	bool again = lbx_args_option(args, "again");

	if (again == (args->n > 1))
		return lbx_misuse(again ? "diff: with --again a tensor is compared with itself: name one alone"
					: "diff: name the other side, or say --again");
	if (again && !lbx_operand_tensor(context, args->v[0], &d->a))
		return false;
	if (again && d->a.was_lazy)
		return lb_fail("%s has no value that could be compared; `peek` computes it", d->a.label);
	if (again)
		return lbx_operand_again(context, args->v[0], &d->b);
	if (!shape_of(context, args->v[0], d) || !lbx_operand_any(context, args->v[1], d->a.name, &d->b))
		return false;
	return compare_shapes(d) && lbx_operand_tensor(context, args->v[0], &d->a);
}

/* The quotes of a line stay in what may be an expression; around all of it they keep a pattern together. */
static const char *without_quotes(const char *text, char ret[LBX_LINE_MAX])
{
	size_t n = strlen(text);

	if (n < 2 || n > LBX_LINE_MAX || !strchr("'\"", *text) || strchr(text + 1, *text) != text + n - 1)
		return text;
	memcpy(ret, text + 1, n - 2);
	ret[n - 2] = '\0';
	return ret;
}

/* x * 2 is a pattern only if there is a name that it matches. */
static bool is_computed(struct lbx_context *context, const char *pattern)
{
	bool clean = lb_ok(), is = strchr(pattern, '*') && lbx_formula_sort(pattern) == LBX_FORMULA_IS_ONE;
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;

	if (is && context->target && lbx_context_tensors(context, &tensors))
		while (is && lbx_tensors_next(tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR)
			is = !lbx_name_matches(pattern, t.name);
	if (clean)
		lb_clear_error();
	return is;
}

static bool run_diff(struct lbx_context *context, const struct lbx_args *args)
{
	lb_auto_free struct diff *d = calloc(1, sizeof *d);
	int64_t seconds = DEFAULT_SECONDS, limit = INT64_MAX;
	char text[LBX_LINE_MAX], other[LBX_LINE_MAX];

	if (!d)
		return lb_fail("out of memory");
	bool done = lbx_levels_take(args, &d->levels) && explains(args, &d->explains) &&
		    lbx_args_int(args, "group", 2, 1024, &d->group) &&
		    lbx_args_int(args, "seconds", 1, MAX_SECONDS, &seconds);
	d->options = (struct lbx_explain_options){
		.rtol = lbx_args_option(args, "rtol") ? d->levels.tolerance.rtol : -1,
		.atol = lbx_args_option(args, "atol") ? d->levels.tolerance.atol : -1,
		.seconds = (double)seconds,
	};
	const char *pattern = args->n > 1 ? without_quotes(args->v[0], text) : NULL;
	if (done && pattern && lbx_is_many(pattern) && !is_computed(context, pattern))
		return lbx_args_limit(args, &limit) &&
		       lbx_diff_many(context, pattern, without_quotes(args->v[1], other), &d->levels,
				     d->explains ? (double)seconds : 0, limit);
	done = done && take_sides(context, args, d) && run(context, d);
	lbx_operand_release(&d->b);
	lbx_operand_release(&d->a);
	return done;
}

const struct lbx_command lbx_command_diff = {
	.name = "diff",
	.arguments = "T[slice] [OTHER]",
	.summary = "compare tensors with others, or with files, and explain how they differ",
	.help = "OTHER is T[slice], CORE:T[slice], pid/PID:T[slice] of another process, or FILE[:NAME],\n"
		"of .npy, .npz, .safetensors or GGUF. Shows the largest absolute and relative error, how\n"
		"many elements differ, the first and the worst, and where they lie; with --rtol or --atol\n"
		"as numpy.allclose does.\n"
		"Then it searches for an explanation: axes, halves or channels in another order, a\n"
		"strided view read raw, heads split by a reshape alone, a factor, an offset, a shift, a\n"
		"norm, weights or RoPE that one lacks or has otherwise, scale and shift exchanged, the\n"
		"rounding of a dtype, bytes; where none explains all, one of the part that differs. Where there is\n"
		"none, a hint tells of what is nearly the other, transposed.\n"
		"Beside a quantised tensor it shows the error of each group. Lazy tensors are replayed.\n"
		"T may be a pattern, as 'layers.*': then OTHER is a file, a folder of files, a core or pid/PID,\n"
		"each tensor is compared with that of its name, in the order in which they were computed, a line\n"
		"each, and the first that is not correct is marked (>) and explained. A file beside another\n"
		"is compared whole. The second of one name is NAME@2.\n"
		"Example: diff q run2.core:q, diff q q.npy --rtol 1e-3, diff w model.gguf:blk.0.attn_q.weight,\n"
		"diff ffn_norm-3 --again, diff 'layers.*' ref.npz",
	.min_args = 1,
	.max_args = 2,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "again", NULL, "instead of OTHER: T itself, computed again outside the program" },
		{ "correct", "X", "errors below X count as none (default 1e-5)" },
		{ "broken", "X", "errors beyond X, rtol and atol give the verdict `broken` (default 0.1)" },
		{ "rtol", "X", "relative tolerance of numpy.allclose (default 1e-5)" },
		{ "atol", "X", "absolute tolerance of numpy.allclose (default 1e-8)" },
		{ "explain", "WHAT", "off: do not search for an explanation" },
		{ "seconds", "N", "search for N seconds at most (default 10)" },
		{ "limit", "N", "of a pattern: show N lines at most (default all); 0: all" },
		{ "group", "N", "relative error by groups of N along the last axis" },
	},
	.run = run_diff,
};
