/* What gdb itself can judge of `--if EXPRESSION` at a probe: comparisons of a number with `it`, where that is one element, and with
 * its shape, ndim and size, joined by & and |. What it finds false costs no stop with a script; what it lets pass is judged
 * as before (catch_condition.h). */
#ifndef LBX_PLUGIN_CATCH_SIEVE_H
#define LBX_PLUGIN_CATCH_SIEVE_H

#include "plugin/stops/catch_kinds.h"

/* Whether the condition can hold only for values outside a range, which the runtime looks for (LB_WATCH_RANGE): then gdb need not
 * look at each operation. Of comparisons with `it`, `abs(it)`, their max(), min(), any() and all(). */
bool lbx_catch_bounds(const char *condition, double *ret_low, double *ret_high);
/* Adds, behind && where there is text, what is false only where the condition is; nothing where gdb cannot judge. */
void lbx_catch_sieve(const struct lbx_catch *c, struct lbx_table *table, struct text *ret);

#endif
