#include "inspect/show/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/measure/quantile.h"
#include "inspect/measure/summary.h"
#include "inspect/measure/survey.h"
#include "inspect/operand/value.h"
#include "inspect/show/extreme.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/number.h"
#include "inspect/texts.h"

enum { BINS = 16, DEFAULT_FIRST = 8, MAX_FIRST = 4096, FIELD = 14 };

static const double quantiles[] = { 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99 };
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

static const struct {
	const char *title, *key;
} specials[LBX_SPECIALS] = {
	[LBX_NAN] = { "NaN", "nan" },
	[LBX_POSITIVE_INF] = { "+Inf", "positive_inf" },
	[LBX_NEGATIVE_INF] = { "-Inf", "negative_inf" },
	[LBX_ZERO] = { "zero", "zero" },
	[LBX_DENORMAL] = { "denormal", "denormal" },
	[LBX_OVER_F16] = { "beyond f16", "beyond_float16" },
};

struct stats {
	struct lbx_array array;  /* as asked for */
	struct lbx_array unique; /* without the axes that only repeat */
	int64_t times;           /* how often these do */
	struct lbx_summary summary;
	struct lbx_sample sample;
	int n_bins; /* 0: no histogram */
	int64_t bins[BINS];
	double low, high;
};

static bool gather(struct stats *s, struct lbx_out *out, const struct lbx_array *array)
{
	s->array = s->unique = *array;
	s->times = lbx_array_drop_repeats(&s->unique);
	lbx_summary_init(&s->summary, array->dtype);
	if (!lbx_sample_init(&s->sample, array->dtype, s->unique.size) ||
	    !lbx_survey(&s->unique, out, &s->summary, &s->sample) || !lbx_sample_sort(&s->sample))
		return false;
	lbx_summary_repeat(&s->summary, s->times);
	s->n_bins = lbx_sample_histogram(&s->sample, BINS, s->bins, &s->low, &s->high);
	for (int i = 0; i < s->n_bins; i++)
		s->bins[i] *= s->times;
	return true;
}

/* "[0, 3, 1]" of the i-th element. */
static void place(const struct stats *s, int64_t i, char *ret, size_t size)
{
	int64_t at[LBX_ARRAY_RANK];

	lbx_array_coordinates(&s->unique, i, at);
	lbx_format_place(at, s->array.rank, ret, size);
}

static void field(struct lbx_out *out, const char *name)
{
	lbx_field(out, name, FIELD);
}

static json_t *json_place(const struct stats *s, int64_t at)
{
	int64_t coordinates[LBX_ARRAY_RANK];

	if (at < 0)
		return json_null();
	lbx_array_coordinates(&s->unique, at, coordinates);
	return lbx_json_list(coordinates, s->array.rank);
}

static void tell_extreme(struct lbx_out *out, const struct stats *s, bool is_max)
{
	const struct lbx_summary *m = &s->summary;
	const char *name = is_max ? "max" : "min";
	int64_t at = is_max ? m->argmax : m->argmin;
	char where[LBX_LIST_MAX], text[64];

	LBX_KEY(out, name, lbx_extreme_json(m, is_max));
	LBX_KEY(out, is_max ? "argmax" : "argmin", json_place(s, at));
	field(out, name);
	if (at < 0) {
		lbx_printf(out, "none\n");
		return;
	}
	place(s, at, where, sizeof where);
	lbx_extreme_text(m, is_max, text, sizeof text);
	lbx_printf(out, "%s at %s\n", text, where);
}

static void tell_special(struct lbx_out *out, const struct stats *s, int i)
{
	int64_t n = s->summary.special[i];
	char where[LBX_LIST_MAX];

	LBX_KEY(out, specials[i].key,
		json_pack("{s:I,s:o}", "count", (json_int_t)n, "first", json_place(s, s->summary.first[i])));
	if (s->array.dtype < LB_F16 && i != LBX_ZERO && i != LBX_OVER_F16)
		return;
	field(out, specials[i].title);
	if (n == 0) {
		lbx_printf(out, "none\n");
		return;
	}
	place(s, s->summary.first[i], where, sizeof where);
	lbx_styled(out, i <= LBX_NEGATIVE_INF ? LBX_WARNING : LBX_PLAIN, "%lld", (long long)n);
	lbx_printf(out, " (%.3g%%), first at %s\n", 100 * (double)n / (double)s->summary.count, where);
}

