/* Objects of Python, by their types. */
#ifndef LBX_PYTHON_OBJECT_H
#define LBX_PYTHON_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_python; /* python/python.h */

enum lbx_py_kind {
	LBX_PY_PLAIN, /* it has no parts that are read here */
	LBX_PY_INSTANCE, /* it has attributes */
	LBX_PY_INT,
	LBX_PY_STR,
	LBX_PY_LIST,
	LBX_PY_TUPLE,
	LBX_PY_DICT,
	LBX_PY_TYPES, /* it is a type itself */
	LBX_PY_MODULE,
	LBX_PY_FUNCTION,
	LBX_PY_CELL /* holds a variable of a function for those within */
};

enum { LBX_PY_NAME = 96 };
enum lbx_py_answer { LBX_PY_NOT_ASKED, LBX_PY_NO, LBX_PY_YES };

struct lbx_py_type {
	uint64_t address;
	enum lbx_py_kind kind; /* of its instances; a class derived from a list is a list */
	bool is_exception;
	bool has_attributes;   /* what is a list may have some, too */
	bool is_managed;       /* these lie in front of the object (Py_TPFLAGS_MANAGED_DICT) */
	bool is_inline;        /* or behind it (Py_TPFLAGS_INLINE_VALUES) */
	uint32_t size;         /* bytes of an instance */
	uint32_t dict_at;      /* of an instance: the address of its attributes' dict; 0: none */
	uint64_t cached_keys;
	uint64_t base; /* the type that it is derived from, the first of several; 0: none */
	uint64_t dict; /* what its class has; 0: not known */
	enum lbx_py_answer dataclass; /* dict.h */
	char name[LBX_PY_NAME];
};

/* Those that were looked at, by their addresses. */
struct lbx_py_types {
	struct lbx_py_type **list; /* NULL: a free place */
	size_t n, room;
	uint64_t last_no; /* which is no type */
};

/* NULL, quietly: the address is not that of an object. It lives until lbx_py_types_clear(). */
const struct lbx_py_type *lbx_py_type_of(struct lbx_python *py, uint64_t object);
/* Likewise, of one that may be of no interest (lbx_py_glance()). */
const struct lbx_py_type *lbx_py_glance_at_type(struct lbx_python *py, uint64_t object);
/* Likewise of a type itself. */
const struct lbx_py_type *lbx_py_type_at(struct lbx_python *py, uint64_t type);
/* Whether a type is another one, or is derived from it, by the first of each one's bases. */
bool lbx_py_is_derived(struct lbx_python *py, const struct lbx_py_type *type, uint64_t from);
/* Whether it is the type of that name, or derived from it, likewise. */
bool lbx_py_type_is(struct lbx_python *py, const struct lbx_py_type *type, const char *name);
void lbx_py_types_clear(struct lbx_py_types *types);

/* The characters of a str, in UTF-8, as far as there is room. False, quietly, where it is none. */
bool lbx_py_text(struct lbx_python *py, uint64_t object, char *ret, size_t size);
/* Whether it is a str of these characters, fewer than LBX_PY_TEXT bytes. */
enum { LBX_PY_TEXT = 1024 };
bool lbx_py_text_is(struct lbx_python *py, uint64_t object, const char *text);
/* False, quietly, where it is no int, or has more than 64 bits. */
bool lbx_py_int(struct lbx_python *py, uint64_t object, int64_t *ret);
/* Of a list or tuple: where its items are, and how many: some may be 0. */
bool lbx_py_items(struct lbx_python *py, uint64_t object, uint64_t *ret, int64_t *ret_n);

#endif
