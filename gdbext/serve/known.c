#define _GNU_SOURCE
#include "serve/known.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/context.h"
#include "serve/mi.h"

enum { MOST_WORDS = 12 /* of the line: the plugin takes a few more */ };

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool is_part_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the line has the name in it, as a word or within an expression. */
static bool mentions(const char *line, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = line; n && (at = strstr(at, name)); at += n)
		if ((at == line || !is_part_of_name(at[-1])) && !is_part_of_name(at[n]))
			return true;
	return false;
}

/* The type as one word: the plugin takes a plus for a blank. */
static bool write_variable(FILE *to, const json_t *tensor)
{
	const char *type = lbx_mi_string(tensor, "type"), *record = lbx_mi_string(tensor, "record");

	if (!*type || !*record || strspn(type, LETTERS "_: *") != strlen(type))
		return false;
	fprintf(to, "*%s=%s=", lbx_mi_string(tensor, "variable"), record);
	for (; *type; type++)
		fputc(*type == ' ' ? '+' : *type, to);
	fputc(' ', to);
	return true;
}

static int count_words(const char *line)
{
	int n = 0;

	for (; *line; line += strspn(line, " ")) {
		n++;
		line += strcspn(line, " ");
	}
	return n;
}

char *lbx_known_line(const json_t *tensors, const char *line)
{
	char *ret = NULL;
	size_t n = 0, i;
	FILE *to = open_memstream(&ret, &n);
	json_t *each;
	int known = 0;

	if (!to)
		return NULL;
	if (count_words(line) <= MOST_WORDS)
		json_array_foreach((json_t *)tensors, i,
				   each) if (known < LBX_TOLD_MOST && mentions(line, lbx_mi_string(each, "variable")))
		    known += write_variable(to, each);
	fputs(line, to);
	bool ok = !ferror(to);
	ok &= fclose(to) == 0;
	if (ok)
		return ret;
	free(ret);
	return NULL;
}