static void tell_histogram(struct lbx_out *out, const struct stats *s)
{
	static const char bars[] = "############################################################";
	int64_t most = 1;
	int room = out->width - 36;

	LBX_KEY(out, "histogram",
		json_pack("{s:o,s:o,s:o}", "low", lbx_json_double(s->low), "high", lbx_json_double(s->high), "counts",
			  lbx_json_list(s->bins, s->n_bins)));
	if (!(s->low < s->high)) /* of a constant: it would be one bar */
		return;
	room = room<10 ? 10 : room>(int) sizeof bars - 1 ? (int)sizeof bars - 1 : room;
	for (int i = 0; i < s->n_bins; i++)
		most = s->bins[i] > most ? s->bins[i] : most;
	int digits = lbx_histogram_digits(s->low, s->high, s->n_bins);
	for (int i = 0; i < s->n_bins; i++) {
		/* a bar for whatever is there at all */
		int bar = (int)((double)s->bins[i] / (double)most * room + 0.5);
		if (bar == 0 && s->bins[i])
			bar = 1;
		field(out, i ? "" : "histogram");
		lbx_printf(out, "%11.*g ", digits, lbx_histogram_edge(s->low, s->high, s->n_bins, i));
		lbx_printf(out, "%.*s %.3g%%\n", bar, bars,
			   100 * (double)s->bins[i] / (double)(s->sample.n * s->times));
	}
	lbx_printf(out, "  %-11s %11.*g\n", "", digits, s->high);
}

static void tell_quantiles(struct lbx_out *out, const struct stats *s)
{
	char key[16];

	lbx_begin(out, "quantiles");
	if (s->sample.n)
		field(out, "quantiles");
	for (int i = 0; i < QUANTILES && s->sample.n; i++) {
		double value = lbx_sample_quantile(&s->sample, quantiles[i]);
		snprintf(key, sizeof key, "%g", quantiles[i]);
		LBX_KEY(out, key, lbx_json_double(value));
		lbx_printf(out, "%s%g%%" LBX_STAY "%.5g", i ? "  " : "", 100 * quantiles[i], value);
	}
	if (s->sample.n)
		lbx_printf(out, "\n");
	lbx_end(out);
}

static bool tell_first(struct lbx_out *out, const struct stats *s, int64_t first)
{
	char elements[MAX_FIRST * 8], text[LBX_NUMBER_MAX];
	int64_t n = first < s->array.size ? first : s->array.size;
	int64_t width = lbx_dtype_bytes(s->array.dtype);

	if (n && !lbx_array_copy(&s->array, 0, n, elements))
		return false;
	lbx_begin_list(out, "first");
	if (n)
		field(out, "first");
	for (int64_t i = 0; i < n; i++) {
		LBX_KEY(out, NULL, lbx_json_element(elements + i * width, s->array.dtype));
		lbx_number_scalar(elements + i * width, s->array.dtype, text);
		lbx_printf(out, "%s%s", i ? " " : "", text);
	}
	if (n)
		lbx_printf(out, "%s\n", n < s->array.size ? " ..." : "");
	lbx_end(out);
	return true;
}

static void tell_sums(struct lbx_out *out, const struct stats *s)
{
	const struct lbx_summary *m = &s->summary;

	LBX_KEY(out, "finite", json_integer(m->finite));
	LBX_KEY(out, "mean", m->finite ? lbx_json_double((double)m->mean) : json_null());
	field(out, "mean");
	lbx_printf(out, "%.9g", m->finite ? (double)m->mean : NAN);
	lbx_printf(out, "%s\n", m->finite < m->count ? " (of the finite values, as all sums)" : "");
	LBX_KEY(out, "std", m->finite ? lbx_json_double(lbx_summary_std(m)) : json_null());
	field(out, "std");
	lbx_printf(out, "%.9g\n", lbx_summary_std(m));
	LBX_KEY(out, "sum", lbx_json_double((double)m->sum));
	field(out, "sum");
	lbx_printf(out, "%.12Lg\n", m->sum);
	field(out, "L2");
	lbx_tell(out, "%pF\n", LBX_REAL("l2", "%.9g", lbx_summary_l2(m)));
}

