/* `x[3]` may be an element of a C array of tensors, a slice of the tensor x, or a tensor
 * that somebody named "x[3]". The longest prefix wins, the rest is the slice; of one
 * prefix, the debugger's answer wins over a name, unless the prefix cannot be an
 * expression, or is the name of one tensor. 'x'[3] is a slice of what is named x.
 * A record itself (type lb_tensor, not a pointer) is only believed without brackets, or behind `*`: for a
 * pointer p the expression p[3] is the record three slots on, never meant. */
#include "inspect/operand/select.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/convenience.h"
#include "inspect/formula/formula.h"
#include "inspect/operand/by_name.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/gone.h"
#include "inspect/operand/handle.h"
#include "inspect/operand/object.h"
#include "inspect/operand/python_stack.h"
#include "inspect/operand/view.h"
#include "inspect/tensor/name.h"
#include "python/frames.h"
#include "target/effect.h"
#include "target/expression.h"

enum { MAX_BRACKETS = 16, MAX_THREADS = 1024 };
/* What a text may be: a tensor that has a record; or memory, too; or what is computed, too. */
enum wanted { RECORDS, OPERANDS, VALUES };

static const char *skip(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* An apostrophe within a word is a name's: it's. */
static bool opens_quotes(const char *text, const char *at)
{
	return *at == '"' || (*at == '\'' && (at == text || !isalnum((unsigned char)at[-1])));
}

/* Which bytes of a text stand in quotes: the key of a map may have brackets in it. */
static void find_quoted(const char *text, bool ret[LBX_TEXT_MAX])
{
	memset(ret, 0, LBX_TEXT_MAX * sizeof *ret);
	for (const char *c = text; *c; c++) {
		if (!opens_quotes(text, c))
			continue;
		const char *end = lbx_past_quoted(c);
		memset(ret + (c - text), true, (size_t)(end - c) + 1);
		c = end;
	}
}

/* Lengths of the prefixes that are left when 0, 1, 2 … brackets at the end are taken off. */
static int prefixes(const char *text, size_t *lengths)
{
	bool quoted[LBX_TEXT_MAX];
	size_t n = strlen(text);
	int count = 0;

	find_quoted(text, quoted);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	lengths[count++] = n;
	while (count <= MAX_BRACKETS && n > 1 && text[n - 1] == ']') {
		int depth = 0;
		do {
			n--;
			depth += quoted[n] ? 0 : text[n] == ']' ? 1 : text[n] == '[' ? -1 : 0;
		} while (n > 0 && depth > 0);
		while (n > 0 && isspace((unsigned char)text[n - 1]))
			n--;
		if (n == 0 || depth)
			break;
		lengths[count++] = n;
	}
	return count;
}

/* Whether a debugger should be asked: C's expressions, roughly. */
static bool looks_like_expression(const char *text)
{
	if (!isalpha((unsigned char)*text) && !strchr("_$*&(0123456789", *text))
		return false;
	for (const char *c = text; *c; c++) {
		if (opens_quotes(text, c)) /* the key of a map, whatever it is */
			c = lbx_past_quoted(c);
		else if (*c == '/' || *c == '#' || *c == '?' || *c == '%' || *c == '@')
			return false;
		if (*c == ':' && c[1] != ':' && (c == text || c[-1] != ':'))
			return false;
		if (*c == '.' && (isdigit((unsigned char)c[1]) || c[1] == '.' || !c[1]))
			return false;
	}
	return true;
}

/* 0x7f00…: it costs the debugger no question, and not every front end has one. */
static bool is_address(const char *text, uint64_t *ret)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0 || !isxdigit((unsigned char)text[2]))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 16);
	return !*end && !errno;
}

/* What is not there may be known to have gone. */
static bool fail_gone(struct lbx_context *context, const char *what, const char *name, uint64_t record, uint64_t id)
{
	char gone[1024];
	bool is_last = !lb_ok() && lb_error_cause() != LB_INTERRUPTED;

	if ((lb_ok() || is_last) && lbx_describe_gone(context, name, record, id, gone, sizeof gone)) {
		lb_clear_error();
		lb_fail("there is no tensor %s any more: %s", what, gone);
	}
	return false;
}

