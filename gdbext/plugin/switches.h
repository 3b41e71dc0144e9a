/* Switches in the runtime's root that a command writes because the user says so: into the process that is
 * there, into each that comes, and back when gdb leaves one. */
#ifndef LBX_PLUGIN_SWITCHES_H
#define LBX_PLUGIN_SWITCHES_H

#include "inspect/command.h"

enum lbx_switch { LBX_SWITCH_STACKS, LBX_SWITCH_STEP, LBX_SWITCHES };

/* What the program there is has; takes effect with the response. Fails if its runtime is too old. */
bool lbx_switch_put(struct lbx_context *context, const struct lbx_root *root, enum lbx_switch which,
		  uint32_t value);
/* What processes to come are to have; false: nothing has been said. */
void lbx_switch_wish(enum lbx_switch which, uint32_t value);
bool lbx_switch_wished(enum lbx_switch which, uint32_t *ret);

/* Whether a process to come must be told of a wish when its runtime starts; this tells it. */
bool lbx_switches_wait(void);
bool lbx_switches_put_wishes(struct lbx_context *context, const struct lbx_root *root);
/* As they were, where nobody has changed them since. */
bool lbx_switches_take_back(struct lbx_context *context, const struct lbx_root *root);

#endif