/* Where there are elements; as JSON always. */
static void tell_numbers(struct lbx_out *out, const struct stats *s)
{
	tell_extreme(out, s, false);
	tell_extreme(out, s, true);
	tell_sums(out, s);
	for (int i = 0; i < LBX_SPECIALS; i++)
		tell_special(out, s, i);
	tell_quantiles(out, s);
	if (s->n_bins)
		tell_histogram(out, s);
	LBX_KEY(out, "sampled", s->sample.step > 1 ? json_integer(s->sample.n) : json_false());
	if (s->sample.step > 1) {
		field(out, "");
		lbx_printf(out, "quantiles and histogram are of a sample of %lld value%s\n", (long long)s->sample.n,
			   LB_S(s->sample.n));
	}
}

/* All that is to be said of a single value, behind what it is. */
static bool tell_single(struct lbx_out *out, const struct stats *s)
{
	char element[16], text[LBX_NUMBER_MAX];

	if (!lbx_array_copy(&s->array, 0, 1, element))
		return false;
	lbx_number_scalar(element, s->array.dtype, text);
	lbx_printf(out, ": %s\n", text);
	return true;
}

static bool tell(struct lbx_out *out, const struct stats *s, const struct lbx_selection *selection, int64_t first,
		 const char *note)
{
	lbx_begin(out, NULL);
	lbx_tell_selection(out, selection, &s->array, note);
	if (s->array.size == 1 && !out->json) {
		if (!tell_single(out, s))
			return false;
		lbx_end(out);
		return lb_ok();
	}
	lbx_tell_part(out, s->array.dtype);
	lbx_printf(out, "\n");
	field(out, "count");
	lbx_tell(out, "%pF\n", LBX_INT("count", s->summary.count));
	if (s->summary.count || out->json)
		tell_numbers(out, s);
	if (!tell_first(out, s, first))
		return false;
	lbx_end(out);
	return lb_ok();
}

static void set_variables(struct lbx_out *out, const struct lbx_summary *m)
{
	lbx_set_int(out, "tensor_count", m->count);
	lbx_set_int(out, "tensor_nan_count", m->special[LBX_NAN]);
	lbx_set_int(out, "tensor_inf_count", m->special[LBX_POSITIVE_INF] + m->special[LBX_NEGATIVE_INF]);
	lbx_set_int(out, "tensor_zero_count", m->special[LBX_ZERO]);
	/* never left void, nor as they were: a script prints them */
	lbx_set_double(out, "tensor_min", m->argmin >= 0 ? m->min : NAN);
	lbx_set_double(out, "tensor_max", m->argmin >= 0 ? m->max : NAN);
	lbx_set_double(out, "tensor_mean", m->finite ? (double)m->mean : NAN);
	lbx_set_double(out, "tensor_std", m->finite ? lbx_summary_std(m) : NAN);
	lbx_set_double(out, "tensor_sum", (double)m->sum);
}

bool lbx_print_stats(struct lbx_context *context, const struct lbx_selection *selection, const struct lbx_array *array,
		     int64_t first, const char *note)
{
	struct stats s = { .n_bins = 0 };
	bool done = gather(&s, context->out, array) && tell(context->out, &s, selection, first, note);

	if (done)
		set_variables(context->out, &s.summary);
	lbx_sample_deinit(&s.sample);
	return done;
}

bool lbx_stats_first(const struct lbx_args *args, int64_t *ret)
{
	*ret = DEFAULT_FIRST;
	return lbx_args_int(args, "first", 0, MAX_FIRST, ret);
}

static bool run_stats(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_selection s;
	struct lbx_array array;
	int64_t first;

	return lbx_stats_first(args, &first) && lbx_select_values(context, args->v[0], &s) &&
	       lbx_value_of(context, &s, &array) && lbx_print_stats(context, &s, &array, first, NULL);
}

const struct lbx_command lbx_command_stats = {
	.name = "stats",
	.arguments = "T[slice]",
	.summary = "show statistics of a tensor's values",
	.help = "Count, min and max with their coordinates, mean, std, sum, L2, the numbers of\n"
		"NaN, Inf, zeros and denormals with the coordinates of the first of each,\n"
		"quantiles, a histogram (not of a constant) and the first values; of a single value just\n"
		"that. Complex values count by magnitude.\n"
		LBX_SLICE_HELP "\n"
		"Example: stats q[..., 0]",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "first", "N", "show the first N values (default 8)" },
	},
	.run = run_stats,
};
