#include "plugin/stops/catch_kinds.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "base/plural.h"
#include "inspect/measure/digest.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/name.h"
#include "plugin/bridge/bridge.h"
#include "plugin/commands/commands.h"
#include "plugin/stops/catch_target.h"
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
	for (int axis = t->rank; axis-- > 0; i /= t->shape[axis])
		place[axis] = i % t->shape[axis];
	lbx_format_place(place, t->rank, at, sizeof at);
	text_printf(ret, " That is %" PRId64 " of %" PRId64 " element%s, the first at %s.",
		    (int64_t)stop->args[3], t->size, LB_S(t->size), at);
}

static void tell_range(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	(void)context;
	text_printf(ret, " They are from %g to %g, the range is [%g, %g].",
		    lb_ordered_double((int64_t)stop->args[3]),
		    lb_ordered_double((int64_t)stop->args[4]), stop->catch->low, stop->catch->high);
}

static void tell_recompile(struct lbx_context *context, const struct lbx_catch_stop *stop,
			   struct text *ret)
{
	char name[LB_NAME_MAX + 1], reason[256];

	if (lbx_target_read_string(context->target, stop->args[1], name, sizeof name) &&
	    lbx_target_read_string(context->target, stop->args[3], reason, sizeof reason)) {
		lbx_make_printable(name);
		lbx_make_printable(reason);
		text_printf(ret, " It is %s, for graph number %" PRIu64 ": %s.", name, stop->args[4],
			    reason);
	}
}

static void tell_promotion(struct lbx_context *context, const struct lbx_catch_stop *stop,
			   struct text *ret)
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
				    other.name[0] ? " " : "", other.name,
				    lbx_dtype_name(other.dtype));
			lbx_format_list(other.shape, other.rank, described, sizeof described);
			text_printf(ret, " %s: %s is computed in %s.", described, op,
				    lbx_dtype_name((enum lb_dtype)stop->args[5]));
		}
	}
}

static void tell_memory(struct lbx_context *context, const struct lbx_catch_stop *stop,
			struct text *ret)
{
	char active[32], limit[32], nbytes[32];

	(void)context;
	lbx_format_bytes((int64_t)stop->args[2], active, sizeof active);
	lbx_format_bytes((int64_t)stop->args[3], limit, sizeof limit);
	lbx_format_bytes((int64_t)stop->args[4], nbytes, sizeof nbytes);
	text_printf(ret, " They are %s now, more than %s, by a buffer of %s.", active, limit, nbytes);
}

static void tell_graph(struct lbx_context *context, const struct lbx_catch_stop *stop,
		       struct text *ret)
{
	(void)context;
	if (stop->args[4])
		text_printf(ret, " Evaluation %" PRIu64 " is about to compute %" PRIu64 ".",
			    stop->args[4], stop->args[3]);
	else
		text_printf(ret, " %" PRIu64 " are alive%s.", stop->args[3],
			    stop->tensor ? "; the newest is shown" : "");
}

/* Arguments: id, record, site, the pointer, the address touched, bytes mapped. */
static void tell_access(struct lbx_context *context, const struct lbx_catch_stop *stop,
			struct text *ret)
{
	char nbytes[32];
	struct lbx_source_line taken = {.line = 0};
	int64_t offset = (int64_t)(stop->args[4] - stop->args[3]);

	lbx_target_source_line(context->target, stop->args[2] - 1, &taken);
	text_printf(ret, " It is at byte %" PRId64 " of the pointer that lb_raw_data() gave%s%s", offset,
		    taken.function[0] ? " to " : "", taken.function);
	if (taken.line)
		text_printf(ret, " at %s:%d", taken.file, taken.line);
	lbx_format_bytes((int64_t)stop->args[5], nbytes, sizeof nbytes);
	text_printf(ret, ". Nothing has been read yet: the pointer leads to a copy of the storage "
		    "in guard pages (%s), which open now.", nbytes);
}

/* " in gate at stepped.c:40" */
static void add_place(struct lbx_context *context, uint64_t site, struct text *ret)
{
	struct lbx_source_line made = {.line = 0};

	if (site)
		lbx_target_source_line(context->target, site - 1, &made);
	if (made.function[0])
		text_printf(ret, ", made in %s", made.function);
	if (made.line)
		text_printf(ret, " at %s:%d", made.file, made.line);
}

/* What an op is about to read. */
static void tell_inputs(struct lbx_context *context, const struct lbx_catch_stop *stop,
			struct text *ret)
{
	enum { INPUTS_SHOWN = 8 };
	struct lbx_tensors *tensors = lbx_table_tensors(context->table);
	const struct lbx_tensor *t = stop->tensor;
	struct lbx_tensor input;
	char described[LB_NAME_MAX + 320];
	uint64_t op = stop->args[stop->catch->kind->op];