struct names {
	char prefixes[MAX_BRACKETS + 1][LBX_TEXT_MAX];
	struct lbx_named found[MAX_BRACKETS + 1];
	char reason[LB_ERROR_MAX]; /* why the debugger has no value for the first one; or "" */
	char nothing[LBX_NOTHING_MAX]; /* "m->mask is empty", or "" */
	char doubtful[LBX_NOTHING_MAX]; /* likewise, where it is C's */
	int object;                /* which prefix is one with several tensors in it, which view has; -1: none is */
	struct lbx_object_view view, looked;
};

/* Whether the last thing that is done is an addition: `(lb_tensor *)p + 1`. */
static bool adds(const char *text)
{
	int depth = 0;
	char last = '(';

	for (const char *c = text; *c; c++) {
		if ((*c == '+' || *c == '-') && depth == 0 && c[1] != '>' &&
		    (isalnum((unsigned char)last) || strchr("_)]", last)))
			return true;
		depth += strchr("([", *c) ? 1 : strchr(")]", *c) ? -1 : 0;
		last = isspace((unsigned char)*c) ? last : *c;
	}
	return false;
}

/* What cannot be evaluated, but is a variable whose value is known. */
static bool by_variable(struct lbx_context *context, struct lbx_tensors *tensors, const char *text,
			struct lbx_tensor *ret)
{
	uint64_t address;

	return lbx_find_variable(context, text, &address) &&
	       (lbx_tensors_by_address(tensors, address, ret) || (lb_clear_error(), false));
}

static bool by_expression(struct lbx_context *context, struct lbx_tensors *tensors, const char *text,
			  struct names *names, struct lbx_tensor *ret, const char **null)
{
	bool bracket = *text != '*' && text[strlen(text) - 1] == ']', clean = lb_ok();
	const struct lbx_provider *provider;
	struct lbx_value value = { .bits = 0 };

	if (!is_address(text, &value.bits) && !lbx_target_evaluate(context->target, text, &value)) {
		/* as of one that is optimized out */
		if (lbx_handle_of_type(context, value.type, &provider) == LBX_HANDLE)
			return false;
		if (!value.type[0] && !names->reason[0])
			snprintf(names->reason, sizeof names->reason, "%s", lb_error_message());
		if (clean)
			lb_clear_error();
		return by_variable(context, tensors, text, ret);
	}
	enum lbx_handle handle = lbx_handle_of_type(context, value.type, &provider);
	if (handle == LBX_HANDLE && adds(text))
		return lb_fail(
		    "'%s' leads behind the record, as C adds to pointers: put the tensor in quotes, as in 'p' + 1",
		    text);
	if (handle == LBX_HANDLE && value.bits == 0)
		*null = text;
	if (value.bits == 0 || (handle == LBX_HANDLE_RECORD && bracket))
		return false;
	struct lbx_tensors *set = handle ? lbx_handle_tensors(context, provider) : tensors;
	if (set ? lbx_tensors_by_address(set, value.bits, ret) ||
		      (handle == LBX_HANDLE && fail_gone(context, text, NULL, value.bits, 0))
		: lb_fail("'%s' is %s %s *, and the program's tensors of %s are not known", text, provider->article,
			  provider->handle, provider->name))
		return true;
	/* a handle that is none deserves its message; anything else may be a name */
	if (handle != LBX_HANDLE && clean)
		lb_clear_error();
	return false;
}

/* Of an object that has one tensor in it, that; of several it is noted. */
static bool by_object(struct lbx_context *context, struct names *names, int i, struct lbx_tensor *ret,
		      const char **null)
{
	const char *text = names->prefixes[i];
	struct lbx_object_view *view = &names->looked;

	bool found = lbx_object_look(context, text, view);
	char *why = view->is_doubtful ? names->doubtful : names->nothing;
	if (view->why[0] && !why[0] && names->object < 0)
		memcpy(why, view->why, sizeof names->nothing);
	if (!found)
		return false;
	if (view->is_null)
		*null = text;
	if (lbx_object_is_one(text, view)) {
		*ret = view->held[0].tensor;
		return true;
	}
	if (view->n && names->object < 0 && !names->nothing[0]) {
		names->object = i;
		names->view = *view;
	}
	return false;
}

/* gdb, which has no Python, would call the program for what a container has at an index or a smart pointer leads to: it is
 * asked where that is not known. */
static bool by_any(struct lbx_context *context, struct lbx_tensors *tensors, struct names *names, int i,
		   struct lbx_tensor *ret, const char **null)
{
	const char *text = names->prefixes[i];
	bool is_path = lbx_may_call(text);

