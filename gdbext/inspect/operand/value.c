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
	if (ok && !ready) {
		ret->array = ret->replayed.array;
		snprintf(ret->note, sizeof ret->note, "replayed outside the program (%u node%s)", ret->replayed.n_nodes,
			 LB_S(ret->replayed.n_nodes));
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

static bool print_json(struct lbx_context *context, const struct lbx_selection *s, const struct lbx_array *array,
		       const struct lbx_format_options *options, const char *note)
{
	struct lbx_out *out = context->out;
	json_t *o = lbx_json_tensor(&s->tensor);

	if (s->slice.n) {
		json_object_set_new(o, "slice", lbx_json_string(s->slice_text));
		json_object_set_new(o, "slice_shape", lbx_json_list(array->shape, array->rank));
	}
	if (note)
		json_object_set_new(o, "note", lbx_json_string(note));
	json_object_set_new(o, "summarised", json_boolean(lbx_format_summarises(array, options)));
	if (lbx_format_summarises(array, options))
		json_object_set_new(o, "edge", json_integer(options->edge_items));
	lb_auto_free char *head = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (!head)
		return lb_fail("out of memory");
	/* the object stays open for the values */
	lbx_printf(out, "%.*s,\"values\":", (int)strlen(head) - 1, head);
	bool done = lbx_format_json(out, array, options);
	lbx_printf(out, "}\n");
	return done;
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

void lbx_json_measured(json_t *o, enum lb_dtype dtype)
{
	if (dtype == LB_C64)
		json_object_set_new(o, "part", json_string("magnitude"));
}

bool lbx_print_value(struct lbx_context *context, const struct lbx_selection *s, const struct lbx_array *array,
		     const struct lbx_format_options *options, const char *note)
{
	struct lbx_out *out = context->out;

	lbx_set_int(out, "tensor_count", array->size);
	if (out->json)
		return print_json(context, s, array, options, note);
	lbx_print_heading(out, s, array);
	lbx_printf(out, "%s%s\n", note ? ", " : "", note ? note : "");
	return lbx_format_array(out, array, options);
}
