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

int lbx_edits(const char *a, const char *b, int most)
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
			int change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
			diagonal = row[j];
			int edit = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			row[j] = change < edit ? change : edit;
		}
	}
	return row[m];
}