	if (t && strcmp(t->op, "fused") == 0 && context->table) {
		text_printf(ret, " It is %s, one of the operations of a fused tensor",
			    lbx_table_op_name(context->table, op));
		add_place(context, stop->args[stop->catch->kind->made], ret);
		text_printf(ret, ".");
	}
	for (uint32_t i = 0; t && tensors && i < t->n_inputs && i < INPUTS_SHOWN; i++) {
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
		text_printf(ret, " Its %" PRId64 " elements are from %.6g to %.6g, %.6g in the mean",
			    d.count, d.min, d.max, d.mean);
	else
		text_printf(ret, " Its %" PRId64 " elements are all NaN", d.count);
	text_printf(ret, "; %" PRId64 " NaN, %" PRId64 " Inf.", d.nan, d.inf);
}

/* ---- the table ---- */

const struct lbx_catch_kind lbx_catch_kinds[] = {
	{"misuse", "[T]", LBX_TAKES_TENSOR, "raw_misuse", 3, 0, 1, 2, 0, 0, 0,
	 "a raw pointer was taken of a view that is not row-contiguous: reading on from it gives "
	 "other elements than the tensor's", NULL,
	 "lb_data() gives the elements in row-major order, lb_strided_data() the strides too; `tensor "
	 "info %s` shows them, `tensor catch access` stops where the pointer is used"},
	{"access", "[T]", LBX_TAKES_TENSOR, NULL, 0, 0, 1, 2, 0, 0, LB_WATCH_ACCESS,
	 "the program uses a raw pointer of a view that is not row-contiguous", tell_access,
	 "lb_data() gives the elements in row-major order, lb_strided_data() the strides too; `tensor "
	 "info %s` shows them"},
	{"nan", "[T]", LBX_TAKES_TENSOR, "nan", 5, 0, 1, LBX_NO_ARG, 0, 0, LB_WATCH_NAN,
	 "a result holds NaN or Inf", tell_nan,
	 "`tensor origin %s` tells which operation made the first, `tensor print %s` its values"},
	{"range", "T LO HI", LBX_TAKES_RANGE, "range", 6, 0, 1, LBX_NO_ARG, 0, 0, LB_WATCH_RANGE,
	 "a result has values outside the range", tell_range,
	 "`tensor graph %s` shows what it was computed from, `tensor peek %s` its values"},
	{"implicit", "[T]", LBX_TAKES_TENSOR, "implicit_eval", 3, 0, 1, 2, 0, 0, 0,
	 "reading a value is about to cause an evaluation", NULL,
	 "lb_eval() it together with others, before its value is needed; `tensor graph %s` shows "
	 "what is computed now"},
	{"eval", "[T]", LBX_TAKES_TENSOR, "eval_tensor", 3, 0, 1, LBX_NO_ARG, 0, 0, LB_WATCH_EVAL,
	 "a tensor has just been computed", NULL, "`tensor print %s`"},
	{"before", "[T]", LBX_TAKES_TENSOR, "op_start", 6, 0, 1, LBX_NO_ARG, 2, 5,
	 LB_WATCH_EVAL | LB_WATCH_CALLS,
	 "an operation is about to run", tell_inputs,
	 "`tensor where` tells how far the evaluation is, `tensor step out` and then `tensor step in` step through "
	 "the next one"},
	{"after", "[T]", LBX_TAKES_TENSOR, "eval_tensor", 4, 0, 1, LBX_NO_ARG, 3, 0,
	 LB_WATCH_EVAL | LB_WATCH_CALLS,
	 "an operation has run", tell_value, "`tensor graph %s` shows what it was computed from"},
	{"promote", "[T]", LBX_TAKES_TENSOR, "promote", 6, 0, 1, 2, 0, 0, 0,
	 "an operand is made wider without being asked", tell_promotion,
	 "lb_astype() on one of the two says what is meant; a constant as lb_scalar() takes the "
	 "tensor's dtype"},
	{"recompile", "[NAME]", LBX_TAKES_FUNCTION, "recompile", 5, LBX_NO_ARG, LBX_NO_ARG, 2, 0, 0, 0,
	 "a compiled function was traced again", tell_recompile,
	 "for shapes compile it with .shapeless, or pad to one shape; for dtypes lb_astype() the "
	 "inputs; pass what changes as a tensor, not as a constant; `tensor compiled` counts"},
	{"memory", "LIMIT", LBX_TAKES_BYTES, "memory", 5, 0, LBX_NO_ARG, 1, 0, 0, 0,
	 "the bytes in use have passed the limit", tell_memory,
	 "`tensor list --sort bytes` shows who holds them"},
	{"graph", "LIMIT", LBX_TAKES_COUNT, "graph", 5, 0, 1, 2, 0, 0, 0,
	 "there are more lazy tensors than the limit", tell_graph,
	 "lb_eval() what a loop carries on in each turn; `tensor graph %s` shows what is behind this one"},
	{.name = NULL},
};

const struct lbx_catch_kind *lbx_catch_kind(const char *name)
{
	struct text names = {0};

	for (const struct lbx_catch_kind *kind = lbx_catch_kinds; kind->name; kind++) {
		if (strcmp(kind->name, name) == 0) {
			text_free(&names);
			return kind;
		}
		if (kind->op == 0) /* the others are `tensor break`'s */
			text_printf(&names, "%s%s", names.n ? ", " : "", kind->name);
	}
	lb_fail("there is no '%s' to catch: %.*s", name, (int)names.n, names.bytes);
	text_free(&names);
	return NULL;
}

/* ---- arguments ---- */

/* "512M", "2G", "1.5GiB"; without a unit bytes. */
static bool parse_bytes(const char *text, uint64_t *ret)
{
	static const char units[] = "KMGT";
	char *end;
	double value = strtod(text, &end);
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;

	if (unit) {
		value = ldexp(value, 10 * (int)(unit - units + 1));
		end++;
		end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0;
	}
	if (end == text || *end || !(value >= 0) || value >= 0x1p62)
		return lb_fail("'%s' is no number of bytes: 2G, 512M, 65536", text);
	*ret = (uint64_t)value;
	return true;
}

static bool parse_count(const char *text, uint64_t *ret)
{
	char *end;

	*ret = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || *ret >> 62)
		return lb_fail("'%s' is no number of tensors", text);
	return true;
}

