/* What a program's variables, small allocations and stacks hold, copied within a moment: for who goes through it at leisure,
 * while the program runs on. */
#ifndef LBX_COPY_H
#define LBX_COPY_H

#include <sys/types.h>

#include "target/target.h"

struct lbx_copy;

enum { LBX_COPY_MAX = 1 << 30 };

/* Of all that a process may write, without large allocations; what cannot be read is not in it. NULL, quietly: it would
 * be more than `most` bytes, or there is no memory for it. */
struct lbx_copy *lbx_copy_take(struct lbx_target *target, pid_t pid, uint64_t most);
/* Anew, into the memory that it has: quicker, as the system has given it that. False: as NULL above, and it is of no use. */
bool lbx_copy_again(struct lbx_copy *copy, struct lbx_target *target, pid_t pid);
void lbx_copy_free(struct lbx_copy *copy); /* NULL is fine */
/* The bytes at an address, and how many they are; NULL: it is not in it, and *ret_n is how far it is to what is. */
const void *lbx_copy_at(const struct lbx_copy *copy, uint64_t address, uint64_t *ret_n);
/* The first part at or above `from`; false: there is none. */
bool lbx_copy_range(const struct lbx_copy *copy, uint64_t from, struct lbx_range *ret);

#endif
