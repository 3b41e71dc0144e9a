#include "python/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "lazybones.h"
#include "python/python.h"
#include "target/cache.h"

/* Bits of a type's flags (Py_TPFLAGS_…). */
enum {
	INLINE_VALUES = 1 << 2,
	MANAGED_DICT = 1 << 4,
	INT_SUBCLASS = 1 << 24,
	LIST_SUBCLASS = 1 << 25,
	TUPLE_SUBCLASS = 1 << 26,
	STR_SUBCLASS = 1 << 28,
	DICT_SUBCLASS = 1 << 29,
	EXCEPTION_SUBCLASS = 1 << 30
};
#define TYPE_SUBCLASS (UINT64_C(1) << 31)

enum { MAX_TYPES = 1 << 16, METATYPES = 4, MAX_BASES = 16, SIZE_MAX_OF_INSTANCE = 1 << 20, FIRST_VALUES_VERSION = 13 };

static uint64_t word_at(const unsigned char *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof word);
	return word;
}

static bool is_address(uint64_t word)
{
	return word >= 0x1000 && word >> 48 == 0 && word % 8 == 0;
}

/* A type's own type is one of types: `type` itself, or derived from it, which a flag says; and so on until `type`. */
static bool is_type(const struct lbx_python *py, const unsigned char *bytes)
{
	uint64_t meta = word_at(bytes, LBX_PY_TYPE);

	for (int i = 0; i < METATYPES; i++) {
		if (meta == py->type_type)
			return true;
		if (!is_address(meta) || !(lbx_py_word(py, meta + LBX_PY_TYPE_FLAGS) & TYPE_SUBCLASS))
			return false;
		meta = lbx_py_word(py, meta + LBX_PY_TYPE);
	}
	return false;
}

static enum lbx_py_kind kind_of(const struct lbx_py_type *type, uint64_t flags)
{
	static const struct {
		uint64_t flag;
		enum lbx_py_kind kind;
	} derived[] = {
		{ TYPE_SUBCLASS, LBX_PY_TYPES }, { DICT_SUBCLASS, LBX_PY_DICT },   { LIST_SUBCLASS, LBX_PY_LIST },
		{ STR_SUBCLASS, LBX_PY_STR },    { TUPLE_SUBCLASS, LBX_PY_TUPLE }, { INT_SUBCLASS, LBX_PY_INT },
	};
	static const struct {
		const char *name;
		enum lbx_py_kind kind;
	} named[] = {
		{ "module", LBX_PY_MODULE },
		{ "function", LBX_PY_FUNCTION },
		{ "builtin_function_or_method", LBX_PY_FUNCTION },
		{ "cell", LBX_PY_CELL },
	};

	for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
		if (flags & derived[i].flag)
			return derived[i].kind;
	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (strcmp(type->name, named[i].name) == 0)
			return named[i].kind;
	return type->has_attributes ? LBX_PY_INSTANCE : LBX_PY_PLAIN;
}

static bool read_name(const struct lbx_python *py, uint64_t at, char ret[LBX_PY_NAME])
{
	bool clean = lb_ok(),
	     is_read = is_address(at & ~(uint64_t)7) && lbx_cache_read_string(py->cache, at, ret, LBX_PY_NAME);

	if (!is_read && clean)
		lb_clear_error();
	return is_read && ret[0] != '\0';
}

