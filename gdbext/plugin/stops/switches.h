/* Switches in the runtime's root that a command writes because the user says so: into the process that is
 * there, into each that comes, and back when gdb leaves one. */
#ifndef LBX_PLUGIN_SWITCHES_H
#define LBX_PLUGIN_SWITCHES_H

#include "inspect/command.h"

enum lbx_switch { LBX_SWITCH_STACKS, LBX_SWITCH_STEP, LBX_SWITCHES };

/* Where a switch takes effect. */
struct lbx_switch_place {
	bool process, running; /* there is a live one; its runtime has started, and this is its root */
	struct lbx_root root;
};
/* False while gdb has still to answer. */
bool lbx_switch_find(struct lbx_context *context, struct lbx_switch_place *ret);
/* In the process that is there, and in those to come, which get it by the environment, too: as
 * `environment`. May ask. Fails if the runtime is too old. */
bool lbx_switch_set(struct lbx_context *context, const struct lbx_switch_place *place, enum lbx_switch which,
		    uint32_t value, const char *environment);
/* What processes to come are to have; false: nothing has been said. */
bool lbx_switch_wished(enum lbx_switch which, uint32_t *ret);

/* Whether a process to come must be told of a wish when its runtime starts; this tells it. */
bool lbx_switches_wait(void);
bool lbx_switches_put_wishes(struct lbx_context *context, const struct lbx_root *root);
/* As they were, where nobody has changed them since. */
bool lbx_switches_take_back(struct lbx_context *context, const struct lbx_root *root);

#endif
