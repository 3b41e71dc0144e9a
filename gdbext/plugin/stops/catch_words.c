#include "plugin/stops/catch_words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "inspect/operand/select.h"
#include "inspect/tensor/name.h"
#include "plugin/bridge/bridge.h"
#include "plugin/stops/guests.h"

/* Of those that are alive, how many have the name, or one that matches; `most` is enough. The last of
 * them in *ret. */
static int find_named(struct lbx_context *context, const char *name, bool is_glob, int most, struct lbx_tensor *ret)
{
	struct lbx_tensors *tensors = lbx_table_tensors(context->table);
	uint64_t slot = 0, bad = 0;
	struct lbx_tensor t;
	int n = 0;

	while (n < most && lbx_tensors_next(tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR) {
		if (!t.name[0] || !(is_glob ? lbx_name_matches(name, t.name) : strcmp(name, t.name) == 0))
			continue;
		*ret = t;
		n++;
	}
	lb_clear_error();
	return n;
}

/* What may be a name without quotes: "layers[0].weight", "ffn_norm-3" */
static bool is_name(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (!isalpha(*c) && *c != '_' && *c < 0x80)
		return false;
	for (; *c; c++) {
		if (*c == '[') {
			c += 1 + strspn((const char *)c + 1, "0123456789");
			if (*c != ']' || c[-1] == '[')
				return false;
		} else if (!isalnum(*c) && !strchr("_.:/-", *c) && *c < 0x80) {
			return false;
		}
	}
	return true;
}

static bool parse_id(const char *t, struct lbx_catch *ret)
{
	char *end;

	errno = 0;
	ret->id = strtoull(t + 1, &end, 10);
	return (isdigit((unsigned char)t[1]) && !*end && ret->id && errno == 0) ||
	       lb_fail("'%s' is not a tensor id: write # and a number", t);
}

/* The tensor that an expression is. Its name holds across runs, unless another has the same. */
static bool parse_expression(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	struct lbx_tensor tensor, other;

	if (!context->target || !lbx_select_runtime_tensor(context, t, &tensor))
		return false;
	if (!tensor.name[0] ||
	    (strcmp(t, tensor.name) != 0 && context->table && find_named(context, tensor.name, false, 2, &other) > 1))
		ret->id = tensor.id;
	else
		snprintf(ret->name, sizeof ret->name, "%s", tensor.name);
	if (!ret->id)
		lbx_forget_chosen(context->out);
	return true;
}

/* T[…], where T without its last brackets is a tensor. May ask (lbx_bridge_waits). */
static bool is_slice(struct lbx_context *context, const char *t)
{
	struct lbx_selection selection;
	char whole[LBX_LINE_MAX];
	bool found = false;

	snprintf(whole, sizeof whole, "%s", t);
	for (char *bracket; !found && *whole && whole[strlen(whole) - 1] == ']' && (bracket = strrchr(whole, '['));) {
		*bracket = '\0';
		lb_clear_error();
		found = *whole && lbx_select(context, whole, &selection) && !selection.slice_text[0];
	}
	lb_clear_error();
	return found;
}

static bool check_whole(struct lbx_context *context, const char *t)
{
	bool slice = strchr(t, '[') && context->target && is_slice(context, t);

	return !lbx_bridge_waits() &&
	       (!slice ||
		lb_fail("'%s' is a slice, and a whole tensor is needed; a name to come with brackets stands in quotes",
			t));
}

/* One of a guest's, by its number or by an expression. Its record holds for as long as the program keeps it; a name holds
 * for each of the name, and so does what the program's language calls it. */
static bool parse_record(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	struct lbx_selection selection;
	bool found = context->target && lbx_select(context, t, &selection) && !selection.slice_text[0] &&
		     strcmp(t, selection.tensor.name) != 0;
	const struct lbx_nodes_ops *of = NULL;

	for (int i = 0; found && !of && lbx_guest(i); i++)
		if (strcmp(selection.tensor.of->provider, lbx_guest(i)->name) == 0)
			of = lbx_guest(i);
	if (of && of->has_paths && *t != '#' && strlen(t) <= LB_NAME_MAX) {
		struct lbx_tensor same;
		if (lbx_tensors_by_path(selection.tensor.of, t, NULL, &same))
			snprintf(ret->name, sizeof ret->name, "%s", t);
	}
	if (!lbx_bridge_waits())
		lb_clear_error();
	if (!of)
		return false;
	if (!ret->name[0]) {
		ret->of = of;
		ret->record = selection.tensor.address;
	}
	return true;
}

/* A number of one to come is of the runtime's alone: others give each of theirs one when they are looked for. */
static bool check_runtime(const struct lbx_context *context, const char *t)
{
	return context->table || context->n_sets == 0 ||
	       lb_fail("no tensor of Lazybones' runtime or of ggml has the number %s now; a name holds for those to "
		       "come, too",
		       t);
}

static bool parse_one(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	char name[LBX_LINE_MAX];
	const char *rest = lbx_unquote(t, name, sizeof name);
	bool quoted = rest && !*rest;

	if (strcmp(name, "*") == 0) /* any, which the empty name is */
		return true;
	if (!quoted && parse_record(context, t, ret))
		return true;
	if (lbx_bridge_waits())
		return false;
	if (*t == '#' && t[1] != '$')
		return parse_id(t, ret) && check_runtime(context, t);
	if (parse_expression(context, t, ret))
		return true;
	if (lbx_bridge_waits())
		return false;
	if (!quoted && !check_whole(context, t))
		return false;
	if (!quoted && !is_name(t))
		return lb_fail("'%s' is not a tensor now: put the name of one to come in quotes; breaks, nan, range "
			       "and eval take globs, too",
			       t);
	/* a plain word may be the name of one to come, even where a variable is called so */
	if (!quoted && strchr(t, '[') && context->target && lbx_is_null_tensor(context, t))
		return lb_clear_error(), lb_fail("'%s' is a NULL tensor", t);
	lb_clear_error();
	if (strlen(name) > LB_NAME_MAX)
		return lb_fail("a name has %d bytes at most, this has %zu", LB_NAME_MAX, strlen(name));
	snprintf(ret->name, sizeof ret->name, "%s", name);
	return true;
}

/* [0] is an index. */
static bool is_glob(const char *text)
{
	for (const char *c = text; (c = strpbrk(c, "*?[")); c++) {
		size_t digits = strspn(c + 1, "0123456789");

		if (*c != '[' || digits == 0 || c[1 + digits] != ']')
			return true;
	}
	return false;
}

static bool parse_glob(const char *t, struct lbx_catch *ret)
{
	lb_clear_error();
	if (!lbx_escape_indices(t, ret->name, LB_PATTERN_BYTES))
		return lb_fail("a glob has %d characters at most", LB_PATTERN_BYTES - 1);
	ret->is_glob = true;
	return true;
}

static bool is_runtime_op(const char *name)
{
	for (int i = 0; i < LB_OPS; i++)
		if (strcmp(lb_ops[i].name, name) == 0)
			return true;
	return false;
}

bool lbx_catch_is_op(const char *name)
{
	return is_runtime_op(name) ||
	       (isupper((unsigned char)*name) && !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
								    "abcdefghijklmnopqrstuvwxyz")]);
}

