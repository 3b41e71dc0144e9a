#include "plugin/ggml/kept.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/bridge/bridge.h"
#include "plugin/ggml/found.h"

/* What a scheduler had. */
struct kept {
	uint64_t scheduler, callback, data;
	bool has_declined; /* the node that is being computed (own.c) */
};

/* Of all of them; false while the answer is awaited. Where gdb has none, they are 0. */
static bool ask_kept(struct kept ret[LBX_GGML_MARKS])
{
	struct text question = { 0 };
	const char *answer = "";
	char *at;

	memset(ret, 0, LBX_GGML_MARKS * sizeof *ret);
	text_printf(&question, "with language c -- printf \"");
	for (int i = 0; i < 4 * LBX_GGML_MARKS; i++)
		text_printf(&question, "%%#lx ");
	text_printf(&question, "\\n\"");
	for (unsigned i = 0; i < LBX_GGML_MARKS; i++)
		text_printf(&question, ", $_lb_s[%#x], $_lb_c[%#x], $_lb_d[%#x], $_lb_u[%#x]", i, i, i, i);
	bool known = !question.failed && lbx_bridge_ask(&answer, LBX_WITHOUT_FRAME, "%s", question.bytes);
	text_free(&question);
	if (!known)
		return !lbx_bridge_waits();
	for (int i = 0; i < LBX_GGML_MARKS; i++) {
		ret[i].scheduler = strtoull(answer, &at, 16);
		ret[i].callback = strtoull(at, &at, 16);
		ret[i].data = strtoull(at, &at, 16);
		ret[i].has_declined = strtoull(at, &at, 16);
		answer = at;
	}
	return true;
}

static bool write(struct lbx_target *target, uint64_t at, uint64_t value)
{
	return lbx_target_write(target, at, &value, sizeof value);
}

/* A scheduler that is gone has no such words, or they mean nothing. */
static bool put_back(struct lbx_target *target, const struct kept *kept, unsigned i)
{
	const struct lbx_ggml_callback *c = lbx_found_callback();
	uint64_t now, beside;

	if (!kept->scheduler || !lbx_target_try_read(target, kept->scheduler + c->slot, &now, sizeof now) ||
	    !lbx_target_try_read(target, kept->scheduler + c->data, &beside, sizeof beside) || now != c->code.start ||
	    beside != lbx_ggml_mark(c->code.start, i))
		return true;
	return write(target, kept->scheduler + c->slot, kept->callback) &&
	       write(target, kept->scheduler + c->data, kept->data);
}

bool lbx_kept_put_back(struct lbx_context *context, bool only_own, bool *ret_rest)
{
	struct kept kept[LBX_GGML_MARKS];
	bool ok = true;

	*ret_rest = false;
	if (!ask_kept(kept))
		return false;
	for (unsigned i = 0; i < LBX_GGML_MARKS && ok; i++) {
		if (only_own && !kept[i].callback)
			*ret_rest |= kept[i].scheduler != 0;
		else
			ok = put_back(context->target, &kept[i], i);
	}
	return ok;
}

bool lbx_kept_ask_declined(bool *ret)
{
	struct kept kept[LBX_GGML_MARKS];

	*ret = false;
	if (!ask_kept(kept))
		return false;
	for (int i = 0; i < LBX_GGML_MARKS; i++)
		*ret |= kept[i].has_declined;
	return true;
}
