#include "python_image.h"

#include <stdlib.h>
#include <string.h>

#include "python/object.h"

enum { WORD = 8, MAX = 16, TYPE_BYTES = 0x380, CODE_BYTES = 0x100, FRAME_BYTES = 0x48, FIRST_LINE = 10 };
/* Py_TPFLAGS_…, where object.c has no name that can be used here. */
enum {
	INLINE_VALUES = 1 << 2,
	MANAGED_DICT = 1 << 4,
	INT = 1 << 24,
	LIST = 1 << 25,
	TUPLE = 1 << 26,
	STR = 1 << 28,
	DICT = 1 << 29,
	EXCEPTION = 1 << 30
};
enum { GENERAL, UNICODE, SPLIT };
enum { MODULE_DICT = 0x10, IN_FRONT = 0x20, VALUES_VALID = 3, COMPACT_ASCII = 1 << 2 | 1 << 5 | 1 << 6, CELL = 0x40 };

static void put(struct python_image *image, uint64_t address, uint64_t value)
{
	regions_put(image->regions, address, value, WORD);
}

static uint64_t allocate(struct python_image *image, uint64_t bytes)
{
	uint64_t at = image->heap;

	image->heap += (bytes + 15) / 16 * 16;
	if (image->heap > PYTHON_HEAP + PYTHON_HEAP_SIZE)
		abort();
	return at;
}

uint64_t python_image_object(struct python_image *image, uint64_t type, uint64_t bytes)
{
	uint64_t at = allocate(image, bytes);

	put(image, at, 1);
	put(image, at + LBX_PY_TYPE, type);
	return at;
}

/* ---- the interpreter ---- */

/* Where fields are, as _Py_DebugOffsets of 3.13 tells it: the places of layout.c's words. */
static void put_offsets(struct python_image *image, uint64_t version)
{
	static const struct {
		int word;
		uint64_t offset;
	} told[] = {
		{ 5, 0x1a0 }, { 8, 0x8 },   { 9, 0x10 },  { 11, 0x18 }, { 21, 0x8 },  { 23, 0x38 }, { 25, 0x90 },
		{ 29, 0x8 },  { 30, 0x0 },  { 31, 0x38 }, { 32, 0x48 }, { 33, 0x46 }, { 35, 0x70 }, { 37, 0x80 },
		{ 38, 0x88 }, { 39, 0x44 }, { 41, 0x60 }, { 42, 0x68 }, { 43, 0xc0 },
	};

	regions_copy(image->regions, image->statics + PYTHON_RUNTIME, "xdebugpy", WORD);
	put(image, image->statics + PYTHON_RUNTIME + WORD, version);
	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		put(image, image->statics + PYTHON_RUNTIME + WORD * (uint64_t)told[i].word, told[i].offset);
}

static void put_type(struct python_image *image, uint64_t at, const char *name, uint64_t flags, uint64_t bytes)
{
	put(image, at + LBX_PY_TYPE, image->statics + PYTHON_TYPE_TYPE);
	put(image, at + LBX_PY_TYPE_BASICSIZE, bytes);
	put(image, at + LBX_PY_TYPE_FLAGS, flags);
	put(image, at + LBX_PY_TYPE_NAME, regions_text(image->regions, &image->heap, name));
	image->heap = (image->heap + 15) / 16 * 16;
}

uint64_t python_image_type(struct python_image *image, const char *name, uint64_t flags, uint64_t bytes)
{
	uint64_t at = python_image_object(image, 0, TYPE_BYTES);

	put_type(image, at, name, flags, bytes);
	return at;
}

void python_image_create(struct python_image *image, struct regions *regions, uint64_t statics, unsigned minor)
{
	uint64_t version = 3 << 24 | minor << 16 | 0xf0, types = UINT64_C(1) << 31;

	*image = (struct python_image){ .regions = regions, .statics = statics, .heap = PYTHON_HEAP };
	regions_add(regions, PYTHON_HEAP, PYTHON_HEAP_SIZE, 0);
	if (minor >= 13)
		put_offsets(image, version);
	put(image, statics + PYTHON_VERSION, version);
	if (!lbx_py_layout_of(&regions->target, statics + PYTHON_RUNTIME, version, &image->layout))
		abort();
	put_type(image, statics + PYTHON_TYPE_TYPE, "type", types, TYPE_BYTES);
	image->str = python_image_type(image, "str", STR, 0x40);
	image->integer = python_image_type(image, "int", INT, 0x18);
	image->list = python_image_type(image, "list", LIST, 0x28);
	image->tuple = python_image_type(image, "tuple", TUPLE, 0x18);
	image->dict = python_image_type(image, "dict", DICT, 0x30);
	image->bytes = python_image_type(image, "bytes", 0, 0x21);
	image->code = python_image_type(image, "code", 0, CODE_BYTES);
	image->cell = python_image_type(image, "cell", 0, 0x18);
	image->module = python_image_type(image, "module", 0, 0x38);
	put(image, image->module + LBX_PY_TYPE_DICTOFFSET, MODULE_DICT);
	image->interpreter = allocate(image, image->layout.modules + 4 * WORD);
	image->thread = allocate(image, 0x100);
	put(image, statics + PYTHON_RUNTIME + image->layout.interpreters, image->interpreter);
	put(image, image->interpreter + image->layout.threads, image->thread);
	put(image, image->thread + image->layout.native_id, 4711);
}