	if (is_path && by_object(context, names, i, ret, null))
		return true;
	if (!lb_ok() || (is_path && (lbx_target_waits(context->target) || names->nothing[0] || names->object >= 0)))
		return false;
	return by_expression(context, tensors, text, names, ret, null) ||
	       (!is_path && lb_ok() && by_object(context, names, i, ret, null));
}

bool lbx_is_null_tensor(struct lbx_context *context, const char *text)
{
	const struct lbx_provider *provider;
	struct lbx_value value;

	return looks_like_expression(text) && lbx_target_evaluate(context->target, text, &value) &&
	       lbx_handle_of_type(context, value.type, &provider) == LBX_HANDLE && value.bits == 0;
}

/* `$tensor_id` is a number, as #12 is. */
static bool is_variable_id(const char *text)
{
	static const char variable[] = "$tensor_id";
	const size_t n = sizeof variable - 1;

	return strncmp(text, variable, n) == 0 && !isalnum((unsigned char)text[n]) && text[n] != '_';
}

/* Where the text is #12 or ggml#12: the #; the tensors it may mean. NULL: it is neither. */
static const char *find_number(struct lbx_context *context, const char *text, struct lbx_tensors **ret)
{
	const char *sign = is_variable_id(text) ? text : strchr(text, '#');

	*ret = context->tensors;
	if (sign == text)
		return sign;
	for (int i = 0; sign && i < context->n_sets; i++) {
		*ret = context->sets[i];
		if (strlen((*ret)->provider) == (size_t)(sign - text) &&
		    memcmp((*ret)->provider, text, (size_t)(sign - text)) == 0)
			return sign;
	}
	return NULL;
}

/* Of several sets that have the number none is meant more than another. */
static bool fail_shared(struct lbx_context *context, unsigned long long id)
{
	char which[512] = "";
	struct lbx_tensor t;
	int found = 0;

	for (int i = 0; i < context->n_sets; i++) {
		if (!lbx_tensors_by_id(context->sets[i], id, &t)) {
			lb_clear_error();
			continue;
		}
		size_t n = strlen(which);
		snprintf(which + n, sizeof which - n, "%s%s#%llu", found++ ? ", " : "", context->sets[i]->provider, id);
	}
	return found > 1 && !lb_fail("#%llu is the number of several tensors: say which: %s", id, which);
}

/* A debugger's variable, behind the #. */
static bool evaluate_id(struct lbx_context *context, const char *sign, uint64_t *ret, const char **ret_end)
{
	char name[64];
	size_t n = 1;

	while (isalnum((unsigned char)sign[n]) || sign[n] == '_')
		n++;
	if (n == 1 || n >= sizeof name)
		return lb_fail("'%s' is not a variable", sign);
	snprintf(name, sizeof name, "%.*s", (int)n, sign);
	*ret_end = sign + n;
	return lbx_get_number(context, name, ret);
}

static bool select_id(struct lbx_context *context, struct lbx_tensors *tensors, const char *text, const char *sign,
		      size_t *used, struct lbx_tensor *ret)
{
	const char *digits = sign + (*sign == '#');
	char *number_end;
	const char *end;

	errno = 0;
	uint64_t id = strtoull(digits, &number_end, 10);
	end = number_end;
	if (*digits == '$' && !evaluate_id(context, digits, &id, &end))
		return false;
	if ((!isdigit((unsigned char)*digits) && *digits != '$') || errno || (*skip(end) && *skip(end) != '['))
		return lb_fail("'%s' is not a tensor: # is followed by its number, as in #12", text);
	*used = (size_t)(end - text);
	if (sign == text && context->n_sets > 1 && fail_shared(context, id))
		return false;
	char what[32];
	snprintf(what, sizeof what, "#%" PRIu64, id);
	return lbx_tensors_by_id(tensors, id, ret) || fail_gone(context, what, NULL, 0, id);
}

/* The thread and the frame that a debugger's user has selected, or that were named. */
static struct lbx_viewpoint scope_of(struct lbx_context *context, const struct lbx_tensors *tensors)
{
	struct lbx_viewpoint scope = { .thread = context->thread, .only = context->thread };
	struct lbx_stacks *stacks = context->stacks;
	struct lbx_value sp;
	bool clean = lb_ok();

