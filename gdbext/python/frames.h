/* What the threads of a Python program are executing: functions, lines, variables. */
#ifndef LBX_PYTHON_FRAMES_H
#define LBX_PYTHON_FRAMES_H

#include "python/python.h"

enum { LBX_PY_THREADS = 1024, LBX_PY_FRAMES = 2048 /* of a thread */, LBX_PY_FILE = 256, LBX_PY_QUALIFIED = 128 };

struct lbx_py_thread {
	uint64_t address; /* of its PyThreadState */
	uint64_t interpreter;
	uint64_t tid; /* the system's number of it; 0: it has not said yet */
};

/* The i-th thread of all interpreters, from 0 on; false: there are no more. A thread that runs several interpreters is there
 * for each. */
bool lbx_py_thread(struct lbx_python *py, int i, struct lbx_py_thread *ret);

struct lbx_py_frame {
	uint64_t address, code;
	uint64_t globals; /* a dict */
	uint64_t
	    locals; /* likewise, of a frame that is no function's: a module's, whose globals they are, a class'; or 0 */
	uint64_t previous; /* the caller's; 0: none */
	uint64_t instruction; /* bytes from the code's first one */
	char function[LBX_PY_QUALIFIED], file[LBX_PY_FILE]; /* "Linear.forward" */
	bool
	    is_entry; /* the interpreter's C function was called for it; for those that it called in Python it was not */
	uint64_t mark; /* one that was gone past: a frame that comes again ends the walk */
	unsigned n;
};

/* The thread's innermost frame; the frame that called it, which may take its place. False at the end, and where it cannot be
 * one. */
bool lbx_py_frame_first(struct lbx_python *py, const struct lbx_py_thread *thread, struct lbx_py_frame *ret);
bool lbx_py_frame_next(struct lbx_python *py, const struct lbx_py_frame *frame, struct lbx_py_frame *ret);
/* The innermost function that the interpreter executes within a frame of C with that stack pointer, or in one that called this.
 * False: there is none. */
bool lbx_py_frame_behind(struct lbx_python *py, const struct lbx_py_thread *thread, uint64_t stack,
			 struct lbx_py_frame *ret);
/* Of a frame that is an object, too, wherever it runs, or ran. */
bool lbx_py_frame_of(struct lbx_python *py, uint64_t object, struct lbx_py_frame *ret);
/* The line that it is in; 0: not known. */
int lbx_py_frame_line(struct lbx_python *py, const struct lbx_py_frame *frame);
/* "f at file.py:12", or without the line, where it is not known. */
void lbx_py_frame_text(struct lbx_python *py, const struct lbx_py_frame *frame, char *ret, size_t size);
/* The next variable of a function at or after *i, which moves past it, and the object that it has: those without one are
 * passed over. *ret_name is a str. */
bool lbx_py_local_next(struct lbx_python *py, const struct lbx_py_frame *frame, int *i, uint64_t *ret_name,
		       uint64_t *ret_value);

/* The line of an instruction, by a code object's table of locations; `at`: bytes from the first instruction. 0: not known. */
int lbx_py_line(struct lbx_python *py, uint64_t code, uint64_t at);

#endif
