#include "target/effect.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Where what ends before `end` does, its blanks left out. */
static const char *trimmed(const char *text, const char *end)
{
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	return end;
}

static const char *name_before(const char *text, const char *end)
{
	while (end > text && is_of_name(end[-1]))
		end--;
	return end;
}

/* The bracket that the one before `end` closes; NULL: it closes none. */
static const char *opening(const char *text, const char *end, char open, char close)
{
	int depth = 0;

	while (end-- > text) {
		depth += *end == close;
		depth -= *end == open;
		if (depth == 0)
			return end;
	}
	return NULL;
}

static bool is_among(const char *name, size_t n, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == n && memcmp(*names, name, n) == 0)
			return true;
	return false;
}

/* The name of a type, as far as that shows: (struct node *), (unsigned), (uint64_t), (unsigned long). */
static bool reads_like_type(const char *from, const char *end)
{
	static const char *const types[] = { "char",   "short",    "int",    "long", "float",
					     "double", "unsigned", "signed", "bool", NULL };

	while (from < end && isspace((unsigned char)*from))
		from++;
	end = trimmed(from, end);
	if (from == end)
		return false;
	if (end[-1] == '*' || end[-1] == '&')
		return true;
	const char *last = name_before(from, end), *before = trimmed(from, last);
	size_t n = (size_t)(end - last);
	bool has_two_words = before > from && before < last && is_of_name(before[-1]);
	return n > 0 && (has_two_words || is_among(last, n, types) || (n > 2 && memcmp(end - 2, "_t", 2) == 0));
}

/* std::get<1> (x) is a call, reinterpret_cast<T *>(x) is none, and in a < b > (c) nothing is: no name stands right at the <. */
static bool calls_template(const char *text, const char *end)
{
	const char *open = opening(text, end, '<', '>');
	const char *name = open ? name_before(text, open) : NULL;
	static const char cast[] = "_cast";
	const size_t n = sizeof cast - 1;

	return open && name < open && !((size_t)(open - name) > n && memcmp(open - n, cast, n) == 0);
}

/* Whether the bracket here holds the arguments of a function. */
static bool is_call(const char *text, const char *bracket)
{
	static const char *const words[] = { "sizeof",     "alignof", "_Alignof", "decltype", "typeof",
					     "__typeof__", "and",     "or",       "not",      NULL };
	const char *end = trimmed(text, bracket);

	if (end == text)
		return false;
	if (is_of_name(end[-1])) {
		const char *name = name_before(text, end);
		return *name != '$' && !is_among(name, (size_t)(end - name), words);
	}
	if (end[-1] == ')') {
		const char *open = opening(text, end, '(', ')');
		return open && !reads_like_type(open + 1, end - 1);
	}
	return end[-1] == ']' || (end[-1] == '>' && calls_template(text, end));
}

/* At a `=`: past == it goes on; <=, >= and != compare; all else assigns. */
static bool assigns(const char *text, const char *at)
{
	char before = at > text ? at[-1] : '\0';

	if (at[1] == '=' || before == '=' || before == '!')
		return false;
	return (before != '<' && before != '>') || (at - text > 1 && at[-2] == before);
}

const char *lbx_past_quoted(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += *at == '\\' && at[1] ? 2 : 1;
	return *at ? at : at - 1;
}

enum lbx_effect lbx_effect_of(const char *expression)
{
	enum lbx_effect ret = LBX_NO_EFFECT;

	for (const char *at = expression; *at; at++) {
		if (*at == '"' || *at == '\'')
			at = lbx_past_quoted(at);
		else if ((*at == '=' && assigns(expression, at)) || ((*at == '+' || *at == '-') && at[1] == *at))
			return LBX_CHANGES;
		else if (*at == '(' && is_call(expression, at))
			ret = LBX_CALLS;
	}
	return ret;
}

bool lbx_fail_change(const char *expression)
{
	return lb_fail("'%s' assigns: that would change the program, and nothing here does; gdb's `print` does",
		       expression);
}
