#include "python/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/dict.h"
#include "python/frames.h"

enum { NAME = 256, MAX_STEPS = 64, NESTED = 2, MODULES = 64, KEYS_TOLD = 112 };

/* Where names are looked up. */
struct scope {
	struct lbx_python *py;
	const struct lbx_py_rules *rules;
	const struct lbx_py_frame *frame; /* a function's variables, or a class'; NULL: a module's */
	uint64_t globals;    /* of the module; also for keys, behind those of the function */
	bool only_locals;    /* the expression begins with one of the frame's own */
	bool only_globals;   /* or with one of the module's; keys are what the frame means by them */
	int nested;
	struct reason *reason; /* why it leads nowhere, where somebody asked; or NULL */
};

struct reason {
	char *text; /* "" as long as there is none */
	size_t size;
};

static uint64_t evaluate(const struct scope *scope, const char *text, const char *end);

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c & 0x80;
}

/* ---- names ---- */

static uint64_t find_in(struct lbx_python *py, uint64_t object, const char *name)
{
	struct lbx_py_dict dict;

	return lbx_py_mapping_open(py, object, &dict) ? lbx_py_dict_find(py, &dict, name) : 0;
}

static uint64_t find_local(const struct scope *s, const char *name)
{
	const struct lbx_py_frame *frame = s->frame;
	uint64_t key, value;
	char text[NAME];
	int i = 0;

	while (lbx_py_local_next(s->py, frame, &i, &key, &value))
		if (lbx_py_text(s->py, key, text, sizeof text) && strcmp(text, name) == 0)
			return value;
	return frame->locals != frame->globals ? find_in(s->py, frame->locals, name) : 0;
}

static uint64_t find_name(const struct scope *s, const char *name)
{
	uint64_t value = s->frame && !s->only_globals ? find_local(s, name) : 0;

	return value || s->only_locals ? value : find_in(s->py, s->globals, name);
}

/* ---- steps ---- */

static uint64_t find_member(const struct scope *s, uint64_t object, const char *name)
{
	uint64_t found = 0;

	for (const char *const *elided = s->rules->elided; *elided && !found; elided++) {
		uint64_t members = lbx_py_attribute(s->py, object, *elided);
		found = members ? find_in(s->py, members, name) : 0;
	}
	return found;
}

/* Of a dict of members whose names are numbers; each such dict is counted from its own end. */
static uint64_t find_numbered(struct lbx_python *py, uint64_t members, int64_t index)
{
	uint64_t key, value;
	struct lbx_py_dict dict;
	char name[24];

	if (!lbx_py_dict_open(py, members, &dict))
		return 0;
	int64_t n = 0;
	for (int64_t i = 0; index < 0 && lbx_py_dict_next(py, &dict, &i, &key, &value);)
		n++;
	index += n;
	snprintf(name, sizeof name, "%lld", (long long)index);
	return index >= 0 ? lbx_py_dict_find(py, &dict, name) : 0;
}

static uint64_t find_numbered_member(const struct scope *s, uint64_t object, int64_t index)
{
	uint64_t found = 0;

	for (const char *const *elided = s->rules->elided; *elided && !found; elided++)
		found = find_numbered(s->py, lbx_py_attribute(s->py, object, *elided), index);
	return found;
}

/* In a dict's order, from its end where the index is negative. */
static uint64_t find_place(struct lbx_python *py, uint64_t members, int64_t index)
{
	uint64_t key, value;
	struct lbx_py_dict dict;
	int64_t n = 0;

	if (!lbx_py_dict_open(py, members, &dict))
		return 0;
	for (int64_t i = 0; index < 0 && lbx_py_dict_next(py, &dict, &i, &key, &value);)
		n++;
	index += n;
	for (int64_t i = 0; index >= 0 && lbx_py_dict_next(py, &dict, &i, &key, &value); index--)
		if (index == 0)
			return value;
	return 0;
}

/* Where what dicts and lists hold is written as members are. */
static uint64_t find_item(const struct scope *s, uint64_t object, const char *name)
{
	char *end;
	uint64_t at;
	int64_t n;

	if (!lbx_py_items(s->py, object, &at, &n))
		return find_in(s->py, object, name);
	errno = 0;
	unsigned long long index = strtoull(name, &end, 10);
	return !errno && end > name && *end == '\0' && index < (unsigned long long)n
		   ? lbx_py_word(s->py, at + index * sizeof at)
		   : 0;
}

