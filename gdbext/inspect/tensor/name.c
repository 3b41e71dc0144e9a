#include "inspect/tensor/name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

const char *lbx_closing_quote(const char *text)
{
	const char quote = *text;

	if (quote != '"' && quote != '\'')
		return NULL;
	for (const char *c = text + 1; *c; c++) {
		if (*c == quote)
			return c;
		if (*c != '\\')
			continue;
		if (quote == '"' ? c[1] == '"' || c[1] == '\\' : c[1] == '\'' && strchr(c + 2, '\''))
			c++;
	}
	return NULL;
}

const char *lbx_unquote(const char *text, char *ret, size_t size)
{
	const char *end = lbx_closing_quote(text);
	size_t n = 0;

	if (!end) {
		snprintf(ret, size, "%s", text);
		return NULL;
	}
	for (const char *c = text + 1; c < end && n + 1 < size; c++) {
		if (*c == '\\' && c + 1 < end && (c[1] == *text || (c[1] == '\\' && *text == '"')))
			c++;
		ret[n++] = *c;
	}
	ret[n] = '\0';
	return end + 1;
}

bool lbx_escape_indices(const char *glob, char *ret, size_t size)
{
	size_t n = 0;

	for (const char *c = glob; *c; c++) {
		size_t digits = *c == '[' ? strspn(c + 1, "0123456789") : 0;
		bool index = digits && c[1 + digits] == ']', escaped = *c == '\\' && c[1];

		if (n + 1 + index + escaped >= size)
			return false;
		if (index)
			ret[n++] = '\\';
		if (escaped)
			ret[n++] = *c++;
		ret[n++] = *c;
	}
	ret[n] = '\0';
	return true;
}

bool lbx_glob_is_cut(const char *glob)
{
	for (; *glob; glob++)
		if (*glob == '\\' && !*++glob)
			return true;
	return false;
}

bool lbx_glob_is_open(const char *glob)
{
	const char *c = glob;

	while ((c = strchr(c, '['))) {
		if ((c == glob || c[-1] != '\\') && !strchr(c + 1, ']'))
			return true;
		c++;
	}
	return false;
}

bool lbx_name_matches(const char *glob, const char *name)
{
	char escaped[1024];

	/* what stands before the first sign tells most names apart */
	if (strncmp(glob, name, strcspn(glob, "*?[\\")) != 0)
		return false;
	return strcmp(glob, name) == 0 || fnmatch(glob, name, 0) == 0 ||
	       (strchr(glob, '[') && lbx_escape_indices(glob, escaped, sizeof escaped) &&
		fnmatch(escaped, name, 0) == 0);
}

bool lbx_is_spelling(const char *text, const char *name, uint64_t id)
{
	static const char file[] = "tensor::";
	char suffix[24];

	if (strncmp(text, file, sizeof file - 1) == 0) {
		text += sizeof file - 1;
		if (strcmp(text, name) == 0)
			return true;
	}
	if (isdigit((unsigned char)*name) && *text == '_')
		text++;
	for (; *name; name++, text++) {
		bool plain = (isalnum((unsigned char)*name) && (unsigned char)*name < 0x80) || *name == '_';

		if (*text != (plain ? *name : '_'))
			return false;
	}
	snprintf(suffix, sizeof suffix, "_%llu", (unsigned long long)id);
	return !*text || strcmp(text, suffix) == 0 || strcmp(text, "_") == 0; /* _: of a keyword */
}

static unsigned char small(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_same(char a, char b)
{
	return a == b || small(a) == small(b);
}

int lbx_edits(const char *a, const char *b, int most)
{
	enum { LONGEST = 64 };
	int n = (int)strnlen(a, 2 * LONGEST), m = (int)strnlen(b, LONGEST), row[LONGEST];

	if (m >= LONGEST || n > m + most || m > n + most)
		return most + 1;
	/* what both begin and end with costs nothing; of many names most have much of it */
	for (; n && m && is_same(*a, *b); a++, b++, n--, m--)
		;
	for (; n && m && is_same(a[n - 1], b[m - 1]); n--, m--)
		;
	for (int j = 0; j <= m; j++)
		row[j] = j;
	/* what lies further from the diagonal than `most` takes more than that */
	for (int i = 1; i <= n; i++) {
		int first = i > most + 1 ? i - most : 1, last = i + most < m ? i + most : m;
		int diagonal = row[first - 1], before = first == 1 ? i : most + 1, least = before;
		row[first - 1] = before;
		for (int j = first; j <= last; j++) {
			int change = diagonal + !is_same(a[i - 1], b[j - 1]);
			diagonal = row[j];
			int above = j == i + most ? most + 1 : row[j], edit = (above < before ? above : before) + 1;
			before = row[j] = change < edit ? change : edit;
			least = before < least ? before : least;
		}
		if (least > most) /* and it becomes no less */
			return most + 1;
	}
	return row[m] > most ? most + 1 : row[m];
}
