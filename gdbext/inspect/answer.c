#include "inspect/answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/figures.h"
#include "inspect/reals.h"
#include "target/printable.h"

/* ---- writing ---- */

static void put(struct lbx_out *out, const char *text, size_t n)
{
	out->write(out, text, n);
}

static bool is_printable(const char *text)
{
	int n;

	do { /* most are ASCII, and are seen at once */
		while (*text >= ' ' && *text < 0x7f)
			text++;
		n = lbx_printable(text);
		text += n;
	} while (n);
	return !*text;
}

char *lbx_json_dumps(const json_t *value, size_t flags)
{
	/* digits that jansson 2.15 would leave out, and those before would not */
	char *text = json_dumps(value, flags | JSON_REAL_PRECISION(17));

	if (text)
		lbx_shorten_reals(text);
	return text;
}

/* What is not printable is escaped, and with it, for jansson knows no middle way, all that is not ASCII. */
static char *dump(const json_t *value)
{
	const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
	char *text = lbx_json_dumps(value, flags);

	if (text && !is_printable(text)) {
		free(text);
		text = lbx_json_dumps(value, flags | JSON_ENSURE_ASCII);
		if (text)
			lbx_make_printable(text); /* DEL */
	}
	return text;
}

char *lbx_json_dump(json_t *value)
{
	char *text = value ? dump(value) : NULL;

	json_decref(value);
	return text;
}

void lbx_json_write(struct lbx_out *out, json_t *value)
{
	lb_auto_free char *text = lbx_json_dump(value);

	/* in one piece: a front end's write may cost more than the text */
	if (text)
		put(out, text, strlen(text));
	else
		lb_fail("out of memory for JSON");
}

/* ---- what is open ---- */

static struct lbx_open *top(struct lbx_out *out)
{
	return &out->open[out->depth - 1];
}

/* What stands before the next member of what has been written so far. */
static void separate(struct lbx_out *out, struct lbx_open *in, const char *key, bool own_line)
{
	if (in->has_members)
		put(out, ",", 1);
	in->has_members = true;
	if (own_line || in->has_lines)
		put(out, "\n", 1);
	in->has_lines = false;
	if (!in->is_list && key) {
		lbx_json_write(out, json_string(key));
		put(out, ":", 1);
	}
}

void lbx_answer_add(struct lbx_out *out, const char *key, json_t *value)
{
	if (!value)
		out->is_short = true;
	if (!value || out->too_deep || out->depth == 0) {
		json_decref(value);
		return;
	}
	struct lbx_open *in = top(out);
	if (in->is_written) {
		separate(out, in, key, in->is_list && json_is_object(value));
		if (in->is_list)
			in->has_lines = json_is_object(value);
		lbx_json_write(out, value);
	} else {
		int failed =
		    in->is_list ? json_array_append_new(in->value, value) : json_object_set_new(in->value, key, value);
		out->is_short |= failed != 0;
	}
}

void lbx_answer_add_object(struct lbx_out *out, const char *text, size_t n)
{
	struct lbx_open *in = out->too_deep || out->depth == 0 ? NULL : top(out);

	if (!in || !in->is_written) {
		lbx_answer_add(out, NULL, json_loadb(text, n, 0, NULL));
		return;
	}
	separate(out, in, NULL, true);
	in->has_lines = true;
	put(out, text, n);
}

void lbx_answer_merge(struct lbx_out *out, json_t *object)
{
	const char *key;
	json_t *value;

	if (!object)
		out->is_short = true;
	json_object_foreach(object, key, value) lbx_answer_add(out, key, json_incref(value));
	json_decref(object);
}

static void open_one(struct lbx_out *out, const char *key, bool is_list)
{
	if (!out->json)
		return;
	if (out->depth == LBX_OPEN_MAX) { /* no caller's */
		out->too_deep++;
		return;
	}
	out->open[out->depth++] = (struct lbx_open){
		.value = is_list ? json_array() : json_object(),
		.key = key,
		.is_list = is_list,
	};
	out->is_short |= !top(out)->value;
}

void lbx_begin(struct lbx_out *out, const char *key)
{
	open_one(out, key, false);
}

void lbx_begin_list(struct lbx_out *out, const char *key)
{
	open_one(out, key, true);
}

/* Its bracket and the members that it has; more may follow. */
static void write_open(struct lbx_out *out, struct lbx_open *in)
{
	char *text = in->value ? dump(in->value) : NULL;
	size_t n = text ? strlen(text) : 0;

	if (n)
		put(out, text, n - 1);
	else
		put(out, in->is_list ? "[" : "{", 1), out->is_short = true;
	in->is_written = true;
	in->has_members = n > 2;
	json_decref(in->value);
	in->value = NULL;
	free(text);
}