static uint64_t find_attribute(const struct scope *s, uint64_t object, const char *name)
{
	uint64_t found = lbx_py_attribute(s->py, object, name);

	found = found ? found : lbx_py_field(s->py, object, name);
	found = found ? found : find_member(s, object, name);
	return found || !s->rules->members_of ? found : find_item(s, object, name);
}

/* Of a list or tuple, where it may count from the end; of a dict; of an instance whose members are counted, or have numbers for
 * names. */
static uint64_t find_index(const struct scope *s, uint64_t object, int64_t index)
{
	struct lbx_py_dict dict;
	uint64_t at;
	int64_t n;

	if (lbx_py_items(s->py, object, &at, &n)) {
		index += index < 0 ? n : 0;
		return index >= 0 && index < n ? lbx_py_word(s->py, at + (uint64_t)index * sizeof at) : 0;
	}
	if (lbx_py_mapping_open(s->py, object, &dict))
		return lbx_py_dict_find_int(s->py, &dict, index);
	if (s->rules->counted && lbx_py_type_is(s->py, lbx_py_type_of(s->py, object), s->rules->counted))
		return find_place(s->py, lbx_py_attribute(s->py, object, s->rules->counts), index);
	return find_numbered_member(s, object, index);
}

/* Of a dict; of an instance, the member of that name. */
static uint64_t find_text(const struct scope *s, uint64_t object, const char *key)
{
	uint64_t found = find_in(s->py, object, key);

	return found ? found : find_member(s, object, key);
}

/* What is there under an object: a dict knows it as it is, else it is a number or a text. */
static uint64_t find_object(const struct scope *s, uint64_t object, uint64_t key)
{
	char text[NAME];
	struct lbx_py_dict dict;
	uint64_t at, value;
	int64_t i = 0, index;

	if (!key)
		return 0;
	if (lbx_py_mapping_open(s->py, object, &dict))
		while (lbx_py_dict_next(s->py, &dict, &i, &at, &value))
			if (at == key)
				return value;
	if (lbx_py_int(s->py, key, &index))
		return find_index(s, object, index);
	return lbx_py_text(s->py, key, text, sizeof text) && lbx_py_text_is(s->py, key, text)
		   ? find_text(s, object, text)
		   : 0;
}

/* What Python reads between the quotes of a str; false: it has no room. */
static bool unescape(const char *text, size_t n, char ret[NAME])
{
	static const char letters[] = "nrt\\'\"", stand_for[] = "\n\r\t\\'\"";
	size_t at = 0;

	for (const char *end = text + n; text < end; at++) {
		const char *letter = *text == '\\' && text + 1 < end ? strchr(letters, text[1]) : NULL;
		unsigned code;
		int length = 0;
		if (at + 1 >= NAME)
			return false;
		if (letter) {
			ret[at] = stand_for[letter - letters];
			text += 2;
		} else if (end - text >= 4 && sscanf(text, "\\x%2x%n", &code, &length) == 1 && length == 4) {
			ret[at] = (char)code;
			text += length;
		} else {
			ret[at] = *text++;
		}
	}
	ret[at] = '\0';
	return true;
}

/* What an expression between brackets means. */
static uint64_t key_object(const struct scope *s, const char *text, const char *end)
{
	struct scope within = *s;

	within.only_locals = within.only_globals = false;
	within.reason = NULL;
	return within.nested++ < NESTED ? evaluate(&within, text, end) : 0;
}

/* What stands between brackets: a str, an index, or an expression whose object is a key. */
static uint64_t find_key(const struct scope *s, uint64_t object, const char *text, const char *end)
{
	char key[NAME], *stop;
	size_t n = (size_t)(end - text);

	if (n >= 2 && (*text == '\'' || *text == '"') && end[-1] == *text)
		return unescape(text + 1, n - 2, key) ? find_text(s, object, key) : 0;
	errno = 0;
	long long index = strtoll(text, &stop, 10);
	if (stop == end && n > 0 && !errno)
		return find_index(s, object, index);
	return find_object(s, object, key_object(s, text, end));
}

/* ---- why it leads nowhere ---- */

/* What a key is to a dict. */
struct key {
	bool is_text;
	char text[NAME];
	int64_t number;
};

