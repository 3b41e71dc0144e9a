/* Other values for some elements of a tensor: to see what follows from them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/op.h"
#include "base/plural.h"
#include "inspect/operand/select.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/number.h"
#include "inspect/texts.h"
#include "kernels/kernels.h"
#include "plugin/bridge/bridge.h"
#include "plugin/command.h"
#include "plugin/commands/commands.h"
#include "plugin/reads/target_gdb.h"

enum { ELEMENTS_MOST = 64, BYTES_MOST = 8 };

/* The words again as one line, and where it is split: at the `=`. */
static bool take_line(const struct lbx_args *args, char line[LBX_LINE_MAX], char **ret_value)
{
	size_t used = 0;

	*line = '\0';
	for (int i = 0; i < args->n && used < LBX_LINE_MAX; i++)
		used += (size_t)snprintf(line + used, LBX_LINE_MAX - used, "%s%s", i ? " " : "", args->v[i]);
	char *equals = used < LBX_LINE_MAX ? strrchr(line, '=') : NULL;
	if (!equals || equals == line || strchr("=!<>", equals[-1]))
		return lbx_misuse("poke: it is written so: T[0, 1] = 5");
	*equals = '\0';
	for (char *end = equals; end > line && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	*ret_value = equals + 1 + strspn(equals + 1, " \t");
	return **ret_value || lbx_misuse("poke: the value is missing behind =");
}

static bool fail_value(const char *text, enum lb_dtype dtype)
{
	return lb_fail("poke: '%s' is no value of %s", text, lbx_dtype_name(dtype));
}

static bool parse_whole(const char *text, enum lb_dtype dtype, void *ret)
{
	int bits = 8 * (int)lbx_dtype_bytes(dtype);
	bool is_signed = lb_dtype_is_signed_int(dtype), is_negative = *text == '-';
	uint64_t most = is_signed ? (1ULL << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (1ULL << bits) - 1;
	char *end;

	errno = 0;
	uint64_t value = strtoull(text + is_negative, &end, 0);
	if (end == text + is_negative || *end || errno || isspace((unsigned char)text[is_negative]) ||
	    value > most + (uint64_t)(is_negative && is_signed) || (is_negative && !is_signed && value))
		return fail_value(text, dtype);
	value = is_negative ? 0 - value : value;
	memcpy(ret, &value, (size_t)bits / 8);
	return true;
}

/* A number; of bool also true and false; NaN and Inf where there are such. */
static bool parse_element(const char *text, enum lb_dtype dtype, char ret[BYTES_MOST])
{
	bool is_true = strcasecmp(text, "true") == 0, is_false = strcasecmp(text, "false") == 0;
	char *end;

	if (dtype == LB_BOOL && (is_true || is_false || strcmp(text, "0") == 0 || strcmp(text, "1") == 0)) {
		ret[0] = is_true || *text == '1';
		return true;
	}
	if (dtype == LB_BOOL)
		return fail_value(text, dtype);
	if (!lb_dtype_is_inexact(dtype))
		return parse_whole(text, dtype, ret);
	double value = strtod(text, &end);
	if (end == text || *end)
		return fail_value(text, dtype);
	lb_store_double(ret, dtype, value);
	return true;
}

static bool check(const struct lbx_selection *s, const struct lbx_array *a)
{
	char label[LBX_SELECTION_MAX];

	lbx_selection_label(s, label, sizeof label);
	if (s->tensor.local)
		return lb_fail("poke: %s is computed: it lies in no memory of the program", label);
	if (a->encoding)
		return lb_fail("poke: %s is %s: its elements share bytes", label, a->encoding->name);
	if (a->size > ELEMENTS_MOST)
		return lb_fail("poke: %s has %" PRId64
			       " elements, and %d at most are changed: name fewer, as in %s[0, :4] = 0",
			       label, a->size, ELEMENTS_MOST, s->tensor.name[0] ? s->tensor.name : "T");
	return a->size > 0 || lb_fail("poke: %s has no elements", label);
}

static bool tell(struct lbx_out *out, const struct lbx_selection *s, const struct lbx_array *a, const char *element)
{
	char label[LBX_SELECTION_MAX], before[LBX_NUMBER_MAX], after[LBX_NUMBER_MAX];
	unsigned char first[BYTES_MOST];

	if (!lbx_array_copy(a, 0, 1, first))
		return false;
	lbx_number_scalar(first, a->dtype, before);
	lbx_number_scalar(element, a->dtype, after);
	lbx_selection_label(s, label, sizeof label);
	lbx_begin(out, NULL);
	lbx_tell(out, "%pF: %pF before, %pF now", LBX_TEXT("tensor", label), LBX_TEXT("before", before),
		 LBX_TEXT("after", after));
	LBX_KEY(out, "elements", json_integer(a->size));
	if (a->size > 1)
		lbx_printf(out, ", as %" PRId64 " more", a->size - 1);
	if (s->tensor.buffer_refs > 1)
		lbx_printf(out, "; %" PRIu32 " tensors share this memory", s->tensor.buffer_refs);
	lbx_printf(out, "\n");
	lbx_end(out);
	return true;
}

static bool run_poke(struct lbx_context *context, const struct lbx_args *args)
{
	char line[LBX_LINE_MAX], element[BYTES_MOST], *text;
	int64_t at[LBX_ARRAY_RANK];
	struct lbx_selection s;
	struct lbx_array a;

	if (!take_line(args, line, &text) || !lbx_select_values(context, line, &s) || !lbx_value_of(context, &s, &a) ||
	    !check(&s, &a) || !parse_element(text, a.dtype, element) || !tell(context->out, &s, &a, element))
		return false;
	size_t bytes = (size_t)lbx_dtype_bytes(a.dtype);
	for (int64_t i = 0; i < a.size; i++) {
		lbx_array_coordinates(&a, i, at);
		uint64_t address = a.low + (uint64_t)(lbx_array_at(&a, at)) * bytes;
		if (!lbx_target_write(context->target, address, element, bytes))
			return false;
	}
	return lb_ok();
}

const struct lbx_command lbx_gdb_command_poke = {
	.name = "poke",
	.arguments = "T[slice] = VALUE",
	.summary = "change elements of a tensor in the program's memory",
	.help = "By its strides, in its dtype: as `set var` would, but for an element of a view, or a bfloat16.\n"
		"At most 64 elements become VALUE, a number, nan, inf, true or false. Tensors over the same\n"
		"memory change, too; what has been computed of it does not.\n"
		"Example: poke q[0, 1] = 5, poke mask[2, :4] = -inf",
	.min_args = 1,
	.max_args = 8,
	.needs = LBX_NEEDS_VALUES | LBX_NEEDS_LIVE,
	.run = run_poke,
};
