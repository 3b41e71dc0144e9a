/* Numbers of threads in a container: the system outside has others for them. */
#ifndef LBX_THREAD_NUMBERS_H
#define LBX_THREAD_NUMBERS_H

#include <stdint.h>
#include <sys/types.h>

/* The number that a thread of a process has here, by the one that it knows itself; the same, where nothing else is known. */
uint64_t lbx_thread_by_own(pid_t pid, uint64_t own);

#endif