/* False: it is something else, or not known. */
static bool read_key(const struct scope *s, const char *text, const char *end, struct key *ret)
{
	size_t n = (size_t)(end - text);
	char *stop;

	ret->is_text = n >= 2 && (*text == '\'' || *text == '"') && end[-1] == *text;
	if (ret->is_text)
		return unescape(text + 1, n - 2, ret->text);
	errno = 0;
	ret->number = strtoll(text, &stop, 10);
	if (stop == end && n > 0)
		return !errno;
	uint64_t object = key_object(s, text, end);
	ret->is_text = object && !lbx_py_int(s->py, object, &ret->number);
	return object && (!ret->is_text || (lbx_py_text(s->py, object, ret->text, sizeof ret->text) &&
					    lbx_py_text_is(s->py, object, ret->text)));
}

/* As Python writes it. */
static bool key_text(const struct key *key, char *ret, size_t size)
{
	char text[NAME];

	if (!key->is_text)
		return (size_t)snprintf(ret, size, "%lld", (long long)key->number) < size;
	if (!lbx_py_key_text(key->text, text, sizeof text) || strlen(text) - 2 >= size)
		return false;
	snprintf(ret, size, "%.*s", (int)strlen(text) - 2, text + 1);
	return true;
}

/* Those of a dict, behind others; of members that are asked for by a number the names as they are. */
static void tell_keys(const struct scope *s, const struct lbx_py_dict *dict, bool are_numbers, char *ret, size_t size)
{
	static const char more[] = ", …";
	uint64_t at, value;
	struct key key;
	char text[NAME];

	for (int64_t i = 0; lbx_py_dict_next(s->py, dict, &i, &at, &value);) {
		size_t n = strlen(ret);
		key.is_text = !lbx_py_int(s->py, at, &key.number);
		if (key.is_text && !lbx_py_text(s->py, at, key.text, sizeof key.text))
			continue;
		bool has_room = are_numbers && key.is_text ? snprintf(text, sizeof text, "%s", key.text) < NAME
							   : key_text(&key, text, sizeof text);
		if (has_room && n + strlen(text) + 2 * sizeof more < size) {
			snprintf(ret + n, size - n, "%s%s", n ? ", " : "", text);
		} else {
			strcpy(ret + n, n ? more : "…");
			return;
		}
	}
}

/* What there is under keys instead: false: it is nothing that has such. */
static bool tell_all_keys(const struct scope *s, uint64_t object, const struct key *key, char *ret, size_t size)
{
	struct lbx_py_dict dict;
	bool has_members = false;

	*ret = '\0';
	if (lbx_py_mapping_open(s->py, object, &dict)) {
		tell_keys(s, &dict, false, ret, size);
		return true;
	}
	for (const char *const *elided = s->rules->elided; *elided; elided++) {
		uint64_t members = lbx_py_attribute(s->py, object, *elided);
		if (!members || !lbx_py_mapping_open(s->py, members, &dict))
			continue;
		has_members = true;
		if (!strstr(ret, "…"))
			tell_keys(s, &dict, !key->is_text, ret, size);
	}
	return has_members;
}

/* `from` to `to` is the expression of the object, then comes the key up to `end`. */
static void explain(const struct scope *s, uint64_t object, const char *from, const char *to, const char *end)
{
	struct reason *reason = s->reason;
	char under[NAME], keys[KEYS_TOLD];
	struct key key;
	uint64_t at;
	int64_t n;

	if (!reason || *reason->text || s->rules->is_wanted(s->rules->context, object) ||
	    !read_key(s, to + 1, end, &key) || !key_text(&key, under, sizeof under))
		return;
	int used = snprintf(reason->text, reason->size, "%.*s ", (int)(to - from), from);
	if (used < 0 || (size_t)used + strlen(under) + sizeof keys + 32 >= reason->size) {
		*reason->text = '\0';
		return;
	}
	char *rest = reason->text + used;
	size_t room = reason->size - (size_t)used;
	if (lbx_py_items(s->py, object, &at, &n) && key.is_text)
		snprintf(rest, room, "has nothing under %s: its elements have numbers", under);
	else if (lbx_py_items(s->py, object, &at, &n))
		snprintf(rest, room, "has no element %s: there are %lld", under, (long long)n);
	else if (tell_all_keys(s, object, &key, keys, sizeof keys))
		snprintf(rest, room, "has nothing under %s: %s%s", under, *keys ? "it has " : "it is empty", keys);
	else
		*reason->text = '\0';
}

/* ---- the whole ---- */

