#include "plugin/stops/catch_kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/measure/digest.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "plugin/bridge/bridge.h"
#include "table/flight.h"
#include "target/printable.h"

/* ---- what a stop has to tell ---- */

static void tell_nan(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	int64_t place[LB_MAX_RANK], i = (int64_t)stop->args[4];
	const struct lbx_tensor *t = stop->tensor;
	char at[256];

	(void)context;
	if (!t || i < 0 || i >= t->size)
		return;
	for (int axis = t->rank; axis-- > 0; i /= lbx_shape(t)[axis])
		place[axis] = i % lbx_shape(t)[axis];
	lbx_format_place(place, t->rank, at, sizeof at);
	text_printf(ret, " That is %" PRId64 " of %" PRId64 " element%s, the first at %s.", (int64_t)stop->args[3],
		    t->size, LB_S(t->size), at);
}

static void tell_range(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	double least = lb_ordered_double((int64_t)stop->args[3]), most = lb_ordered_double((int64_t)stop->args[4]);

	(void)context;
	if (isnan(least) || isnan(most)) /* in the order of bits NaN is beyond Inf */
		text_printf(ret, " NaN is among them; the range is [%g, %g].", stop->catch->low, stop->catch->high);
	else
		text_printf(ret, " They are from %g to %g, the range is [%g, %g].", least, most, stop->catch->low,
			    stop->catch->high);
}

static void tell_recompile(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	char name[LB_NAME_MAX + 1], reason[256];

	if (lbx_target_read_string(context->target, stop->args[1], name, sizeof name) &&
	    lbx_target_read_string(context->target, stop->args[3], reason, sizeof reason)) {
		lbx_make_printable(name);
		lbx_make_printable(reason);
		text_printf(ret, " It is %s, for graph number %" PRIu64 ": %s.", name, stop->args[4], reason);
	}
}

static void tell_promotion(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	struct lbx_table *table;
	struct lbx_tensors *tensors;
	struct lbx_tensor other;
	char op[32], described[512];

	if (lbx_context_table(context, &table)) {
		tensors = lbx_table_tensors(table);
		if (lbx_tensors_by_id(tensors, stop->args[3], &other) &&
		    lbx_target_read_string(context->target, stop->args[4], op, sizeof op)) {
			lbx_make_printable(op);
			text_printf(ret, " In %s it meets #%" PRIu64 "%s%s, %s,", op, other.id,
				    other.name[0] ? " " : "", other.name, lbx_dtype_name(other.dtype));
			lbx_format_list(lbx_shape(&other), other.rank, described, sizeof described);
			text_printf(ret, " %s: %s is computed in %s.", described, op,
				    lbx_dtype_name((enum lb_dtype)stop->args[5]));
		}
	}
}

static void tell_memory(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	char active[32], limit[32], nbytes[32];

	(void)context;
	lbx_format_bytes((int64_t)stop->args[2], active, sizeof active);
	lbx_format_bytes((int64_t)stop->args[3], limit, sizeof limit);
	lbx_format_bytes((int64_t)stop->args[4], nbytes, sizeof nbytes);
	text_printf(ret, " They are %s now, more than %s, by a buffer of %s.", active, limit, nbytes);
}

static void tell_graph(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	(void)context;
	if (stop->args[4])
		text_printf(ret, " Evaluation %" PRIu64 " is about to compute %" PRIu64 ".", stop->args[4],
			    stop->args[3]);
	else
		text_printf(ret, " %" PRIu64 " are alive%s.", stop->args[3],
			    stop->tensor ? "; the newest is shown" : "");
}

