#include "inspect/operand/by_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/answer.h"
#include "inspect/convenience.h"
#include "inspect/name_index.h"
#include "inspect/tensor/name.h"
#include "tensors/scope.h"
#include "tensors/sequence.h"

/* What is unallocated is not meant where another has the name. */
static void add_same(struct lbx_named *found, const struct lbx_tensor *t)
{
	if (found->count && t->state == LBX_UNALLOCATED && found->first.state != LBX_UNALLOCATED)
		return;
	if (found->count && t->state != LBX_UNALLOCATED && found->first.state == LBX_UNALLOCATED)
		found->count = 0;
	if (found->count++ == 0)
		found->first = *t;
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

/* A tensor that the index has, read anew; false, without an error: it is another one now. */
static bool read_indexed(const struct lbx_key *key, const char *name, struct lbx_tensor *ret)
{
	bool same = lbx_tensor_by_key(key, ret) && ret->id == key->id && strcmp(ret->name, name) == 0;

	if (!same && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return same;
}

/* What the index says of one name; false: it is wrong. */
static bool find_indexed(const struct lbx_name_index *index, const struct lbx_context *context, const char *name,
			 struct lbx_named *found)
{
	struct lbx_tensor t;
	struct lbx_key key;
	const char *its;

	for (uint64_t at = 0; lbx_name_index_next(index, context, name, &at, &key, &its);) {
		if (!read_indexed(&key, its, &t))
			return false;
		add_same(found, &t);
	}
	return true;
}

/* Those whose name as a variable it is. */
static bool find_spelt(const struct lbx_name_index *index, const struct lbx_context *context,
		       char (*prefixes)[LBX_TEXT_MAX], int n, struct lbx_named *found)
{
	struct lbx_key key;
	const char *its;

	for (uint64_t at = 0; lbx_name_index_next(index, context, NULL, &at, &key, &its);)
		for (int i = 0; i < n; i++)
			if (lbx_is_spelling(prefixes[i], its, key.id) && strcmp(prefixes[i], its) != 0 &&
			    found[i].n_spelt++ == 0 && !read_indexed(&key, its, &found[i].spelt))
				return false;
	return true;
}

/* False: all have to be looked at. */
static bool by_index(const struct lbx_name_index *index, const struct lbx_context *context,
		     char (*prefixes)[LBX_TEXT_MAX], int n, struct lbx_named *found)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		if (!find_indexed(index, context, prefixes[i], &found[i]))
			return false;
		any |= found[i].count > 0;
	}
	return any || (lbx_name_index_is_new(index) && find_spelt(index, context, prefixes, n, found));
}

/* What a walk has met under a name that is looked for. False: it was interrupted. */
static bool take_label(const struct lbx_label *label, char (*prefixes)[LBX_TEXT_MAX], int n, struct lbx_named *found)
{
	struct lbx_tensor t;

	for (int i = 0; i < n; i++) {
		bool same = strcmp(label->name, prefixes[i]) == 0;
		if (!same && (!lbx_is_spelling(prefixes[i], label->name, label->key.id) || found[i].n_spelt++))
			continue;
		if (!read_indexed(&label->key, label->name, &t)) {
			found[i].n_spelt -= !same;
			if (!lb_ok())
				return false;
		} else if (same) {
			add_same(&found[i], &t);
		} else {
			found[i].spelt = t;
		}
	}
	return true;
}

bool lbx_find_named(struct lbx_context *context, struct lbx_tensors *tensors, char (*prefixes)[LBX_TEXT_MAX], int n,
		    struct lbx_named *found)
{
	const struct lbx_name_index *old;
	struct lbx_label label;
	uint64_t slot = 0;
	enum lbx_next next;
	bool clean = lb_ok(), whole = true;

	memset(found, 0, (size_t)n * sizeof *found);
	if (!lbx_name_index_get(context, tensors, &old))
		return false;
	if (old && by_index(old, context, prefixes, n, found))
		return true;
	memset(found, 0, (size_t)n * sizeof *found);
	struct lbx_name_index *index = lbx_name_index_begin(context, tensors);
	while (whole && (next = lbx_tensors_next_label(tensors, &slot, &label)) == LBX_NEXT_TENSOR) {
		lbx_name_index_add(index, context, &label);
		whole = !label.name[0] || take_label(&label, prefixes, n, found) || !clean;
	}
	/* what cannot be read because of an interruption would be missing in it for ever */
	bool done = whole && next == LBX_NEXT_END && (!index || lbx_progress(context->out, "looking at names", 0, 0));
	if (done)
		lbx_name_index_keep(index, context);
	else
		lbx_name_index_destroy(index);
	return done;
}

