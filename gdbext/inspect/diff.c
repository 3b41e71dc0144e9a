/* Two arrays of one shape, element by element, as float64; integers beyond 2^53 are told apart
 * exactly. The relative error is |a - b| / |b|, and not counted where b is 0. NaN equals NaN here:
 * what differs is NaN in one alone. */
#include "inspect/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/array.h"
#include "inspect/format.h"
#include "inspect/number.h"
#include "inspect/operand.h"

enum { PIECE = 1 << 14, LABEL = 512 };

struct diff {
	struct lbx_operand a, b;
	double correct, broken;    /* the verdict's levels, of the largest absolute error */
	unsigned char *other;      /* a piece of b */
	int64_t count, different, beyond, nan_in_one, first, worst, worst_relative, first_nan;
	double max, max_relative;
	long double sum;
};

static void compare(struct diff *d, const unsigned char *x, const unsigned char *y, int64_t i)
{
	enum lb_dtype p = d->a.array.dtype, q = d->b.array.dtype;
	double a = lbx_element_double(x, p), b = lbx_element_double(y, q), error, size = fabs(b);

	if (p == LB_C64 || q == LB_C64) {
		float im[2] = { 0, 0 };
		if (p == LB_C64)
			memcpy(&im[0], x + 4, 4);
		if (q == LB_C64)
			memcpy(&im[1], y + 4, 4);
		error = hypot(a - b, (double)im[0] - (double)im[1]);
		size = hypot(b, im[1]);
		if (isnan(a) != isnan(b) || isnan(im[0]) != isnan(im[1])) {
			error = NAN;
			a = NAN;
			b = 0;
		} else if (isnan(a) || isnan(im[0]) || (a == b && im[0] == im[1])) {
			error = 0;
			a = b = 0;
		}
	} else {
		error = a == b || (isnan(a) && isnan(b)) ? 0 : fabs(a - b);
		bool integers = p < LB_F16 && q < LB_F16 && p != LB_U64 && q != LB_U64;
		if (error == 0 && integers && lbx_element_int(x, p) != lbx_element_int(y, q))
			error = fabs((double)(lbx_element_int(x, p) - lbx_element_int(y, q)));
		if (error == 0 && p == LB_U64 && q == LB_U64 && memcmp(x, y, 8) != 0)
			error = 1;
	}
	d->count++;
	if (error == 0)
		return;
	if (d->different++ == 0)
		d->first = i;
	if (isnan(a) != isnan(b)) {
		if (d->nan_in_one++ == 0)
			d->first_nan = i;
		return;
	}
	d->beyond += error >= d->correct;
	d->sum += error;
	if (error > d->max) {
		d->max = error;
		d->worst = i;
	}
	if (size > 0 && error / size > d->max_relative) {
		d->max_relative = error / size;
		d->worst_relative = i;
	}
}

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct diff *d = context;
	int64_t p = lbx_dtype_bytes(d->a.array.dtype), q = lbx_dtype_bytes(d->b.array.dtype);

	if (!lbx_array_copy(&d->b.array, first, n, d->other))
		return false;
	for (int64_t i = 0; i < n; i++)
		compare(d, (const unsigned char *)elements + i * p, d->other + i * q, first + i);
	return true;
}

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

static const char *verdict(const struct diff *d)
{
	return d->nan_in_one || d->max > d->broken ? "broken" : d->max < d->correct ? "correct" :
	       "look at it";
}

static void row(struct lbx_out *out, const struct diff *d, const char *name, const char *value,
		int64_t at)
{
	char where[256], a[LBX_NUMBER_MAX], b[LBX_NUMBER_MAX];

	place(d, at, where, sizeof where);
	values(d, at, a, b);
	lbx_styled(out, LBX_DIM, "  %-14s", name);
	lbx_printf(out, " %s at %s: %s and %s\n", value, where, a, b);
}