	if (context->has_frame) {
		scope.thread = lbx_context_thread(context);
		scope.stack = context->frame_stack;
	}
	if (!tensors->ops->by_path || !stacks || stacks->ops->all_threads)
		return scope;
	scope.thread = lbx_context_thread(context);
	if (lbx_target_evaluate(context->target, "$sp", &sp))
		scope.stack = sp.bits;
	if (clean)
		lb_clear_error();
	return scope;
}

static bool has_thread(struct lbx_context *context)
{
	struct lbx_py_thread thread;
	const char *why;
	struct lbx_python *py = context->thread ? lbx_context_python(context, &why) : NULL;

	for (int i = 0; py && lbx_py_thread(py, i, &thread); i++)
		if (thread.tid == context->thread)
			return true;
	if (py)
		return lb_fail("no thread %llu of the program runs Python (`bt` shows those that do)",
			       (unsigned long long)context->thread);
	struct lbx_stacks *stacks = context->thread ? context->stacks : NULL;
	uint64_t tids[MAX_THREADS];
	int n = stacks && stacks->ops->all_threads ? stacks->ops->threads(stacks, tids, MAX_THREADS) : 0;
	for (int i = 0; i < n && i < MAX_THREADS; i++)
		if (tids[i] == context->thread)
			return true;
	return n <= 0 || n > MAX_THREADS ||
	       lb_fail("the program has no thread %llu (`where` shows those it has)",
		       (unsigned long long)context->thread);
}

/* More than a name, and whole. */
static bool is_expression(const char *text)
{
	int depth = 0;

	for (const char *c = text; *c; c++)
		depth += strchr("[(", *c) ? 1 : strchr("])", *c) ? -1 : 0;
	return depth == 0 && strpbrk(text, "-.>*&(");
}

/* As gdb puts it: No symbol "foo" in current context. */
static bool fail_with_reason(const char *reason)
{
	char message[LB_ERROR_MAX];

	snprintf(message, sizeof message, "%s", lb_error_message());
	lb_clear_error();
	return lb_fail("%s: %s", message, reason);
}

/* A debugger looks at the variables of one frame: another may have it. */
static bool fail_elsewhere(struct lbx_context *context, const char *name)
{
	struct lbx_stacks *stacks = context->stacks;
	char function[256], message[LB_ERROR_MAX];

	if (name[strspn(name, LBX_WORD)] || !stacks || !stacks->ops->elsewhere)
		return false;
	snprintf(message, sizeof message, "%s", lb_error_message());
	lb_clear_error();
	bool found = stacks->ops->elsewhere(stacks, name, function, sizeof function);
	lb_clear_error();
	if (!found)
		return lb_fail("%s", message);
	return lb_fail("%s; %s has a variable of that name: `frame function %s` goes there", message, function,
		       function);
}

/* A variable of the name that is known to hold another tensor. */
static void tell_variable(struct lbx_context *context, const char *name, const struct lbx_tensor *t)
{
	uint64_t record = lbx_tensor_key(t).address;

	for (int i = 0; i < context->n_told; i++)
		if (strcmp(context->told[i].expression, name) == 0 && context->told[i].value != record)
			lbx_tell_choice(context->out, name, t, 1, 1, LBX_NO_VARIABLES);
}

/* What the program's own language, as Python, has under a name comes first, since that is what its user means, then a name that
 * one tensor has: that costs the debugger no question, and a debugger takes long to find out that there is no variable of a
 * name. `(x)` is never a name. */
static bool search(struct lbx_context *context, struct lbx_tensors *tensors, const char *text, bool quoted,
		   struct names *names, size_t *used, struct lbx_tensor *ret)
{
	size_t lengths[MAX_BRACKETS + 1];
	const char *null = NULL;
	char handles[128];
	int n = prefixes(text, lengths);

