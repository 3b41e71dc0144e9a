#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/operand/select.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/expression.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/texts.h"
#include "target/columns.h"

enum { SHOWN_INPUTS = 16, MAX_FRAMES = LB_STACK_MAX, FIELD = 14 };

/* Values begin in one column, behind the longest label. */
struct form {
	struct lbx_out *out;
	int column;
};

static void make_room(void *context, const char *label, const char *text)
{
	struct form *form = context;
	int column = lbx_columns(label) + 3;

	(void)text;
	form->column = column > form->column ? column : form->column;
}

static void field(const struct form *form, const char *name)
{
	lbx_field(form->out, name, form->column);
}

static void warn(const struct form *form, const char *text)
{
	lbx_styled(form->out, LBX_WARNING, "  %-*s", form->column - 2, "warning:");
	lbx_wrap(form->out, form->column, form->column);
	lbx_printf(form->out, "%s\n", text);
}

/* Bytes of a file cost the program no memory of its own: they have no capacity. */
static bool is_file(const struct lbx_tensor *t)
{
	return (t->buffer_flags & LB_BUFFER_FOREIGN) && !(t->buffer_flags & LB_BUFFER_CONTENT) &&
	       t->buffer_capacity == 0 && t->buffer_bytes > 0;
}

static void buffer_flags(const struct lbx_tensor *t, char *ret, size_t size)
{
	const char *foreign = is_file(t)                            ? ", a mapped file"
			      : t->buffer_flags & LB_BUFFER_CONTENT ? ", a file's content, copied from memory"
								    : ", the program's own memory";
	snprintf(ret, size, "%s%s%s", t->buffer_flags & LB_BUFFER_FOREIGN ? foreign : "",
		 t->buffer_flags & LB_BUFFER_MAPPED ? ", mapped" : "",
		 t->buffer_flags & LB_BUFFER_CACHED ? ", cached" : "");
}

static void print_layout(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	static const char *const layouts[] = {
		[LBX_ROW_CONTIGUOUS] = "row-contiguous",
		[LBX_COLUMN_CONTIGUOUS] = "column-contiguous",
		[LBX_STRIDED] = "strided: not contiguous",
	};
	enum lbx_contiguity contiguity = lbx_tensor_contiguity(t);
	char list[LBX_LIST_MAX], bytes[32], flags[64];

	field(form, "strides");
	if (!t->layout_known) {
		lbx_printf(out, "not known before evaluation\n");
		return;
	}
	lbx_format_list(lbx_strides(t), t->rank, list, sizeof list);
	lbx_printf(out, "%s elements, %s\n", list, layouts[contiguity]);
	field(form, "offset");
	lbx_printf(out, "%lld element%s\n", (long long)t->offset, LB_S(t->offset));
	if (t->state != LBX_READY)
		return;
	field(form, "data");
	uint64_t data = lbx_tensor_data(t);
	if (data)
		lbx_styled(out, LBX_ADDRESS, "0x%" PRIx64, data);
	else
		lbx_printf(out, t->size ? "outside its buffer" : "no elements");
	lbx_printf(out, "\n");
	field(form, "buffer");
	if (t->data == 0) {
		lbx_printf(out, "none\n");
	} else {
		lbx_format_bytes(t->buffer_bytes, bytes, sizeof bytes);
		buffer_flags(t, flags, sizeof flags);
		lbx_printf(out, "#%" PRIu64 ", %s at ", t->buffer_id, bytes);
		lbx_styled(out, LBX_ADDRESS, "0x%" PRIx64, t->data);
		lbx_printf(out, ", used by %u tensor%s%s\n", t->buffer_refs, LB_S(t->buffer_refs), flags);
	}
}

/* What of it is not in lbx_json_tensor(). */
static void key_layout(struct lbx_out *out, const struct lbx_tensor *t)
{
	LBX_KEY(out, "in_bounds", t->state == LBX_READY ? json_boolean(lbx_tensor_in_bounds(t)) : json_null());
	LBX_KEY(out, "buffer",
		!t->data ? json_null()
			 : json_pack("{s:I,s:o,s:I,s:i,s:b,s:b,s:b}", "id", (json_int_t)t->buffer_id, "data",
				     lbx_json_address(t->data), "nbytes", (json_int_t)t->buffer_bytes, "tensors",
				     (int)t->buffer_refs, "foreign", !!(t->buffer_flags & LB_BUFFER_FOREIGN), "mapped",
				     !!(t->buffer_flags & LB_BUFFER_MAPPED), "file", is_file(t)));
}