/* ---- objects ---- */

uint64_t python_image_str(struct python_image *image, const char *text)
{
	uint64_t at = python_image_object(image, image->str, image->layout.short_text + strlen(text) + 1);

	put(image, at + LBX_PY_SIZE, strlen(text));
	put(image, at + 0x20, COMPACT_ASCII);
	regions_copy(image->regions, at + image->layout.short_text, text, strlen(text));
	return at;
}

uint64_t python_image_int(struct python_image *image, uint32_t value)
{
	uint64_t at = python_image_object(image, image->integer, 0x20);

	put(image, at + LBX_PY_SIZE, image->layout.minor >= 12 ? 1 << 3 : 1);
	put(image, at + LBX_PY_DIGITS, value);
	return at;
}

static void put_words(struct python_image *image, uint64_t at, const uint64_t *words, int n)
{
	for (int i = 0; i < n; i++)
		put(image, at + WORD * (uint64_t)i, words[i]);
}

uint64_t python_image_tuple(struct python_image *image, const uint64_t *items, int n)
{
	uint64_t at = python_image_object(image, image->tuple, image->layout.tuple_items + WORD * (uint64_t)n);

	put(image, at + LBX_PY_SIZE, (uint64_t)n);
	put_words(image, at + image->layout.tuple_items, items, n);
	return at;
}

uint64_t python_image_list(struct python_image *image, const uint64_t *items, int n)
{
	uint64_t at = python_image_object(image, image->list, 0x28), words = allocate(image, WORD * (uint64_t)n);

	put(image, at + LBX_PY_SIZE, (uint64_t)n);
	put(image, at + LBX_PY_LIST_ITEMS, words);
	put_words(image, words, items, n);
	return at;
}

static uint64_t put_bytes(struct python_image *image, const void *bytes, int n)
{
	uint64_t at = python_image_object(image, image->bytes, LBX_PY_BYTES + (uint64_t)n);

	put(image, at + LBX_PY_SIZE, (uint64_t)n);
	regions_copy(image->regions, at + LBX_PY_BYTES, bytes, (size_t)n);
	return at;
}

/* Without values they are keys that instances share. */
static uint64_t put_keys(struct python_image *image, const uint64_t *keys, const uint64_t *values, int n)
{
	uint64_t kind = values ? UNICODE : SPLIT, log_size = 3;

	for (int i = 0; i < n && values; i++)
		if (regions_get(image->regions, keys[i] + LBX_PY_TYPE, WORD) != image->str)
			kind = GENERAL;
	while (1 << log_size < n)
		log_size++;
	uint64_t entry = kind == GENERAL ? 3 * WORD : 2 * WORD, entries = LBX_PY_KEYS_INDICES + (1ULL << log_size);
	uint64_t at = allocate(image, entries + entry * (uint64_t)n);
	put(image, at, 1);
	put(image, at + LBX_PY_KEYS_SIZE, log_size | log_size << 8 | kind << 16);
	put(image, at + LBX_PY_KEYS_N, (uint64_t)n);
	for (int i = 0; i < n; i++) {
		uint64_t to = at + entries + entry * (uint64_t)(i + 1) - 2 * WORD;
		put(image, to, keys[i]);
		put(image, to + WORD, values ? values[i] : 0);
	}
	return at;
}

uint64_t python_image_dict(struct python_image *image, const uint64_t *keys, const uint64_t *values, int n)
{
	uint64_t at = python_image_object(image, image->dict, 0x30);

	put(image, at + LBX_PY_SIZE, (uint64_t)n);
	put(image, at + LBX_PY_DICT_KEYS, put_keys(image, keys, values, n));
	return at;
}

uint64_t python_image_dict_of(struct python_image *image, const char *const *names, const uint64_t *values, int n)
{
	uint64_t keys[8];

	for (int i = 0; i < n; i++)
		keys[i] = python_image_str(image, names[i]);
	return python_image_dict(image, keys, values, n);
}

