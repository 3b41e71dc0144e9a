/* Which of Python's objects hold memory at certain addresses, and what variables lead to them: of copies that a program has made of
 * a tensor's elements. */
#ifndef LBX_KEPT_COPIES_H
#define LBX_KEPT_COPIES_H

#include "inspect/command.h"
#include "python/memory.h"

struct lbx_kept_copy {
	uint64_t address; /* which was asked for; it is the object's first byte, or lies in one that has no shape */
	struct lbx_py_memory memory; /* .type is NULL: no variable leads to an object that holds it */
	char path[256], function[128]; /* "frames[3]"; the function whose variable that begins with, or "" */
};

/* Fills in n of them, whose addresses are in ascending order. *ret_known: the program is one in Python, whose variables were
 * looked at. Fails when the user wants no more of it. */
bool lbx_find_kept_copies(struct lbx_context *context, struct lbx_kept_copy *copies, size_t n, bool *ret_known);

#endif