static void print_inputs(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	struct lbx_tensor input;
	char text[LBX_DESCRIPTION_MAX];

	for (uint32_t i = 0; i < t->n_inputs; i++) {
		field(form, i ? "" : "inputs");
		if (i == SHOWN_INPUTS) {
			lbx_printf(out, "… %u more\n", t->n_inputs - i);
			break;
		}
		if (lbx_tensor_input(t, i, &input)) {
			lbx_describe(&input, text, sizeof text);
			lbx_printf(out, "%s\n", text);
			continue;
		}
		uint64_t id = lbx_tensor_input_id(t, i);
		if (id)
			lbx_printf(out, "#%" PRIu64 " (gone)\n", id);
		else
			lbx_printf(out, "unreadable: %s\n", lb_error_message());
		lb_clear_error();
	}
}

static void tell_siblings(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	struct lbx_tensor other;
	char text[LBX_DESCRIPTION_MAX];

	if (!t->of->ops->beside)
		return;
	lbx_begin_list(out, "siblings");
	for (uint32_t i = 0; i < SHOWN_INPUTS && t->of->ops->beside(t->of, t, i, &other); i++) {
		LBX_KEY(out, NULL, json_integer((json_int_t)other.id));
		field(form, i ? "" : "siblings");
		lbx_describe(&other, text, sizeof text);
		lbx_printf(out, "%s\n", text);
	}
	lbx_end(out);
	lb_clear_error();
}

static void tell_stack(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	uint64_t pcs[MAX_FRAMES];
	char text[512];
	int n = lbx_tensor_stack(t, pcs, MAX_FRAMES);

	lbx_begin_list(out, "stack");
	for (int i = 0; i < n; i++) {
		struct lbx_source_line line;
		lbx_begin(out, NULL);
		LBX_KEY(out, "pc", lbx_json_address(pcs[i]));
		if (pcs[i] && lbx_target_source_line(t->of->target, pcs[i] - 1, &line))
			LBX_KEYS(out, json_pack("{s:o,s:o,s:i}", "function", lbx_json_string(line.function), "file",
						lbx_json_string(line.file), "line", line.line));
		field(form, i ? "" : "made by");
		lbx_describe_pc(t->of->target, pcs[i], text, sizeof text);
		lbx_styled(out, LBX_FILE, "%s", text);
		lbx_printf(out, "\n");
		lbx_end(out);
	}
	lbx_end(out);
}

static void print_warnings(const struct form *form, const struct lbx_tensor *t)
{
	if (t->torn)
		warn(form, "torn: the program stopped while it was changing this record; "
			   "its fields may not fit together");
	if (t->size == 0 || !t->layout_known)
		return;
	if (t->state == LBX_READY && !lbx_tensor_in_bounds(t))
		warn(form, "corrupt: its shape, strides and offset reach out of its buffer");
	else if (lbx_tensor_contiguity(t) != LBX_ROW_CONTIGUOUS)
		warn(form, t->of && t->of->strided
			       ? t->of->strided
			       : "its memory does not hold these elements in this order: mind the strides");
}

static void tell_stream(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	bool lazy = t->state == LBX_LAZY;
	const char *what = lazy && t->flags & LB_FLAG_QUEUED   ? "queued on stream"
			   : lazy && t->flags & LB_FLAG_FAILED ? "a job failed to compute it, on stream"
							       : NULL;

	LBX_KEY(out, "stream", json_integer(t->stream));
	LBX_KEY(out, "queued", json_boolean(lazy && t->flags & LB_FLAG_QUEUED));
	if (!what && t->stream == 0)
		return;
	field(form, "stream");
	lbx_printf(out, "%s%s%u\n", what ? what : "", what ? " " : "", t->stream);
}

