/* Expressions: of the program's language, and of tensors, whose values may not exist yet. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lazybones.h"
#include "inspect/formula/formula.h"
#include "serve/route.h"
#include "target/expression.h"

enum { FEW = 16 /* numbers that are told as they are */ };

/* What a tensor is asked for behind a dot. */
static const struct attribute {
	const char *name;
	const char *command, *key; /* which tells it, under which key */
} attributes[] = {
	{ ".shape", "info", "shape" }, { ".dtype", "info", "dtype" },  { ".strides", "info", "strides" },
	{ ".size", "info", "size" },   { ".nbytes", "info", "bytes" }, { ".ndim", "info", "shape" },
	{ ".state", "info", "state" },
};

/* The attribute at the end of the text; NULL: there is none. */
static const struct attribute *attribute_of(const char *text, size_t *n)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		size_t m = strlen(attributes[i].name);
		if (length > m && strcmp(text + length - m, attributes[i].name) == 0) {
			*n = length - m;
			return &attributes[i];
		}
	}
	*n = length;
	return NULL;
}

/* [1, 256, 64], as Python writes it. The caller's. */
static char *text_of(const json_t *value)
{
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
}

static bool is_lazy(const json_t *told)
{
	const char *state = lbx_mi_string(told, "state");

	return strcmp(state, "lazy") == 0 || strcmp(state, "unscheduled") == 0;
}

/* Asks a command about the tensor; where it is lazy, what it would be is computed outside. */
static bool ask(struct lbx_call *call, const char *tensor, const char *command, bool lazy, json_t **ret)
{
	bool is_stats = strcmp(command, "stats") == 0;
	const char *plain[] = { command, tensor, NULL },
		   *peek[] = { "peek", tensor, is_stats ? "--stats" : NULL, NULL };

	return lbx_ask_tensor(call, lazy ? peek : plain, ret);
}

static bool answer_attribute(struct lbx_call *call, const char *tensor, const struct attribute *attribute, json_t *info)
{
	bool of_info = strcmp(attribute->command, "info") == 0, lazy = is_lazy(info);
	json_t *told = of_info ? json_incref(info) : NULL;

	if (!told && !ask(call, tensor, attribute->command, lazy, &told))
		return false;
	json_t *value = json_object_get(told, attribute->key);
	json_t *number = strcmp(attribute->name, ".ndim") == 0 ? json_integer((json_int_t)json_array_size(value))
							       : json_incref(value ? value : json_null());
	char *text = text_of(number);
	bool ok = lbx_answer(call, json_pack("{s:s, s:s, s:s*, s:o, s:b}", "expression",
					     lbx_call_string(call, "expression"), "kind", "attribute", "value", text,
					     "json", number, "computed_outside", lazy && !of_info));
	free(text);
	json_decref(told);
	return ok;
}

/* The shape of what was printed: of a slice, that one's. */
static json_t *shape_of(const json_t *info, const json_t *values)
{
	json_t *shape = json_object_get(values, "slice_shape");

	return shape ? shape : json_object_get(info, "shape");
}

static bool answer_tensor(struct lbx_call *call, const char *tensor, json_t *info)
{
	json_t *values = NULL;
	bool lazy = is_lazy(info);

	if (!ask(call, tensor, "print", lazy, &values))
		return false;
	json_t *told =
	    json_pack("{s:s, s:s, s:b, s:O*, s:O*, s:O, s:o}", "expression", lbx_call_string(call, "expression"),
		      "kind", "tensor", "computed_outside", lazy, "shape", shape_of(info, values), "dtype",
		      json_object_get(info, "dtype"), "tensor", info, "print", values);
	char *shape = text_of(json_object_get(told, "shape"));
	if (told && shape)
		json_object_set_new(told, "value",
				    json_sprintf("%s%s, %s", lbx_mi_string(info, "dtype"), shape,
						 lbx_mi_string(info, "state")));
	free(shape);
	return lbx_answer(call, told);
}

static bool ask_info(struct lbx_call *call, const char *tensor, json_t **ret)
{
	const char *words[] = { "info", tensor, NULL };

	if (lbx_ask_tensor(call, words, ret))
		return true;
	lb_clear_error();
	call->status = 0;
	return false;
}

/* Of T or T[slice], what is told of the whole. */
static bool find_tensor(struct lbx_call *call, const char *text, json_t **ret)
{
	const char *open = strrchr(text, '[');
	lb_auto_free char *whole = open && text[strlen(text) - 1] == ']' ? strndup(text, (size_t)(open - text)) : NULL;

	return ask_info(call, text, ret) || (whole && *whole && ask_info(call, whole, ret));
}

/* False, without an error: it is no tensor's. */
static bool try_tensor(struct lbx_call *call, const char *expression)
{
	size_t n;
	const struct attribute *attribute = attribute_of(expression, &n);
	lb_auto_free char *tensor = strndup(expression, n);
	json_t *info = NULL;

	if (!tensor || lbx_session_state(call->session) != LBX_PAUSED || *tensor == '-')
		return false;
	if (!find_tensor(call, tensor, &info))
		return false;
	if (attribute)
		answer_attribute(call, tensor, attribute, info);
	else
		answer_tensor(call, tensor, info);
	json_decref(info);
	return true;
}

/* What is computed of tensors: abs(q - k.T).max(). False, without an error: it is not, and *why tells, which is the
 * caller's. */