/* A name to come may be an op's. */
static void parse_op(struct lbx_context *context, struct lbx_catch *ret)
{
	struct lbx_tensor t;

	if (!is_runtime_op(ret->name) || (context->table && find_named(context, ret->name, false, 1, &t)))
		return;
	snprintf(ret->op, sizeof ret->op, "%s", ret->name);
	ret->name[0] = '\0';
}

/* T, also a glob where names are compared with one: at operations and nodes. */
static bool parse_tensor(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	char glob[LBX_LINE_MAX];
	const char *rest = lbx_unquote(t, glob, sizeof glob);
	bool quoted = rest && !*rest;

	if ((!ret->kind->node && !ret->kind->evaluation) || !is_glob(glob) || strcmp(glob, "*") == 0 || *glob == '#')
		return parse_one(context, t, ret);
	if ((!quoted && parse_record(context, t, ret)) || (!lbx_bridge_waits() && parse_expression(context, t, ret)))
		return true;
	return !lbx_bridge_waits() && (quoted || check_whole(context, t)) && parse_glob(glob, ret);
}

bool lbx_catch_parse_target(struct lbx_context *context, const char *t, struct lbx_catch *ret)
{
	bool given = ret->op[0]; /* by --op */

	if (!parse_tensor(context, t, ret))
		return false;
	if (!given && ret->name[0] && !ret->is_glob)
		parse_op(context, ret);
	return true;
}