static void print_text(struct lbx_out *out, const struct diff *d)
{
	char text[128], shape[512];

	lbx_format_list(d->a.array.shape, d->a.array.rank, shape, sizeof shape);
	lbx_styled(out, LBX_NAME, "%s", d->a.label);
	lbx_printf(out, " (%s%s) and ", lbx_dtype_name(d->a.array.dtype),
		   d->a.was_lazy ? ", replayed" : "");
	lbx_styled(out, LBX_NAME, "%s", d->b.label);
	lbx_printf(out, " (%s%s), shape %s\n", lbx_dtype_name(d->b.array.dtype),
		   d->b.was_lazy ? ", replayed" : "", shape);
	if (d->different == 0) {
		lbx_printf(out, "  all %lld elements are equal\n", (long long)d->count);
		return;
	}
	snprintf(text, sizeof text, "%lld of %lld (%.3g%%), the first", (long long)d->different,
		 (long long)d->count, 100 * (double)d->different / (double)d->count);
	row(out, d, "different", text, d->first);
	if (d->nan_in_one) {
		snprintf(text, sizeof text, "%lld, the first", (long long)d->nan_in_one);
		row(out, d, "NaN in one", text, d->first_nan);
	}
	if (d->max > 0) {
		snprintf(text, sizeof text, "%.6g", d->max);
		row(out, d, "largest error", text, d->worst);
	}
	if (d->max_relative > 0) {
		snprintf(text, sizeof text, "%.6g", d->max_relative);
		row(out, d, "relative", text, d->worst_relative);
	}
	lbx_styled(out, LBX_DIM, "  %-14s", "mean error");
	lbx_printf(out, " %.6Lg\n", d->sum / d->count);
	lbx_styled(out, LBX_DIM, "  %-14s", "beyond");
	lbx_printf(out, " %lld by %g or more\n", (long long)d->beyond, d->correct);
	lbx_styled(out, LBX_DIM, "  %-14s", "verdict");
	lbx_styled(out, strcmp(verdict(d), "correct") ? LBX_WARNING : LBX_PLAIN, " %s\n", verdict(d));
}

static json_t *json_place(const struct diff *d, bool there, int64_t i)
{
	int64_t at[LBX_ARRAY_RANK];

	if (!there)
		return json_null();
	lbx_array_coordinates(&d->a.array, i, at);
	return lbx_json_list(at, d->a.array.rank);
}

static void print_json(struct lbx_out *out, const struct diff *d)
{
	json_t *o = json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:b,s:s}", "a", lbx_json_string(d->a.label),
			      "b", lbx_json_string(d->b.label), "shape",
			      lbx_json_list(d->a.array.shape, d->a.array.rank), "count",
			      (json_int_t)d->count, "different", (json_int_t)d->different, "beyond",
			      (json_int_t)d->beyond, "nan_in_one", (json_int_t)d->nan_in_one, "equal",
			      d->different == 0, "verdict", verdict(d));
	json_object_set_new(o, "first", json_place(d, d->different, d->first));
	json_object_set_new(o, "max_error", lbx_json_double(d->max));
	json_object_set_new(o, "max_error_at", json_place(d, d->max > 0, d->worst));
	json_object_set_new(o, "max_relative", lbx_json_double(d->max_relative));
	json_object_set_new(o, "max_relative_at", json_place(d, d->max_relative > 0, d->worst_relative));
	json_object_set_new(o, "mean_error", lbx_json_double(d->count ? (double)(d->sum / d->count) : 0));
	lbx_json(out, o);
}

static bool level(const struct lbx_args *args, const char *name, double *ret)
{
	const char *text = lbx_args_option(args, name);
	char *end;

	if (!text)
		return true;
	errno = 0;
	*ret = strtod(text, &end);
	return (end != text && !*end && *ret >= 0) ||
	       lb_fail("diff: --%s takes a number from 0 on, not '%s'", name, text);
}

static bool run(struct lbx_context *context, struct diff *d)
{
	const struct lbx_array *a = &d->a.array, *b = &d->b.array;
	char left[512], right[512];

	if (a->rank != b->rank || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) != 0) {
		lbx_format_list(a->shape, a->rank, left, sizeof left);
		lbx_format_list(b->shape, b->rank, right, sizeof right);
		return lb_fail("%s has shape %s, but %s has %s", d->a.label, left, d->b.label, right);
	}
	d->other = malloc((size_t)PIECE * 8);
	if (!d->other)
		return lb_fail("out of memory");
	bool done = lbx_array_walk(a, context->out, "comparing", PIECE, add_piece, d);
	free(d->other);
	if (!done)
		return false;
	if (context->out->json)
		print_json(context->out, d);
	else
		print_text(context->out, d);
	lbx_set_int(context->out, "diff_count", d->different);
	lbx_set_double(context->out, "diff_max", d->max);
	return lb_ok();
}

bool lbx_run_diff(struct lbx_context *context, const struct lbx_args *args)
{
	struct diff d = { .correct = 1e-5, .broken = 0.1 };

	if (!level(args, "correct", &d.correct) || !level(args, "broken", &d.broken) ||
	    !lbx_operand_tensor(context, args->v[0], &d.a))
		return false;
	bool done = lbx_operand_any(context, args->v[1], &d.b);
	if (done) {
		done = run(context, &d);
		lbx_operand_release(&d.b);
	}
	lbx_operand_release(&d.a);
	return done;
}