	for (int i = 0; i < n; i++)
		snprintf(names->prefixes[i], LBX_TEXT_MAX, "%.*s", (int)lengths[i], text);
	if (!has_thread(context) || !lbx_find_named(context, tensors, names->prefixes, n, names->found))
		return false;
	const struct lbx_viewpoint scope = scope_of(context, tensors);
	for (int i = 0; i < n; i++) {
		*used = lengths[i];
		if (lbx_tensors_by_path(tensors, names->prefixes[i], &scope, ret))
			return true;
		if (!lb_ok())
			return false;
		if (names->found[i].count > 1)
			break;
		if (names->found[i].count == 1) {
			*ret = names->found[i].first;
			tell_variable(context, names->prefixes[i], ret);
			return true;
		}
		if (lbx_find_told(context, tensors, names->prefixes[i], ret))
			return true;
		if (!lb_ok())
			return false;
	}
	for (int i = 0; i < n; i++) {
		const char *prefix = names->prefixes[i];
		const struct lbx_named *found = &names->found[i];
		*used = lengths[i];
		if (looks_like_expression(prefix) && by_any(context, tensors, names, i, ret, &null)) {
			if (found->count < 2)
				return true;
			if (strcmp(ret->name, prefix) == 0) {
				lbx_tell_choice(context->out, prefix, ret, 0, found->count, LBX_OF_VARIABLE);
				return true;
			}
		}
		/* a variable that is none says nothing of a name */
		if (found->count > 1 && lb_error_cause() != LB_INTERRUPTED)
			lb_clear_error();
		if (!lb_ok())
			return false;
		/* ask all that may be asked before giving up */
		if (lbx_target_waits(context->target)) {
			if (found->count > 1)
				lbx_context_thread(context); /* which of them is meant */
			continue;
		}
		if (found->count > 1)
			return lbx_choose_named(context, tensors, prefix, ret);
	}
	if (lbx_target_waits(context->target))
		return lb_fail("'%s' is not known yet: the debugger has not answered yet", text);
	for (int i = 0; i < n && !null; i++) {
		*used = lengths[i];
		if (names->found[i].n_spelt == 1) {
			*ret = names->found[i].spelt;
			return true;
		}
	}
	if (!null && (names->nothing[0] || lbx_tensors_why_no_path(tensors, names->prefixes[0], &scope, names->nothing,
								   sizeof names->nothing)))
		return lb_fail("%s", names->nothing);
	if (names->object >= 0 && !null)
		return lbx_fail_object(names->prefixes[names->object], &names->view);
	for (int i = 0; i < n && !null; i++)
		if (!fail_gone(context, names->prefixes[i], names->prefixes[i], 0, 0) && !lb_ok())
			return false;
	if (!null && !lbx_find_like(context, tensors, names->prefixes[n - 1], &names->found[n - 1]))
		return false;
	lbx_describe_handles(context, handles, sizeof handles);
	lbx_fail_unnamed(names->prefixes[n - 1], &names->found[n - 1], null, quoted, names->doubtful, handles);
	if (names->doubtful[0] || null || quoted)
		return false;
	return is_expression(text) && names->reason[0] ? fail_with_reason(names->reason)
						       : fail_elsewhere(context, names->prefixes[n - 1]);
}

static bool select_text(struct lbx_context *context, struct lbx_tensors *tensors, const char *text, bool quoted,
			size_t *used, struct lbx_selection *ret)
{
	lb_auto_free struct names *names = calloc(1, sizeof *names);

	if (!names)
		return lb_fail("out of memory");
	names->object = -1;
	bool found = search(context, tensors, text, quoted, names, used, &ret->tensor);
	if (!found && names->object >= 0 && strlen(names->prefixes[names->object]) == strlen(text))
		strcpy(ret->object, text);
	ret->is_nothing = !found && names->nothing[0];
	return found;
}

bool lbx_select_slice(struct lbx_context *context, const char *text, size_t at, struct lbx_selection *ret)
{
	const struct lbx_tensor *t = &ret->tensor;
	const char *slice = skip(text + at);
	bool clean = lb_ok();

	snprintf(ret->slice_text, sizeof ret->slice_text, "%s", slice);
	if (!lbx_slice_parse(slice, &ret->slice)) {
		/* within an expression, it looks for what its indices are */
		if (!context || !clean || *slice != '[')
			return false;
		lb_clear_error();
		return lbx_formula_slice(context, text, (int)(slice - text), t, lbx_select_operand, &ret->slice);
	}
	return lbx_slice_check(&ret->slice, t->rank, lbx_shape(t));
}

/* T is found, and what follows it, from that byte on. A part of an expression has plain numbers alone in its slices. */
static bool finish(struct lbx_context *context, const char *text, size_t at, enum wanted wanted,
		   struct lbx_selection *ret)
{
	/* what an evaluation has computed can be looked at while it goes on */
	lbx_tensor_take_computed(&ret->tensor);
	if (!lbx_select_slice(wanted == OPERANDS ? NULL : context, text, at, ret))
		return false;
	lbx_set_tensor(context->out, &ret->tensor);
	return true;
}

