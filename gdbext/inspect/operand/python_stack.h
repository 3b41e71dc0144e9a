/* What a program's threads execute in Python: functions, lines, and the tensors that their variables hold. Shared by `bt`,
 * `threads`, `frame` and `report`. */
#ifndef LBX_PYTHON_STACK_H
#define LBX_PYTHON_STACK_H

#include "inspect/command.h"
#include "inspect/operand/entries.h"

enum { LBX_PYTHON_FRAMES = 64 /* that are told of a thread, where no other number is given */ };

struct lbx_python_ask {
	int max; /* frames that are told */
	bool only_with_tensors;
	bool all; /* each tensor, where a frame has many */
	struct lbx_tensors *tensors; /* NULL: the context's, if they have been found */
	const struct lbx_entries *entries; /* NULL: which frames of C execute them is not known */
	int from, to; /* as text, of these frames alone, which stand among others; `to` 0: all */
};

/* The interpreter of the program; NULL: it has none, or one that is not known: *ret_why, in words that live as long as the
 * context; or NULL. */
struct lbx_python *lbx_context_python(struct lbx_context *context, const char **ret_why);
/* The list "python" of a thread's frames, the innermost first, with their tensors, if the context's have been found; and the
 * list "exceptions" of those that it raises or handles. Returns how many frames were told. */
int lbx_tell_python(struct lbx_context *context, uint64_t tid, const struct lbx_python_ask *ask);

/* That list alone, as text. */
void lbx_tell_python_exceptions(struct lbx_context *context, uint64_t tid);

/* "f at file.py:12": what the thread executes; false: nothing of Python's. */
bool lbx_describe_python(struct lbx_context *context, uint64_t tid, char *ret, size_t size);

#endif
