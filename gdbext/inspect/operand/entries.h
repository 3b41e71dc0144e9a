/* Which frames of C execute which functions of Python: the interpreter's function is called anew wherever C called Python, and
 * executes what that calls in Python by itself. */
#ifndef LBX_ENTRIES_H
#define LBX_ENTRIES_H

#include "inspect/command.h"
#include "inspect/operand/frames.h"

enum { LBX_ENTRIES_MAX = 256 };

/* The innermost first. */
struct lbx_entries {
	int n;
	struct lbx_entry {
		uint64_t c_frame; /* the number of the interpreter's */
		int first, end; /* the numbers of the functions' frames that it executes */
	} list[LBX_ENTRIES_MAX];
};

/* Of a thread. False: it cannot be told, as where its stack is not whole, has no names, or is in the middle of a call. */
bool lbx_entries_find(struct lbx_context *context, const struct lbx_thread_view *view, struct lbx_entries *ret);

#endif
