#include "inspect/show/glance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/answer.h"
#include "inspect/measure/summary.h"
#include "inspect/operand/select.h"
#include "inspect/operand/value.h"
#include "inspect/show/extreme.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/tensor/number.h"

enum { PIECE = 1 << 14, ELEMENT = 8 };

/* ---- values ---- */

/* Where the i-th element begins or ends so many axes, there are as many brackets. */
static int64_t axes_at(const struct lbx_array *a, int64_t i)
{
	int64_t n = 1, axes = 0;

	for (int axis = a->rank; axis-- > 0; axes++) {
		n *= a->shape[axis];
		if (i % n)
			break;
	}
	return axes;
}

static void print_brackets(struct lbx_out *out, const char *bracket, int64_t n)
{
	while (n-- > 0)
		lbx_printf(out, "%s", bracket);
}

/* [[1 2 3] [4 5 6]] */
static bool tell_elements(struct lbx_out *out, const struct lbx_array *a)
{
	const struct lbx_format_options options = { .edge_items = LBX_GLANCE_WHOLE, .threshold = LBX_GLANCE_WHOLE };
	char elements[LBX_GLANCE_WHOLE * ELEMENT], text[LBX_NUMBER_MAX];
	size_t width = (size_t)lbx_dtype_bytes(a->dtype);

	if (out->json)
		return lbx_format_array(out, "values", a, &options);
	if (a->size && !lbx_array_copy(a, 0, a->size, elements))
		return false;
	if (!a->size)
		lbx_printf(out, "[]");
	for (int64_t i = 0; i < a->size; i++) {
		lbx_printf(out, "%s", i ? " " : "");
		print_brackets(out, "[", axes_at(a, i));
		lbx_number_scalar(elements + (size_t)i * width, a->dtype, text);
		lbx_printf(out, "%s", text);
		print_brackets(out, "]", axes_at(a, i + 1));
	}
	return true;
}

static bool measure(struct lbx_out *out, const struct lbx_array *a, int64_t n, struct lbx_summary *ret)
{
	lb_auto_free char *piece = malloc(PIECE * ELEMENT);

	lbx_summary_init(ret, a->dtype);
	if (!piece)
		return lb_fail("out of memory");
	for (int64_t i = 0, m; i < n; i += m) {
		m = n - i < PIECE ? n - i : PIECE;
		if (!lbx_array_copy(a, i, m, piece) || !lbx_progress(out, "looking", i, n))
			return false;
		lbx_summary_add(ret, piece, m, i);
	}
	return true;
}

static bool tell_range(struct lbx_out *out, const struct lbx_array *a)
{
	int64_t n = a->size < LBX_GLANCE_MOST ? a->size : LBX_GLANCE_MOST;
	char min[64], max[64];
	struct lbx_summary s;

	if (!measure(out, a, n, &s))
		return false;
	LBX_KEY(out, "min", lbx_extreme_json(&s, false));
	LBX_KEY(out, "max", lbx_extreme_json(&s, true));
	LBX_KEY(out, "mean", s.finite ? lbx_json_double((double)s.mean) : json_null());
	LBX_KEY(out, "nan_count", json_integer(s.special[LBX_NAN]));
	LBX_KEY(out, "inf_count", json_integer(s.special[LBX_POSITIVE_INF] + s.special[LBX_NEGATIVE_INF]));
	LBX_KEY(out, "count", json_integer(n));
	if (n < a->size)
		lbx_printf(out, "the first %" PRId64 ": ", n);
	if (s.special[LBX_NAN] == n) {
		lbx_styled(out, LBX_WARNING, "all" LBX_STAY "NaN");
		return true;
	}
	lbx_extreme_text(&s, false, min, sizeof min);
	lbx_extreme_text(&s, true, max, sizeof max);
	lbx_printf(out, "min" LBX_STAY "%s, max" LBX_STAY "%s, ", min, max);
	if (s.finite)
		lbx_printf(out, "mean" LBX_STAY "%.5g, ", (double)s.mean);
	if (s.special[LBX_NAN])
		lbx_styled(out, LBX_WARNING, "%" PRId64 LBX_STAY "NaN", s.special[LBX_NAN]);
	else
		lbx_printf(out, "no" LBX_STAY "NaN");
	lbx_printf(out, "%s", lbx_part_note(a->dtype));
	return true;
}

