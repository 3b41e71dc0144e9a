/* Events for strace: each is a write() to no file, which fails (EBADF) and changes nothing, but
 * whose text strace shows; and mappings that bear the names of the tensors that they hold. Both
 * only while the root's event_mode says LB_EVENTS_MARKED (LAZYBONES_STRACE=1). */
#ifndef LB_PUBLISH_MARKER_H
#define LB_PUBLISH_MARKER_H

#include "publish/records.h"

/* Before the first of them. */
void lb_marker_start(void);
/* "lazybones: eval_start eval=3 roots=1 site=/home/ann/train+0x51de"; the site as a number where its
 * module has no file, or one whose path has blanks or is long. Calls nothing that a signal handler may
 * not; errno stays. */
void lb_marker_write(const struct lb_event_info *event, const uint64_t args[LB_EVENT_ARGS]);
/* Names the tensor's mapping, if it has one of its own, in /proc/PID/maps: "lazybones #3 weights".
 * A kernel without CONFIG_ANON_VMA_NAME refuses, but strace shows the call. errno stays. */
void lb_marker_name_tensor(const struct lb_tensor *t);

#endif