/* `quoted`: quotes stood around it. */
static bool select_plain(struct lbx_context *context, const char *text, bool quoted, enum wanted wanted,
			 struct lbx_selection *ret)
{
	struct lbx_tensors *tensors;
	size_t used = 0;

	if (!lbx_context_tensors(context, &tensors))
		return false;
	const char *number = find_number(context, text, &tensors);
	if (!(number ? select_id(context, tensors, text, number, &used, &ret->tensor)
		     : select_text(context, context->tensors, text, quoted, &used, ret)))
		return false;
	return finish(context, text, used, wanted, ret);
}

static bool is_of_sort(const char *text, enum lbx_formula_sort wanted)
{
	bool clean = lb_ok();
	enum lbx_formula_sort sort = lbx_formula_sort(text);

	if (clean)
		lb_clear_error();
	return sort == wanted;
}

/* A record is not computed: what is has values alone. */
static bool compute(struct lbx_context *context, const char *text, enum wanted wanted, struct lbx_selection *ret)
{
	if (wanted == RECORDS)
		return lb_fail("'%s' is computed: it has values (`print`, `stats`), and no record", text);
	memset(ret, 0, sizeof *ret);
	return lbx_formula_compute(context, text, lbx_select_operand, &ret->tensor);
}

/* 'NAME'[slice]: where the table has the name nothing else is meant, whatever it holds. Else *done is
 * false, and in *plain is the text without its quotes, if it had any. */
static bool select_quoted(struct lbx_context *context, const char *text, char plain[static LBX_TEXT_MAX],
			  enum wanted wanted, bool *done, struct lbx_selection *ret)
{
	char names[3][LBX_TEXT_MAX]; /* a name may have such quotes in it */
	struct lbx_named *found;
	struct lbx_tensors *tensors;
	const char *rest = lbx_unquote(text, names[2], LBX_TEXT_MAX);

	*done = false;
	strcpy(plain, text);
	if (rest && !*names[2] && !*skip(rest))
		return lb_fail("no tensor given: there is nothing between the quotes");
	if (!rest || (*skip(rest) && *skip(rest) != '[' && *rest != '@') || !*names[2])
		return true; /* C's, if anybody's */
	if (*rest == '@') {
		snprintf(plain, LBX_TEXT_MAX, "%s%s", names[2], rest);
		return true;
	}
	strcpy(names[0], text);
	snprintf(names[1], LBX_TEXT_MAX, "%.*s", (int)(rest - text), text);
	snprintf(plain, LBX_TEXT_MAX, "%s%s", names[2], rest);
	if (!context->target)
		return true;
	if (!lbx_context_tensors(context, &tensors) || !(found = calloc(3, sizeof *found)))
		return lb_ok() ? lb_fail("out of memory") : false;
	bool ok = lbx_find_named(context, tensors, names, 3, found);
	int i = 0;
	while (i < 2 && !found[i].count)
		i++;
	if (ok && found[i].count > 1)
		ok = lbx_choose_named(context, tensors, names[i], &ret->tensor);
	else
		ret->tensor = found[i].first;
	/* 'x'[x > 3] */
	bool is_masked = i > 0 && wanted != OPERANDS && is_of_sort(text, LBX_FORMULA_IS_ONE);
	if (ok && found[i].count)
		ok = *done = is_masked ? compute(context, text, wanted, ret)
				       : finish(context, text, i ? (size_t)(rest - text) : strlen(text), wanted, ret);
	free(found);
	return ok;
}

/* What an expression takes for a name, too: then what stands in brackets behind it need not be a slice. */
static bool is_word(const char *text)
{
	enum lbx_formula_sort sort = lbx_formula_sort(text);

	return *text != '(' && (sort == LBX_FORMULA_IS_NONE || sort == LBX_FORMULA_IS_LOOKUP);
}

