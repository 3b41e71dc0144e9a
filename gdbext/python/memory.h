/* Objects of Python that hold memory: numpy.ndarray, bytes, bytearray and array.array. NumPy's is read as its
 * PyArrayObject_fields has been since 1.7. */
#ifndef LBX_PYTHON_MEMORY_H
#define LBX_PYTHON_MEMORY_H

#include "python/python.h"

enum { LBX_PY_AXES = 64 };

struct lbx_py_memory {
	const char *type; /* "numpy.ndarray" */
	uint64_t data;
	uint64_t nbytes; /* 0: not known */
	int rank; /* -1: it has no shape */
	int64_t shape[LBX_PY_AXES], strides[LBX_PY_AXES]; /* bytes */
	char kind; /* of its elements, as NumPy has it: 'f', 'i', 'u', 'b', 'c', …; 0: it has none */
};

/* False, quietly: it is no such object, or cannot be one. */
bool lbx_py_memory_of(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret);

#endif
