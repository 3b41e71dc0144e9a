/* The arguments and options of a command, taken from words: of gdb's line, or of a program's arguments. */
#ifndef LBX_ARGS_H
#define LBX_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "inspect/words.h"

struct lbx_command;

enum { LBX_ARGS_MAX = 32 };

/* Strings live as long as it does; it is not to be copied. */
struct lbx_args {
	const struct lbx_command *command;
	struct lbx_args *outer; /* whose options may stand among these, too; or NULL */
	int n;
	const char *v[LBX_ARGS_MAX];     /* what is not an option */
	const char *options[LBX_ARGS_MAX]; /* value (or "") of the command's i-th option; NULL: not given */
	const char *left; /* the word that lbx_args_take() has not taken; NULL at the end */
	bool ended;       /* "--" was there: what follows are no options */
	size_t used;
	char text[LBX_LINE_MAX];
};

/* Nothing is given yet. */
void lbx_args_begin(const struct lbx_command *command, struct lbx_args *outer, struct lbx_args *ret);
/* Takes options and arguments off the words, up to one that the command has no room for. */
bool lbx_args_take(struct lbx_args *args, struct lbx_argv *words);
/* Whether that is all there is and may be: no word is left, no argument is missing. */
bool lbx_args_check(const struct lbx_args *args);
/* All of this at once; `words` ends with NULL. */
bool lbx_args_parse(const struct lbx_command *command, const char **words, struct lbx_args *ret);
/* Likewise of a line that a user types: words are split as a shell would (blanks, quotes, ~/ for the home
 * directory), but blanks in brackets stay: `x[0, :]` is one argument. */
bool lbx_args_parse_line(const struct lbx_command *command, const char *line, struct lbx_args *ret);

/* An option's value, "" for one without value; NULL when it was not given. */
const char *lbx_args_option(const struct lbx_args *args, const char *name);
/* Whether a file may be written: FILE is among the command's arguments, or the value of an option that was given. */
bool lbx_args_name_a_file(const struct lbx_args *args);
/* A whole number within [min, max]; *ret keeps its value when the option was not given. */
bool lbx_args_int(const struct lbx_args *args, const char *name, int64_t min, int64_t max, int64_t *ret);
/* Of --limit, which is 0 for all: INT64_MAX then. *ret is the default, where 0 is all, too. */
bool lbx_args_limit(const struct lbx_args *args, int64_t *ret);
/* Likewise any number from `min` on. */
bool lbx_args_real(const struct lbx_args *args, const char *name, double min, double *ret);
/* "512M", "2G", "1.5GiB"; without a unit bytes. */
bool lbx_bytes_parse(const char *text, uint64_t *ret);
/* Likewise an option's value, within [min, max]; *ret keeps its value when the option was not given. */
bool lbx_args_bytes(const struct lbx_args *args, const char *name, int64_t min, int64_t max, int64_t *ret);
/* As lbx_args_int() of an argument, which is called `what`. */
bool lbx_args_whole(const struct lbx_args *args, const char *what, const char *text, int64_t min, int64_t max,
		    int64_t *ret);

/* As lb_fail(), where no program could make the line right: an unknown word, a value that is none. */
#define lbx_misuse(...) lb_fail_because(LB_MISUSED, __VA_ARGS__)

#endif
