#include "inspect/operand/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/convenience.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/tensor/number.h"

bool lbx_value_of(struct lbx_context *context, const struct lbx_selection *s, struct lbx_array *ret)
{
	char label[LBX_SELECTION_MAX], pending_text[256], why[256];
	struct lbx_pending pending;

	if (s->tensor.state != LBX_READY) {
		lbx_selection_label(s, label, sizeof label);
		lbx_describe_state(&s->tensor, why, sizeof why);
		if (!lbx_tensor_is_pending(&s->tensor))
			return lb_fail("%s %s", label, why);
		lbx_pending(&s->tensor, &pending);
		lbx_describe_pending(&pending, pending_text, sizeof pending_text);
		return lb_fail("%s %s; %s", label, why, pending_text);
	}
	return lbx_array_of_tensor(context->target, &s->tensor, ret) && lbx_slice_apply(&s->slice, ret);
}

bool lbx_sight_begin(struct lbx_context *context, const struct lbx_selection *s, struct lbx_sight *ret)
{
	*ret = (struct lbx_sight){ .replayed = { .map = NULL } };
	bool ready = s->tensor.state == LBX_READY;
	bool ok = ready ? lbx_array_of_tensor(context->target, &s->tensor, &ret->array)
			: lbx_replay(context, &s->tensor, &s->slice, &ret->replayed);
	if (ok && ready)
		lbx_value_note(&s->tensor, ret->note);
	if (ok && !ready) {
		ret->array = ret->replayed.array;
		snprintf(ret->note, sizeof ret->note, "replayed outside the program (%u node%s)%s%s",
			 ret->replayed.n_nodes, LB_S(ret->replayed.n_nodes),
			 s->tensor.state == LBX_UNSURE ? ", of inputs as they are now" : "",
			 ret->replayed.doubt == LBX_DECIDED
			     ? ", decided by values whose last bits may differ: elements may be others"
			     : "");
	}
	if (ok && (!ready || lbx_slice_apply(&s->slice, &ret->array)))
		return true;
	lbx_sight_end(ret);
	return false;
}

void lbx_sight_end(struct lbx_sight *sight)
{
	lbx_replay_release(&sight->replayed);
}

bool lbx_print_options(const struct lbx_context *context, const struct lbx_args *args, struct lbx_format_options *ret)
{
	int64_t edge = context->settings->edge_items, precision = context->settings->precision;

	if (!lbx_args_int(args, "edge", 1, 1 << 20, &edge) ||
	    !lbx_args_int(args, "precision", 0, LBX_PRECISION_MAX, &precision))
		return false;
	*ret = lbx_format_options(context->settings);
	ret->edge_items = edge;
	ret->precision = (int)precision;
	ret->full = lbx_args_option(args, "full");
	return true;
}

void lbx_print_heading(struct lbx_out *out, const struct lbx_selection *s, const struct lbx_array *array)
{
	char label[LBX_SELECTION_MAX], shape[LBX_LIST_MAX];

	lbx_selection_label(s, label, sizeof label);
	lbx_format_list(array->shape, array->rank, shape, sizeof shape);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_NAME, "%s", label);
	lbx_printf(out, ": %s %s", lbx_array_dtype_name(array), shape);
}

const char *lbx_part_note(enum lb_dtype dtype)
{
	return dtype == LB_C64 ? ", by magnitude" : "";
}

void lbx_tell_part(struct lbx_out *out, enum lb_dtype dtype)
{
	lbx_printf(out, "%s", lbx_part_note(dtype));
	if (dtype == LB_C64)
		LBX_KEY(out, "part", json_string("magnitude"));
}

/* The tensor, and what is shown of it, as fields of the object that is open; the text says it in the heading. */
void lbx_tell_selection(struct lbx_out *out, const struct lbx_selection *s, const struct lbx_array *array,
			const char *note)
{
	char own[LBX_NOTE_MAX];

	LBX_KEYS(out, lbx_json_tensor(&s->tensor));
	if (s->slice.n) {
		LBX_KEY(out, "slice", lbx_json_string(s->slice_text));
		LBX_KEY(out, "slice_shape", lbx_json_list(array->shape, array->rank));
	}
	if (!note && lbx_value_note(&s->tensor, own))
		note = own;
	if (note)
		LBX_KEY(out, "note", lbx_json_string(note));
	lbx_print_heading(out, s, array);
	lbx_printf(out, "%s%s", note ? ", " : "", note ? note : "");
}

bool lbx_print_value(struct lbx_context *context, const struct lbx_selection *s, const struct lbx_array *array,
		     const struct lbx_format_options *options, const char *note)
{
	struct lbx_out *out = context->out;
	bool summarises = lbx_format_summarises(array, options);

	lbx_set_int(out, "tensor_count", array->size);
	lbx_begin(out, NULL);
	lbx_tell_selection(out, s, array, note);
	lbx_printf(out, "\n");
	LBX_KEY(out, "summarised", json_boolean(summarises));
	if (summarises)
		LBX_KEY(out, "edge", json_integer(options->edge_items));
	if (!lbx_format_array(out, "values", array, options))
		return false;
	lbx_end(out);
	return lb_ok();
}
