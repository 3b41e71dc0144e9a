/* LAZYBONES_GUARD=1: LB_GUARD_BYTES behind each buffer's bytes that nobody may write. They are looked at when the buffer is let
 * go of, and by who looks at the program (the doctor's F9). */
#ifndef LB_MEMORY_GUARD_H
#define LB_MEMORY_GUARD_H

#include "publish/records.h"

/* How many bytes more a buffer is to have; 0: they are off. */
int64_t lb_guard_bytes(void);
/* Behind buffer->nbytes, for which there is room. */
void lb_guard_set(struct lb_buffer *buffer);
/* Of a buffer that has them: says on stderr, once for each setting, where they were written over. */
void lb_guard_check(struct lb_buffer *buffer);

#endif