uint64_t python_image_cell(struct python_image *image, uint64_t value)
{
	uint64_t at = python_image_object(image, image->cell, 0x18);

	put(image, at + LBX_PY_CELL_VALUE, value);
	return at;
}

static void strings(struct python_image *image, const char *const *texts, uint64_t *ret, int n)
{
	if (n > MAX)
		abort();
	for (int i = 0; i < n; i++)
		ret[i] = python_image_str(image, texts[i]);
}

struct python_class python_image_class(struct python_image *image, const char *name, const char *const *names, int n)
{
	uint64_t keys[MAX], flags = MANAGED_DICT | (image->layout.values ? INLINE_VALUES : 0);
	struct python_class class = { python_image_type(image, name, flags, 0x10), n };

	strings(image, names, keys, n);
	put(image, class.type + image->layout.cached_keys, put_keys(image, keys, NULL, n));
	return class;
}

/* Until 3.11 the address of the values lies in front of the object, from 3.13 on they are behind it. */
uint64_t python_image_instance(struct python_image *image, const struct python_class *class, const uint64_t *values)
{
	uint64_t words = WORD * (uint64_t)class->n, front = allocate(image, IN_FRONT), at, to;

	at = python_image_object(image, class->type, 0x10 + WORD + words);
	to = at + 0x10;
	if (image->layout.values) {
		put(image, to, (uint64_t)class->n | 1ULL << 8 * VALUES_VALID);
		to += image->layout.values;
	} else {
		put(image, front, to);
	}
	put_words(image, to, values, class->n);
	return at;
}

void python_image_import(struct python_image *image, const char *const *names, const uint64_t *dicts, int n)
{
	uint64_t keys[MAX], modules[MAX];

	strings(image, names, keys, n);
	for (int i = 0; i < n; i++) {
		modules[i] = python_image_object(image, image->module, 0x38);
		put(image, modules[i] + MODULE_DICT, dicts[i]);
	}
	put(image, image->interpreter + image->layout.modules, python_image_dict(image, keys, modules, n));
}

/* ---- what runs ---- */

static uint64_t put_code(struct python_image *image, const char *function, const char *const *names, int n)
{
	/* two entries of the table: a line further, then the next */
	static const uint8_t lines[] = { 0x80 | 11 << 3 | 3, 0, 4, 0x80 | 11 << 3 | 3, 0, 4 };
	const struct lbx_py_layout *l = &image->layout;
	uint64_t at = python_image_object(image, image->code, CODE_BYTES), texts[MAX];
	uint8_t kinds[MAX];

	strings(image, names, texts, n);
	for (int i = 0; i < n; i++)
		kinds[i] = i == n - 1 ? CELL : 0x20;
	put(image, at + l->names, python_image_tuple(image, texts, n));
	put(image, at + l->kinds, put_bytes(image, kinds, n));
	put(image, at + l->file, python_image_str(image, "train.py"));
	put(image, at + l->qualified_name, python_image_str(image, function));
	put(image, at + l->lines, put_bytes(image, lines, sizeof lines));
	regions_put(image->regions, at + l->first_line, FIRST_LINE, 4);
	return at;
}

void python_image_call(struct python_image *image, const char *function, uint64_t globals, const char *const *names,
		       const uint64_t *values, int n)
{
	const struct lbx_py_layout *l = &image->layout;
	uint64_t code = put_code(image, function, names, n), at = allocate(image, FRAME_BYTES + WORD * (uint64_t)n);
	uint64_t current = image->thread + l->current_frame;

	put(image, at + l->code, code);
	put(image, at + l->previous, image->frame);
	put(image, at + l->globals, globals);
	put(image, at + LBX_PY_FRAME_INSTRUCTION, code + l->instructions + 10);
	put_words(image, at + l->variables, values, n);
	if (n)
		put(image, at + l->variables + WORD * (uint64_t)(n - 1), python_image_cell(image, values[n - 1]));
	image->frame = at;
	if (l->frame_of_c != LBX_PY_NO_FIELD) {
		put(image, current, allocate(image, 2 * WORD));
		current = regions_get(image->regions, current, WORD) + l->frame_of_c;
	}
	put(image, current, at);
}

void python_image_raise(struct python_image *image, const char *name, const char *message)
{
	uint64_t type = python_image_type(image, name, EXCEPTION, 0x48), text = python_image_str(image, message);
	uint64_t at = python_image_object(image, type, 0x48);

	put(image, at + LBX_PY_EXCEPTION_ARGS, python_image_tuple(image, &text, 1));
	put(image, image->thread + image->layout.raised, at);
}
