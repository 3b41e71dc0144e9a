/* What the system says of a process' memory and time (proc(5)). */
#ifndef LBX_FOOTPRINT_H
#define LBX_FOOTPRINT_H

#include <sys/types.h>

#include "target/target.h"

/* Of the process as a whole; false, without error, where the system does not tell. */
bool lbx_process_footprint(pid_t pid, struct lbx_footprint *ret);
/* How many bytes of [address, address + n) are in memory, of the pages that the process has mapped and touched;
 * likewise. */
bool lbx_process_resident(pid_t pid, uint64_t address, uint64_t n, uint64_t *ret);

#endif
