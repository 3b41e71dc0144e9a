/* A callback of the program's own, which a scheduler had before gdb put something else into its slot: it is called as if that
 * were not so. */
#ifndef LBX_PLUGIN_GGML_OWN_H
#define LBX_PLUGIN_GGML_OWN_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_out;

/* Whether it can be: not where results are returned in the register that the node is in, as on aarch64. */
bool lbx_own_may_be(void);
/* These add to the response what calls it. Before the first slot is written that had one. */
void lbx_own_arm(void);
void lbx_own_disarm(void);
/* Whether it is not armed, or all its breakpoints are there. After a refresh. */
bool lbx_own_is_whole(void);
/* Adds what the user has deleted; and says what stays enabled, if the user has disabled it. Without them what is in a slot
 * would say yes in the place of the program's own callback. */
void lbx_own_mend(void);
void lbx_own_enable(struct lbx_out *out);
/* It returns to an address that is not known yet: looks at its answers there. */
void lbx_own_answers_at(uint64_t address);

#endif
