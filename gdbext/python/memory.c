#include "python/memory.h"

#include <string.h>

enum { SIZE = 0x10, BYTES_DATA = 0x20, BYTEARRAY_DATA = 0x28, ARRAY_DATA = 0x18 };
/* PyArrayObject_fields; PyArray_Descr */
enum { DATA = 0x10, RANK = 0x18, SHAPE = 0x20, STRIDES = 0x28, DESCR = 0x38, DESCR_KIND = 0x18 };

static bool ndarray(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret)
{
	uint64_t at[2];
	int32_t rank;

	if (!lbx_py_read(py, object + DATA, &ret->data, sizeof ret->data) ||
	    !lbx_py_read(py, object + RANK, &rank, sizeof rank) || rank < 0 || rank > LBX_PY_AXES ||
	    !lbx_py_read(py, object + SHAPE, at, sizeof at) ||
	    !lbx_py_read(py, lbx_py_word(py, object + DESCR) + DESCR_KIND, &ret->kind, 1))
		return false;
	ret->rank = rank;
	if (rank && (!lbx_py_read(py, at[0], ret->shape, (size_t)rank * sizeof *ret->shape) ||
		     !lbx_py_read(py, at[1], ret->strides, (size_t)rank * sizeof *ret->strides)))
		return false;
	for (int i = 0; i < rank; i++)
		if (ret->shape[i] < 0)
			return false;
	return true;
}

static bool sized(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret)
{
	return lbx_py_read(py, object + SIZE, &ret->nbytes, sizeof ret->nbytes) && ret->nbytes < (UINT64_C(1) << 62);
}

static bool bytes(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret)
{
	ret->data = object + BYTES_DATA;
	return sized(py, object, ret);
}

static bool bytearray(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret)
{
	ret->data = lbx_py_word(py, object + BYTEARRAY_DATA);
	return sized(py, object, ret);
}

/* Its size is in elements, whose type nobody needs here. */
static bool array(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret)
{
	ret->data = lbx_py_word(py, object + ARRAY_DATA);
	return ret->data;
}

bool lbx_py_memory_of(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret)
{
	static const struct {
		const char *type;
		bool (*read)(struct lbx_python *py, uint64_t object, struct lbx_py_memory *ret);
	} rows[] = {
		{ "numpy.ndarray", ndarray }, { "bytes", bytes }, { "bytearray", bytearray }, { "array.array", array }
	};
	const struct lbx_py_type *type = lbx_py_type_of(py, object);

	*ret = (struct lbx_py_memory){ .rank = -1 };
	for (size_t i = 0; type && i < sizeof rows / sizeof *rows; i++) {
		if (!lbx_py_type_is(py, type, rows[i].type))
			continue;
		ret->type = rows[i].type;
		return rows[i].read(py, object, ret);
	}
	return false;
}
