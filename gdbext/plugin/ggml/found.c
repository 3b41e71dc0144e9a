#include "plugin/ggml/found.h"

#include <stdio.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"

static struct {
	bool is_known;
	enum lbx_nodes_there there;
	struct lbx_ggml_callback callback;
	struct lbx_ggml_anchor anchor;
	char why[256];
} found;

bool lbx_found_find(struct lbx_context *context, enum lbx_nodes_there *ret)
{
	*ret = context->target ? found.there : LBX_NODES_NONE;
	if (found.is_known || !context->target)
		return true;
	found.there = LBX_NODES_NONE;
	if (lbx_ggml_callback_find(context->target, &found.callback, &found.anchor))
		found.there = LBX_NODES_THERE;
	else if (!lb_ok() && !lbx_bridge_waits())
		found.there = LBX_NODES_REFUSED;
	if (lbx_bridge_waits())
		return false;
	snprintf(found.why, sizeof found.why, "%s", found.there == LBX_NODES_REFUSED ? lb_error_message() : "");
	lb_clear_error();
	*ret = found.there;
	return true;
}

const char *lbx_found_why(void)
{
	return found.why;
}

const struct lbx_ggml_callback *lbx_found_callback(void)
{
	return &found.callback;
}

const struct lbx_ggml_anchor *lbx_found_anchor(void)
{
	return &found.anchor;
}

void lbx_found_keep(bool is_kept)
{
	found.is_known = is_kept;
}

bool lbx_found_is_here(struct lbx_context *context)
{
	return context->target && lbx_true_code_at(context->target, found.callback.machine, found.callback.code.start);
}
