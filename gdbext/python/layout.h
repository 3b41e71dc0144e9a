/* Where the fields of CPython's objects are, by version. Offsets are in bytes, within the object or struct that is named. From
 * 3.13 on the interpreter tells most of them itself (_Py_DebugOffsets, at the beginning of _PyRuntime). */
#ifndef LBX_PYTHON_LAYOUT_H
#define LBX_PYTHON_LAYOUT_H

#include "target/target.h"

/* The same in all versions that are known. */
enum {
	LBX_PY_TYPE = 0x08, /* of an object: its type */
	LBX_PY_SIZE =
	    0x10, /* of a list, tuple, bytes, str, int before 3.12: how many; of later ints, with their sign */
	LBX_PY_DIGITS = 0x18, /* of an int, 30 bits each */
	LBX_PY_BYTES = 0x20,
	LBX_PY_LIST_ITEMS = 0x18,
	LBX_PY_CELL_VALUE = 0x10,
	LBX_PY_TYPE_NAME = 0x18,
	LBX_PY_TYPE_BASICSIZE = 0x20,
	LBX_PY_TYPE_FLAGS = 0xa8,
	LBX_PY_TYPE_BASE = 0x100,
	LBX_PY_TYPE_DICT = 0x108,
	LBX_PY_TYPE_DICTOFFSET = 0x120,
	LBX_PY_TYPE_READ = 0x128, /* bytes that hold all of these */
	LBX_PY_DICT_KEYS = 0x20,
	LBX_PY_DICT_VALUES = 0x28,
	LBX_PY_KEYS_SIZE =
	    0x08, /* of a dict's keys: the logarithm of their room; then that of the indices' bytes; kind */
	LBX_PY_KEYS_N = 0x18,
	LBX_PY_KEYS_INDICES = 0x20,
	LBX_PY_FRAME_INSTRUCTION = 0x38,
	LBX_PY_FRAME_OF_OBJECT = 0x18, /* of a frame that is an object, too (PyFrameObject) */
	LBX_PY_HANDLED_NEXT = 8, /* of what is handled: what was handled before it */
	LBX_PY_EXCEPTION_ARGS = 0x18, /* of an exception (PyBaseExceptionObject) */
	LBX_PY_EXCEPTION_TRACEBACK = 0x28,
	LBX_PY_EXCEPTION_CONTEXT = 0x30,
	LBX_PY_EXCEPTION_CAUSE = 0x38,
	LBX_PY_EXCEPTION_HIDES_CONTEXT = 0x40, /* a byte */
	LBX_PY_TRACEBACK_NEXT = 0x10, /* PyTracebackObject */
	LBX_PY_TRACEBACK_FRAME = 0x18,
	LBX_PY_TRACEBACK_INSTRUCTION = 0x20, /* 32 bits each; the line may be -1: by the instruction */
	LBX_PY_TRACEBACK_LINE = 0x24
};

struct lbx_py_layout {
	unsigned minor; /* 11: of 3.11 */
	/* _PyRuntimeState, PyInterpreterState */
	uint32_t interpreters, next_interpreter, threads, modules;
	/* PyThreadState */
	uint32_t next_thread, native_id, current_frame;
	uint32_t raised, handled; /* an exception on its way; the stack of those that are handled (_PyErr_StackItem) */
	uint32_t
	    frame_of_c; /* 3.11 and 3.12: current_frame leads to a _PyCFrame, and this is its frame; else NO_FIELD */
	/* _PyInterpreterFrame */
	uint32_t code, previous, globals, locals, owner, variables;
	uint64_t reference; /* the bits of a reference in a frame that are an object's address */
	/* PyCodeObject */
	uint32_t first_line, names, kinds, file, qualified_name, lines, instructions;
	/* objects */
	uint32_t tuple_items, short_text,
	    text; /* bytes of a str before its characters, where they are ASCII, or are not */
	uint32_t cached_keys; /* of a type that is made in Python: the keys that its instances share */
	uint32_t values; /* of the values of a dict with such keys */
};

enum { LBX_PY_NO_FIELD = UINT32_MAX };

/* Of the version that Py_Version or the runtime tells, as 0x030b02f0. `runtime`: the address of _PyRuntime, for what it
 * tells itself. Fails, saying which it is, for a version that is not known, and for free-threaded builds. */
bool lbx_py_layout_of(struct lbx_target *target, uint64_t runtime, uint64_t version, struct lbx_py_layout *ret);
/* Whether the runtime begins with such a table, and its version. */
bool lbx_py_layout_is_told(struct lbx_target *target, uint64_t runtime, uint64_t *ret_version);

#endif
