/* Names as a user types them. Any bytes may be in a name, so it may be put in quotes: 'two words'[0].
 * In "…" a backslash stands before " and \, in '…' before ' alone, and only where the quote goes on. */
#ifndef LBX_NAME_H
#define LBX_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of what is quoted where `text` begins with a quote: its closing quote; NULL: there is none. */
const char *lbx_closing_quote(const char *text);
/* What the quotes at the beginning hold, in *ret. What follows them; NULL, with all of the text in *ret,
 * when it begins with no quote, or with one that is not closed. */
const char *lbx_unquote(const char *text, char *ret, size_t size);

/* A pattern that ends with a backslash matches nothing whatever the names are. */
bool lbx_glob_is_cut(const char *glob);
/* A bracket is not closed: it stands for itself. */
bool lbx_glob_is_open(const char *glob);
/* As fnmatch(), but the name itself matches, too, and [0] may stand for an index as it is written. */
bool lbx_name_matches(const char *glob, const char *name);
/* The glob with \ before each bracket of an index; false when it has no room. */
bool lbx_escape_indices(const char *glob, char *ret, size_t size);

/* Whether `text` is a variable's name that `tensor symbols` would make of this one: spelt as C can,
 * perhaps with _ID after it, or tensor:: before it. */
bool lbx_is_spelling(const char *text, const char *name, uint64_t id);

/* How many characters are to be put in, taken out or changed to make b of a, whatever their case; more than `most`: `most` + 1.
 * It takes 3 times as long for each one more of `most`. */
int lbx_edits(const char *a, const char *b, int most);

#endif
