/* Whether there is something to stop at: what gdb knows of the runtime's probes. */
#ifndef LBX_PLUGIN_PROBES_H
#define LBX_PLUGIN_PROBES_H

#include <stdbool.h>

/* Whether the program has its libraries, and no runtime with probes among them; another may still be loaded. False
 * where that is not known. May ask. */
bool lbx_probes_lack_runtime(void);
/* Whether the runtime, which has started, has the probes that catches and steps stop at; fails if not. May ask. */
bool lbx_probes_exist(void);

/* Whether what gdb is to run is Python, whose programs seldom have our runtime. May ask. */
bool lbx_probes_are_of_python(void);

#endif
