#include "python/dict.h"

#include <string.h>

enum { GENERAL, UNICODE, SPLIT }; /* what kind of keys */
enum {
	LOG_MAX = 40,
	LOG_MORE = 3,
	SHARED_MAX = 30,
	MAX_ENTRIES = 1 << 24 /* that are gone through */
};
/* In front of an instance. */
enum { DICT_IN_FRONT = 0x18, VALUES_IN_FRONT = 0x20 };
/* Of values, from 3.13 on: how many there is room for; whether they are in use. */
enum { VALUES_CAPACITY = 0, VALUES_VALID = 3 };

/* The indices lie behind the header, then the entries: hash, key, value, or, where all keys are str, key and value. */
static bool open_keys(const struct lbx_python *py, uint64_t keys, struct lbx_py_dict *ret)
{
	uint8_t header[3];
	int64_t n;

	if (!lbx_py_read(py, keys + LBX_PY_KEYS_SIZE, header, sizeof header) ||
	    !lbx_py_read(py, keys + LBX_PY_KEYS_N, &n, sizeof n))
		return false;
	unsigned log_size = header[0], log_bytes = header[1], kind = header[2];
	if (log_size > LOG_MAX || log_bytes < log_size || log_bytes > log_size + LOG_MORE || kind > SPLIT || n < 0 ||
	    n > (int64_t)1 << log_size)
		return false;
	*ret = (struct lbx_py_dict){ .entries = keys + LBX_PY_KEYS_INDICES + (UINT64_C(1) << log_bytes),
				     .n = n < MAX_ENTRIES ? n : MAX_ENTRIES,
				     .entry_bytes = kind == GENERAL ? 24 : 16,
				     .key_at = kind == GENERAL ? 8 : 0 };
	return true;
}

/* Those of keys that instances share. */
static bool open_values(const struct lbx_python *py, uint64_t keys, uint64_t values, struct lbx_py_dict *ret)
{
	uint8_t header[4];

	if (!keys || !values || !open_keys(py, keys, ret) || ret->key_at)
		return false;
	if (ret->n > SHARED_MAX)
		ret->n = SHARED_MAX;
	if (py->layout.values) {
		if (!lbx_py_read(py, values, header, sizeof header))
			return false;
		if (ret->n > header[VALUES_CAPACITY])
			ret->n = header[VALUES_CAPACITY];
	}
	ret->values = values + py->layout.values;
	return true;
}

bool lbx_py_dict_open(struct lbx_python *py, uint64_t object, struct lbx_py_dict *ret)
{
	const struct lbx_py_type *type = object ? lbx_py_type_of(py, object) : NULL;

	if (!type || type->kind != LBX_PY_DICT)
		return false;
	uint64_t keys = lbx_py_word(py, object + LBX_PY_DICT_KEYS);
	uint64_t values = lbx_py_word(py, object + LBX_PY_DICT_VALUES);
	return keys && (values ? open_values(py, keys, values, ret) : open_keys(py, keys, ret));
}

/* 3.11 has both words in front of the object; 3.12 one, whose lowest bit says that it leads to one byte in front of values;
 * from 3.13 on values lie behind the object. */
static bool open_managed(struct lbx_python *py, uint64_t object, const struct lbx_py_type *type,
			 struct lbx_py_dict *ret)
{
	uint64_t dict = lbx_py_word(py, object - DICT_IN_FRONT), values = 0;
	uint8_t header[4];

	if (py->layout.minor == 11) {
		values = lbx_py_word(py, object - VALUES_IN_FRONT);
	} else if (py->layout.minor == 12 && dict & 1) {
		values = dict + 1;
	} else if (!dict && type->is_inline && lbx_py_read(py, object + type->size, header, sizeof header) &&
		   header[VALUES_VALID]) {
		values = object + type->size;
	}
	return values ? open_values(py, type->cached_keys, values, ret) : lbx_py_dict_open(py, dict, ret);
}

