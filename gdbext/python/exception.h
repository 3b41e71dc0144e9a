/* The exceptions that a thread raises, or handles, with what they came from. */
#ifndef LBX_PYTHON_EXCEPTION_H
#define LBX_PYTHON_EXCEPTION_H

#include "python/frames.h"

enum { LBX_PY_EXCEPTIONS = 8 /* of a thread, that are told */, LBX_PY_MESSAGE = 256 };

enum lbx_py_why {
	LBX_PY_RAISED, /* it is on its way, in C: no handler has it yet */
	LBX_PY_HANDLED, /* an except or finally has it */
	LBX_PY_CAUSE, /* of the one before: raise … from */
	LBX_PY_CONTEXT /* it was being handled when the one before was raised */
};

struct lbx_py_exception {
	enum lbx_py_why why;
	uint64_t object; /* 0: it has none yet */
	char type[LBX_PY_NAME];
	char message[LBX_PY_MESSAGE]; /* its first line, as far as it is in the object's arguments; or "" */
	char function[LBX_PY_QUALIFIED], file[LBX_PY_FILE]; /* that raised it; or "" */
	int line; /* 0: not known */
};

/* Each once. Returns how many; *ret_more: there are others. */
int lbx_py_exceptions(struct lbx_python *py, const struct lbx_py_thread *thread,
		      struct lbx_py_exception ret[LBX_PY_EXCEPTIONS], bool *ret_more);

#endif