static bool try_formula(struct lbx_call *call, const char *expression, char **why)
{
	const char *words[] = { "print", expression, NULL };
	json_t *printed = NULL;

	if (lbx_session_state(call->session) != LBX_PAUSED)
		return false;
	if (!lbx_ask_tensor(call, words, &printed)) {
		*why = strdup(lb_error_message());
		lb_clear_error();
		call->status = 0;
		return false;
	}
	json_t *shape = json_object_get(printed, "shape"), *values = json_object_get(printed, "values");
	/* a number, or a few of them, as a shape has */
	bool is_short = json_array_size(shape) < 2 && json_array_size(values) <= FEW;
	lb_auto_free char *text = text_of(is_short ? values : shape);
	json_t *told = json_pack("{s:s, s:s, s:b, s:O*, s:O*, s:O}", "expression", expression, "kind", "tensor",
				 "computed_outside", true, "shape", shape, "dtype", json_object_get(printed, "dtype"),
				 "print", printed);
	if (told && text)
		json_object_set_new(told, "value",
				    is_short ? json_string(text)
					     : json_sprintf("%s%s, computed", lbx_mi_string(printed, "dtype"), text));
	json_decref(printed);
	return lbx_answer(call, told);
}

static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n >= m && strncmp(text + n - m, end, m) == 0;
}

/* Whether that is a pointer to a tensor by its type. */
static bool is_handle(struct lbx_call *call, const char *place)
{
	struct lbx_gdb_answer answer;
	lb_auto_free char *line = NULL;

	if (asprintf(&line, "whatis %s", place) < 0 ||
	    !lbx_gdb_console(lbx_session_gdb(call->session), lbx_call_patience(call), &answer, line)) {
		lb_clear_error();
		return false;
	}
	size_t n = strcspn(answer.console, "\n");
	bool ret = ends_with(answer.console, n, "lb_tensor *") || ends_with(answer.console, n, "ggml_tensor *") ||
		   ends_with(answer.console, n, "_tensor *const");
	lbx_gdb_answer_release(&answer);
	return ret;
}

/* One more step of a place in C, .name, ->name or [number]; at the beginning its name. 0: it goes no further. */
static size_t step_of_place(const char *text, bool is_first)
{
	size_t before = is_first ? 0 : *text == '.' ? 1 : strncmp(text, "->", 2) == 0 ? 2 : 0, n;

	if (is_first || before)
		return (n = strspn(text + before, LBX_WORD)) > 0 ? before + n : 0;
	n = *text == '[' ? strcspn(text, "]") : 0;
	return n > 0 && text[n] ? n + 1 : 0;
}

/* What compares a pointer, assigns it or reads its members is C's. */
static bool is_of_c(const char *rest)
{
	rest += strspn(rest, " \t");
	return !*rest || strchr("!?,)&|<>", *rest) || strncmp(rest, "->", 2) == 0 || rest[strcspn(rest, "=")];
}

/* Fails where the expression is about a pointer to a tensor that is NULL, freed or wild, l[1].w + 1, which C would take for an
 * array, or for a number. */
static bool check_handle(struct lbx_call *call, const char *expression)
{
	if (lbx_session_state(call->session) != LBX_PAUSED)
		return true;
	for (size_t n = 0, step; (step = step_of_place(expression + n, n == 0)) > 0;) {
		n += step;
		lb_auto_free char *place = strndup(expression, n);
		const char *words[] = { "info", place, NULL };
		json_t *info = NULL;
		if (!place || is_of_c(expression + n) || !is_handle(call, place))
			continue;
		bool ok = lbx_ask_tensor(call, words, &info);
		json_decref(info);
		return ok;
	}
	return true;
}

static bool run_evaluate(struct lbx_call *call)
{
	const char *expression = lbx_call_string(call, "expression");
	struct lbx_gdb_answer answer;

	if (strpbrk(expression, "\n\r") || !*expression)
		return lbx_refuse(call, 400, "expression: one line is needed");
	enum lbx_formula_sort sort = lbx_formula_sort(expression);
	lb_auto_free char *why = NULL;
	lb_clear_error(); /* of its syntax: it may be C's */
	if ((sort == LBX_FORMULA_IS_ONE && try_formula(call, expression, &why)) ||
	    (sort != LBX_FORMULA_IS_ONE && try_tensor(call, expression)) ||
	    (sort == LBX_FORMULA_IS_LOOKUP && try_formula(call, expression, &why)))
		return lb_ok();
	if (!check_handle(call, expression))
		return false;
	lb_auto_free char *word = lbx_gdb_quote(expression), *command = NULL;
	if (!word || asprintf(&command, "-data-evaluate-expression %s", word) < 0)
		return lb_fail("out of memory");
	bool is_known = lbx_call_ask(call, &answer, command);
	lbx_session_doubt(call->session); /* it may have assigned */
	if (!is_known) {
		if (why && sort == LBX_FORMULA_IS_ONE) { /* C knows nothing of tensors */
			lb_clear_error();
			lb_fail("%s", why);
		}
		call->status = 422;
		return false;
	}
	json_t *told = json_pack("{s:s, s:s, s:O}", "expression", expression, "kind", "value", "value",
				 json_object_get(answer.results, "value"));
	lbx_gdb_answer_release(&answer);
	return lbx_answer(call, told);
}

const struct lbx_route lbx_route_evaluate = {
	.method = "POST",
	.path = "/debug/evaluate",
	.tool = "evaluate",
	.summary = "evaluate an expression, of tensors or of the program's language",
	.help = "Tensors come first: latents, latents[0,:4], latents.shape, latents.dtype, abs(latents - x0).max(), in NumPy's\n"
		"words. What is lazy, or an expression, is computed outside the program, and the answer says so\n"
		"(\"computed_outside\").",
	.needs = LBX_WITH_GDB,
	.params = {
		{ "expression", LBX_STRING, true, "one line" },
		{ "timeout", LBX_NUMBER, false, "seconds that it may take (60)" },
	},
	.run = run_evaluate,
};
