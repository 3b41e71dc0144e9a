#include "plugin/catch_target.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "plugin/bridge.h"
#include "plugin/commands.h"

/* Of those that are alive, how many have the name, or one that matches; `most` is enough. The last of
 * them in *ret. */
static int find_named(struct lbx_context *context, const char *name, bool is_glob, int most,
		      struct lbx_tensor *ret)
{
	struct lbx_tensors *tensors = lbx_table_tensors(context->table);
	uint64_t slot = 0, bad = 0;
	struct lbx_tensor t;
	int n = 0;

	while (n < most && tensors->ops->next(tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR) {
		if (!t.name[0] || (is_glob ? fnmatch(name, t.name, 0) : strcmp(name, t.name)) != 0)
			continue;
		*ret = t;
		n++;
	}
	lb_clear_error();
	return n;
}

static bool is_name(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (!isalpha(*c) && *c != '_' && *c < 0x80)
		return false;
	for (; *c; c++)
		if (!isalnum(*c) && !strchr("_.:/", *c) && *c < 0x80)
			return false;
	return true;
}

static bool parse_id(const char *t, struct lbx_catch *ret)
{
	char *end;

	errno = 0;
	ret->id = strtoull(t + 1, &end, 10);
	return (isdigit((unsigned char)t[1]) && !*end && ret->id && errno == 0) ||
	       lb_fail("'%s' is no tensor id: write # and a number", t);
}

/* The tensor that an expression is. Its name holds across runs, unless another has the same. */
static bool parse_expression(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	struct lbx_tensor tensor, other;

	if (!context->target || !lbx_commands_tensor(context, t, &tensor))
		return false;
	if (!tensor.name[0] || (strcmp(t, tensor.name) != 0 && context->table &&
				find_named(context, tensor.name, false, 2, &other) > 1))
		ret->id = tensor.id;
	else
		snprintf(ret->name, sizeof ret->name, "%s", tensor.name);
	return true;
}

bool lbx_catch_parse_tensor(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	if (strcmp(t, "*") == 0) /* any, which the empty name is */
		return true;
	if (*t == '#')
		return parse_id(t, ret);
	if (parse_expression(context, t, ret))
		return true;
	if (lbx_bridge_waits())
		return false;
	if (!is_name(t))
		return lb_fail("'%s' is no tensor now, and no name of one to come: `tensor break` takes a glob, "
			       "too, as in 'a?b*'", t);
	lb_clear_error(); /* a tensor of this name may come */
	if (strlen(t) > LB_NAME_MAX)
		return lb_fail("a name has %d bytes at most, this has %zu", LB_NAME_MAX, strlen(t));
	snprintf(ret->name, sizeof ret->name, "%s", t);
	return true;
}

static bool parse_glob(const char *t, struct lbx_catch *ret)
{
	lb_clear_error();
	if (strlen(t) >= LB_PATTERN_BYTES)
		return lb_fail("break: a glob has %d characters at most", LB_PATTERN_BYTES - 1);
	ret->is_glob = true;
	snprintf(ret->name, sizeof ret->name, "%s", t);
	return true;
}

/* A name to come may be an op's. */
static void parse_op(struct lbx_context *context, struct lbx_catch *ret)
{
	struct lbx_tensor t;

	if (context->table && find_named(context, ret->name, false, 1, &t))
		return;
	for (int i = 0; i < LB_OPS; i++) {
		if (strcmp(lb_ops[i].name, ret->name) != 0)
			continue;
		snprintf(ret->op, sizeof ret->op, "%s", ret->name);
		ret->name[0] = '\0';
		return;
	}
}

bool lbx_catch_parse_target(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	bool given = ret->op[0]; /* by --op */

	if (strpbrk(t, "*?[") && strcmp(t, "*") != 0 && *t != '#')
		return parse_expression(context, t, ret) || (!lbx_bridge_waits() && parse_glob(t, ret));
	if (!lbx_catch_parse_tensor(context, t, ret))
		return false;
	if (!given && ret->name[0])
		parse_op(context, ret);
	return true;
}

static bool is_constant(const struct lbx_tensor *t)
{
	return strcmp(t->op, "full") == 0 || strcmp(t->op, "scalar") == 0;
}

void lbx_catch_note(struct lbx_context *context, const struct lbx_catch *c, struct text *ret)
{
	struct lbx_tensors *tensors = context->table ? lbx_table_tensors(context->table) : NULL;
	struct lbx_tensor t;
	bool there;

	if (!tensors || !context->target || c->kind->takes == LBX_TAKES_FUNCTION || (!c->id && !c->name[0]))
		return;
	there = c->id ? tensors->ops->by_id(tensors, c->id, &t) : find_named(context, c->name, c->is_glob, 1, &t);
	if (!there)
		text_printf(ret, c->id ? "no tensor has this id now" : "no tensor has such a name yet");
	else if (c->id && c->kind->op && t.state == LB_STATE_READY)
		text_printf(ret, "it has been computed, and is not again");
	else if (c->kind->op && !c->is_glob && is_constant(&t))
		text_printf(ret, "it is a constant, computed only where its elements are needed one by one");
	lb_clear_error();
}