/* Arguments: id, record, site, the pointer, the address touched, bytes mapped. */
static void tell_access(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	char nbytes[32];
	struct lbx_source_line taken = { .line = 0 };
	int64_t offset = (int64_t)(stop->args[4] - stop->args[3]);

	lbx_target_source_line(context->target, stop->args[2] - 1, &taken);
	text_printf(ret, " It is at byte %" PRId64 " of the pointer that lb_raw_data() gave%s%s", offset,
		    taken.function[0] ? " to " : "", taken.function);
	if (taken.line)
		text_printf(ret, " at %s:%d", taken.file, taken.line);
	lbx_format_bytes((int64_t)stop->args[5], nbytes, sizeof nbytes);
	text_printf(ret,
		    ". Nothing has been read yet: the pointer leads to a copy of the storage "
		    "in guard pages (%s), which open now.",
		    nbytes);
}

/* " in gate at stepped.c:40" */
static void add_place(struct lbx_context *context, uint64_t site, struct text *ret)
{
	struct lbx_source_line made = { .line = 0 };

	if (site)
		lbx_target_source_line(context->target, site - 1, &made);
	if (made.function[0])
		text_printf(ret, ", made in %s", made.function);
	if (made.line)
		text_printf(ret, " at %s:%d", made.file, made.line);
}

/* What an op is about to read. */
static void tell_inputs(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	enum { INPUTS_SHOWN = 8 };
	const struct lbx_tensor *t = stop->tensor;
	struct lbx_tensor input;
	char described[LB_NAME_MAX + 320];
	uint64_t op = stop->args[stop->catch->kind->op];

	if (t && !t->id) /* of no set */
		return;
	if (t && strcmp(t->op, "fused") == 0 && context->table) {
		text_printf(ret, " It is %s, one of the operations of a fused tensor",
			    lbx_table_op_name(context->table, op));
		add_place(context, stop->args[stop->catch->kind->made], ret);
		text_printf(ret, ".");
	}
	for (uint32_t i = 0; t && i < t->n_inputs && i < INPUTS_SHOWN; i++) {
		if (!lbx_tensor_input(t, i, &input))
			continue;
		lbx_tensor_take_computed(&input);
		lbx_describe(&input, described, sizeof described);
		text_printf(ret, "%s%s", i ? ", " : " It reads ", described);
	}
	if (t && t->n_inputs > INPUTS_SHOWN)
		text_printf(ret, ", and %u more", t->n_inputs - INPUTS_SHOWN);
	text_printf(ret, t && t->n_inputs ? "." : " It reads no tensor.");
}

/* What it has computed. */
static void tell_value(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	struct lbx_array array;
	struct lbx_digest d;

	if (!stop->tensor || stop->tensor->size == 0 || lbx_bridge_waits())
		return;
	if (!lbx_array_of_tensor(context->target, stop->tensor, &array) || !lbx_digest(&array, context->out, &d)) {
		lb_clear_error();
		return;
	}
	if (d.count == 1)
		text_printf(ret, " Its element is %.6g", d.nan ? NAN : d.min);
	else if (d.count > d.nan)
		text_printf(ret, " Its %" PRId64 " elements are from %.6g to %.6g, %.6g in the mean", d.count, d.min,
			    d.max, d.mean);
	else
		text_printf(ret, " Its %" PRId64 " elements are all NaN", d.count);
	text_printf(ret, "; %" PRId64 " NaN, %" PRId64 " Inf.", d.nan, d.inf);
}

/* ---- the table ---- */

