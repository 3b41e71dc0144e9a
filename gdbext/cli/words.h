/* The words after `lazybones trace` and `lazybones top`. */
#ifndef LBX_WORDS_H
#define LBX_WORDS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* The next option of argv, whose first word is the verb, as getopt_long() finds it; -1 after the last:
 * optind then leads to the rest. '?' with an error where there is no such option, or a value is
 * missing. shorts begin with ":", or "+:" where options end at the first other word. */
int lbx_next_option(char **argv, const char *shorts, const struct option *longs);
/* From 1 to max; `what` is named in the error. */
bool lbx_word_int(const char *verb, const char *what, const char *text, int64_t max, int64_t *ret);

#endif