static void look_like(const char *name, size_t length, const char *other, struct lbx_named *found)
{
	int score = lbx_edits(name, other, 2);

	if (score > 0 && score <= 2 && (size_t)score < length)
		add_near(found, other, score);
	else if (score > 2 && length >= 2 && strlen(other) > length && strstr(other, name))
		add_near(found, other, 3);
}

bool lbx_find_like(struct lbx_context *context, struct lbx_tensors *tensors, const char *name, struct lbx_named *found)
{
	const struct lbx_name_index *index;
	size_t length = strlen(name);
	uint64_t slot = 0, bad = 0;
	enum lbx_next next = LBX_NEXT_END;
	struct lbx_tensor t;
	struct lbx_key key;
	const char *its;

	found->n_near = 0;
	if (!lbx_name_index_get(context, tensors, &index))
		return false;
	if (index && lbx_name_index_is_new(index)) {
		while (lbx_name_index_next(index, context, NULL, &slot, &key, &its))
			look_like(name, length, its, found);
		return true;
	}
	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR)
		if (t.name[0])
			look_like(name, length, t.name, found);
	return next == LBX_NEXT_END;
}

/* ---- which of several ---- */

enum { VARIABLE = 64, THREADS = 16, THREADS_TOLD = 4 };

/* What stands behind the name: NAME@thread:3@lazy@2 */
struct wanted {
	char name[LBX_TEXT_MAX];
	int state; /* -1: any */
	uint64_t thread, nth; /* 0: any */
	char thread_of[VARIABLE], nth_of[VARIABLE]; /* the variable that has it; or "" */
};

struct namesake {
	struct lbx_sequence sequence;
	struct lbx_key key;
	uint64_t thread;
};

struct namesakes {
	size_t n, room;
	struct namesake *list; /* in the order in which they came about */
	size_t n_all;          /* that have the name, whatever else is wanted */
	int n_threads;         /* which have made those, as far as known */
	uint64_t threads[THREADS];
};

static int by_order(const void *a, const void *b)
{
	const struct namesake *x = a, *y = b;

	return lbx_sequence_compare(&x->sequence, &y->sequence);
}

static bool is_variable(const char *text)
{
	size_t n = 1;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n > 1 && !text[n];
}

/* One of them, at the end of the text; false: what stands there is none. */
static bool take_suffix(const char *text, struct wanted *ret)
{
	static const char thread[] = "thread:";
	enum lbx_state state;
	const char *digits = strncmp(text, thread, sizeof thread - 1) == 0 ? text + sizeof thread - 1 : text;
	uint64_t *number = digits == text ? &ret->nth : &ret->thread;
	char *variable = digits == text ? ret->nth_of : ret->thread_of;
	size_t n = strspn(digits, "0123456789");

	if (*digits == '$' && is_variable(digits) && strlen(digits) < VARIABLE)
		return *number == 0 && !*variable && strcpy(variable, digits);
	if (n && n < 19 && !digits[n])
		return *number == 0 && !*variable && (*number = strtoull(digits, NULL, 10)) > 0;
	if (ret->state >= 0 || !lbx_state_parse(text, &state) || state == LBX_FREED)
		return false;
	ret->state = (int)state;
	return true;
}

/* NAME, and what follows it as far as that is known; false: nothing that is. */
static bool parse_wanted(const char *text, struct wanted *ret)
{
	char *at;

	*ret = (struct wanted){ .state = -1 };
	snprintf(ret->name, sizeof ret->name, "%s", text);
	while ((at = strrchr(ret->name, '@')) && at != ret->name && take_suffix(at + 1, ret))
		*at = '\0';
	return ret->state >= 0 || ret->thread || ret->nth || *ret->thread_of || *ret->nth_of;
}

/* Both are asked for at once. */
static bool evaluate_wanted(struct lbx_context *context, struct wanted *w)
{
	bool has_thread = !*w->thread_of || lbx_get_number(context, w->thread_of, &w->thread);
	bool has_nth = !*w->nth_of || lbx_get_number(context, w->nth_of, &w->nth);

	return has_thread && has_nth;
}

static void note_thread(struct namesakes *s, uint64_t thread)
{
	for (int i = 0; i < s->n_threads; i++)
		if (s->threads[i] == thread)
			return;
	if (thread && s->n_threads < THREADS)
		s->threads[s->n_threads++] = thread;
}

static bool gather(struct lbx_tensors *tensors, const struct wanted *wanted, struct namesakes *ret)
{
	uint64_t slot = 0, bad = 0;
	struct lbx_tensor t;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (strcmp(t.name, wanted->name) != 0 ||
		    (t.state == LBX_UNALLOCATED && wanted->state != LBX_UNALLOCATED))
			continue;
		ret->n_all++;
		note_thread(ret, t.thread);
		if ((wanted->state >= 0 && lbx_told_state(&t) != (enum lbx_state)wanted->state) ||
		    (wanted->thread && t.thread != wanted->thread))
			continue;
		if (!lb_reserve(ret->list, ret->room, ret->n + 1))
			return lb_fail("out of memory");
		ret->list[ret->n++] = (struct namesake){ lbx_sequence_of(&t), lbx_tensor_key(&t), t.thread };
	}
	if (ret->n)
		qsort(ret->list, ret->n, sizeof *ret->list, by_order);
	return next == LBX_NEXT_END;
}