static bool parse_value(const char *text, const char *usage, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return (end != text && !*end && !isnan(*ret)) || lb_fail("'%s' is no number: %s", text, usage);
}

bool lbx_catch_parse_range(const char *text, struct lbx_catch *ret)
{
	static const char usage[] = "`--range LO,HI`, as in `--range -1,1`";
	char low[64];
	size_t n = strcspn(text, ",");

	snprintf(low, sizeof low, "%.*s", (int)n, text);
	if (!text[n])
		return lb_fail("break: write the range as LO,HI");
	if (!parse_value(low, usage, &ret->low) || !parse_value(text + n + 1, usage, &ret->high))
		return false;
	return ret->low <= ret->high || lb_fail("break: the range from %s to %s is empty", low, text + n + 1);
}

bool lbx_catch_parse(struct lbx_context *context, const struct lbx_args *args, struct lbx_catch *ret)
{
	static const char usage[] = "`range T LO HI`, as in `range q -1 1`";
	const struct lbx_catch_kind *kind = ret->kind;
	int least = kind->arguments[0] == '[' ? 0 : 1, most = 1;

	if (kind->takes == LBX_TAKES_RANGE)
		least = most = 3;
	if (args->n - 1 < least || args->n - 1 > most)
		return lb_fail("write `tensor catch %s %s`", kind->name, kind->arguments);
	if (args->n == 1)
		return true;
	switch (kind->takes) {
	case LBX_TAKES_TENSOR:
		return lbx_catch_parse_tensor(context, args->v[1], ret);
	case LBX_TAKES_FUNCTION:
		lbx_unquote(args->v[1], ret->name, sizeof ret->name);
		if (strcmp(ret->name, "*") == 0)
			ret->name[0] = '\0';
		return true;
	case LBX_TAKES_BYTES:
		return parse_bytes(args->v[1], &ret->limit);
	case LBX_TAKES_COUNT:
		return parse_count(args->v[1], &ret->limit);
	case LBX_TAKES_RANGE:
		if (!parse_value(args->v[2], usage, &ret->low) || !parse_value(args->v[3], usage, &ret->high))
			return false;
		if (ret->low > ret->high)
			return lb_fail("the range from %s to %s is empty", args->v[2], args->v[3]);
		return lbx_catch_parse_tensor(context, args->v[1], ret);
	}
	return false;
}

/* ---- as text, as JSON, as a condition ---- */

static void describe_tensor(const struct lbx_catch *c, const char *any, struct text *ret)
{
	if (c->id)
		text_printf(ret, " of #%" PRIu64, c->id);
	else
		text_printf(ret, " of %s%s", c->is_glob ? "names like " : "", c->name[0] ? c->name : any);
}

void lbx_catch_describe(const struct lbx_catch *c, struct text *ret)
{
	char limit[32];

	text_printf(ret, "%s", c->kind->name);
	switch (c->kind->takes) {
	case LBX_TAKES_TENSOR:
		describe_tensor(c, "any tensor", ret);
		break;
	case LBX_TAKES_FUNCTION:
		describe_tensor(c, "any function", ret);
		break;
	case LBX_TAKES_BYTES:
		lbx_format_bytes((int64_t)c->limit, limit, sizeof limit);
		text_printf(ret, " beyond %s", limit);
		break;
	case LBX_TAKES_COUNT:
		text_printf(ret, " beyond %" PRIu64 " lazy tensor%s", c->limit, LB_S(c->limit));
		break;
	case LBX_TAKES_RANGE:
		text_printf(ret, " [%g, %g]", c->low, c->high);
		describe_tensor(c, "any tensor", ret);
	}
	if (c->op[0])
		text_printf(ret, ", made by %s", c->op);
	if (c->once)
		text_printf(ret, ", once");
}

