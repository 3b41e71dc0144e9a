/* Files of this product that lie near the program or library that this code is in: in the build's folders, or those of
 * an installation. */
#ifndef LBX_NEAR_H
#define LBX_NEAR_H

#include <limits.h>
#include <stdbool.h>

/* Finds the first of `places` that is there, paths relative to the folder of this code, to the first NULL; or what the
 * variable of the environment names. `mode` as for access(). */
bool lbx_find_near(const char *variable, const char *const *places, int mode, char ret[PATH_MAX]);
/* gdb's script that loads the plugin. */
bool lbx_find_loader(char ret[PATH_MAX]);

#endif
