#include "inspect/tensor/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/number.h"

static const int64_t max_shown = 1LL << 26;

/* The elements that are shown, dense, in a smaller array of the same rank. */
struct shown {
	const struct lbx_array *array;
	struct lbx_out *out;
	struct lbx_number_format format;
	char *elements;
	int64_t width;
	int64_t edge;                    /* 0: nothing is left out */
	int64_t shape[LBX_ARRAY_RANK];   /* of what is shown */
	int64_t size;
	int column, line_width;
	int pending; /* blanks at the end of the last word: not written before a line's end */
};

struct lbx_format_options lbx_format_options(const struct lbx_settings *settings)
{
	return (struct lbx_format_options){
		.edge_items = settings->edge_items,
		.threshold = settings->threshold,
		.precision = (int)settings->precision,
	};
}

bool lbx_format_summarises(const struct lbx_array *array, const struct lbx_format_options *options)
{
	if (options->full || array->size <= options->threshold)
		return false;
	for (int i = 0; i < array->rank; i++)
		if (array->shape[i] / 2 >= options->edge_items && array->shape[i] > 2 * options->edge_items)
			return true;
	return false;
}

static bool shows_all(const struct shown *s, int axis)
{
	return s->shape[axis] == s->array->shape[axis];
}

/* Copies row by row; the row's two ends are two runs. */
static bool gather(struct shown *s)
{
	const struct lbx_array *a = s->array;
	int64_t at[LBX_ARRAY_RANK] = { 0 }, real[LBX_ARRAY_RANK];
	int last = a->rank - 1;
	char *to = s->elements;

	for (int64_t done = 0; done < s->size; done += s->shape[last]) {
		for (int i = 0; i < last; i++)
			real[i] = shows_all(s, i) || at[i] < s->edge ? at[i] : a->shape[i] - (s->shape[i] - at[i]);
		int64_t first = shows_all(s, last) ? s->shape[last] : s->edge;
		real[last] = 0;
		if (!lbx_array_run(a, real, first, to))
			return false;
		to += first * s->width;
		if (first < s->shape[last]) {
			real[last] = a->shape[last] - s->edge;
			if (!lbx_array_run(a, real, s->edge, to))
				return false;
			to += s->edge * s->width;
		}
		for (int i = last - 1; i >= 0 && ++at[i] == s->shape[i]; i--)
			at[i] = 0;
	}
	return true;
}

static bool append(void *context, const void *elements, int64_t n, int64_t first)
{
	struct shown *s = context;
	memcpy(s->elements + first * s->width, elements, (size_t)(n * s->width));
	return true;
}

static bool prepare(struct shown *s, struct lbx_out *out, const struct lbx_array *array,
		    const struct lbx_format_options *options)
{
	memset(s, 0, sizeof *s);
	s->array = array;
	s->out = out;
	s->width = lbx_dtype_bytes(array->dtype);
	s->edge = lbx_format_summarises(array, options) ? options->edge_items : 0; /* >= 1 */
	bool summary = s->edge > 0;
	s->size = 1;
	for (int i = 0; i < array->rank; i++) {
		int64_t n = array->shape[i];
		s->shape[i] = summary && n > 2 * s->edge ? 2 * s->edge : n;
		if (array->size && (!lb_mul(s->size, s->shape[i], &s->size) || s->size > max_shown))
			return lb_fail("more than %lld elements to print: narrow it by a slice, or "
				       "show fewer with --edge",
				       (long long)max_shown);
	}
	if (array->size == 0)
		s->size = 0;
	s->elements = malloc((size_t)(s->size * s->width) + 1);
	if (!s->elements)
		return lb_fail("out of memory for %lld elements", (long long)s->size);
	if (s->size == 0)
		return true;
	return summary ? gather(s) : lbx_array_walk(array, out, "reading", 1 << 18, append, s);
}

static void newline(struct shown *s, int indent)
{
	lbx_printf(s->out, "\n%*s", indent, "");
	s->column = indent;
	s->pending = 0;
}

static void write_pending(struct shown *s)
{
	lbx_printf(s->out, "%*s", s->pending, "");
	s->pending = 0;
}