void lbx_catch_json(const struct lbx_catch *c, json_t *object)
{
	char id[32];

	snprintf(id, sizeof id, "#%" PRIu64, c->id);
	json_object_set_new(object, "catch", json_integer(c->number));
	json_object_set_new(object, "event", json_string(c->kind->name));
	switch (c->kind->takes) {
	case LBX_TAKES_RANGE:
		json_object_set_new(object, "low", lbx_json_double(c->low));
		json_object_set_new(object, "high", lbx_json_double(c->high));
		__attribute__((fallthrough));
	case LBX_TAKES_TENSOR:
		json_object_set_new(object, "tensor", c->id ? json_string(id) :
				    c->name[0] ? lbx_json_string(c->name) : json_null());
		break;
	case LBX_TAKES_FUNCTION:
		json_object_set_new(object, "function",
				    c->name[0] ? lbx_json_string(c->name) : json_null());
		break;
	case LBX_TAKES_BYTES:
	case LBX_TAKES_COUNT:
		json_object_set_new(object, "limit", json_integer((json_int_t)c->limit));
	}
	if (c->op[0])
		json_object_set_new(object, "op", json_string(c->op));
	if (c->once)
		json_object_set_new(object, "once", json_true());
}

/* True when the text at the address that `pointer` stands for is this; reads no byte beyond it. */
static void text_condition(struct text *text, const char *pointer, const char *name)
{
	size_t n = strlen(name) + 1;
	const struct {
		size_t bytes;
		const char *type;
	} steps[] = {{8, "unsigned long"}, {4, "unsigned int"}, {2, "unsigned short"},
		     {1, "unsigned char"}};
	size_t at = 0;

	text_printf(text, "%s != 0", pointer);
	for (size_t i = 0; i < 4; i++) {
		for (; n - at >= steps[i].bytes; at += steps[i].bytes) {
			uint64_t value = 0;

			memcpy(&value, name + at, steps[i].bytes);
			text_printf(text, " && {%s}(%s + 0x%zx) == 0x%" PRIx64, steps[i].type, pointer, at,
				    value);
		}
	}
}

static void add_and(struct text *text)
{
	text_printf(text, "%s", text->n ? " && " : "");
}

/* In hexadecimal: gdb reads a condition anew whenever code is loaded, in the user's `input-radix`. */
void lbx_catch_condition(const struct lbx_catch *c, struct lbx_table *table, struct text *ret)
{
	const struct lbx_tensor_offsets at = lbx_table_offsets(table);
	char name[80] = "$_probe_arg1";

	if (c->kind->takes == LBX_TAKES_RANGE) {
		text_printf(ret, "((long)$_probe_arg3 < (long)0x%" PRIx64 " || (long)$_probe_arg4 > (long)0x%" PRIx64 ")",
			    lb_order_double(c->low), lb_order_double(c->high));
		if (!c->id && !c->name[0]) /* of any tensor: of views their bases tell */
			text_printf(ret, " && $_probe_arg5 == 0");
	}
	/* not before each operation of a fused tensor, but before the one that gives its value */
	if (c->kind->made && (c->id || c->name[0]) && !c->op[0])
		text_printf(ret, "$_probe_arg3 != 0");
	if (c->id) {
		add_and(ret);
		text_printf(ret, "$_probe_arg0 == 0x%" PRIx64, c->id);
	} else if (c->pattern) {
		add_and(ret);
		text_printf(ret, "({unsigned int}($_probe_arg1 + 0x%" PRIx64 ") & 0x%x) != 0", at.watch,
			    UINT32_C(1) << (LB_WATCH_NAMED + c->pattern - 1));
	} else if (c->name[0]) {
		if (c->kind->takes != LBX_TAKES_FUNCTION)
			snprintf(name, sizeof name, "{unsigned long}($_probe_arg1 + 0x%" PRIx64 ")", at.name);
		add_and(ret);
		text_condition(ret, name, c->name);
	}
	if (c->op[0]) { /* -1, of a program without such an op, is no byte */
		add_and(ret);
		if (c->kind->op)
			text_printf(ret, "(int)$_probe_arg%d", c->kind->op);
		else
			text_printf(ret, "{unsigned char}($_probe_arg1 + 0x%" PRIx64 ")", at.op);
		text_printf(ret, " == (int)0x%x", (unsigned)lbx_table_op_number(table, c->op));
	}
}