/* Whether a tensor has the text for its name, whatever else it may look like, or all of it but a slice: l_out-3[0]. */
static bool is_name(struct lbx_context *context, const char *text)
{
	lb_auto_free struct names *names = calloc(1, sizeof *names);
	size_t lengths[MAX_BRACKETS + 1];
	struct lbx_tensors *tensors;
	bool clean = lb_ok(), is = false;
	int n = prefixes(text, lengths);

	for (int i = 0; names && i < n; i++) {
		char whole[LBX_TEXT_MAX];
		snprintf(names->prefixes[i], LBX_TEXT_MAX, "%.*s", (int)lengths[i], text);
		if (lbx_tells_which(names->prefixes[i], whole))
			strcpy(names->prefixes[i], whole);
	}
	if (names && context->target && lbx_context_tensors(context, &tensors) &&
	    lbx_find_named(context, tensors, names->prefixes, n, names->found))
		for (int i = 0; i < n && !is; i++)
			is = names->found[i].count > 0 && (i == 0 || !is_word(names->prefixes[i]));
	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return is;
}

/* C would take `x + 1` for the record behind that of x. */
static bool is_computed(struct lbx_context *context, const char *text)
{
	return is_of_sort(text, LBX_FORMULA_IS_ONE) && !lbx_is_path(text) && !is_name(context, text);
}

static bool select_any(struct lbx_context *context, const char *text, enum wanted wanted, struct lbx_selection *ret);

bool lbx_select_operand(struct lbx_context *context, const char *text, struct lbx_tensor *ret,
			struct lbx_slice *ret_slice)
{
	struct lbx_selection s;

	if (!select_any(context, text, OPERANDS, &s))
		return false;
	*ret = s.tensor;
	*ret_slice = s.slice;
	return true;
}

/* A tensor by its name or by an expression of the program, else one that is computed. */
static bool select_computed(struct lbx_context *context, const char *text, bool quoted, struct lbx_selection *ret)
{
	char why[LB_ERROR_MAX];
	bool clean = lb_ok();
	enum lbx_formula_sort sort = lbx_formula_sort(text);

	snprintf(why, sizeof why, "%s", lb_error_message());
	if (clean)
		lb_clear_error();
	bool is_path = lbx_is_path(text);
	if (sort == LBX_FORMULA_IS_ONE && !is_path && !is_name(context, text))
		return lb_ok() && compute(context, text, VALUES, ret);
	if (select_plain(context, text, quoted, VALUES, ret))
		return true;
	if ((is_path && sort != LBX_FORMULA_IS_LOOKUP) || ret->is_nothing || ret->object[0] ||
	    sort == LBX_FORMULA_IS_NONE || sort == LBX_FORMULA_IS_ONE || lb_error_cause() == LB_INTERRUPTED ||
	    (context->target && lbx_target_waits(context->target)))
		return false;
	/* what is something else, as a handle that is none, has its own message */
	bool is_unknown = strncmp(lb_error_message(), "no tensor '", 11) == 0;
	/* why a debugger did not evaluate it has been said */
	bool is_refused = context->target && context->target->ops->evaluate && lbx_effect_of(text) != LBX_NO_EFFECT;
	if (sort == LBX_FORMULA_IS_BROKEN && (!is_unknown || is_refused || !strpbrk(text, "+*/%<>=~^|(")))
		return false;
	lb_clear_error();
	return sort == LBX_FORMULA_IS_BROKEN ? lb_fail("%s", why) : compute(context, text, VALUES, ret);
}

/* The brackets around all of it, as far as there are such. */
static const char *inside_brackets(const char *text, const char **end)
{
	int depth = 0;

	text = skip(text);
	for (const char *c = text; *text == '(' && *c && c < *end; c++) {
		if (opens_quotes(text, c))
			c = lbx_past_quoted(c);
		else
			depth += *c == '(' ? 1 : *c == ')' ? -1 : 0;
		if (depth == 0 && skip(c + 1) < *end)
			return text;
		if (depth == 0) {
			*end = c;
			return inside_brackets(text + 1, end);
		}
	}
	return text;
}

/* Outside brackets, but for those around all of it, and quotes. Where a < stands before it, it may be a template's, and behind @
 * a shape's. */
static bool has_comma(const char *text)
{
	const char *end = text + strlen(text);
	int depth = 0;

	text = inside_brackets(text, &end);
	for (const char *c = text; c < end && !strchr("<@", *c); c++) {
		if (opens_quotes(text, c))
			c = lbx_past_quoted(c);
		else if (*c == ',' && depth == 0)
			return true;
		else
			depth += strchr("[({", *c) ? 1 : strchr("])}", *c) ? -1 : 0;
	}
	return false;
}

