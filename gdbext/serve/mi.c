#include "serve/mi.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

enum { MOST_DEPTH = 32 };

/* What is left of a line. */
struct cursor {
	const char *at, *end;
};

static bool has(const struct cursor *c, char what)
{
	return c->at < c->end && *c->at == what;
}

static bool take(struct cursor *c, char what)
{
	bool is_there = has(c, what);

	c->at += is_there;
	return is_there;
}

/* ---- strings ---- */

static bool take_octal(struct cursor *c, char *ret)
{
	int value = 0, n = 0;

	for (; n < 3 && c->at < c->end && *c->at >= '0' && *c->at <= '7'; n++)
		value = 8 * value + (*c->at++ - '0');
	*ret = (char)value;
	return n > 0;
}

/* What follows a backslash. */
static char take_escaped(struct cursor *c)
{
	static const char letters[] = "abefnrtv", meant[] = "\a\b\033\f\n\r\t\v";
	char byte;

	if (take_octal(c, &byte))
		return byte;
	byte = *c->at++;
	const char *letter = memchr(letters, byte, sizeof letters - 1);
	return letter ? meant[letter - letters] : byte;
}

/* "…"; what it means is no longer than what stands there. */
static bool take_string(struct cursor *c, char **ret, size_t *n)
{
	if (!take(c, '"'))
		return false;
	char *text = malloc((size_t)(c->end - c->at) + 1);
	size_t length = 0;
	if (!text)
		return false;
	while (c->at < c->end && *c->at != '"') {
		char byte = *c->at++;
		text[length++] = byte == '\\' && c->at < c->end ? take_escaped(c) : byte;
	}
	text[length] = '\0';
	if (!take(c, '"')) {
		free(text);
		return false;
	}
	*ret = text;
	*n = length;
	return true;
}

json_t *lbx_mi_text(const char *text, size_t n)
{
	json_t *string = json_stringn(text, n);

	if (string)
		return string;
	lb_auto_free char *valid = malloc(3 * n + 1);
	size_t length = 0;
	for (size_t i = 0; valid && i < n; i++) {
		bool is_ascii = (unsigned char)text[i] < 0x80;
		memcpy(valid + length, is_ascii ? text + i : "\xef\xbf\xbd", is_ascii ? 1 : 3);
		length += is_ascii ? 1 : 3;
	}
	return valid ? json_stringn_nocheck(valid, length) : NULL;
}

/* ---- values ---- */

static json_t *take_value(struct cursor *c, int depth);

static bool take_name(struct cursor *c, char *ret, size_t size)
{
	const char *start = c->at;

	while (c->at < c->end && (isalnum((unsigned char)*c->at) || *c->at == '-' || *c->at == '_'))
		c->at++;
	size_t n = (size_t)(c->at - start);
	if (n == 0 || n >= size)
		return false;
	memcpy(ret, start, n);
	ret[n] = '\0';
	return true;
}

/* NAME=VALUE, NAME=VALUE … into the object; false where something else comes. */
static bool take_pairs(struct cursor *c, json_t *object, int depth)
{
	char name[64];

	do {
		if (!take_name(c, name, sizeof name) || !take(c, '='))
			return false;
		json_t *value = take_value(c, depth);
		if (!value || json_object_set_new(object, name, value) != 0)
			return false;
	} while (take(c, ','));
	return true;
}

static bool is_pair(const struct cursor *c)
{
	struct cursor ahead = *c;
	char name[64];

	return take_name(&ahead, name, sizeof name) && has(&ahead, '=');
}

static bool take_elements(struct cursor *c, json_t *array, int depth)
{
	char name[64];

	do {
		if (is_pair(c)) {
			take_name(c, name, sizeof name);
			take(c, '=');
		}
		json_t *value = take_value(c, depth);
		if (!value || json_array_append_new(array, value) != 0)
			return false;
	} while (take(c, ','));
	return true;
}

static json_t *take_compound(struct cursor *c, int depth)
{
	char open = *c->at++, close = open == '{' ? '}' : ']';
	bool is_tuple = open == '{' && (has(c, '}') || is_pair(c));
	json_t *ret = is_tuple ? json_object() : json_array();

	if (take(c, close))
		return ret;
	bool ok = ret && (is_tuple ? take_pairs(c, ret, depth + 1) : take_elements(c, ret, depth + 1));
	if (ok && take(c, close))
		return ret;
	json_decref(ret);
	return NULL;
}

static json_t *take_value(struct cursor *c, int depth)
{
	if (depth < MOST_DEPTH && (has(c, '{') || has(c, '[')))
		return take_compound(c, depth);
	lb_auto_free char *text = NULL;
	size_t n = 0;
	return take_string(c, &text, &n) ? lbx_mi_text(text, n) : NULL;
}

/* ---- lines ---- */

static enum lbx_mi_kind kind_of(char sign)
{
	switch (sign) {
	case '^': return LBX_MI_RESULT;
	case '*': return LBX_MI_EXEC;
	case '=':
	case '+': return LBX_MI_NOTICE;
	case '~': return LBX_MI_CONSOLE;
	case '@': return LBX_MI_TARGET;
	case '&': return LBX_MI_LOG;
	default: return LBX_MI_OTHER;
	}
}

static void take_token(struct cursor *c, long *ret)
{
	long token = -1;

	for (int n = 0; n < 9 && c->at < c->end && isdigit((unsigned char)*c->at); n++)
		token = (token < 0 ? 0 : 10 * token) + (*c->at++ - '0');
	*ret = token;
}

/* Nothing: no memory. */
static bool keep_other(const char *line, size_t n, struct lbx_mi_line *ret)
{
	ret->kind = LBX_MI_OTHER;
	ret->token = -1;
	ret->text = malloc(n + 1);
	if (!ret->text)
		return lb_fail("out of memory");
	memcpy(ret->text, line, n);
	ret->text[n] = '\0';
	ret->n = n;
	return true;
}

static bool parse_record(struct cursor *c, struct lbx_mi_line *ret)
{
	if (!take_name(c, ret->class, sizeof ret->class))
		return false;
	ret->results = json_object();
	if (ret->results && take(c, ','))
		take_pairs(c, ret->results, 0);
	return ret->results;
}

bool lbx_mi_parse(const char *line, size_t n, struct lbx_mi_line *ret)
{
	struct cursor c = { line, line + n };

	memset(ret, 0, sizeof *ret);
	while (c.end > c.at && isspace((unsigned char)c.end[-1]))
		c.end--;
	if (c.end - c.at == 5 && memcmp(c.at, "(gdb)", 5) == 0) {
		ret->kind = LBX_MI_PROMPT;
		ret->token = -1;
		return true;
	}
	take_token(&c, &ret->token);
	ret->kind = c.at < c.end ? kind_of(*c.at) : LBX_MI_OTHER;
	c.at += ret->kind != LBX_MI_OTHER;
	bool ok = false;
	if (ret->kind >= LBX_MI_CONSOLE)
		ok = take_string(&c, &ret->text, &ret->n);
	else if (ret->kind != LBX_MI_OTHER)
		ok = parse_record(&c, ret);
	if (ok)
		return true;
	lbx_mi_release(ret);
	return keep_other(line, n, ret);
}

void lbx_mi_release(struct lbx_mi_line *line)
{
	json_decref(line->results);
	free(line->text);
	memset(line, 0, sizeof *line);
}

const char *lbx_mi_string(const json_t *results, const char *name)
{
	const char *text = json_string_value(json_object_get(results, name));

	return text ? text : "";
}
