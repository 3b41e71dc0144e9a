/* gdb deletes all displays when it removes a file of symbols. They are made again, with new
 * numbers. */
#ifndef LBX_PLUGIN_DISPLAYS_H
#define LBX_PLUGIN_DISPLAYS_H

#include <stdbool.h>

/* Asks what displays there are, and of which frames; false: not known yet. */
bool lbx_displays_note(void);
/* Makes those again that were noted last, after what the script does so far. */
void lbx_displays_restore(void);

#endif
