/* Dicts, and the attributes of instances, which are laid out likewise: keys, which many instances of a class may share, and
 * values, beside the keys or apart from them (CPython: its dictobject). */
#ifndef LBX_PYTHON_DICT_H
#define LBX_PYTHON_DICT_H

#include "python/python.h"

struct lbx_py_dict {
	uint64_t entries, values; /* addresses; values 0: each lies behind its key */
	int64_t n; /* of entries; some may be free */
	unsigned entry_bytes, key_at;
};

/* False, quietly, where it is none, or cannot be. */
bool lbx_py_dict_open(struct lbx_python *py, uint64_t object, struct lbx_py_dict *ret);
/* What an object has by keys: a dict itself, or that of a collections.UserDict, as which libraries derive their own. */
bool lbx_py_mapping_open(struct lbx_python *py, uint64_t object, struct lbx_py_dict *ret);
/* The attributes of an instance (`__dict__`), wherever they are. False, quietly: it has none. */
bool lbx_py_attributes_open(struct lbx_python *py, uint64_t object, struct lbx_py_dict *ret);
/* The next entry at or after *i, which moves past it. False at the end, and where it cannot be read. */
bool lbx_py_dict_next(const struct lbx_python *py, const struct lbx_py_dict *dict, int64_t *i, uint64_t *ret_key,
		      uint64_t *ret_value);
/* The value of a key that is a str, or an int; 0: there is none. */
uint64_t lbx_py_dict_find(struct lbx_python *py, const struct lbx_py_dict *dict, const char *key);
uint64_t lbx_py_dict_find_int(struct lbx_python *py, const struct lbx_py_dict *dict, int64_t key);
/* The attribute of that name, in the instance itself; 0: there is none. */
uint64_t lbx_py_attribute(struct lbx_python *py, uint64_t object, const char *name);
/* Likewise of its class alone. */
uint64_t lbx_py_class_attribute(struct lbx_python *py, uint64_t object, const char *name);
/* Whether its class is one of dataclasses. */
bool lbx_py_is_dataclass(struct lbx_python *py, uint64_t object);
/* The item of a named tuple; 0: it has none of that name, or is none. */
uint64_t lbx_py_field(struct lbx_python *py, uint64_t object, const char *name);

#endif
