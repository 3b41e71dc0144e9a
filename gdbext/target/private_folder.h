/* Folders for files of ours that gdb or another process of this user is given by name. */
#ifndef LBX_PRIVATE_FOLDER_H
#define LBX_PRIVATE_FOLDER_H

#include <stdbool.h>

enum { LBX_FOLDER_MAX = 256 };

/* Makes a new one that nobody else can enter (mode 0700), in TMPDIR; in /tmp where that is no absolute path, is too long, or has
 * characters at which gdb takes the words of its commands apart. `what` it is for: "listings". Who made it removes it.
 * Fails with *ret "". */
bool lbx_private_folder(const char *what, char ret[LBX_FOLDER_MAX]);

#endif
