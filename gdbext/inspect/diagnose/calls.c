#include "inspect/diagnose/calls.h"

#include "base/error.h"
#include "inspect/tensor/describe.h"

struct lbx_call *lbx_calls_count(struct lbx_calls *calls, uint64_t site)
{
	int i = 0;

	while (i < calls->n && calls->list[i].site != site)
		i++;
	if (i == LBX_CALLS_MOST)
		return NULL;
	if (i == calls->n)
		calls->list[calls->n++] = (struct lbx_call){ .site = site };
	calls->list[i].times++;
	return &calls->list[i];
}

struct lbx_call *lbx_calls_see(struct lbx_calls *calls, const struct lbx_tensor *t, const struct lbx_tensor *other)
{
	struct lbx_call *call = lbx_calls_count(calls, t->site);

	if (call && call->times == 1) {
		call->tensors[0] = lbx_tensor_key(t);
		if (other)
			call->tensors[1] = lbx_tensor_key(other);
	}
	return call;
}

void lbx_calls_see_figure(struct lbx_calls *calls, const struct lbx_tensor *t, double figure)
{
	struct lbx_call *call = lbx_calls_see(calls, t, NULL);

	if (call && call->times == 1)
		call->figure = figure;
}

bool lbx_calls_tell(struct lbx_case *c, const struct lbx_calls *calls, enum lbx_severity severity, double confidence,
		    lbx_say_call *say)
{
	char text[LBX_DESCRIPTION_MAX];
	struct lbx_tensor t;

	for (int i = 0; i < calls->n; i++) {
		const struct lbx_call *call = &calls->list[i];
		struct lbx_diagnosed *f = lbx_case_found_of(c, severity, confidence, &call->tensors[0], &t);
		if (!f)
			continue;
		if (call->tensors[1].of)
			lbx_diagnosed_tensor(f, &call->tensors[1]);
		lbx_describe(&t, text, sizeof text);
		say(f, call, &t, text);
	}
	return lb_ok();
}