/* A name alone keeps a value, but not within a fused chain. */
static const char *why_dropped(const struct lbx_tensor *t)
{
	bool may_fuse = t->op_class >= LB_CLASS_UNARY && t->op_class <= LB_CLASS_TERNARY;

	return t->name[0] && may_fuse ? "since a fused chain keeps only what more than a scope holds, whatever its name"
				      : "since only a scope held it";
}

/* A view costs nothing, however often it is made. */
static void tell_computed(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	bool lazy = t->state == LBX_LAZY;

	LBX_KEY(out, "computed", json_integer((json_int_t)t->computed));
	if (t->op_class == LB_CLASS_VIEW || t->computed < (lazy ? 1 : 2))
		return;
	field(form, "computed");
	if (t->computed == 1)
		lbx_printf(out, "once; its value was dropped, %s\n", why_dropped(t));
	else
		lbx_printf(out, "%" PRIu64 " time%s; its value was dropped in between, %s\n", t->computed,
			   LB_S(t->computed), why_dropped(t));
}

static void print_blocks(struct lbx_out *out, const struct lbx_encoding *e)
{
	lbx_printf(out, "blocks of %d elements in %d bytes: %.3g bits each", e->elements, e->bytes,
		   8.0 * e->bytes / e->elements);
	if (e->interleave)
		lbx_printf(out, "; those of %d rows are interleaved (%s)", e->interleave->rows, e->interleave->name);
	lbx_printf(out, "\n");
}

/* How it is stored, where its dtype does not say that. */
static void print_encoding(const struct form *form, const struct lbx_encoding *e)
{
	struct lbx_out *out = form->out;

	if (!e)
		return;
	field(form, "encoding");
	if (!e->n_scales)
		print_blocks(out, e);
	else if (e->axis < 0)
		lbx_printf(out, "%s; a value is (q - %lld) * %.9g\n", lbx_dtype_name(e->stored), (long long)e->zeros[0],
			   e->scales[0]);
	else
		lbx_printf(out, "%s; each index of axis %d has a scale and a zero point\n", lbx_dtype_name(e->stored),
			   e->axis);
}

static void tell_op(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	char expression[LBX_EXPRESSION_MAX];

	LBX_KEYS(out, json_pack("{s:I,s:I,s:b}", "evaluation", (json_int_t)(t->eval & LB_TRACE ? 0 : t->eval),
				"eval_ns", (json_int_t)t->eval_ns, "weak", !!(t->flags & LB_FLAG_WEAK)));
	if (!t->op[0]) /* who made it is not known */
		return;
	field(form, "op");
	lbx_printf(out, "%s", t->op);
	if (t->eval && t->state == LBX_LAZY)
		lbx_printf(out, ", made in trace %" PRIu64, t->eval & ~LB_TRACE);
	else if (t->eval)
		lbx_printf(out, ", %s evaluation %" PRIu64, t->state == LBX_READY ? "computed by" : "claimed by",
			   t->eval);
	if (t->held)
		lbx_printf(out, ", which still holds it for its consumers");
	if (t->eval_ns)
		lbx_printf(out, " in %.3g us", (double)t->eval_ns / 1e3);
	lbx_printf(out, "%s\n", t->flags & LB_FLAG_WEAK ? ", a weak scalar" : "");
	if (t->op_class == LB_CLASS_FUSED) {
		field(form, "computes");
		lbx_printf(out, "%s\n", lbx_expression(t, expression));
	}
}

/* What a replay would take. */
static void tell_pending(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	struct lbx_pending p;
	char text[256];

	if (t->state == LBX_READY)
		return;
	if (!lbx_tensor_is_pending(t)) {
		lbx_describe_state(t, text, sizeof text);
		field(form, "value");
		lbx_printf(out, "none: it %s\n", text);
		return;
	}
	lbx_pending(t, &p);
	lbx_describe_pending(&p, text, sizeof text);
	LBX_KEY(out, "pending",
		json_pack("{s:I,s:I,s:I,s:I,s:b}", "operations", (json_int_t)p.ops, "views", (json_int_t)p.views,
			  "ready", (json_int_t)p.leaves, "lost", (json_int_t)p.lost, "capped", p.capped));
	field(form, "value");
	lbx_printf(out, "none yet: %s\n", text);
}

