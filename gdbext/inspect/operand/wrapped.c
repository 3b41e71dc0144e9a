#include "inspect/operand/wrapped.h"

#include <string.h>

#include "base/error.h"
#include "inspect/operand/handle.h"
#include "inspect/providers.h"

enum { EXPRESSION_MAX = 1024 };

/* Where "a[i]" has its last '['; NULL: it has no such form. */
static const char *last_bracket(const char *text)
{
	const char *at = text + strlen(text);
	int depth = 0;

	if (at == text || at[-1] != ']')
		return NULL;
	while (at > text) {
		depth += *--at == ']';
		if (*at == '[' && --depth == 0)
			return at > text ? at : NULL;
	}
	return NULL;
}

/* The form with the text in place of '$', and what is in front of its last bracket and in it in place of '@' and '#'; false: it does
 * not fit, or there is no bracket. */
static bool fill(const char *form, const char *text, char ret[EXPRESSION_MAX])
{
	const char *bracket = last_bracket(text);
	size_t n = 0;

	for (; *form; form++) {
		const char *from = form;
		size_t length = 1;
		if (*form == '$') {
			from = text, length = strlen(text);
		} else if (*form == '@' || *form == '#') {
			if (!bracket)
				return false;
			from = *form == '@' ? text : bracket + 1;
			length = *form == '@' ? (size_t)(bracket - text) : strlen(from) - 1;
		}
		if (length >= EXPRESSION_MAX - n)
			return false;
		memcpy(ret + n, from, length);
		n += length;
	}
	ret[n] = '\0';
	return true;
}

static bool evaluate(struct lbx_context *context, const char *form, const char *text, struct lbx_value *ret)
{
	char expression[EXPRESSION_MAX];

	return fill(form, text, expression) && lbx_target_evaluate(context->target, expression, ret);
}

bool lbx_find_wrapped(struct lbx_context *context, const struct lbx_provider *provider, const char *text, uint64_t *ret)
{
	const struct lbx_provider *whose;
	struct lbx_value value, condition;
	bool found = false, clean = lb_ok();

	for (const struct lbx_wrapped *w = provider->wrapped; w && w->record && !found; w++) {
		condition.bits = 1;
		found = (!w->condition || evaluate(context, w->condition, text, &condition)) &&
			evaluate(context, w->record, text, &value) &&
			(w->is_address ||
			 (lbx_handle_of_type(context, value.type, &whose) == LBX_HANDLE && whose == provider));
		if (found)
			*ret = condition.bits ? value.bits : 0;
		if (clean)
			lb_clear_error();
	}
	return found;
}