static size_t find_record(const struct namesakes *s, const struct lbx_tensors *of, uint64_t record)
{
	size_t i = 0;

	while (i < s->n && (s->list[i].key.address != record || s->list[i].key.of != of))
		i++;
	return i;
}

/* The last that the scopes of a thread hold: their items lie one behind the other, the innermost scope's last. */
static bool last_held(struct lbx_context *context, const struct lbx_scope *all, const struct namesakes *s, size_t *ret)
{
	uint64_t items[1024];
	const size_t chunk = sizeof items / sizeof *items;

	for (uint64_t end = all->n; end > 0;) {
		size_t n = end < chunk ? (size_t)end : chunk;
		if (!lbx_progress(context->out, "looking into scopes", (int64_t)(all->n - end), (int64_t)all->n) ||
		    lbx_scope_items(all, end - n, items, n) != n)
			return false;
		for (size_t i = n; i-- > 0;) {
			size_t at = find_record(s, all->of, items[i]);
			if (at == s->n)
				continue;
			*ret = at;
			return true;
		}
		end -= n;
	}
	return false;
}

/* Among these, the one that the innermost scope of the thread holds; false, without an error and with *ret as it was: none
 * does. */
static bool in_scope(struct lbx_context *context, uint64_t thread, const struct namesakes *s, size_t *ret)
{
	for (int i = 0; i < context->n_sets; i++) {
		struct lbx_scope all = { .n = 0 }, scope;
		uint64_t slot = 0;
		while (lbx_tensors_scope(context->sets[i], &slot, &scope)) {
			if (scope.thread != thread)
				continue;
			if (!all.of)
				all = scope;
			if (scope.items >= all.items)
				all.n = (scope.items - all.items) / sizeof(uint64_t) + scope.n;
		}
		if (all.of && last_held(context, &all, s, ret))
			return true;
		if (!lb_ok())
			return false;
	}
	return false;
}

static bool fail_thread(const char *text, const struct wanted *wanted, const struct namesakes *s)
{
	char who[THREADS_TOLD * 24] = "";
	size_t used = 0;

	for (int i = 0; i < s->n_threads && i < THREADS_TOLD; i++)
		used += (size_t)snprintf(who + used, sizeof who - used, "%s%" PRIu64, i ? ", " : ", but by ",
					 s->threads[i]);
	return lb_fail("no tensor '%s': of %zu named '%s' none was made by that thread%s%s", text, s->n_all,
		       wanted->name, who, s->n_threads > THREADS_TOLD ? ", …" : "");
}

static bool fail_wanted(const char *text, const struct wanted *wanted, const struct namesakes *s)
{
	if (wanted->thread && !s->n)
		return fail_thread(text, wanted, s);
	if (!s->n && s->n_all && wanted->state >= 0)
		return lb_fail("no tensor '%s': %zu %s '%s', none of them %s (`list %s`)", text, s->n_all,
			       LB_PLURAL(s->n_all, "is called", "are called"), wanted->name,
			       lbx_state_name((enum lbx_state)wanted->state), wanted->name);
	return lb_fail("no tensor '%s': %zu %s so (`list %s`)", text, s->n, LB_PLURAL(s->n, "is called", "are called"),
		       wanted->name);
}

/* Numbers grow within a thread; threads take theirs in blocks. */
static const char *last_is(const struct namesakes *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->list[i].thread != s->list[0].thread)
			return LBX_THE_HIGHEST;
	return LBX_THE_NEWEST;
}

static bool choose(struct lbx_context *context, const char *text, const struct wanted *wanted,
		   const struct namesakes *s, struct lbx_tensor *ret)
{
	size_t i = s->n - 1;
	const char *why = last_is(s);
	uint64_t thread;

	if (wanted->nth)
		return wanted->nth <= s->n ? lbx_tensor_by_key(&s->list[wanted->nth - 1].key, ret)
					   : fail_wanted(text, wanted, s);
	if (s->n == 0)
		return fail_wanted(text, wanted, s);
	if (s->n > 1 && (thread = lbx_context_thread(context)) && in_scope(context, thread, s, &i))
		why = LBX_OF_SCOPE;
	if (lbx_target_waits(context->target))
		return lb_fail("'%s' is not known yet: the debugger has not answered yet", text);
	if (!lb_ok() || !lbx_tensor_by_key(&s->list[i].key, ret))
		return false;
	if (s->n > 1)
		lbx_tell_choice(context->out, text, ret, i + 1, s->n, why);
	return true;
}