/* A word of the last axis: on a new line if it does not fit this one. */
static void word(struct shown *s, const char *text, int n, int indent, bool first)
{
	if (!first && s->column + 1 + n > s->line_width && s->column > indent) {
		newline(s, indent);
	} else if (!first) {
		s->pending++;
		s->column++;
	}
	write_pending(s);
	s->column += n;
	while (n > 0 && text[n - 1] == ' ') {
		s->pending++;
		n--;
	}
	s->out->write(s->out, text, (size_t)n);
}

/* Between the parts of an axis that is not the last: a blank line for each axis below. */
static void part(struct shown *s, int axis)
{
	int below = s->array->rank - axis - 1;

	for (int k = 0; k < below; k++)
		newline(s, k == below - 1 ? axis + 1 : 0);
}

static void print_axis(struct shown *s, int axis, int64_t first_row)
{
	int rank = s->array->rank;
	char text[LBX_NUMBER_MAX];
	int64_t below = 1;

	for (int i = axis + 1; i < rank; i++)
		below *= s->shape[i];
	s->out->write(s->out, "[", 1);
	s->column++;
	for (int64_t i = 0; i < s->shape[axis]; i++) {
		bool gap = !shows_all(s, axis) && i == s->edge;
		if (axis == rank - 1) {
			if (gap)
				word(s, "...", 3, axis + 1, i == 0);
			int n = lbx_number_print(&s->format, s->elements + (first_row + i) * s->width, text);
			word(s, text, n, axis + 1, i == 0);
			continue;
		}
		if (gap) {
			lbx_printf(s->out, "...");
			part(s, axis);
		}
		print_axis(s, axis + 1, first_row + i * below);
		if (i < s->shape[axis] - 1)
			part(s, axis);
	}
	write_pending(s);
	s->out->write(s->out, "]", 1);
	s->column++;
}

json_t *lbx_json_element(const void *element, enum lb_dtype dtype)
{
	if (dtype == LB_BOOL)
		return json_boolean(lbx_element_int(element, dtype));
	if (dtype == LB_U64 && lbx_element_int(element, dtype) < 0)
		return json_sprintf("%llu", (unsigned long long)lbx_element_int(element, dtype));
	if (dtype < LB_F16)
		return json_integer(lbx_element_int(element, dtype));
	if (dtype == LB_C64)
		return json_pack("[o,o]", lbx_json_element(element, LB_F32),
				 lbx_json_element((const char *)element + 4, LB_F32));
	/* the digits of its own dtype: 0.1, not 0.10000000149011612 */
	double value = lbx_element_double(element, dtype);
	char text[LBX_NUMBER_MAX];
	if (dtype != LB_F64 && value == value && value - value == 0) {
		lbx_number_scalar(element, dtype, text);
		value = strtod(text, NULL);
	}
	return lbx_json_double(value);
}

static void json_axis(struct shown *s, const char *key, int axis, int64_t first)
{
	int64_t below = 1;

	if (axis == s->array->rank) {
		LBX_KEY(s->out, key, lbx_json_element(s->elements + first * s->width, s->array->dtype));
		return;
	}
	for (int i = axis + 1; i < s->array->rank; i++)
		below *= s->shape[i];
	lbx_begin_long(s->out, key);
	for (int64_t i = 0; i < s->shape[axis] && s->size; i++)
		json_axis(s, NULL, axis + 1, first + i * below);
	lbx_end(s->out);
}

bool lbx_format_array(struct lbx_out *out, const char *key, const struct lbx_array *array,
		      const struct lbx_format_options *options)
{
	struct shown s;
	char text[LBX_NUMBER_MAX];
	bool done = prepare(&s, out, array, options);

	if (done && out->json) {
		json_axis(&s, key, 0, 0);
	} else if (done && array->rank == 0) {
		lbx_number_scalar(s.elements, array->dtype, text);
		lbx_printf(out, "%s\n", text);
	} else if (done && array->size == 0) {
		lbx_printf(out, "[]\n");
	} else if (done) {
		lbx_number_format(s.elements, s.size, array->dtype, options->precision, &s.format);
		/* one column for each bracket that is open, one for the one that closes */
		s.line_width = (out->width < 20 ? 20 : out->width) - array->rank;
		print_axis(&s, 0, 0);
		lbx_printf(out, "\n");
	}
	free(s.elements);
	return done;
}
