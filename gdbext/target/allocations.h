/* What a range of a program's memory was taken for, by what its C library has left in it: for who looks for something small
 * that was allocated, and would search a program's data in vain. */
#ifndef LBX_ALLOCATIONS_H
#define LBX_ALLOCATIONS_H

#include "target/target.h"

/* The bytes at the beginning of a range, as lbx_target_range() gives it, that are a thread's stack, or each part of it a
 * single allocation that has pages of its own (glibc: 128 KiB at least). 0: none, or not known. Quiet. */
uint64_t lbx_large_allocations(struct lbx_target *target, const struct lbx_range *range);

/* Whether it is such a stack. */
bool lbx_is_stack(struct lbx_target *target, const struct lbx_range *range);

/* Of n bytes that were read at an address, in a range that ends at `end`: how many come before a later page in which such an
 * allocation begins. n: none does. Other memory may lie between them, as Python's arenas. */
size_t lbx_before_large(const void *bytes, size_t n, uint64_t address, uint64_t end);

#endif