const struct lbx_catch_kind lbx_catch_kinds[] = {
	{
	    .name = "misuse",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .probe = "raw_misuse",
	    .n_args = 3,
	    .id = 0,
	    .site = 2,
	    .what = "a raw pointer was taken of a view that is not row-contiguous: reading on from it gives "
		    "other elements than the tensor's",
	    .advice = "lb_data() gives the elements in row-major order, lb_strided_data() the strides too; `tensor "
		      "info %s` shows them, `tensor catch access` stops where the pointer is used",
	},
	{
	    .name = "access",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .id = 0,
	    .site = 2,
	    .watch = LB_WATCH_ACCESS,
	    .what = "the program uses a raw pointer of a view that is not row-contiguous",
	    .detail = tell_access,
	    .advice = "lb_data() gives the elements in row-major order, lb_strided_data() the strides too; `tensor "
		      "info %s` shows them",
	},
	{
	    .name = "nan",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .probe = "nan",
	    .n_args = 5,
	    .id = 0,
	    .site = LBX_NO_ARG,
	    .watch = LB_WATCH_NAN,
	    .node = LBX_AFTER_NODE,
	    .looks = true,
	    .what = "a result holds NaN or Inf",
	    .detail = tell_nan,
	    .advice = "`tensor origin %s` tells which operation made the first, `tensor print %s` its values",
	    .evaluation = LBX_AFTER_EVALUATION,
	    .evaluation_advice =
		"`tensor print %s` shows its values; in front of its evaluation, where `tensor catch eval` "
		"stops, `tensor origin` tells which operation makes the first",
	},
	{
	    .name = "range",
	    .arguments = "T LO HI",
	    .takes = LBX_TAKES_RANGE,
	    .probe = "range",
	    .n_args = 6,
	    .id = 0,
	    .site = LBX_NO_ARG,
	    .watch = LB_WATCH_RANGE,
	    .node = LBX_AFTER_NODE,
	    .looks = true,
	    .what = "a result has values outside the range",
	    .detail = tell_range,
	    .advice = "`tensor graph %s --history` shows what it was computed from, `tensor print %s` its values",
	    .evaluation = LBX_AFTER_EVALUATION,
	    .evaluation_advice =
		"`tensor print %s` shows its values; in front of its evaluation, where `tensor catch eval` "
		"stops, `tensor graph` tells what it is computed from",
	},
	{
	    .name = "implicit",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .probe = "implicit_eval",
	    .n_args = 3,
	    .id = 0,
	    .site = 2,
	    .what = "reading a value is about to cause an evaluation",
	    .advice = "lb_eval() it together with others, before its value is needed; `tensor graph %s` shows "
		      "what is computed now",
	    .evaluation = LBX_BEFORE_IMPLICIT,
	    .evaluation_advice =
		"eval() it together with others, before its value is needed; `tensor graph %s` shows what is "
		"computed now, `tensor peek %s` the value, without computing it here",
	},
	{
	    .name = "eval",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .probe = "eval_tensor",
	    .n_args = 3,
	    .id = 0,
	    .site = LBX_NO_ARG,
	    .watch = LB_WATCH_EVAL,
	    .node = LBX_AFTER_NODE,
	    .what = "a tensor has just been computed",
	    .advice = "`tensor print %s`",
	    .evaluation = LBX_BEFORE_EVALUATION,
	    .evaluation_what = "an evaluation is about to begin",
	    .evaluation_advice = "`tensor graph %s` shows what is computed now, `tensor peek %s` its value",
	},
	{
	    .name = "before",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .probe = "op_start",
	    .n_args = 6,
	    .id = 0,
	    .site = LBX_NO_ARG,
	    .op = 2,
	    .made = 5,
	    .watch = LB_WATCH_EVAL | LB_WATCH_CALLS,
	    .computes = true,
	    .node = LBX_BEFORE_NODE,
	    .what = "an operation is about to run",
	    .detail = tell_inputs,
	    .advice =
		"`tensor where` tells how far the evaluation is, `tensor step out` and then `tensor step in` step through "
		"the next one",
	    .node_advice =
		"`tensor where` tells how far the graph is, `tensor break 'NAME' after` stops when it has its value",
	    .evaluation = LBX_BEFORE_EVALUATION,
	    .evaluation_what = "an evaluation that computes it is about to begin",
	    .evaluation_advice = "`tensor graph %s` shows how it is computed, `tensor peek %s` its value",
	},
	{
	    .name = "after",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .probe = "eval_tensor",
	    .n_args = 4,
	    .id = 0,
	    .site = LBX_NO_ARG,
	    .op = 3,
	    .watch = LB_WATCH_EVAL | LB_WATCH_CALLS,
	    .computes = true,
	    .node = LBX_AFTER_NODE,
	    .what = "an operation has run",
	    .detail = tell_value,
	    .advice = "`tensor graph %s --history` shows what it was computed from",
	    .evaluation = LBX_AFTER_EVALUATION,
	    .evaluation_what = "an evaluation has computed it",
	    .evaluation_advice = "`tensor print %s`",
	},
	{
	    .name = "after",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_RANGE, /* values outside it alone are looked at */
	    .probe = "range",
	    .n_args = 6,
	    .id = 0,
	    .site = LBX_NO_ARG,
	    .watch = LB_WATCH_RANGE | LB_WATCH_CALLS,
	    .computes = true,
	    .node = LBX_AFTER_NODE,
	    .what = "an operation has run",
	    .detail = tell_value,
	    .advice = "`tensor graph %s --history` shows what it was computed from",
	    .evaluation = LBX_AFTER_EVALUATION,
	    .evaluation_what = "an evaluation has computed it",
	    .evaluation_advice = "`tensor print %s`",
	},
	{
	    .name = "promote",
	    .arguments = "[T]",
	    .takes = LBX_TAKES_TENSOR,
	    .probe = "promote",
	    .n_args = 6,
	    .id = 0,
	    .site = 2,
	    .what = "an operand is made wider without being asked",
	    .detail = tell_promotion,
	    .advice = "lb_astype() on one of the two says what is meant; a constant as lb_scalar() takes the "
		      "tensor's dtype",
	},
	{
	    .name = "recompile",
	    .arguments = "[NAME]",
	    .takes = LBX_TAKES_FUNCTION,
	    .probe = "recompile",
	    .n_args = 5,
	    .id = LBX_NO_ARG,
	    .site = 2,
	    .what = "a compiled function was traced again",
	    .detail = tell_recompile,
	    .advice = "for shapes compile it with .shapeless, or pad to one shape; for dtypes lb_astype() the "
		      "inputs; pass what changes as a tensor, not as a constant; `tensor compiled` counts",
	},
	{
	    .name = "memory",
	    .arguments = "LIMIT",
	    .takes = LBX_TAKES_BYTES,
	    .probe = "memory",
	    .n_args = 5,
	    .id = 0,
	    .site = 1,
	    .what = "the bytes in use have passed the limit",
	    .detail = tell_memory,
	    .advice = "`tensor memory` shows what holds them",
	},
	{
	    .name = "graph",
	    .arguments = "LIMIT",
	    .takes = LBX_TAKES_COUNT,
	    .probe = "graph",
	    .n_args = 5,
	    .id = 0,
	    .site = 2,
	    .what = "there are more lazy tensors than the limit",
	    .detail = tell_graph,
	    .advice = "lb_eval() what a loop carries on in each turn; `tensor graph %s` shows what is behind this one",
	},
	{ .name = NULL },
};

const char *lbx_catch_word(int i)
{
	const struct lbx_catch_kind *kind = lbx_catch_kinds;

	while (kind->name && (kind->computes || i-- > 0)) /* `tensor break` has its own */
		kind++;
	return kind->name;
}

const struct lbx_catch_kind *lbx_catch_kind(const char *name)
{
	struct text names = { 0 };

	for (const struct lbx_catch_kind *kind = lbx_catch_kinds; kind->name; kind++) {
		if (strcmp(kind->name, name) == 0) {
			text_free(&names);
			return kind;
		}
		if (!kind->computes) /* the others are `tensor break`'s */
			text_printf(&names, "%s%s", names.n ? ", " : "", kind->name);
	}
	lb_fail("there is no '%s' to catch: %.*s", name, (int)names.n, names.bytes);
	text_free(&names);
	return NULL;
}

const struct lbx_catch_kind *lbx_catch_kind_outside(void)
{
	const struct lbx_catch_kind *kind = lbx_catch_kinds;

	while (!kind->computes || kind->takes != LBX_TAKES_RANGE)
		kind++;
	return kind;
}
