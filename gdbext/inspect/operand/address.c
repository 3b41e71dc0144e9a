#include "inspect/operand/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/operand/frames.h"

enum { TEXT_MAX = 1024 };

static bool ask(struct lbx_context *context, const char *expression, struct lbx_value *ret)
{
	return lbx_target_evaluate(context->target, expression, ret);
}

/* An array has no value, but a place. */
bool lbx_evaluate_address(struct lbx_context *context, const char *text, struct lbx_value *ret)
{
	char place[TEXT_MAX + 8], why[LB_ERROR_MAX];

	if (ask(context, text, ret))
		return true;
	if (lbx_target_waits(context->target))
		return lb_fail("'%s' is not known: the debugger has not answered yet", text);
	snprintf(why, sizeof why, "%s", lb_error_message());
	lb_clear_error();
	snprintf(place, sizeof place, "&*(%s)", text);
	if (ask(context, place, ret))
		return true;
	if (lbx_target_waits(context->target))
		return lb_fail("'%s' is not known: the debugger has not answered yet", text);
	lb_clear_error();
	ret->type[0] = '\0';
	if (lbx_find_variable(context, text, &ret->bits))
		return true;
	return lb_fail("'%s' is not an address%s%s", text, *why ? ": " : "", why);
}

bool lbx_parse_address(struct lbx_context *context, const char *text, uint64_t *ret)
{
	struct lbx_value value;
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	if (end != text && !*end && !errno && *text != '-')
		return true;
	if (strlen(text) >= TEXT_MAX)
		return lb_fail("an address is too long");
	if (!lbx_evaluate_address(context, text, &value))
		return false;
	*ret = value.bits;
	return true;
}
