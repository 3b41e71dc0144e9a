#include "inspect/tensor/describe.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/expression.h"
#include "inspect/tensor/format.h"

enum { JSON_INPUTS = 4096 };

uint64_t lbx_tensor_data(const struct lbx_tensor *t)
{
	struct lbx_encoding e = lbx_tensor_encoding(t);

	if (t->state != LBX_READY || !lbx_tensor_in_bounds(t) || t->data == 0)
		return 0;
	/* without elements the offset may be anything */
	return t->data + (t->size ? (uint64_t)lbx_encoding_at(&e, t->offset) : 0);
}

const char *lbx_contiguity_name(enum lbx_contiguity contiguity)
{
	static const char *const names[] = {
		[LBX_ROW_CONTIGUOUS] = "row",
		[LBX_COLUMN_CONTIGUOUS] = "column",
		[LBX_STRIDED] = "strided",
	};
	return names[contiguity];
}

static json_t *inputs(const struct lbx_tensor *t)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < t->n_inputs && i < JSON_INPUTS; i++) {
		uint64_t id = lbx_tensor_input_id(t, i);
		json_array_append_new(list, id ? json_integer((json_int_t)id) : json_null());
	}
	return list;
}

/* How it is stored, where its dtype does not say that. */
static json_t *encoding(const struct lbx_encoding *e)
{
	if (!e->n_scales)
		return json_pack("{s:i,s:i,s:s*}", "block_elements", e->elements, "block_bytes", e->bytes,
				 "interleaved", e->interleave ? e->interleave->name : NULL);
	json_t *o = json_pack("{s:s}", "stored", lbx_dtype_name(e->stored));
	if (e->axis < 0) {
		json_object_set_new(o, "scale", lbx_json_double(e->scales[0]));
		json_object_set_new(o, "zero_point", json_integer(e->zeros[0]));
	} else {
		json_object_set_new(o, "axis", json_integer(e->axis));
	}
	return o;
}

void lbx_describe_type(const struct lbx_tensor *t, char *ret, size_t size)
{
	char shape[LBX_LIST_MAX];

	if (t->is_shapeless) {
		snprintf(ret, size, "of unknown shape");
		return;
	}
	lbx_format_list(lbx_shape(t), t->rank, shape, sizeof shape);
	snprintf(ret, size, "%s %s", lbx_tensor_dtype_name(t), shape);
}

json_t *lbx_json_tensor(const struct lbx_tensor *t)
{
	bool known = t->layout_known;
	json_t *o = json_object();
	char expression[LBX_EXPRESSION_MAX];
	enum lbx_contiguity contiguity = lbx_tensor_contiguity(t);

	json_object_set_new(o, "id", t->id ? json_integer((json_int_t)t->id) : json_null());
	json_object_set_new(o, "name", t->name[0] ? lbx_json_string(t->name) : json_null());
	json_object_set_new(o, "dtype", t->is_shapeless ? json_null() : json_string(lbx_tensor_dtype_name(t)));
	if (t->encoding && !t->is_shapeless)
		json_object_set_new(o, "encoding", encoding(t->encoding));
	json_object_set_new(o, "shape", t->is_shapeless ? json_null() : lbx_json_list(lbx_shape(t), t->rank));
	json_object_set_new(o, "strides", known ? lbx_json_list(lbx_strides(t), t->rank) : json_null());
	json_object_set_new(o, "offset", known ? json_integer(t->offset) : json_null());
	json_object_set_new(o, "contiguous", known ? json_boolean(contiguity == LBX_ROW_CONTIGUOUS) : json_null());
	json_object_set_new(o, "layout", known ? json_string(lbx_contiguity_name(contiguity)) : json_null());
	json_object_set_new(o, "state", json_string(lbx_state_name(lbx_told_state(t))));
	json_object_set_new(o, "op", lbx_json_string(t->op));
	if (t->op_class == LB_CLASS_FUSED)
		json_object_set_new(o, "computes", lbx_json_string(lbx_expression(t, expression)));
	json_object_set_new(o, "inputs", inputs(t));
	json_object_set_new(o, "size", lbx_json_int_if(!t->is_shapeless, t->size));
	json_object_set_new(o, "nbytes", lbx_json_int_if(!t->is_shapeless, lbx_tensor_nbytes(t)));
	json_object_set_new(o, "data", t->local ? json_null() : lbx_json_address(lbx_tensor_data(t)));
	json_object_set_new(o, "record", lbx_json_address(t->address));
	json_object_set_new(o, "provider", t->of ? json_string(t->of->provider) : json_null());
	if (t->torn)
		json_object_set_new(o, "torn", json_true());
	if (t->is_unproven)
		json_object_set_new(o, "unproven", json_true());
	return o;
}

void lbx_describe(const struct lbx_tensor *t, char *ret, size_t size)
{
	char type[LBX_TYPE_MAX], number[LBX_ID_TEXT_MAX];
	const char *state = lbx_state_name(lbx_told_state(t));

	lbx_tensor_id_text(t, number);
	lbx_describe_type(t, type, sizeof type);
	if (t->name[0])
		snprintf(ret, size, "%s (%s, %s, %s)", t->name, number, type, state);
	else
		snprintf(ret, size, "%s (%s, %s)", number, type, state);
}

void lbx_describe_pc(struct lbx_target *target, uint64_t pc, char *ret, size_t size)
{
	struct lbx_source_line line;

	/* the call, not what follows it: that may be another line */
	if (pc == 0)
		snprintf(ret, size, "an unknown place");
	else if (!lbx_target_source_line(target, pc - 1, &line) || (!line.function[0] && !line.file[0]))
		snprintf(ret, size, "0x%llx", (unsigned long long)pc);
	else if (!line.file[0])
		snprintf(ret, size, "%s (0x%llx)", line.function, (unsigned long long)pc);
	else
		snprintf(ret, size, "%s%s%s:%d", line.function, line.function[0] ? " at " : "", line.file, line.line);
}
