#include "plugin/stops/catch_condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/formula/formula.h"
#include "inspect/formula/syntax.h"
#include "inspect/operand/select.h"
#include "inspect/tensor/array.h"
#include "plugin/bridge/bridge.h"

bool lbx_catch_condition_parse(const char *text, struct lbx_catch *ret)
{
	lb_auto_free struct lbx_formula_tree *tree = malloc(sizeof *tree);

	if (!text)
		return true;
	if (!tree || strlen(text) >= sizeof ret->condition)
		return lb_fail(tree ? "break: the condition is longer than %zu bytes" : "out of memory",
			       sizeof ret->condition - 1);
	snprintf(ret->condition, sizeof ret->condition, "%s", text);
	return lbx_formula_parse(text, tree);
}

static const struct lbx_tensor *stopped_at; /* while a condition is computed */

static bool find(struct lbx_context *context, const char *text, struct lbx_tensor *ret, struct lbx_slice *ret_slice)
{
	bool is_it = strncmp(text, "it", 2) == 0 && (!text[2] || strchr(".[ ", text[2]));

	if (!is_it)
		return lbx_select_operand(context, text, ret, ret_slice);
	if (text[2] || !stopped_at) /* what follows it is the expression's */
		return lb_fail_because(LB_MISUSED, "'%s' is no tensor here", text);
	*ret = *stopped_at;
	*ret_slice = (struct lbx_slice){ .n = 0 };
	return true;
}

/* Of several elements, whether all of them are true. */
static bool is_true(struct lbx_context *context, const struct lbx_tensor *t, bool *ret)
{
	int64_t at[LBX_ARRAY_RANK];
	unsigned char element[8];
	struct lbx_array a;

	*ret = true;
	if (!lbx_array_of_tensor(context->target, t, &a))
		return false;
	for (int64_t i = 0; i < a.size && *ret; i++) {
		lbx_array_coordinates(&a, i, at);
		if (!lbx_array_get(&a, at, element))
			return false;
		*ret = lbx_element_magnitude(element, a.dtype) != 0;
	}
	return true;
}

bool lbx_catch_condition_holds(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_tensor *it,
			       bool *holds)
{
	struct lbx_tensor t;

	*holds = true;
	if (!c->condition[0])
		return true;
	stopped_at = it;
	bool known = lbx_formula_compute(context, c->condition, find, &t) && is_true(context, &t, holds);
	stopped_at = NULL;
	if (lbx_bridge_waits())
		return false;
	if (known)
		return true;
	if (lbx_bridge_interrupted()) { /* a replay is, too */
		lb_clear_error();
		return lb_fail_because(LB_INTERRUPTED, "interrupted before the condition of catch %d was known",
				       c->number);
	}
	*holds = true;
	lbx_printf(context->out, "Catch %d: its condition cannot be computed: %s\n", c->number, lb_error_message());
	lb_clear_error();
	return true;
}
