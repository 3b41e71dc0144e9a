/* A running process, read through the kernel; it is not changed, and not stopped unless asked. */
#ifndef LBX_PROCESS_H
#define LBX_PROCESS_H

#include <sys/types.h>

#include "target/target.h"

struct lbx_hold;
struct lbx_lines;

bool lbx_process_open(pid_t pid, struct lbx_target **ret);
/* Of such a target. Holds it still (target/hold.h) until the target is destroyed, or has been copied and let go
 * (lbx_target_copy()): then its threads are those of that moment. The hold is the target's. NULL with an error. */
struct lbx_hold *lbx_process_hold(struct lbx_target *target);
/* Writes into its memory, whatever its threads do meanwhile. */
bool lbx_process_write(struct lbx_target *target, uint64_t address, const void *from, size_t n);
/* Lives as long as the target. */
struct lbx_lines *lbx_process_lines(struct lbx_target *target);

#endif