bool lbx_py_attributes_open(struct lbx_python *py, uint64_t object, struct lbx_py_dict *ret)
{
	const struct lbx_py_type *type = lbx_py_type_of(py, object);

	if (!type || !type->has_attributes)
		return false;
	return type->is_managed ? open_managed(py, object, type, ret)
				: lbx_py_dict_open(py, lbx_py_word(py, object + type->dict_at), ret);
}

bool lbx_py_dict_next(const struct lbx_python *py, const struct lbx_py_dict *dict, int64_t *i, uint64_t *ret_key,
		      uint64_t *ret_value)
{
	uint64_t pair[2];

	while (*i < dict->n) {
		uint64_t at = dict->entries + (uint64_t)*i * dict->entry_bytes + dict->key_at;
		if (!lbx_py_read(py, at, pair, sizeof pair))
			return false;
		*ret_key = pair[0];
		*ret_value = dict->values ? lbx_py_word(py, dict->values + (uint64_t)*i * sizeof *pair) : pair[1];
		++*i;
		if (*ret_key && *ret_value)
			return true;
	}
	return false;
}

uint64_t lbx_py_dict_find(struct lbx_python *py, const struct lbx_py_dict *dict, const char *key)
{
	uint64_t at, value;
	int64_t i = 0;

	while (lbx_py_dict_next(py, dict, &i, &at, &value))
		if (lbx_py_text_is(py, at, key))
			return value;
	return 0;
}

uint64_t lbx_py_dict_find_int(struct lbx_python *py, const struct lbx_py_dict *dict, int64_t key)
{
	uint64_t at, value;
	int64_t i = 0, number;

	while (lbx_py_dict_next(py, dict, &i, &at, &value))
		if (lbx_py_int(py, at, &number) && number == key)
			return value;
	return 0;
}

uint64_t lbx_py_attribute(struct lbx_python *py, uint64_t object, const char *name)
{
	struct lbx_py_dict dict;

	return lbx_py_attributes_open(py, object, &dict) ? lbx_py_dict_find(py, &dict, name) : 0;
}

uint64_t lbx_py_class_attribute(struct lbx_python *py, uint64_t object, const char *name)
{
	const struct lbx_py_type *type = lbx_py_type_of(py, object);
	struct lbx_py_dict dict;

	return type && lbx_py_dict_open(py, type->dict, &dict) ? lbx_py_dict_find(py, &dict, name) : 0;
}

bool lbx_py_is_dataclass(struct lbx_python *py, uint64_t object)
{
	struct lbx_py_type *type = (struct lbx_py_type *)lbx_py_type_of(py, object);

	if (type && type->dataclass == LBX_PY_NOT_ASKED)
		type->dataclass = lbx_py_class_attribute(py, object, "__dataclass_fields__") ? LBX_PY_YES : LBX_PY_NO;
	return type && type->dataclass == LBX_PY_YES;
}

bool lbx_py_mapping_open(struct lbx_python *py, uint64_t object, struct lbx_py_dict *ret)
{
	const struct lbx_py_type *type = object ? lbx_py_type_of(py, object) : NULL;

	if (type && type->kind == LBX_PY_INSTANCE && lbx_py_type_is(py, type, "UserDict"))
		object = lbx_py_attribute(py, object, "data");
	return lbx_py_dict_open(py, object, ret);
}

uint64_t lbx_py_field(struct lbx_python *py, uint64_t object, const char *name)
{
	uint64_t items, names;
	int64_t n, n_names;

	if (!lbx_py_items(py, object, &items, &n) ||
	    !lbx_py_items(py, lbx_py_class_attribute(py, object, "_fields"), &names, &n_names))
		return 0;
	for (int64_t i = 0; i < n && i < n_names; i++)
		if (lbx_py_text_is(py, lbx_py_word(py, names + (uint64_t)i * sizeof names), name))
			return lbx_py_word(py, items + (uint64_t)i * sizeof items);
	return 0;
}