/* ++x and --x, where a value begins: in C that counts up or down, elsewhere two signs are none. In a--b they are b's. */
static bool counts(const char *text)
{
	char before = '(';

	for (const char *c = text; *c; c++) {
		if (opens_quotes(text, c))
			c = lbx_past_quoted(c);
		else if ((*c == '+' || *c == '-') && c[1] == *c && strchr("([,+-*/%<>=~^|&!", before))
			return true;
		before = isspace((unsigned char)*c) ? before : *c;
	}
	return false;
}

/* C's comma would have the last of them alone; and an assignment has a value, too. */
static bool is_one_value(struct lbx_context *context, const char *text)
{
	bool has_several = has_comma(text);

	if ((!has_several && lbx_effect_of(text) != LBX_CHANGES) ||
	    (!has_several && !counts(text) && is_of_sort(text, LBX_FORMULA_IS_ONE)) || lbx_is_path(text) ||
	    is_name(context, text))
		return true;
	return has_several ? lb_fail("one tensor is wanted, not '%s': give each a command of its own", text)
			   : lbx_fail_change(text);
}

static bool select_any(struct lbx_context *context, const char *text, enum wanted wanted, struct lbx_selection *ret)
{
	char plain[2][LBX_TEXT_MAX];
	bool done;
	size_t used;

	memset(ret, 0, sizeof *ret);
	text = skip(text);
	const char *given = text;
	if (!*text || strlen(text) >= LBX_TEXT_MAX)
		return lb_fail(*text ? "the tensor's expression is too long%s" : "no tensor given%s", "");
	/* a front end without a line of its own puts what has quotes in quotes again */
	for (int i = 0; i < 2; i++) {
		if (!select_quoted(context, text, plain[i], wanted, &done, ret))
			return false;
		if (done)
			return true;
		text = plain[i];
	}
	text = skip(text);
	if (!*text) /* nothing but quotes and blanks */
		return lb_fail("no tensor given");
	if (*text != '@' && !is_one_value(context, text))
		return false;
	bool quoted = strcmp(plain[0], given) != 0;
	if ((wanted == RECORDS || (wanted == VALUES && *text == '@')) && is_computed(context, text))
		return compute(context, text, wanted, ret);
	if (*text != '@')
		return wanted == VALUES ? select_computed(context, text, quoted, ret)
					: select_plain(context, text, quoted, wanted, ret);
	if (wanted == RECORDS)
		return lb_fail("'%s' is memory; a tensor is needed", text);
	return lbx_view_parse(context, text, &used, &ret->tensor) &&
	       lbx_select_slice(wanted == OPERANDS ? NULL : context, text, used, ret);
}

bool lbx_select_values(struct lbx_context *context, const char *text, struct lbx_selection *ret)
{
	return select_any(context, text, VALUES, ret);
}

bool lbx_select(struct lbx_context *context, const char *text, struct lbx_selection *ret)
{
	return select_any(context, text, RECORDS, ret);
}

bool lbx_select_again(struct lbx_selection *s)
{
	char label[LBX_SELECTION_MAX];

	if (s->tensor.state != LBX_READY)
		return true;
	lbx_selection_label(s, label, sizeof label);
	if (s->tensor.n_inputs == 0 && s->tensor.op_class != LB_CLASS_CREATE)
		return lb_fail("%s was not computed from anything: it can only be read", label);
	s->tensor.state = LBX_FREED; /* whose inputs are looked at */
	return true;
}

bool lbx_select_runtime_tensor(struct lbx_context *context, const char *text, struct lbx_tensor *ret)
{
	struct lbx_selection selection;

	if (!lbx_select(context, text, &selection))
		return false;
	if (selection.slice_text[0])
		return lb_fail("'%s' is a slice; a whole tensor is needed", text);
	if (selection.tensor.of != lbx_table_tensors(context->table))
		return lb_fail("'%s' is a tensor of %s; one of the runtime's is needed", text,
			       selection.tensor.of->provider);
	*ret = selection.tensor;
	return true;
}

void lbx_selection_label(const struct lbx_selection *selection, char *ret, size_t size)
{
	const struct lbx_tensor *t = &selection->tensor;
	char number[LBX_ID_TEXT_MAX];

	lbx_tensor_id_text(t, number);
	snprintf(ret, size, "%s%s", t->name[0] ? t->name : number, selection->slice_text);
}
