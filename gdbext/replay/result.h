/* How the replay hands over what it computed. */
#ifndef LBX_REPLAY_RESULT_H
#define LBX_REPLAY_RESULT_H

#include "lazybones.h"

/* Room for n bytes behind the `end` bytes of the shared memory file; where they are is told. NULL,
 * with an error, when there is none. */
char *lbx_append_room(uint64_t end, uint64_t n, uint64_t *at, uint64_t *nbytes);
/* Appends the elements of x, row-major, to the shared memory file of `end` bytes. */
bool lbx_append_result(lb_tensor *x, uint64_t end, uint64_t *at, uint64_t *nbytes);

#endif
