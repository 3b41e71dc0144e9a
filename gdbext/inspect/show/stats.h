#ifndef LBX_STATS_H
#define LBX_STATS_H

#include "inspect/operand/value.h"

/* The option --first: how many of the first elements the statistics show. */
bool lbx_stats_first(const struct lbx_args *args, int64_t *ret);
/* Prints the statistics of an array under the selection's name; `first` as lbx_stats_first() gives it, `note`
 * (or NULL) is added to its title. */
bool lbx_print_stats(struct lbx_context *context, const struct lbx_selection *selection, const struct lbx_array *array,
		     int64_t first, const char *note);

#endif
