#include "io/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

enum { MAX_DEPTH = 32 };

bool lb_json_wrong(struct lb_json *j, const char *what)
{
	return lb_fail("%s: %s: %s at byte %llu of it", j->cursor.path, j->field, what,
		       (unsigned long long)j->cursor.at);
}

/* The next byte, or 0 at the end; NUL itself is no JSON. */
static int peek_sign(const struct lb_json *j)
{
	return j->cursor.at < j->cursor.size ? j->cursor.data[j->cursor.at] : 0;
}

static void skip_space(struct lb_json *j)
{
	int c;
	while ((c = peek_sign(j)) == ' ' || c == '\n' || c == '\t' || c == '\r')
		j->cursor.at++;
}

static bool take_sign(struct lb_json *j, char wanted, const char *what)
{
	skip_space(j);
	if (peek_sign(j) != wanted)
		return lb_json_wrong(j, what);
	j->cursor.at++;
	return true;
}

bool lb_json_open(struct lb_json *j, char bracket)
{
	return take_sign(j, bracket, bracket == '{' ? "expected an object" : "expected an array");
}

bool lb_json_null(struct lb_json *j)
{
	static const char null[] = "null";
	uint64_t n = sizeof null - 1;

	skip_space(j);
	if (lb_cursor_left(&j->cursor) < n || memcmp(j->cursor.data + j->cursor.at, null, n) != 0)
		return false;
	j->cursor.at += n;
	return true;
}

bool lb_json_more(struct lb_json *j, char closing, int64_t n, bool *more)
{
	skip_space(j);
	*more = peek_sign(j) != closing;
	if (!*more)
		j->cursor.at++;
	else if (n > 0)
		return take_sign(j, ',', closing == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
	return true;
}

static int hex(int c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static bool hex4(struct lb_json *j, uint32_t *ret)
{
	const uint8_t *digits;
	if (!lb_cursor_take(&j->cursor, j->field, 4, &digits))
		return false;
	*ret = 0;
	for (int i = 0; i < 4; i++) {
		if (hex(digits[i]) < 0)
			return lb_json_wrong(j, "\\u wants four hexadecimal digits");
		*ret = *ret << 4 | (uint32_t)hex(digits[i]);
	}
	return true;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	*to++ = (char)(lead[more] | c >> (6 * more));
	while (more-- > 0)
		*to++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
	return to;
}

/* What stands after a backslash. Six bytes of JSON make at most three of UTF-8. */
static bool unescape(struct lb_json *j, char **to)
{
	static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	int c = peek_sign(j);
	const char *simple = c ? strchr(from, c) : NULL;
	if (simple) {
		j->cursor.at++;
		*(*to)++ = means[simple - from];
		return true;
	}
	if (c != 'u')
		return lb_json_wrong(j, "unknown escape");
	j->cursor.at++;
	uint32_t high, low;
	if (!hex4(j, &high))
		return false;
	if (high >= 0xd800 && high < 0xdc00) {
		const uint8_t *slash;
		if (!lb_cursor_take(&j->cursor, j->field, 2, &slash) || !hex4(j, &low))
			return false;
		if (slash[0] != '\\' || slash[1] != 'u' || low < 0xdc00 || low > 0xdfff)
			return lb_json_wrong(j, "half a surrogate pair");
		high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	*to = put_utf8(*to, high);
	return true;
}

static bool copy_string(struct lb_json *j, char *to)
{
	char *start = to;
	for (;;) {
		int c = peek_sign(j);
		if (c < ' ')
			return lb_json_wrong(j, "a string that does not end");
		j->cursor.at++;
		if (c == '"')
			break;
		if (c != '\\')
			*to++ = (char)c;
		else if (!unescape(j, &to))
			return false;
	}
	*to = '\0';
	if (!lb_is_text(start, (uint64_t)(to - start)))
		return lb_json_wrong(j, "a string that is not UTF-8, or holds NUL,");
	return true;
}

/* The length of what lies before the closing quote: no escape is shorter than its meaning. */
static uint64_t raw_length(const struct lb_json *j)
{
	uint64_t at = j->cursor.at;
	while (at < j->cursor.size && j->cursor.data[at] != '"')
		at += j->cursor.data[at] == '\\' ? 2 : 1;
	return at - j->cursor.at;
}

bool lb_json_string(struct lb_json *j, char **ret)
{
	if (!take_sign(j, '"', "expected a string"))
		return false;
	char *text = malloc(raw_length(j) + 2);
	if (!text)
		return lb_json_wrong(j, "out of memory for a string");
	if (!copy_string(j, text)) {
		free(text);
		return false;
	}
	*ret = text;
	return true;
}

static bool json_key(struct lb_json *j, char **ret)
{
	char *key;
	if (!lb_json_string(j, &key))
		return false;
	if (!take_sign(j, ':', "expected ':'")) {
		free(key);
		return false;
	}
	*ret = key;
	return true;
}

bool lb_json_size(struct lb_json *j, int64_t *ret)
{
	skip_space(j);
	if (peek_sign(j) < '0' || peek_sign(j) > '9')
		return lb_json_wrong(j, "expected a whole number");
	bool zero = peek_sign(j) == '0';
	int64_t n = 0;
	for (int c; (c = peek_sign(j)) >= '0' && c <= '9'; j->cursor.at++) {
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, c - '0', &n))
			return lb_json_wrong(j, "a number that does not fit 63 bits");
		if (zero && n)
			return lb_json_wrong(j, "a number that starts with 0");
	}
	int c = peek_sign(j);
	if (c == '.' || c == 'e' || c == 'E')
		return lb_json_wrong(j, "expected a whole number");
	*ret = n;
	return true;
}

bool lb_json_next(struct lb_json *j, int64_t n, char **ret)
{
	bool more;
	*ret = NULL;
	return lb_json_more(j, '}', n, &more) && (!more || json_key(j, ret));
}

static bool skip_value(struct lb_json *j, int depth)
{
	skip_space(j);
	int c = peek_sign(j);
	char *text;
	if (c == '"') {
		if (!lb_json_string(j, &text))
			return false;
		free(text);
		return true;
	}
	if (c == '{' || c == '[') {
		if (depth == MAX_DEPTH)
			return lb_json_wrong(j, "too many brackets");
		bool more;
		j->cursor.at++;
		for (int64_t n = 0;; n++) {
			if (!lb_json_more(j, c == '{' ? '}' : ']', n, &more))
				return false;
			if (!more)
				return true;
			if (c == '{') {
				if (!json_key(j, &text))
					return false;
				free(text);
			}
			if (!skip_value(j, depth + 1))
				return false;
		}
	}
	uint64_t start = j->cursor.at;
	while ((c = peek_sign(j)) && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", c))
		j->cursor.at++;
	return j->cursor.at > start || lb_json_wrong(j, "expected a value");
}

bool lb_json_skip(struct lb_json *j)
{
	return skip_value(j, 0);
}

bool lb_json_end(struct lb_json *j)
{
	skip_space(j);
	return j->cursor.at == j->cursor.size || lb_json_wrong(j, "something after the end");
}