/* The bracket that closes the one that the text begins with; NULL: none does. */
static const char *closing(const char *text, const char *end)
{
	char quote = '\0';
	int depth = 0;

	for (const char *c = text; c < end; c++) {
		if (quote && *c == '\\') {
			c++;
		} else if (quote) {
			quote = *c == quote ? '\0' : quote;
		} else if (*c == '\'' || *c == '"') {
			quote = *c;
		} else {
			depth += *c == '[' ? 1 : *c == ']' ? -1 : 0;
			if (depth == 0)
				return c;
		}
	}
	return NULL;
}

/* 0: it leads nowhere, or is no such expression. */
static uint64_t evaluate(const struct scope *s, const char *text, const char *end)
{
	const char *begin = text;
	uint64_t object = 0;

	for (int i = 0; text < end && i < MAX_STEPS && (i == 0 || object); i++) {
		char name[NAME];
		const char *from = text + (i > 0), *to = from;
		if (i > 0 && *text == '[') {
			to = closing(text, end);
			uint64_t in = object;
			object = to ? find_key(s, in, from, to) : 0;
			if (to && !object)
				explain(s, in, begin, text, to);
			text = to ? to + 1 : end;
			continue;
		}
		while (to < end && is_name(*to))
			to++;
		if ((i > 0 && *text != '.') || to == from || (size_t)(to - from) >= sizeof name)
			return 0;
		snprintf(name, sizeof name, "%.*s", (int)(to - from), from);
		object = i > 0 ? find_attribute(s, object, name) : find_name(s, name);
		text = to;
	}
	return text == end ? object : 0;
}

/* ---- all threads ---- */

static uint64_t evaluate_in(const struct scope *s, const char *expression)
{
	uint64_t object = evaluate(s, expression, expression + strlen(expression));

	return object && s->rules->is_wanted(s->rules->context, object) ? object : 0;
}

static int add(struct lbx_py_found ret[LBX_PY_FOUND], int n, uint64_t object, uint64_t tid, const char *function)
{
	for (int i = 0; i < n; i++)
		if (ret[i].object == object)
			return n;
	if (n == LBX_PY_FOUND)
		return n;
	ret[n] = (struct lbx_py_found){ .object = object, .tid = tid };
	snprintf(ret[n].function, sizeof ret[n].function, "%s", function);
	return n + 1;
}

/* The innermost of a thread, or behind a stack pointer. */
static bool first_frame(struct lbx_python *py, const struct lbx_py_thread *thread, uint64_t stack,
			struct lbx_py_frame *ret)
{
	return stack ? lbx_py_frame_behind(py, thread, stack, ret) : lbx_py_frame_first(py, thread, ret);
}

/* In each thread, or in one, by the innermost frame where one of the function's own variables leads to such an object. */
static int evaluate_locals(struct scope *s, const char *expression, uint64_t only, uint64_t stack,
			   struct lbx_py_found ret[LBX_PY_FOUND])
{
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;
	int n = 0;

	s->only_locals = true;
	s->frame = &frame;
	for (int i = 0; lbx_py_thread(s->py, i, &thread); i++) {
		uint64_t object = 0;
		if (only && thread.tid != only)
			continue;
		for (bool more = first_frame(s->py, &thread, stack, &frame); more && !object;
		     more = !object && lbx_py_frame_next(s->py, &frame, &frame)) {
			s->globals = frame.globals;
			object = evaluate_in(s, expression);
		}
		if (object)
			n = add(ret, n, object, thread.tid, frame.function);
	}
	s->only_locals = false;
	s->frame = NULL;
	return n;
}

static bool is_new(uint64_t modules[MODULES], int *n, uint64_t globals)
{
	for (int i = 0; i < *n; i++)
		if (modules[i] == globals)
			return false;
	if (*n < MODULES)
		modules[(*n)++] = globals;
	return true;
}

/* Whether what stands between brackets is a variable somewhere. */
static bool has_named_key(const char *expression)
{
	for (const char *c = expression; *c; c++)
		if (*c == '[' && is_name(c[1]) && !isdigit((unsigned char)c[1]))
			return true;
	return false;
}

/* In each thread by the innermost frame whose module's variables, or only those that are named, lead to such an object, by
 * keys that are the function's own. */
static int evaluate_keyed(struct scope *s, const char *expression, uint64_t globals,
			  struct lbx_py_found ret[LBX_PY_FOUND])
{
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;
	int n = 0;

