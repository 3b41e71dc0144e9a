#include "inspect/operand/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/json.h"
#include "target/effect.h"
#include "target/expression.h"
#include "target/stacks.h"

enum { NAMED = 6 };
#define LOOKED " as far as was looked: it is too large to be looked through, so name a member"

bool lbx_is_path(const char *text)
{
	bool is_way;

	return lbx_expression_read(text, &is_way) && is_way;
}

bool lbx_may_call(const char *text)
{
	bool is_way;

	return lbx_expression_read(text, &is_way) && strpbrk(text, "[*>(");
}

/* ---- what is in it ---- */

struct look {
	struct lbx_tensors *tensors;
	struct lbx_object_view *view;
};

static bool take_pointer(void *context, const struct lbx_pointer *pointer)
{
	struct look *look = context;
	struct lbx_object_view *view = look->view;
	struct lbx_tensor t;

	if (!lbx_tensors_by_address(look->tensors, pointer->value, &t)) {
		lb_clear_error();
		return true;
	}
	if (view->n == LBX_OBJECT_SHOWN) {
		view->more = true;
		return false;
	}
	struct lbx_held *held = &view->held[view->n++];
	snprintf(held->expression, sizeof held->expression, "%s", pointer->expression);
	held->tensor = t;
	return true;
}

static void take_value(struct look *look, const char *expression, uint64_t value)
{
	struct lbx_pointer pointer = { .value = value };

	snprintf(pointer.expression, sizeof pointer.expression, "%s", expression);
	take_pointer(look, &pointer);
}

bool lbx_object_look(struct lbx_context *context, const char *expression, struct lbx_object_view *ret)
{
	const struct lbx_stacks_ops *ops = context->stacks ? context->stacks->ops : NULL;
	struct look look = { .view = ret };
	struct lbx_evaluated value;

	ret->n = 0;
	ret->more = ret->is_null = ret->is_cut = ret->is_doubtful = false;
	ret->why[0] = '\0';
	if (!ops || !ops->evaluate || !ops->within || !lb_ok() || !lbx_context_tensors(context, &look.tensors))
		return false;
	bool found = ops->evaluate(context->stacks, expression, &value);
	snprintf(ret->why, sizeof ret->why, "%s", value.why);
	ret->is_doubtful = value.lacks_member;
	if (!found)
		return false;
	/* `*t` is the record itself; of a pointer to it t[3] is something else */
	if (value.is_object && (*expression == '*' || !strchr(expression, '[')))
		take_value(&look, expression, value.value);
	if (value.is_object && ret->n == 0) {
		ops->within(context->stacks, expression, take_pointer, &look, &ret->is_cut);
	} else if (!value.is_object) {
		ret->is_null = value.value == 0 && !value.is_number;
		take_value(&look, expression, value.value);
		if (ret->n == 0 && value.value)
			ops->within(context->stacks, expression, take_pointer, &look, &ret->is_cut);
	}
	/* what a debugger would call the program for, it is not asked */
	if (ret->n == 0 && value.is_number) {
		snprintf(ret->why, sizeof ret->why, "it is a number");
		ret->is_doubtful = true;
	}
	bool is_known = value.is_object || ret->is_cut || (value.value && lbx_effect_of(expression) == LBX_CALLS);
	if (is_known && ret->n == 0 && !ret->why[0])
		snprintf(ret->why, sizeof ret->why, "'%.*s' has no tensor in it%s", LBX_VARIABLE_MAX, expression,
			 ret->is_cut ? LOOKED : "");
	return true;
}

/* The expression without its beginning, where that is the whole's: "[0]->weight". */
static const char *short_of(const char *whole, const char *expression)
{
	size_t n = strlen(whole);

	if (strcmp(whole, expression) == 0)
		return "";
	/* (*p).w */
	if (*whole == '*' && *expression == '(' && strncmp(whole, expression + 1, n) == 0 && expression[n + 1] == ')')
		return expression + n + 2;
	return strncmp(whole, expression, n) == 0 && strchr(".[-", expression[n]) && expression[n] ? expression + n
												   : expression;
}

bool lbx_object_is_one(const char *expression, const struct lbx_object_view *view)
{
	return view->n == 1 && !view->more && !view->is_cut &&
	       !strpbrk(short_of(expression, view->held[0].expression), "[<");
}

bool lbx_fail_object(const char *expression, const struct lbx_object_view *view)
{
	char which[NAMED * (LBX_VARIABLE_MAX + LB_NAME_MAX + 8)];
	size_t used = 0;

	for (int i = 0; i < view->n && i < NAMED && used < sizeof which; i++)
		used += (size_t)snprintf(which + used, sizeof which - used, "%s%s", i ? ", " : "",
					 view->held[i].expression);
	return lb_fail("'%s' has %s%d tensor%s in it: say which, as %s%s", expression,
		       view->more     ? "more than "
		       : view->is_cut ? "at least "
				      : "",
		       view->n, LB_S(view->n), which, view->n > NAMED ? ", …" : "");
}

static void tell(struct lbx_out *out, const char *expression, const struct lbx_object_view *view)
{
	char label[LBX_DESCRIPTION_MAX];

	lbx_begin(out, NULL);
	lbx_tell(out, "%pF has %s%pF in it:\n", LBX_TEXT("expression", expression),
		 view->more     ? "more than "
		 : view->is_cut ? "at least "
				: "",
		 LBX_COUNT("n", view->n, "tensor"));
	LBX_KEY(out, "more", json_boolean(view->more || view->is_cut));
	lbx_begin_list(out, "holds");
	for (int i = 0; i < view->n; i++) {
		const struct lbx_held *held = &view->held[i];
		lbx_describe(&held->tensor, label, sizeof label);
		lbx_begin(out, NULL);
		LBX_KEYS(out, lbx_json_tensor(&held->tensor));
		LBX_KEY(out, "expression", lbx_json_string(held->expression));
		lbx_wrap(out, 2, 6);
		lbx_printf(out, "%s = %s\n", short_of(expression, held->expression), label);
		lbx_end(out);
	}
	lbx_end(out);
	lbx_end(out);
}

bool lbx_tell_object(struct lbx_context *context, const char *expression)
{
	lb_auto_free struct lbx_object_view *view = calloc(1, sizeof *view);

	if (!view)
		return lb_fail("out of memory");
	if (!lbx_object_look(context, expression, view) || !view->n)
		return lb_fail("'%s' has no tensor in it", expression);
	tell(context->out, expression, view);
	return true;
}