void lbx_begin_long(struct lbx_out *out, const char *key)
{
	open_one(out, key, true);
	for (int i = 0; i < out->depth; i++) {
		if (out->open[i].is_written)
			continue;
		if (i)
			separate(out, &out->open[i - 1], out->open[i].key, false);
		write_open(out, &out->open[i]);
	}
}

static void end_written(struct lbx_out *out, const struct lbx_open *in)
{
	put(out, in->is_list ? "]" : "}", 1);
	if (out->depth)
		top(out)->has_lines = in->is_list && in->has_lines;
}

void lbx_end(struct lbx_out *out)
{
	if (!out->json || out->depth == 0)
		return;
	if (out->too_deep) {
		out->too_deep--;
		return;
	}
	if (out->depth == 1 && out->chosen && !top(out)->is_list)
		lbx_answer_add(out, "chosen", json_incref(out->chosen));
	struct lbx_open last = *top(out);
	out->depth--;
	if (last.is_written)
		end_written(out, &last);
	else if (out->depth)
		lbx_answer_add(out, last.key, last.value);
	else if (!out->is_short)
		lbx_json_write(out, last.value);
	else
		json_decref(last.value);
	if (out->depth == 0) {
		if (out->is_short)
			lb_fail("out of memory for JSON");
		else
			put(out, "\n", 1);
		out->is_short = false;
	}
}

void lbx_tell_chosen(struct lbx_out *out)
{
	json_t *one;
	size_t i;

	json_array_foreach(out->chosen, i, one)
	{
		long long n = json_integer_value(json_object_get(one, "nth"));

		lbx_wrap(out, 0, 4);
		lbx_styled(out, LBX_DIM, "%lld tensors are '%s': #%lld is meant, %s",
			   (long long)json_integer_value(json_object_get(one, "of")),
			   json_string_value(json_object_get(one, "name")),
			   (long long)json_integer_value(json_object_get(one, "id")),
			   json_string_value(json_object_get(one, "why")));
		if (n)
			lbx_styled(out, LBX_DIM, " (%s@%lld)", json_string_value(json_object_get(one, "name")), n);
		lbx_printf(out, "\n");
	}
	lbx_forget_chosen(out);
}

void lbx_forget_chosen(struct lbx_out *out)
{
	json_decref(out->chosen);
	out->chosen = NULL;
}

bool lbx_abandon(struct lbx_out *out, const char *error)
{
	bool written = out->depth && out->open[0].is_written, told = false;

	lbx_forget_chosen(out);
	out->too_deep = 0;
	while (out->depth > 0) {
		struct lbx_open *in = top(out);
		if (out->depth == 1 && written && !in->is_list && error) {
			lbx_answer_add(out, "error", lbx_json_string(error));
			told = true;
		}
		if (in->is_written)
			put(out, in->is_list ? "]" : "}", 1);
		json_decref(in->value);
		out->depth--;
	}
	if (written)
		put(out, "\n", 1);
	out->is_short = false;
	return told;
}

/* ---- text with keys ---- */

static void print_value(struct lbx_out *out, const struct lbx_keyed *v)
{
	char text[LBX_LIST_MAX];

	switch (v->kind) {
	case LBX_IS_INT: snprintf(text, sizeof text, "%lld", (long long)v->n); break;
	case LBX_IS_UINT: snprintf(text, sizeof text, "%llu", (unsigned long long)v->n); break;
	case LBX_IS_COUNT: snprintf(text, sizeof text, "%lld %s%s", (long long)v->n, v->text, LB_S(v->n)); break;
	case LBX_IS_SIZE: lbx_format_bytes(v->n, text, sizeof text); break;
	case LBX_IS_HEX: snprintf(text, sizeof text, "0x%llx", (unsigned long long)v->n); break;
	case LBX_IS_REAL: snprintf(text, sizeof text, v->text, v->real); break;
	case LBX_IS_LIST: lbx_format_list(v->list, (int)v->n, text, sizeof text); break;
	case LBX_IS_TEXT: lbx_styled(out, v->style, "%s", v->text ? v->text : ""); return;
	}
	lbx_styled(out, v->style, "%s", text);
}

