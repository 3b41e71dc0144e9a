/* Files that are mapped here may become shorter while they are read: a core that a second crash
 * writes over, a library that is built again. SIGBUS would then end gdb. */
#ifndef LBX_TARGET_CUT_H
#define LBX_TARGET_CUT_H

#include <stdbool.h>

/* From here on such a page reads as zeros. */
void lbx_cut_guard(void);
/* Until here; whether there was one, so that what has been found out is worth nothing. */
bool lbx_cut_end(void);
/* Whether there was one so far. */
bool lbx_cut_seen(void);

#endif