/* ---- what follows the kind ---- */

static bool parse_count(const char *text, uint64_t *ret)
{
	char *end;

	*ret = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || *ret >> 62)
		return lb_fail("'%s' is not a number of tensors", text);
	return true;
}

static bool parse_value(const char *text, const char *usage, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return (end != text && !*end && !isnan(*ret)) || lb_fail("'%s' is not a number: %s", text, usage);
}

bool lbx_catch_parse_range(const char *text, struct lbx_catch *ret)
{
	static const char usage[] = "`--range LO,HI`, as in `--range -1,1`";
	char low[64];
	size_t n = strcspn(text, ",");

	snprintf(low, sizeof low, "%.*s", (int)n, text);
	if (!text[n])
		return lb_fail("break: write the range as LO,HI");
	if (!parse_value(low, usage, &ret->low) || !parse_value(text + n + 1, usage, &ret->high))
		return false;
	return ret->low <= ret->high || lb_fail("break: the range from %s to %s is empty", low, text + n + 1);
}

bool lbx_catch_parse(struct lbx_context *context, const struct lbx_args *args, struct lbx_catch *ret)
{
	static const char usage[] = "`range T LO HI`, as in `range q -1 1`";
	const struct lbx_catch_kind *kind = ret->kind;
	int least = kind->arguments[0] == '[' ? 0 : 1, most = 1;

	if (kind->takes == LBX_TAKES_RANGE)
		least = most = 3;
	if (args->n - 1 < least || args->n - 1 > most)
		return lb_fail("write `tensor catch %s %s`", kind->name, kind->arguments);
	if (args->n == 1)
		return true;
	switch (kind->takes) {
	case LBX_TAKES_TENSOR: return parse_tensor(context, args->v[1], ret);
	case LBX_TAKES_FUNCTION:
		lbx_unquote(args->v[1], ret->name, sizeof ret->name);
		if (strcmp(ret->name, "*") == 0)
			ret->name[0] = '\0';
		return true;
	case LBX_TAKES_BYTES: return lbx_bytes_parse(args->v[1], &ret->limit);
	case LBX_TAKES_COUNT: return parse_count(args->v[1], &ret->limit);
	case LBX_TAKES_RANGE:
		if (!parse_value(args->v[2], usage, &ret->low) || !parse_value(args->v[3], usage, &ret->high))
			return false;
		if (ret->low > ret->high)
			return lb_fail("the range from %s to %s is empty", args->v[2], args->v[3]);
		return parse_tensor(context, args->v[1], ret);
	}
	return false;
}

/* ---- what is said of T ---- */

static bool is_constant(const struct lbx_tensor *t)
{
	return strcmp(t->op, "full") == 0 || strcmp(t->op, "scalar") == 0;
}

void lbx_catch_note(struct lbx_context *context, const struct lbx_catch *c, struct text *ret)
{
	struct lbx_tensors *tensors = lbx_table_tensors(context->table);
	struct lbx_tensor t;
	bool there;

	if (!tensors || !context->target || c->kind->takes == LBX_TAKES_FUNCTION || (!c->id && !c->name[0]))
		return;
	there = c->id ? lbx_tensors_by_id(tensors, c->id, &t) : find_named(context, c->name, c->is_glob, 1, &t);
	if (!there)
		text_printf(ret, c->id ? "no tensor has this id now" : "no tensor has such a name yet");
	else if (c->id && c->kind->computes && t.state == LBX_READY)
		text_printf(ret, "it has been computed, and is not again");
	else if (c->kind->computes && !c->is_glob && is_constant(&t))
		text_printf(ret, "it is a constant, computed only where its elements are needed one by one");
	lb_clear_error();
}
