#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/operand/object.h"
#include "inspect/operand/select.h"
#include "inspect/operand/value.h"
#include "inspect/operand/view.h"
#include "inspect/show/stats.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/expression.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/tensor/number.h"
#include "inspect/texts.h"

/* A tensor without a value is no error to look at. */
static bool print_pending(struct lbx_context *context, const struct lbx_selection *s)
{
	const struct lbx_tensor *t = &s->tensor;
	char label[LBX_SELECTION_MAX], shape[LBX_LIST_MAX], pending_text[256];
	char expression[LBX_EXPRESSION_MAX];
	struct lbx_pending pending;

	lbx_begin(context->out, NULL);
	LBX_KEYS(context->out, lbx_json_tensor(t));
	LBX_KEY(context->out, "values", json_null());
	lbx_end(context->out);
	lbx_selection_label(s, label, sizeof label);
	lbx_format_list(lbx_shape(t), t->rank, shape, sizeof shape);
	lbx_wrap(context->out, 0, 4);
	lbx_styled(context->out, LBX_NAME, "%s", label);
	lbx_printf(context->out, ": %s%s %s, %s: it has no value yet\n", s->slice.n ? "of " : "",
		   lbx_tensor_dtype_name(t), shape, lbx_state_name(t->state));
	lbx_pending(t, &pending);
	lbx_describe_pending(&pending, pending_text, sizeof pending_text);
	lbx_wrap(context->out, 0, 4);
	lbx_printf(context->out, "%s, outside the program\n", pending_text);
	if (t->op_class == LB_CLASS_FUSED) {
		lbx_wrap(context->out, 0, 4);
		lbx_printf(context->out, "it computes %s\n", lbx_expression(t, expression));
	}
	return true;
}

static bool run_print(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_format_options options;
	struct lbx_selection s;
	struct lbx_array array;

	if (!lbx_print_options(context, args, &options))
		return false;
	if (!lbx_select_values(context, args->v[0], &s)) {
		if (!s.object[0])
			return false;
		lb_clear_error();
		return lbx_tell_object(context, s.object);
	}
	if (lbx_tensor_is_pending(&s.tensor))
		return print_pending(context, &s);
	return lbx_value_of(context, &s, &array) && lbx_print_value(context, &s, &array, &options, NULL);
}

const struct lbx_command lbx_command_print = {
	.name = "print",
	.arguments = "T[slice]",
	.summary = "print the values of a tensor, as NumPy would",
	.help = "Follows strides and offset, so it prints what the program means. A lazy tensor\n"
		"has no values yet: then it says what a replay would take.\n" LBX_SLICE_HELP "\n"
		"Example: print q[0, :, :4] --precision 3",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES,
	.options = { LBX_PRINT_OPTIONS },
	.run = run_print,
};

static bool run_view(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_view view = { .address = args->v[0], .shape = args->v[1], .in_words = true };
	struct lbx_selection s = { .slice_text = "" };
	struct lbx_format_options options;
	struct lbx_array array;
	char shape[LBX_LINE_MAX];
	int64_t first;
	int i = 1;

	if (args->n > 2 && lbx_is_encoding(args->v[1]))
		view.dtype = args->v[i++];
	if (args->n > 2 && !view.dtype && (args->n == 4 || isalpha((unsigned char)*args->v[1])))
		return lbx_fail_dtype(args->v[1]);
	/* a slice follows the last word */
	snprintf(shape, sizeof shape, "%s", args->v[args->n - 1]);
	const char *last = args->v[args->n - 1];
	size_t end = strcspn(last, "[");
	shape[end < sizeof shape ? end : 0] = '\0';
	view.shape = i + 1 < args->n ? args->v[i] : shape;
	view.strides = i + 1 < args->n ? shape : NULL;
	if (!lbx_print_options(context, args, &options) || !lbx_stats_first(args, &first) ||
	    !lbx_view_make(context, &view, &s.tensor) || !lbx_select_slice(context, last, end, &s) ||
	    !lbx_value_of(context, &s, &array))
		return false;
	if (lbx_args_option(args, "stats"))
		return lbx_print_stats(context, &s, &array, first, NULL);
	return lbx_print_value(context, &s, &array, &options, NULL);
}

const struct lbx_command lbx_command_view = {
	.name = "view",
	.arguments = "ADDRESS [DTYPE] SHAPE [STRIDES][slice]",
	.summary = "print memory that is no tensor's as if it were one",
	.help = "ADDRESS, of element 0, is a number or an expression of the program: a pointer or an\n"
		"array; if its type tells the dtype, DTYPE may be left out. It may also be a format of\n"
		"ggml's blocks, such as q4_0 or iq2_xxs. SHAPE and STRIDES are lists (3,4 or (3, 4));\n"
		"strides count elements, and may be negative or 0. Wherever a command wants values,\n"
		"the same is written in one word: @ADDRESS:DTYPE:SHAPE:STRIDES.\n"
		"Example: view pixels 480,640,3[:2, :2], view 0x7ffff7a31040 f32 3,4 1,3,\n"
		"stats @pixels:u8:480,640,3, diff q @copy:3,4",
	.min_args = 2,
	.max_args = 4,
	.options = {
		LBX_PRINT_OPTIONS,
		LBX_STATS_OPTIONS,
	},
	.run = run_view,
};
