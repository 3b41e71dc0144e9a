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

static bool is_same(char a, char b)
{
	return a == b || ((a ^ b) == 0x20 && (a | 0x20) >= 'a' && (a | 0x20) <= 'z');
}

static int edits(const char *a, size_t n, const char *b, size_t m, size_t most)
{
	size_t longer = n > m ? n : m, least = n > m ? n - m : m - n;

	if (least > most)
		return (int)most + 1;
	/* what both begin and end with costs nothing; of many names most have much of it */
	for (; longer > least && is_same(*a, *b); a++, b++, n--, m--)
		longer--;
	for (; longer > least && is_same(a[n - 1], b[m - 1]); n--, m--)
		longer--;
	if (longer == least) /* nothing is left of one of them */
		return (int)longer;
	if (most == 0)
		return 1;
	int best = edits(a + 1, n - 1, b + 1, m - 1, most - 1);
	int without_a = edits(a + 1, n - 1, b, m, most - 1), without_b = edits(a, n, b + 1, m - 1, most - 1);
	best = without_a < best ? without_a : best;
	return (without_b < best ? without_b : best) + 1;
}

int lbx_edits(const char *a, const char *b, int most)
{
	return edits(a, strlen(a), b, strlen(b), (size_t)most);
}
