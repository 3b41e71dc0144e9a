#include "plugin/stops/catch_forms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "inspect/tensor/format.h"

static void describe_tensor(const struct lbx_catch *c, const char *any, struct text *ret)
{
	const char *of = c->kind->computes ? "" : "of ";

	if (c->id)
		text_printf(ret, " %s#%" PRIu64, of, c->id);
	else if (c->record)
		text_printf(ret, " %sthe tensor at 0x%" PRIx64, of, c->record);
	else
		text_printf(ret, " %s%s%s", of,
			    !c->is_glob         ? ""
			    : c->kind->computes ? "any tensor named like "
						: "names like ",
			    c->name[0] ? c->name : any);
	if (c->kind->computes)
		text_printf(ret, " is computed");
}

void lbx_catch_describe(const struct lbx_catch *c, struct text *ret)
{
	char limit[32];

	text_printf(ret, "%s", c->kind->name);
	switch (c->kind->takes) {
	case LBX_TAKES_TENSOR: describe_tensor(c, "any tensor", ret); break;
	case LBX_TAKES_FUNCTION: describe_tensor(c, "any function", ret); break;
	case LBX_TAKES_BYTES:
		lbx_format_bytes((int64_t)c->limit, limit, sizeof limit);
		text_printf(ret, " beyond %s", limit);
		break;
	case LBX_TAKES_COUNT: text_printf(ret, " beyond %" PRIu64 " lazy tensor%s", c->limit, LB_S(c->limit)); break;
	case LBX_TAKES_RANGE:
		if (!c->kind->computes) /* else the condition tells it */
			text_printf(ret, " [%g, %g]", c->low, c->high);
		describe_tensor(c, "any tensor", ret);
	}
	if (c->op[0])
		text_printf(ret, c->kind->computes ? " by %s" : ", made by %s", c->op);
	if (c->condition[0])
		text_printf(ret, ", if %s", c->condition);
	if (c->once)
		text_printf(ret, ", once");
}

void lbx_catch_keys(const struct lbx_catch *c, struct lbx_out *out)
{
	char id[32];

	snprintf(id, sizeof id, c->record ? "0x%" PRIx64 : "#%" PRIu64, c->record ? c->record : c->id);
	LBX_KEY(out, "catch", json_integer(c->number));
	LBX_KEY(out, "event", json_string(c->kind->name));
	switch (c->kind->takes) {
	case LBX_TAKES_RANGE:
		if (!c->kind->computes) {
			LBX_KEY(out, "low", lbx_json_double(c->low));
			LBX_KEY(out, "high", lbx_json_double(c->high));
		}
		__attribute__((fallthrough));
	case LBX_TAKES_TENSOR:
		LBX_KEY(out, "tensor", c->id || c->record ? json_string(id) : lbx_json_text(c->name));
		break;
	case LBX_TAKES_FUNCTION: LBX_KEY(out, "function", lbx_json_text(c->name)); break;
	case LBX_TAKES_BYTES:
	case LBX_TAKES_COUNT: LBX_KEY(out, "limit", json_integer((json_int_t)c->limit));
	}
	if (c->op[0])
		LBX_KEY(out, "op", json_string(c->op));
	if (c->condition[0])
		LBX_KEY(out, "if", lbx_json_text(c->condition));
	if (c->once)
		LBX_KEY(out, "once", json_true());
}

void lbx_bytes_condition(const char *pointer, const char *bytes, size_t n, struct text *text)
{
	const struct {
		size_t bytes;
		const char *type;
	} steps[] = { { 8, "unsigned long" }, { 4, "unsigned int" }, { 2, "unsigned short" }, { 1, "unsigned char" } };
	size_t at = 0;

	for (size_t i = 0; i < 4; i++) {
		for (; n - at >= steps[i].bytes; at += steps[i].bytes) {
			uint64_t value = 0;

			memcpy(&value, bytes + at, steps[i].bytes);
			text_printf(text, "%s{%s}(%s + 0x%zx) == 0x%" PRIx64, at ? " && " : "", steps[i].type, pointer,
				    at, value);
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
		text_printf(ret,
			    "((long)$_probe_arg3 < (long)0x%" PRIx64 " || (long)$_probe_arg4 > (long)0x%" PRIx64 ")",
			    lb_order_double(c->low), lb_order_double(c->high));
		if (!c->id && !c->name[0] && !c->kind->computes) /* of any tensor: of views their bases tell */
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
		text_printf(ret, "%s != 0 && ", name);
		lbx_bytes_condition(name, c->name, strlen(c->name) + 1, ret);
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
