/* What a C library said before it aborted a program. */
#ifndef LBX_ABORT_MESSAGE_H
#define LBX_ABORT_MESSAGE_H

#include "target/target.h"

/* glibc's __abort_msg: of a failed assertion, of malloc over a damaged heap, of a smashed stack. A line, printable, cut to
 * `size`. False, quietly: there is none, or a library keeps none. */
bool lbx_abort_message(struct lbx_target *target, char *ret, size_t size);

#endif