static json_t *json_value(const struct lbx_keyed *v)
{
	switch (v->kind) {
	case LBX_IS_HEX: return lbx_json_address((uint64_t)v->n);
	case LBX_IS_REAL: return lbx_json_double(v->real);
	case LBX_IS_LIST: return lbx_json_list(v->list, (int)v->n);
	case LBX_IS_TEXT: return v->text ? lbx_json_string(v->text) : json_null();
	default: return json_integer(v->n);
	}
}

static void tell_value(struct lbx_out *out, const struct lbx_keyed *v)
{
	if (out->json)
		lbx_answer_add(out, v->key, json_value(v));
	else
		print_value(out, v);
}

/* One of printf's directives, copied. */
struct directive {
	char text[32];
	int stars;
	char length, type; /* length: 'l', 'L' (of a double), 'q' (long long), 'z', 'j', 't', or 0: int */
};

static const char *take(const char *from, struct directive *ret)
{
	size_t n = 1;

	*ret = (struct directive){ .text = "%" };
	for (; n < sizeof ret->text - 2 && from[n] && strchr("-+ #0123456789.*hlLqjzt", from[n]); n++) {
		ret->stars += from[n] == '*';
		if (strchr("lLjzt", from[n]))
			ret->length = from[n] == 'l' && ret->length == 'l' ? 'q' : from[n];
		ret->text[n] = from[n];
	}
	ret->type = ret->text[n] = from[n];
	return from[n] ? from + n + 1 : from + n;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* Its argument, and those of its stars, taken from `args`: each has been checked against the whole format. */
static void print_directive(struct lbx_out *out, const struct directive *d, va_list *args)
{
	int star[2] = { 0 };

	for (int i = 0; i < d->stars && i < 2; i++)
		star[i] = va_arg(*args, int);
#define PRINT(type) \
	do { \
		type value = va_arg(*args, type); \
		if (d->stars == 0) \
			lbx_printf(out, d->text, value); \
		else if (d->stars == 1) \
			lbx_printf(out, d->text, star[0], value); \
		else \
			lbx_printf(out, d->text, star[0], star[1], value); \
	} while (0)
	switch (d->type) {
	case '%': lbx_printf(out, "%%"); return;
	case 's': PRINT(const char *); return;
	case 'p': PRINT(void *); return;
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		if (d->length == 'L')
			PRINT(long double);
		else
			PRINT(double);
		return;
	default: break; /* c d i o u x X */
	}
	switch (d->length) {
	case 'l': PRINT(long); return;
	case 'q': PRINT(long long); return;
	case 'j': PRINT(intmax_t); return;
	case 't': PRINT(ptrdiff_t); return;
	case 'z': PRINT(size_t); return;
	default: PRINT(int); return; /* with h and hh, too */
	}
#undef PRINT
}
#pragma GCC diagnostic pop

void lbx_tell(struct lbx_out *out, const char *format, ...)
{
	struct directive d;
	va_list args;

	va_start(args, format);
	while (*format) {
		size_t n = strcspn(format, "%");
		if (n)
			lbx_printf(out, "%.*s", (int)n, format);
		format += n;
		if (!*format)
			break;
		format = take(format, &d);
		if (d.type == 'p' && *format == 'F') {
			tell_value(out, va_arg(args, const struct lbx_keyed *));
			format++;
		} else {
			print_directive(out, &d, &args);
		}
	}
	va_end(args);
}

/* ---- values ---- */

json_t *lbx_json_double(double value)
{
	if (isnan(value))
		return json_string("NaN");
	if (isinf(value))
		return json_string(value < 0 ? "-Infinity" : "Infinity");
	return json_real(value);
}

json_t *lbx_json_address(uint64_t address)
{
	return address ? json_sprintf("0x%llx", (unsigned long long)address) : json_null();
}

json_t *lbx_json_int_if(bool is, int64_t value)
{
	return is ? json_integer(value) : json_null();
}

json_t *lbx_json_list(const int64_t *values, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_integer(values[i]));
	return list;
}

/* jansson refuses what is not UTF-8; names come from anywhere. Bytes that are none become "?". */
json_t *lbx_json_string(const char *text)
{
	json_t *s = text ? json_string(text) : json_null();
	lb_auto_free char *safe = s ? NULL : strdup(text);

	for (char *at = safe; at && *at;) {
		int n = lbx_printable(at);
		if (n == 0 && (unsigned char)*at >= 0x80)
			*at = '?';
		at += n ? n : 1;
	}
	return safe ? json_string(safe) : s;
}

json_t *lbx_json_text(const char *text)
{
	return text && *text ? lbx_json_string(text) : json_null();
}
