/* The interpreter of a program that runs Python, its objects read as they lie in memory: nothing is called in the program.
 * What is read is never trusted: an object is one if its type is a type, numbers are checked against what is there, and
 * who walks has a limit. */
#ifndef LBX_PYTHON_H
#define LBX_PYTHON_H

#include "python/layout.h"
#include "python/object.h"
#include "target/loader.h"

struct lbx_cache;
struct lbx_py_thread; /* python/frames.h */

/* How much may be read, so that whoever walks comes to an end, whatever the memory holds; and who is told of it. */
struct lbx_py_allowance {
	uint64_t left, done; /* reads */
	bool is_stopped; /* the user wants no more */
	bool (*progress)(void *context, int64_t done);
	void *context;
};

struct lbx_python {
	struct lbx_target *target;
	struct lbx_py_allowance *allowance;
	struct lbx_cache *cache; /* the program stands still, or what was read of it stays as it was */
	struct lbx_cache *glances; /* of what is not kept (lbx_target_glance()); NULL: all is read by the other one */
	struct lbx_py_layout layout;
	char version[16]; /* "3.11.2" */
	struct lbx_loaded module; /* which the interpreter is */
	uint64_t runtime; /* address of _PyRuntime */
	uint64_t type_type; /* of the type of types */
	struct lbx_py_types types;
	struct lbx_py_thread *threads; /* NULL: they have not been looked for */
	int n_threads;
};

/* The interpreter that one of the modules is; NULL, without an error, where none is; with one, where it is not known, or is
 * not as it should be. The target must outlive it, and stand still. */
struct lbx_python *lbx_python_open(struct lbx_target *target, const struct lbx_loaded *modules, int n);
void lbx_python_close(struct lbx_python *py); /* NULL is fine */
/* The program may have changed: what was read is read again. */
void lbx_python_refresh(struct lbx_python *py);
/* It is read by another target from here on. */
void lbx_python_use(struct lbx_python *py, struct lbx_target *target);

/* What is read from here on: LBX_PY_READS, or fewer; nothing more after that. */
enum { LBX_PY_READS = 1 << 25 };
void lbx_py_allow(struct lbx_python *py, uint64_t reads);
bool lbx_py_is_spent(const struct lbx_python *py);
/* `progress` is called now and then, while it reads; false: nothing is read any more, until it is watched anew. NULL: nobody is. */
void lbx_python_watch(struct lbx_python *py, bool (*progress)(void *context, int64_t done), void *context);
/* False, with an error, if it has been stopped so. */
bool lbx_python_goes_on(const struct lbx_python *py);

/* Quietly: false where the bytes cannot be read. */
bool lbx_py_read(const struct lbx_python *py, uint64_t address, void *to, size_t n);
/* Likewise, of what may be of no interest: it need not be the same the next time. */
bool lbx_py_glance(const struct lbx_python *py, uint64_t address, void *to, size_t n);
/* The word at an address; 0: it cannot be read. */
uint64_t lbx_py_word(const struct lbx_python *py, uint64_t address);

/* Whether code is the interpreter's own. */
bool lbx_python_is_code(const struct lbx_python *py, uint64_t address);

/* The i-th interpreter, from 0 on; 0: there are no more. */
uint64_t lbx_py_interpreter(const struct lbx_python *py, int i);
/* An interpreter's sys.modules. */
uint64_t lbx_py_modules(const struct lbx_python *py, uint64_t interpreter);
/* The dict of a module's variables; 0: there is no module of that name. */
uint64_t lbx_py_globals(struct lbx_python *py, uint64_t interpreter, const char *name);

#endif
