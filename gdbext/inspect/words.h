/* The words of a command line: those that the system hands a program, or those of a line that a user types. */
#ifndef LBX_WORDS_H
#define LBX_WORDS_H

#include <stdbool.h>

enum { LBX_LINE_MAX = 4096 };

struct lbx_argv {
	const char **at; /* the next one; NULL at the end */
	bool typed;      /* quotes, and ~/ for the home directory, still stand in them */
};

/* A line that was split. */
struct lbx_split {
	char text[LBX_LINE_MAX];
	const char *v[LBX_LINE_MAX / 2 + 1]; /* NULL at the end */
};

/* Splits a line at its blanks, but for those in quotes, in brackets and behind a backslash: `x[0, :]` is one word. The words are as
 * they were typed. False, without an error, when the line is longer than LBX_LINE_MAX - 2. */
bool lbx_words_split(const char *line, struct lbx_split *ret);
/* Copies a typed word without its quotes; `ret` has room for all of it. Fails where one is not closed. */
bool lbx_word_unquote(const char *word, char *ret);
/* Takes the backslash off each blank outside of quotes, which stay. */
void lbx_word_unescape(char *word);
/* Whether a bracket of it is not closed: the word goes on behind a blank. */
bool lbx_word_is_open(const char *word);

#endif
