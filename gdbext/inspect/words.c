#include "inspect/words.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/name.h"

/* Where the word ends: at a blank outside of quotes and brackets, or where the text does. A quote or a bracket that is not
 * closed stands for itself. */
static const char *end_of_word(const char *s, bool to_end, int *depth)
{
	const char *blank = NULL; /* the first in the brackets that are open */

	*depth = 0;
	for (; *s && (to_end || *depth > 0 || !isspace((unsigned char)*s)); s++) {
		const char *end = lbx_closing_quote(s);

		if (isspace((unsigned char)*s) && !blank)
			blank = s;
		if (*s == '\\' && isspace((unsigned char)s[1]))
			s++;
		else if (end)
			s = end;
		else if (*s == '[' || *s == '(')
			++*depth;
		else if ((*s == ']' || *s == ')') && *depth > 0)
			--*depth;
		if (*depth == 0)
			blank = NULL;
	}
	return blank && !to_end ? blank : s;
}

bool lbx_words_split(const char *line, struct lbx_split *ret)
{
	size_t at = 0, n = 0;
	int depth;

	while (isspace((unsigned char)*line))
		line++;
	if (strlen(line) > LBX_LINE_MAX - 2)
		return false;
	strcpy(ret->text, line);
	while (ret->text[at]) {
		ret->v[n++] = ret->text + at;
		at = (size_t)(end_of_word(ret->text + at, false, &depth) - ret->text);
		while (isspace((unsigned char)ret->text[at]))
			ret->text[at++] = '\0';
	}
	ret->v[n] = NULL;
	return true;
}

bool lbx_word_unquote(const char *word, char *ret)
{
	while (*word) {
		const char *end = lbx_closing_quote(word);

		if (end) {
			lbx_unquote(word, ret, (size_t)(end - word) + 1);
			ret += strlen(ret);
			word = end + 1;
			continue;
		}
		if (*word == '\\' && isspace((unsigned char)word[1]))
			word++;
		if (*word == '"' || *word == '\'')
			return lb_fail("a quote (%c) is not closed", *word);
		*ret++ = *word++;
	}
	*ret = '\0';
	return true;
}

void lbx_word_unescape(char *word)
{
	char *to = word;

	while (*word) {
		const char *end = lbx_closing_quote(word);

		if (*word == '\\' && isspace((unsigned char)word[1]))
			word++;
		else if (end)
			while (word < end)
				*to++ = *word++;
		*to++ = *word++;
	}
	*to = '\0';
}

bool lbx_word_is_open(const char *word)
{
	int depth;

	end_of_word(word, true, &depth);
	return depth > 0;
}
