/* A running process, read through the kernel; it is neither stopped nor changed. */
#ifndef LBX_PROCESS_H
#define LBX_PROCESS_H

#include <sys/types.h>

#include "target/target.h"

bool lbx_process_open(pid_t pid, struct lbx_target **ret);

#endif