/* ---- one line ---- */

static void tell_type(struct lbx_out *out, const struct lbx_selection *s, const char *dtype, const char *shape)
{
	LBX_KEYS(out, lbx_json_tensor(&s->tensor));
	if (s->slice.n)
		LBX_KEY(out, "slice", lbx_json_string(s->slice_text));
	lbx_printf(out, "%s %s", dtype, shape);
	if (!s->tensor.local) /* what is computed has no state */
		lbx_printf(out, ", %s", lbx_state_name(lbx_told_state(&s->tensor)));
}

static void tell_pending(struct lbx_out *out, const struct lbx_selection *s)
{
	struct lbx_pending pending;
	char text[256], shape[LBX_LIST_MAX];
	const struct lbx_tensor *t = &s->tensor;

	lbx_format_list(lbx_shape(t), t->rank, shape, sizeof shape);
	lbx_printf(out, "%s", s->slice.n ? "of " : "");
	if (t->is_shapeless)
		lbx_describe_type(t, shape, sizeof shape);
	tell_type(out, s, t->is_shapeless ? "a tensor" : lbx_tensor_dtype_name(t), shape);
	if (!lbx_tensor_is_pending(t))
		return;
	lbx_pending(t, &pending);
	lbx_describe_pending(&pending, text, sizeof text);
	lbx_printf(out, "; %s", text);
}

/* Of which a word is enough: its last bits decide nothing. */
static bool is_plain_replay(const struct lbx_selection *s, const struct lbx_sight *sight)
{
	return s->tensor.state == LBX_LAZY && sight->replayed.doubt != LBX_DECIDED;
}

static bool tell_value(struct lbx_context *context, const struct lbx_selection *s)
{
	struct lbx_out *out = context->out;
	char shape[LBX_LIST_MAX];
	struct lbx_sight sight;

	if (!lbx_sight_begin(context, s, &sight))
		return false;
	const struct lbx_array *a = &sight.array;
	lbx_format_list(a->shape, a->rank, shape, sizeof shape);
	tell_type(out, s, lbx_array_dtype_name(a), shape);
	if (s->slice.n)
		LBX_KEY(out, "slice_shape", lbx_json_list(a->shape, a->rank));
	if (sight.note[0])
		LBX_KEY(out, "note", lbx_json_string(sight.note));
	const char *note = is_plain_replay(s, &sight) ? "replayed" : s->tensor.local ? "computed" : sight.note;
	lbx_printf(out, "%s%s: ", *note ? ", " : "", note);
	bool ok = a->size <= LBX_GLANCE_WHOLE ? tell_elements(out, a) : tell_range(out, a);
	lbx_sight_end(&sight);
	return ok;
}

static bool tell(struct lbx_context *context, const struct lbx_glance *glance)
{
	struct lbx_selection s;

	if (!lbx_select_values(context, glance->text, &s))
		return false;
	if (s.tensor.state == LBX_READY || (glance->peek && lbx_tensor_is_pending(&s.tensor)))
		return tell_value(context, &s);
	tell_pending(context->out, &s);
	return true;
}

/* What was not found, or is not made yet, needs few words; what is something else says it. */
static const char *reason(void)
{
	static const char null[] = "' is a NULL tensor";
	const char *message = lb_error_message();
	size_t n = strlen(message), m = sizeof null - 1;

	if (strncmp(message, "no tensor '", 11) == 0)
		return "no such tensor here";
	return n >= m && strcmp(message + n - m, null) == 0 ? "NULL" : message;
}

bool lbx_glance(struct lbx_context *context, const struct lbx_glance *glance)
{
	struct lbx_out *out = context->out;

	LBX_KEY(out, "expression", lbx_json_string(glance->text));
	lbx_styled(out, LBX_NAME, "%s", glance->text);
	lbx_printf(out, ": ");
	bool ok = tell(context, glance);
	if (lbx_target_waits(context->target) || lb_error_cause() == LB_INTERRUPTED)
		return false;
	if (!ok) {
		LBX_KEY(out, "error", lbx_json_string(reason()));
		lbx_styled(out, LBX_DIM, "%s", reason());
		lb_clear_error();
	}
	lbx_printf(out, "\n");
	return true;
}