	s->only_globals = true;
	s->frame = &frame;
	for (int i = 0; has_named_key(expression) && lbx_py_thread(s->py, i, &thread); i++) {
		uint64_t object = 0;
		for (bool more = lbx_py_frame_first(s->py, &thread, &frame); more && !object;
		     more = !object && lbx_py_frame_next(s->py, &frame, &frame)) {
			s->globals = frame.globals;
			object = !globals || globals == s->globals ? evaluate_in(s, expression) : 0;
		}
		if (object)
			n = add(ret, n, object, thread.tid, frame.function);
	}
	s->only_globals = false;
	s->frame = NULL;
	return n;
}

/* By the variables of the modules whose functions run, each module once. */
static int evaluate_globals(struct scope *s, const char *expression, struct lbx_py_found ret[LBX_PY_FOUND])
{
	uint64_t modules[MODULES], object;
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;
	int n = 0, n_modules = 0;

	for (int i = 0; lbx_py_thread(s->py, i, &thread); i++)
		for (bool more = lbx_py_frame_first(s->py, &thread, &frame); more;
		     more = lbx_py_frame_next(s->py, &frame, &frame)) {
			s->globals = frame.globals;
			object = is_new(modules, &n_modules, s->globals) ? evaluate_in(s, expression) : 0;
			if (object)
				n = add(ret, n, object, thread.tid, frame.function);
		}
	return n;
}

/* What the innermost function of a thread means by a name that is not its own. */
static int evaluate_module(struct scope *s, const char *expression, uint64_t tid, uint64_t stack,
			   struct lbx_py_found ret[LBX_PY_FOUND])
{
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;
	uint64_t object = 0;

	s->only_globals = true;
	s->frame = &frame;
	for (int i = 0; !object && lbx_py_thread(s->py, i, &thread); i++) {
		if (thread.tid != tid || !first_frame(s->py, &thread, stack, &frame))
			continue;
		s->globals = frame.globals;
		object = evaluate_in(s, expression);
	}
	s->only_globals = false;
	s->frame = NULL;
	return object ? add(ret, 0, object, tid, frame.function) : 0;
}

/* In one thread: its functions' own variables, then the module's of the innermost. */
static int evaluate_thread(struct scope *s, const char *expression, uint64_t tid, uint64_t stack,
			   struct lbx_py_found ret[LBX_PY_FOUND])
{
	int n = evaluate_locals(s, expression, tid, stack, ret);

	return n ? n : evaluate_module(s, expression, tid, stack, ret);
}

static int evaluate_all(struct lbx_python *py, const struct lbx_py_rules *rules, const char *expression,
			const struct lbx_viewpoint *first, struct reason *reason, struct lbx_py_found ret[LBX_PY_FOUND])
{
	static const struct lbx_viewpoint anywhere = { .thread = 0 };
	struct scope scope = { .py = py, .rules = rules, .reason = reason };
	uint64_t object;
	int n = 0;

	if (!is_name(*expression) || isdigit((unsigned char)*expression))
		return 0;
	lbx_py_allow(py, LBX_PY_READS);
	first = first ? first : &anywhere;
	if (first->thread && first->stack)
		n = evaluate_thread(&scope, expression, first->thread, first->stack, ret);
	if (first->thread && n == 0)
		n = evaluate_thread(&scope, expression, first->thread, 0, ret);
	if (n == 0 && !first->only)
		n = evaluate_locals(&scope, expression, 0, 0, ret);
	if (n)
		return n;
	uint64_t main = lbx_py_globals(py, lbx_py_interpreter(py, 0), "__main__");
	n = evaluate_keyed(&scope, expression, main, ret);
	if (n)
		return n;
	scope.globals = main;
	object = evaluate_in(&scope, expression);
	if (object)
		return add(ret, 0, object, 0, "");
	n = evaluate_keyed(&scope, expression, 0, ret);
	return n ? n : evaluate_globals(&scope, expression, ret);
}

int lbx_py_evaluate(struct lbx_python *py, const struct lbx_py_rules *rules, const char *expression,
		    const struct lbx_viewpoint *first, struct lbx_py_found ret[LBX_PY_FOUND])
{
	return evaluate_all(py, rules, expression, first, NULL, ret);
}

bool lbx_py_why_not(struct lbx_python *py, const struct lbx_py_rules *rules, const char *expression,
		    const struct lbx_viewpoint *first, char *ret, size_t size)
{
	struct lbx_py_found found[LBX_PY_FOUND];
	struct reason reason = { ret, size };

	*ret = '\0';
	return evaluate_all(py, rules, expression, first, &reason, found) == 0 && *ret;
}
