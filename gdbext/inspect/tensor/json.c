#include "inspect/tensor/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "inspect/answer.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/expression.h"

enum { JSON_INPUTS = 4096 };

/* ---- parts of a text ---- */

static void put(struct lbx_tensor_text *text, const char *bytes, size_t n)
{
	if (!lb_reserve(text->bytes, text->room, text->n + n)) {
		text->is_short = true;
		return;
	}
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
}

static void put_word(struct lbx_tensor_text *text, const char *word)
{
	put(text, word, strlen(word));
}

/* printf() would be half of all the time. */
static void put_number(struct lbx_tensor_text *text, uint64_t value, unsigned base)
{
	char digits[20];
	size_t n = sizeof digits;

	do {
		digits[--n] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	put(text, digits + n, sizeof digits - n);
}

static void put_int(struct lbx_tensor_text *text, int64_t value)
{
	if (value < 0)
		put(text, "-", 1);
	put_number(text, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

static void put_value(struct lbx_tensor_text *text, json_t *value)
{
	lb_auto_free char *dumped = lbx_json_dump(value);

	if (dumped)
		put_word(text, dumped);
	else
		text->is_short = true;
}

/* Most have nothing to escape. */
static void put_string(struct lbx_tensor_text *text, const char *string)
{
	size_t n = 0;

	while (string[n] >= ' ' && string[n] < 0x7f && string[n] != '"' && string[n] != '\\')
		n++;
	if (string[n]) {
		put_value(text, lbx_json_string(string));
		return;
	}
	put(text, "\"", 1);
	put(text, string, n);
	put(text, "\"", 1);
}

static void put_list(struct lbx_tensor_text *text, const int64_t *values, int n)
{
	put(text, "[", 1);
	for (int i = 0; i < n; i++) {
		if (i)
			put(text, ",", 1);
		put_int(text, values[i]);
	}
	put(text, "]", 1);
}

/* ---- members ---- */

static void key(struct lbx_tensor_text *text, const char *name)
{
	put(text, text->n == 1 ? "\"" : ",\"", text->n == 1 ? 1 : 2);
	put_word(text, name);
	put(text, "\":", 2);
}

static void tell_string(struct lbx_tensor_text *text, const char *name, const char *value)
{
	key(text, name);
	if (value)
		put_string(text, value);
	else
		put_word(text, "null");
}

static void tell_int(struct lbx_tensor_text *text, const char *name, bool is_known, int64_t value)
{
	key(text, name);
	if (is_known)
		put_int(text, value);
	else
		put_word(text, "null");
}

static void tell_list(struct lbx_tensor_text *text, const char *name, bool is_known, const int64_t *values, int n)
{
	key(text, name);
	if (is_known)
		put_list(text, values, n);
	else
		put_word(text, "null");
}

static void tell_address(struct lbx_tensor_text *text, const char *name, uint64_t address)
{
	key(text, name);
	put_word(text, address ? "\"0x" : "null");
	if (!address)
		return;
	put_number(text, address, 16);
	put(text, "\"", 1);
}

static void tell_inputs(struct lbx_tensor_text *text, const struct lbx_tensor *t)
{
	key(text, "inputs");
	put(text, "[", 1);
	for (uint32_t i = 0; i < t->n_inputs && i < JSON_INPUTS; i++) {
		uint64_t id = lbx_tensor_input_id(t, i);
		if (i)
			put(text, ",", 1);
		if (id)
			put_int(text, (int64_t)id);
		else
			put_word(text, "null");
	}
	put(text, "]", 1);
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

static void tell_kind(struct lbx_tensor_text *text, const struct lbx_tensor *t)
{
	bool has_shape = !t->is_shapeless;

	tell_string(text, "dtype", has_shape ? lbx_tensor_dtype_name(t) : NULL);
	if (t->encoding && has_shape) {
		key(text, "encoding");
		put_value(text, encoding(t->encoding));
	}
	tell_list(text, "shape", has_shape, lbx_shape(t), t->rank);
}

static void tell_layout(struct lbx_tensor_text *text, const struct lbx_tensor *t)
{
	bool is_known = t->layout_known;
	enum lbx_contiguity contiguity = lbx_tensor_contiguity(t);

	tell_list(text, "strides", is_known, lbx_strides(t), t->rank);
	tell_int(text, "offset", is_known, t->offset);
	key(text, "contiguous");
	put_word(text, !is_known ? "null" : contiguity == LBX_ROW_CONTIGUOUS ? "true" : "false");
	tell_string(text, "layout", is_known ? lbx_contiguity_name(contiguity) : NULL);
}

static void tell_operation(struct lbx_tensor_text *text, const struct lbx_tensor *t)
{
	char expression[LBX_EXPRESSION_MAX];

	tell_string(text, "op", t->op);
	if (t->op_class == LB_CLASS_FUSED)
		tell_string(text, "computes", lbx_expression(t, expression));
	tell_inputs(text, t);
}

bool lbx_tensor_text(const struct lbx_tensor *t, struct lbx_tensor_text *ret)
{
	ret->n = 0;
	ret->is_short = false;
	put(ret, "{", 1);
	tell_int(ret, "id", t->id, (int64_t)t->id);
	tell_string(ret, "name", t->name[0] ? t->name : NULL);
	tell_kind(ret, t);
	tell_layout(ret, t);
	tell_string(ret, "state", lbx_state_name(lbx_told_state(t)));
	tell_operation(ret, t);
	tell_int(ret, "size", !t->is_shapeless, (int64_t)t->size);
	tell_int(ret, "nbytes", !t->is_shapeless, lbx_tensor_nbytes(t));
	tell_address(ret, "data", t->local ? 0 : lbx_tensor_data(t));
	tell_address(ret, "record", t->address);
	tell_string(ret, "provider", t->of ? t->of->provider : NULL);
	if (t->torn)
		put_word(ret, ",\"torn\":true");
	if (t->is_unproven)
		put_word(ret, ",\"unproven\":true");
	put(ret, "}", 1);
	return !ret->is_short;
}

json_t *lbx_json_tensor(const struct lbx_tensor *t)
{
	struct lbx_tensor_text text = { 0 };
	json_t *ret = lbx_tensor_text(t, &text) ? json_loadb(text.bytes, text.n, 0, NULL) : NULL;

	free(text.bytes);
	return ret;
}
