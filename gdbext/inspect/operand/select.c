/* `x[3]` may be an element of a C array of tensors, a slice of the tensor x, or a tensor
 * that somebody named "x[3]". The longest prefix wins, the rest is the slice; of one
 * prefix, the debugger's answer wins over a name, unless the prefix cannot be an
 * expression. An lvalue (type lb_tensor, not a pointer) is only believed without brackets:
 * for a pointer p the expression p[3] is the record three slots on, never meant. */
#include "inspect/operand/select.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/convenience.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/view.h"
#include "inspect/tensor/format.h"

enum { MAX_BRACKETS = 16, SHOWN = 5, NEAR = 3, TEXT_MAX = 1024 };

static const char *skip(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Lengths of the prefixes that are left when 0, 1, 2 … brackets at the end are taken off. */
static int prefixes(const char *text, size_t *lengths)
{
	size_t n = strlen(text);
	int count = 0;

	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	lengths[count++] = n;
	while (count <= MAX_BRACKETS && n > 1 && text[n - 1] == ']') {
		int depth = 0;
		do {
			n--;
			depth += text[n] == ']' ? 1 : text[n] == '[' ? -1 : 0;
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
		if (*c == '/' || *c == '#' || *c == '?' || *c == '%' || *c == '@')
			return false;
		if (*c == ':' && c[1] != ':' && (c == text || c[-1] != ':'))
			return false;
		if (*c == '.' && (isdigit((unsigned char)c[1]) || c[1] == '.' || !c[1]))
			return false;
	}
	return true;
}

enum handle { NO_HANDLE, POINTER, LVALUE, OTHER };

static enum handle handle_type(const char *type)
{
	char plain[128];
	size_t n = 0;

	for (const char *c = type; *c && n < sizeof plain - 1;) {
		static const char *const words[] = { "const", "volatile", "struct", "restrict" };
		size_t skipped = 0;
		bool start = c == type || (!isalnum((unsigned char)c[-1]) && c[-1] != '_');
		for (int i = 0; start && i < 4; i++) {
			size_t length = strlen(words[i]);
			if (strncmp(c, words[i], length) == 0 &&
			    !isalnum((unsigned char)c[length]) && c[length] != '_')
				skipped = length;
		}
		if (skipped)
			c += skipped;
		else if (isspace((unsigned char)*c))
			c++;
		else
			plain[n++] = *c++;
	}
	plain[n] = '\0';
	if (strcmp(plain, "lb_tensor*") == 0 || strcmp(plain, "lb_tensor*&") == 0)
		return POINTER;
	if (strcmp(plain, "lb_tensor") == 0)
		return LVALUE;
	return OTHER;
}

static bool by_expression(struct lbx_context *context, struct lbx_tensors *tensors,
			  const char *text, bool bracket, struct lbx_tensor *ret, bool *null)
{
	struct lbx_value value;
	bool clean = lb_ok();

	if (!lbx_target_evaluate(context->target, text, &value)) {
		if (clean)
			lb_clear_error();
		return lbx_find_variable(context, text, &value.bits) &&
		       (tensors->ops->by_address(tensors, value.bits, ret) || (lb_clear_error(), false));
	}
	enum handle handle = handle_type(value.type);
	if (handle == POINTER && value.bits == 0)
		*null = true;
	if (value.bits == 0 || (handle == LVALUE && bracket))
		return false;
	if (tensors->ops->by_address(tensors, value.bits, ret))
		return true;
	/* a handle that is none deserves its message; anything else may be a name */
	if (handle != POINTER && clean)
		lb_clear_error();
	return false;
}

/* Edits that make a into b, at most `most`. */
static int distance(const char *a, const char *b, int most)
{
	size_t n = strlen(a), m = strlen(b);
	int row[64];

	if (m >= sizeof row / sizeof *row || n > m + (size_t)most || m > n + (size_t)most)
		return most + 1;
	for (size_t j = 0; j <= m; j++)
		row[j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		int diagonal = row[0];
		row[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			int change = diagonal + (tolower((unsigned char)a[i - 1]) !=
						 tolower((unsigned char)b[j - 1]));
			diagonal = row[j];
			int edit = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			row[j] = change < edit ? change : edit;
		}
	}
	return row[m];
}

struct found {
	uint64_t count;
	struct lbx_tensor first;
	char others[512]; /* the first few of several */
	int n_near;
	char near[NEAR][LB_NAME_MAX + 1];
	int scores[NEAR];
};

static void add_same(struct found *found, const struct lbx_tensor *t)
{
	char shape[128];
	size_t used = strlen(found->others);

	if (found->count++ == 0)
		found->first = *t;
	if (found->count > SHOWN)
		return;
	lbx_format_list(t->shape, t->rank, shape, sizeof shape);
	snprintf(found->others + used, sizeof found->others - used, "%s#%llu %s %s",
		 used ? ", " : "", (unsigned long long)t->id, shape, lbx_state_name(t->state));
}

static void add_near(struct found *found, const char *name, int score)
{
	int i = found->n_near;

	for (int k = 0; k < found->n_near; k++)
		if (strcmp(found->near[k], name) == 0)
			return;
	if (i == NEAR) {
		for (int k = i = 0; k < NEAR; k++)
			if (found->scores[k] > found->scores[i])
				i = k;
		if (found->scores[i] <= score)
			return;
	} else {
		found->n_near++;
	}
	strcpy(found->near[i], name);
	found->scores[i] = score;
}

/* A bracket with : , or … in it is a slice, never the end of a name. */
static bool may_be_name(const char *prefix)
{
	const char *bracket = strrchr(prefix, '[');
	return !bracket || !strpbrk(bracket, ":,.");
}

/* Walks the table once for all prefixes; the shortest also collects names like it. */
static bool by_names(struct lbx_tensors *tensors, char (*prefixes)[TEXT_MAX], int n,
		     struct found *found)
{
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	enum lbx_next next;
	const char *shortest = prefixes[n - 1];
	size_t length = strlen(shortest);

	memset(found, 0, (size_t)n * sizeof *found);
	while ((next = tensors->ops->next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (!t.name[0])
			continue;
		for (int i = 0; i < n; i++)
			if (strcmp(t.name, prefixes[i]) == 0)
				add_same(&found[i], &t);
		int score = distance(shortest, t.name, 2);
		if (score > 0 && score <= 2 && (size_t)score < length)
			add_near(&found[n - 1], t.name, score);
		else if (score > 2 && length >= 2 && strstr(t.name, shortest))
			add_near(&found[n - 1], t.name, 3);
	}
	return next == LBX_NEXT_END;
}

static bool unknown(const char *text, const struct found *found, bool null)
{
	char near[3 * (LB_NAME_MAX + 4)] = "";

	if (null)
		return lb_fail("'%s' is a NULL tensor", text);
	for (int i = 0; i < found->n_near; i++) {
		strcat(near, i ? ", " : "");
		strcat(near, found->near[i]);
	}
	if (*text == '%' && isdigit((unsigned char)text[1]))
		return lb_fail("no tensor '%s': it is a line of a listing; `locals` in the graph's frame, or "
			       "`listing N`, tells its #id", text);
	return lb_fail(found->n_near ? "no tensor '%s': did you mean %s?"
		       : "no tensor '%s'%s: not a name in the table (see `list`), not #id, and no "
			 "expression that yields an lb_tensor *", text, near);
}

static bool select_id(struct lbx_tensors *tensors, const char *text, size_t *used,
		      struct lbx_tensor *ret)
{
	char *end;

	errno = 0;
	unsigned long long id = strtoull(text + 1, &end, 10);
	if (!isdigit((unsigned char)text[1]) || errno || (*skip(end) && *skip(end) != '['))
		return lb_fail("'%s' is no tensor: # is followed by its number, as in #12", text);
	*used = (size_t)(end - text);
	return tensors->ops->by_id(tensors, id, ret);
}

struct names {
	char prefixes[MAX_BRACKETS + 1][TEXT_MAX];
	struct found found[MAX_BRACKETS + 1];
};

/* A name that one tensor has comes first: it costs the debugger no question, and a debugger
 * takes long to find out that there is no variable of a name. `(x)` is never a name. */
static bool search(struct lbx_context *context, struct lbx_tensors *tensors, const char *text,
		   struct names *names, size_t *used, struct lbx_tensor *ret)
{
	size_t lengths[MAX_BRACKETS + 1];
	bool null = false;
	int n = prefixes(text, lengths);

	for (int i = 0; i < n; i++)
		snprintf(names->prefixes[i], TEXT_MAX, "%.*s", (int)lengths[i], text);
	if (!by_names(tensors, names->prefixes, n, names->found))
		return false;
	for (int i = 0; i < n; i++) {
		*used = lengths[i];
		if (may_be_name(names->prefixes[i]) && names->found[i].count == 1) {
			*ret = names->found[i].first;
			return true;
		}
	}
	for (int i = 0; i < n; i++) {
		const char *prefix = names->prefixes[i];
		const struct found *found = &names->found[i];
		*used = lengths[i];
		if (looks_like_expression(prefix) &&
		    by_expression(context, tensors, prefix, prefix[lengths[i] - 1] == ']', ret, &null))
			return true;
		if (!lb_ok())
			return false;
		/* ask all that may be asked before giving up */
		if (lbx_target_waits(context->target) || !may_be_name(prefix))
			continue;
		if (found->count > 1)
			return lb_fail("%llu tensors are named '%s': %s%s; say which by #id",
				       (unsigned long long)found->count, prefix, found->others,
				       found->count > SHOWN ? ", …" : "");
	}
	if (lbx_target_waits(context->target))
		return lb_fail("'%s' is not known yet: the debugger has still to answer", text);
	return unknown(names->prefixes[n - 1], &names->found[n - 1], null);
}

static bool select_text(struct lbx_context *context, struct lbx_tensors *tensors, const char *text,
			size_t *used, struct lbx_tensor *ret)
{
	struct names *names = calloc(1, sizeof *names);
	bool found = names ? search(context, tensors, text, names, used, ret)
			   : lb_fail("out of memory");
	free(names);
	return found;
}

/* Of what follows T. */
static bool select_slice(const char *text, struct lbx_selection *ret)
{
	snprintf(ret->slice_text, sizeof ret->slice_text, "%s", skip(text));
	return lbx_slice_parse(skip(text), &ret->slice);
}

bool lbx_select_values(struct lbx_context *context, const char *text, struct lbx_selection *ret)
{
	size_t used;

	text = skip(text);
	if (*text != '@')
		return lbx_select(context, text, ret);
	memset(ret, 0, sizeof *ret);
	return lbx_view_parse(context, text, &used, &ret->tensor) && select_slice(text + used, ret);
}

bool lbx_select(struct lbx_context *context, const char *text, struct lbx_selection *ret)
{
	struct lbx_table *table;
	size_t used = 0;

	memset(ret, 0, sizeof *ret);
	if (!lbx_context_table(context, &table))
		return false;
	text = skip(text);
	if (!*text || strlen(text) >= TEXT_MAX)
		return lb_fail(*text ? "the tensor's expression is too long%s" : "no tensor given%s", "");
	if (*text == '@')
		return lb_fail("'%s' is memory: a tensor is wanted", text);
	struct lbx_tensors *tensors = lbx_table_tensors(table);
	if (!(*text == '#' ? select_id(tensors, text, &used, &ret->tensor)
			   : select_text(context, tensors, text, &used, &ret->tensor)))
		return false;
	/* in step mode what an evaluation has computed can be looked at while it goes on */
	if (lbx_table_is_computed(table, &ret->tensor)) {
		ret->tensor.state = LB_STATE_READY;
		ret->tensor.held = true;
	}
	if (!select_slice(text + used, ret))
		return false;
	lbx_set_tensor(context->out, &ret->tensor);
	return true;
}

void lbx_selection_label(const struct lbx_selection *selection, char *ret, size_t size)
{
	const struct lbx_tensor *t = &selection->tensor;
	if (t->name[0])
		snprintf(ret, size, "%s%s", t->name, selection->slice_text);
	else
		snprintf(ret, size, "#%llu%s", (unsigned long long)t->id, selection->slice_text);
}
