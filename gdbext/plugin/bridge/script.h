/* The gdb side of the commands: `define` and `document` for each row of the command tables. */
#ifndef LBX_PLUGIN_SCRIPT_H
#define LBX_PLUGIN_SCRIPT_H

#include <stdbool.h>

/* Writes the script to where the loader sources it. */
bool lbx_script_offer(void);
/* The path that gdb loaded this library from. */
const char *lbx_script_plugin_path(void);

#endif
