/* Expressions as Python has them, of names, attributes, indices and keys: `self.layers[3].weight`, `batch["x"]`. Nothing is
 * called: attributes are those that lie in the instance. */
#ifndef LBX_PYTHON_EXPRESSION_H
#define LBX_PYTHON_EXPRESSION_H

#include "python/walk.h"
#include "target/stacks.h"

enum { LBX_PY_FOUND = 8 };

struct lbx_py_found {
	uint64_t object, tid; /* of the thread in whose frame the name is a variable; 0: it is of __main__ */
	char function[96];
};

/* The wanted objects that it leads to. If `first` names a thread: the first of the own variables of its functions, from the
 * innermost that it names on, then of that one's module, by keys that are its own or the module's; then likewise from the thread's innermost on. Else, or if there is none: in
 * each thread by a function's own variables, those of the innermost frame where they lead to one; if there is none, by the
 * variables of __main__; else by those of other modules whose functions run. `first` may be NULL.
 * Returns how many of them are different. */
int lbx_py_evaluate(struct lbx_python *py, const struct lbx_py_rules *rules, const char *expression,
		    const struct lbx_viewpoint *first, struct lbx_py_found ret[LBX_PY_FOUND]);
/* Why it leads to none, where what it has come to has nothing under a key, or no element: "batch has nothing under 'x': it has
 * 'y'". False: nothing is known of that. */
bool lbx_py_why_not(struct lbx_python *py, const struct lbx_py_rules *rules, const char *expression,
		    const struct lbx_viewpoint *first, char *ret, size_t size);

#endif