static void tell_heading(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;
	char type[LBX_TYPE_MAX], bytes[32];

	lbx_describe_type(t, type, sizeof type);
	lbx_format_bytes(lbx_tensor_nbytes(t), bytes, sizeof bytes);
	if (t->name[0])
		lbx_styled(out, LBX_NAME, "%s", t->name);
	else
		lbx_styled(out, LBX_NAME, "#%" PRIu64, t->id);
	lbx_printf(out, ": %s, ", type);
	lbx_styled(out, t->state == LBX_READY ? LBX_PLAIN : LBX_TITLE, "%s", lbx_state_name(lbx_told_state(t)));
	lbx_printf(out, "\n");
	field(form, "id");
	lbx_printf(out, "#%" PRIu64, t->id);
	if (t->address) {
		lbx_printf(out, ", record at ");
		lbx_styled(out, LBX_ADDRESS, "0x%" PRIx64, t->address);
	}
	lbx_printf(out, "\n");
	field(form, "size");
	if (t->is_shapeless)
		lbx_printf(out, "not known\n");
	else
		lbx_printf(out, "%lld element%s, %s\n", (long long)t->size, LB_S(t->size), bytes);
}

static void tell_fact(void *context, const char *name, const char *text)
{
	const struct form *form = context;
	struct lbx_out *out = form->out;

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:s,s:o}", "name", name, "text", lbx_json_string(text)));
	lbx_end(out);
	field(form, name);
	lbx_printf(out, "%s\n", text);
}

/* What those who know its runtime ask for, and what it is for. */
static void tell_facts(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;

	LBX_KEY(out, "usage", lbx_json_text(lbx_usage_name(t->usage)));
	LBX_KEY(out, "memory", lbx_json_text(t->memory));
	if (t->usage) {
		field(form, "usage");
		lbx_printf(out, "%s\n", lbx_usage_name(t->usage));
	}
	lbx_begin_list(out, "facts");
	lbx_tensors_facts(t->of, t, tell_fact, (void *)(uintptr_t)form);
	lbx_end(out);
}

/* Only a runtime that counts them has any. */
static void tell_references(const struct form *form, const struct lbx_tensor *t)
{
	struct lbx_out *out = form->out;

	LBX_KEY(out, "references", json_integer(t->refs));
	LBX_KEY(out, "scope_references", json_integer(t->scope_refs));
	if (t->refs == 0 && t->scope_refs == 0)
		return;
	field(form, "references");
	lbx_printf(out, "%u", t->refs);
	if (t->scope_refs)
		lbx_printf(out, ", %u more of scopes", t->scope_refs);
	lbx_printf(out, "\n");
}

static void tell(struct lbx_out *out, const struct lbx_tensor *t)
{
	struct form form = { .out = out, .column = FIELD };

	lbx_tensors_facts(t->of, t, make_room, &form);
	lbx_begin(out, NULL);
	LBX_KEYS(out, lbx_json_tensor(t));
	tell_heading(&form, t);
	if (!t->is_shapeless) {
		print_encoding(&form, t->encoding);
		print_layout(&form, t);
	}
	key_layout(out, t);
	tell_op(&form, t);
	tell_computed(&form, t);
	print_inputs(&form, t);
	tell_siblings(&form, t);
	tell_stream(&form, t);
	tell_pending(&form, t);
	tell_references(&form, t);
	tell_facts(&form, t);
	tell_stack(&form, t);
	print_warnings(&form, t);
	lbx_end(out);
}

static bool run_info(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_selection s;

	if (!lbx_select(context, args->v[0], &s))
		return false;
	if (s.slice.n)
		return lb_fail("info describes whole tensors: '%s' is a slice", args->v[0]);
	tell(context->out, &s.tensor);
	return lb_ok();
}

const struct lbx_command lbx_command_info = {
	.name = "info",
	.arguments = "T",
	.summary = "show all that is known of a tensor, without evaluating it",
	.help = "Shape, dtype, strides, offset, contiguity, state, operation, inputs, buffer,\n"
		"references and the place that made it.\n" LBX_T_HELP "\n"
		"Example: info q",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS,
	.run = run_info,
};