bool lbx_choose_named(struct lbx_context *context, struct lbx_tensors *tensors, const char *name,
		      struct lbx_tensor *ret)
{
	struct wanted wanted = { .state = -1 };
	struct namesakes s = { .n = 0 };

	snprintf(wanted.name, sizeof wanted.name, "%s", name);
	bool done = gather(tensors, &wanted, &s);
	if (done && !s.n) { /* those that have no memory */
		wanted.state = LBX_UNALLOCATED;
		done = gather(tensors, &wanted, &s);
	}
	done = done && choose(context, name, &wanted, &s, ret);
	free(s.list);
	return done;
}

bool lbx_find_told(struct lbx_context *context, struct lbx_tensors *tensors, const char *text, struct lbx_tensor *ret)
{
	struct wanted wanted;
	struct namesakes s = { .n = 0 };
	bool done = strchr(text, '@') && parse_wanted(text, &wanted) && evaluate_wanted(context, &wanted) &&
		    gather(tensors, &wanted, &s) && s.n_all && choose(context, text, &wanted, &s, ret);

	free(s.list);
	return done;
}

bool lbx_tells_which(const char *text, char name[LBX_TEXT_MAX])
{
	struct wanted wanted;
	bool tells = strchr(text, '@') && parse_wanted(text, &wanted);

	if (tells)
		strcpy(name, wanted.name);
	return tells;
}

/* ---- what was chosen ---- */

static bool is_told(const json_t *list, const char *text, uint64_t id)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i,
			   one) if (strcmp(json_string_value(json_object_get(one, "name")), text) == 0 &&
				    (uint64_t)json_integer_value(json_object_get(one, "id")) == id) return true;
	return false;
}

void lbx_tell_choice(struct lbx_out *out, const char *text, const struct lbx_tensor *t, size_t nth, size_t of,
		     const char *why)
{
	json_t *name = lbx_json_string(text);

	if (!out->chosen)
		out->chosen = json_array();
	if (name && !is_told(out->chosen, json_string_value(name), t->id))
		json_array_append_new(out->chosen,
				      json_pack("{s:O, s:I, s:I, s:I, s:s}", "name", name, "id", (json_int_t)t->id,
						"nth", (json_int_t)nth, "of", (json_int_t)of, "why", why));
	json_decref(name);
}

/* Whether a slice is begun, but not ended. */
static bool is_open(const char *text)
{
	int depth = 0;

	for (; *text; text++)
		depth += *text == '[' ? 1 : *text == ']' ? -1 : 0;
	return depth > 0;
}

bool lbx_fail_unnamed(const char *text, const struct lbx_named *found, const char *null, bool quoted, const char *why,
		      const char *handles)
{
	const char *blank = quoted || !strchr(text, ' ') ? "" : " (a name with blanks stands in quotes)";
	char near[3 * (LB_NAME_MAX + 4)] = "";

	if (null)
		return lb_fail("'%s' is a NULL tensor", null);
	if ((*text == '"' || *text == '\'') && !lbx_closing_quote(text))
		return lb_fail("a quote (%c) is not closed: %s", *text, text);
	if (*text == '[')
		return lb_fail("no tensor '%s': a slice stands right behind its tensor, as in x%s", text, text);
	if (is_open(text))
		return lb_fail("no tensor '%s': a bracket ([) is not closed", text);
	for (int i = 0; i < found->n_near; i++) {
		strcat(near, i ? ", " : "");
		strcat(near, found->near[i]);
	}
	if (*why)
		return lb_fail("no tensor '%s': %s%s%s%s", text, why, *near ? " (did you mean " : "", near,
			       *near ? "?)" : "");
	if (*text == '%' && isdigit((unsigned char)text[1]))
		return lb_fail("no tensor '%s': it is a line of a listing; `locals` in the graph's frame, or "
			       "`listing N`, tells its #id",
			       text);
	if (strncmp(text, "0x", 2) == 0 && text[2] && !text[2 + strspn(text + 2, "0123456789abcdefABCDEF")])
		return lb_fail(
		    "no tensor '%s': no tensor's record is there; `at %s` tells whose memory that is, `view %s "
		    "DTYPE SHAPE` shows it",
		    text, text, text);
	if (!found->n_near && *text && text[strspn(text, "0123456789")] == '\0')
		return lb_fail("no tensor '%s': did you mean #%s?", text, text);
	if (found->n_near)
		return lb_fail("no tensor '%s': did you mean %s?", text, near);
	return lb_fail("no tensor '%s'%s: not a name in the table (see `list`), not #id, and no expression that "
		       "yields %s",
		       text, blank, handles);
}