static bool read_type(const struct lbx_python *py, uint64_t address, struct lbx_py_type *ret)
{
	unsigned char bytes[LBX_PY_TYPE_READ];

	*ret = (struct lbx_py_type){ .address = address };
	if (!is_address(address) || !lbx_py_read(py, address, bytes, sizeof bytes) || !is_type(py, bytes) ||
	    !read_name(py, word_at(bytes, LBX_PY_TYPE_NAME), ret->name))
		return false;
	uint64_t flags = word_at(bytes, LBX_PY_TYPE_FLAGS), size = word_at(bytes, LBX_PY_TYPE_BASICSIZE);
	int64_t at = (int64_t)word_at(bytes, LBX_PY_TYPE_DICTOFFSET);
	if (size > SIZE_MAX_OF_INSTANCE)
		return false;
	ret->size = (uint32_t)size;
	ret->is_managed = flags & MANAGED_DICT;
	ret->is_inline = py->layout.minor >= FIRST_VALUES_VERSION && flags & INLINE_VALUES;
	if (ret->is_managed)
		ret->cached_keys = lbx_py_word(py, address + py->layout.cached_keys);
	else if (at > 0 && (uint64_t)at + sizeof at <= size)
		ret->dict_at = (uint32_t)at;
	ret->base = word_at(bytes, LBX_PY_TYPE_BASE);
	ret->dict = word_at(bytes, LBX_PY_TYPE_DICT);
	ret->is_exception = flags & EXCEPTION_SUBCLASS;
	ret->has_attributes = ret->is_managed || ret->dict_at;
	ret->kind = kind_of(ret, flags);
	return true;
}

/* ---- types that were looked at ---- */

static struct lbx_py_type **place_of(const struct lbx_py_types *types, uint64_t address)
{
	size_t i = lb_mix(address) & (types->room - 1);

	while (types->list[i] && types->list[i]->address != address)
		i = (i + 1) & (types->room - 1);
	return &types->list[i];
}

static bool reserve_place(struct lbx_py_types *types)
{
	struct lbx_py_types more = { .n = types->n, .room = types->room ? 2 * types->room : 256 };

	if (types->n < types->room / 2)
		return true;
	if (types->n >= MAX_TYPES || !(more.list = calloc(more.room, sizeof(struct lbx_py_type *))))
		return false;
	for (size_t i = 0; i < types->room; i++)
		if (types->list[i])
			*place_of(&more, types->list[i]->address) = types->list[i];
	free(types->list);
	*types = more;
	return true;
}

void lbx_py_types_clear(struct lbx_py_types *types)
{
	for (size_t i = 0; i < types->room; i++)
		free(types->list[i]);
	free(types->list);
	*types = (struct lbx_py_types){ .n = 0 };
}

const struct lbx_py_type *lbx_py_type_at(struct lbx_python *py, uint64_t address)
{
	struct lbx_py_types *types = &py->types;
	struct lbx_py_type new, **place;

	if (address == types->last_no)
		return NULL;
	if (types->room && *(place = place_of(types, address)))
		return *place;
	if (!reserve_place(types))
		return NULL;
	place = place_of(types, address);
	if (!read_type(py, address, &new) || !(*place = malloc(sizeof new))) {
		types->last_no = address;
		return NULL;
	}
	types->n++;
	**place = new;
	return *place;
}

bool lbx_py_is_derived(struct lbx_python *py, const struct lbx_py_type *type, uint64_t from)
{
	for (int i = 0; type && i < MAX_BASES; i++) {
		if (type->address == from)
			return true;
		type = type->base ? lbx_py_type_at(py, type->base) : NULL;
	}
	return false;
}

const struct lbx_py_type *lbx_py_type_of(struct lbx_python *py, uint64_t object)
{
	uint64_t type;

	if (!is_address(object) || !lbx_py_read(py, object + LBX_PY_TYPE, &type, sizeof type) || !type)
		return NULL;
	return lbx_py_type_at(py, type);
}

const struct lbx_py_type *lbx_py_glance_at_type(struct lbx_python *py, uint64_t object)
{
	uint64_t type;

	if (!is_address(object) || !lbx_py_glance(py, object + LBX_PY_TYPE, &type, sizeof type) || !type)
		return NULL;
	return lbx_py_type_at(py, type);
}

bool lbx_py_type_is(struct lbx_python *py, const struct lbx_py_type *type, const char *name)
{
	for (int i = 0; type && i < MAX_BASES; i++, type = type->base ? lbx_py_type_at(py, type->base) : NULL)
		if (strcmp(type->name, name) == 0)
			return true;
	return false;
}
