#include "inspect/operand/by_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/name.h"
#include "tensors/sequence.h"

enum { SHOWN = 5 };

/* What is unallocated is not meant where another has the name. */
static void add_same(struct lbx_named *found, const struct lbx_tensor *t)
{
	char shape[LBX_LIST_MAX], other[LBX_LIST_MAX + 64];

	if (found->count && t->state == LBX_UNALLOCATED && found->first.state != LBX_UNALLOCATED)
		return;
	if (found->count && t->state != LBX_UNALLOCATED && found->first.state == LBX_UNALLOCATED) {
		found->count = found->n_others = 0;
		found->others[0] = '\0';
	}
	size_t used = strlen(found->others);
	if (found->count++ == 0)
		found->first = *t;
	if (found->count > SHOWN)
		return;
	lbx_format_list(lbx_shape(t), t->rank, shape, sizeof shape);
	int n = snprintf(other, sizeof other, "%s#%llu %s %s", used ? ", " : "", (unsigned long long)t->id, shape,
			 lbx_state_name(lbx_told_state(t)));
	if (used + (size_t)n >= sizeof found->others)
		return;
	strcpy(found->others + used, other);
	found->n_others++;
}

static void add_near(struct lbx_named *found, const char *name, int score)
{
	int i = found->n_near;

	for (int k = 0; k < found->n_near; k++)
		if (strcmp(found->near[k], name) == 0)
			return;
	if (i == LBX_NEAR) {
		for (int k = i = 0; k < LBX_NEAR; k++)
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

bool lbx_find_named(struct lbx_tensors *tensors, char (*prefixes)[LBX_TEXT_MAX], int n, struct lbx_named *found)
{
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	enum lbx_next next;
	const char *shortest = prefixes[n - 1];
	size_t length = strlen(shortest);

	memset(found, 0, (size_t)n * sizeof *found);
	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (!t.name[0])
			continue;
		for (int i = 0; i < n; i++) {
			if (strcmp(t.name, prefixes[i]) == 0)
				add_same(&found[i], &t);
			else if (lbx_is_spelling(prefixes[i], t.name, t.id) && found[i].n_spelt++ == 0)
				found[i].spelt = t;
		}
		int score = lbx_edits(shortest, t.name, 2);
		if (score > 0 && score <= 2 && (size_t)score < length)
			add_near(&found[n - 1], t.name, score);
		else if (score > 2 && length >= 2 && strstr(t.name, shortest))
			add_near(&found[n - 1], t.name, 3);
	}
	return next == LBX_NEXT_END;
}

struct nth {
	struct lbx_sequence sequence;
	struct lbx_key key;
};

static int by_order(const void *a, const void *b)
{
	const struct nth *x = a, *y = b;

	return lbx_sequence_compare(&x->sequence, &y->sequence);
}

bool lbx_find_nth(struct lbx_tensors *tensors, const char *text, struct lbx_tensor *ret)
{
	const char *at = strrchr(text, '@');
	size_t length = at ? (size_t)(at - text) : 0, n = 0, room = 0, digits = at ? strspn(at + 1, "0123456789") : 0;
	uint64_t slot = 0, bad = 0;
	lb_auto_free struct nth *list = NULL;
	struct lbx_tensor t;

	if (!length || !digits || digits > 9 || at[1 + digits])
		return false;
	while (lbx_tensors_next(tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR) {
		if (strncmp(t.name, text, length) != 0 || t.name[length] || t.state == LBX_UNALLOCATED)
			continue;
		if (!lb_reserve(list, room, n + 1))
			return lb_fail("out of memory");
		list[n++] = (struct nth){ lbx_sequence_of(&t), lbx_tensor_key(&t) };
	}
	size_t number = strtoul(at + 1, NULL, 10);
	if (n)
		qsort(list, n, sizeof *list, by_order);
	return lb_ok() && number && number <= n && lbx_tensor_by_key(&list[number - 1].key, ret);
}

bool lbx_fail_several(const char *name, const struct lbx_named *found)
{
	return lb_fail("%llu tensors are named '%s': %s%s; say which by #id, or by %s@2, the second",
		       (unsigned long long)found->count, name, found->others,
		       found->count > found->n_others ? ", …" : "", name);
}

/* Whether a slice is begun, but not ended. */
static bool is_open(const char *text)
{
	int depth = 0;

	for (; *text; text++)
		depth += *text == '[' ? 1 : *text == ']' ? -1 : 0;
	return depth > 0;
}

bool lbx_fail_unnamed(const char *text, const struct lbx_named *found, const char *null, bool quoted,
		      const char *handles)
{
	const char *blank = quoted || !strchr(text, ' ') ? "" : " (a name with blanks stands in quotes)";
	char near[3 * (LB_NAME_MAX + 4)] = "";

	if (null)
		return lb_fail("'%s' is a NULL tensor", null);
	if ((*text == '"' || *text == '\'') && !lbx_closing_quote(text))
		return lb_fail("a quote (%c) is not closed: %s", *text, text);
	if (is_open(text))
		return lb_fail("no tensor '%s': a bracket ([) is not closed", text);
	for (int i = 0; i < found->n_near; i++) {
		strcat(near, i ? ", " : "");
		strcat(near, found->near[i]);
	}
	if (*text == '%' && isdigit((unsigned char)text[1]))
		return lb_fail("no tensor '%s': it is a line of a listing; `locals` in the graph's frame, or "
			       "`listing N`, tells its #id",
			       text);
	if (!found->n_near && *text && text[strspn(text, "0123456789")] == '\0')
		return lb_fail("no tensor '%s': did you mean #%s?", text, text);
	if (found->n_near)
		return lb_fail("no tensor '%s': did you mean %s?", text, near);
	return lb_fail("no tensor '%s'%s: not a name in the table (see `list`), not #id, and no expression that "
		       "yields %s",
		       text, blank, handles);
}
