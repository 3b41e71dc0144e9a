/* A callback of the program's own, which a scheduler had before gdb put something else into its slot: it is called as if that
 * were not so. */
#ifndef LBX_PLUGIN_GGML_OWN_H
#define LBX_PLUGIN_GGML_OWN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether it can be: not where results are returned in the register that the node is in, as on aarch64. */
bool lbx_own_may_be(void);
/* These add to the response what calls it. */
void lbx_own_arm(void);
void lbx_own_disarm(void);
/* Whether it was armed, and its breakpoint has been deleted. */
bool lbx_own_is_gone(void);
/* It returns to an address that is not known yet: looks at its answers there. */
void lbx_own_answers_at(uint64_t address);

#endif
