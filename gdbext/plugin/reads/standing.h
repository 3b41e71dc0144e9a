/* Answers of gdb that stay good for later commands. */
#ifndef LBX_PLUGIN_STANDING_H
#define LBX_PLUGIN_STANDING_H

#include <stdbool.h>

/* A line is run. */
void lbx_standing_begin(void);
/* As lbx_bridge_ask() at frame 0, for a command that tells where the program is, a string that stays: an answer that gdb has given to an earlier line
 * serves again for as long as gdb has the same files open. */
bool lbx_standing_ask(const char **ret, const char *command);
/* Such an answer, if there is one; nothing is asked. NULL: not known. */
const char *lbx_standing_answer(const char *command);
/* Whether answers stand at all: there is one process here, or one core, and nothing else that is seen. */
bool lbx_standing_may(void);

#endif
