/* GGUF, versions 2 and 3 (ggml/docs/gguf.md):
 *
 *	"GGUF" | u32 version | u64 tensors | u64 metadata
 *	metadata:  string key | u32 type | value        (an array: u32 type | u64 n | values)
 *	tensors:   string name | u32 rank | u64 sizes[], innermost first | u32 type | u64 offset
 *	padding to general.alignment (32) | data, where offsets count from
 *
 * A string is a u64 length and its bytes. Strings inside arrays are checked here once and
 * found again by walking (lb_file_metadata_string). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/text.h"
#include "io/file.h"
#include "io/gguf.h"
#include "kernels/kernels.h"

/* ggml's tensor types by number: name, elements and bytes of a block, and what they are here;
 * ENCODED: one of lb_encoding, OTHER: bytes only. */
enum { PLAIN, ENCODED, OTHER };
static const struct type {
	const char *name;
	uint16_t elements, bytes;
	uint8_t kind, as;
} types[] = {
	[0] = { "F32", 1, 4, PLAIN, LB_F32 },
	[1] = { "F16", 1, 2, PLAIN, LB_F16 },
	[24] = { "I8", 1, 1, PLAIN, LB_I8 },
	[25] = { "I16", 1, 2, PLAIN, LB_I16 },
	[26] = { "I32", 1, 4, PLAIN, LB_I32 },
	[27] = { "I64", 1, 8, PLAIN, LB_I64 },
	[28] = { "F64", 1, 8, PLAIN, LB_F64 },
	[30] = { "BF16", 1, 2, PLAIN, LB_BF16 },
#define LB_BLOCK(ID, decoder, name, number, elements, bytes, ...) [number] = { #ID, elements, bytes, ENCODED, LB_##ID },
#include "kernels/blocks.def"
#undef LB_BLOCK
	/* rows interleaved, of ggml in 2024 */
	[31] = { "Q4_0_4_4", 32, 18, OTHER, 0 },
	[32] = { "Q4_0_4_8", 32, 18, OTHER, 0 },
	[33] = { "Q4_0_8_8", 32, 18, OTHER, 0 },
	[36] = { "IQ4_NL_4_4", 32, 18, OTHER, 0 },
	[37] = { "IQ4_NL_4_8", 32, 18, OTHER, 0 },
	[38] = { "IQ4_NL_8_8", 32, 18, OTHER, 0 },
};
enum { TYPES = sizeof types / sizeof *types };

bool lb_gguf_type(enum lb_dtype dtype, uint32_t *ret)
{
	for (uint32_t i = 0; i < TYPES; i++)
		if (types[i].name && types[i].kind == PLAIN && types[i].as == dtype) {
			*ret = i;
			return true;
		}
	return false;
}

static const uint8_t value_bytes[LB_VALUE_TYPES] = {
	[LB_VALUE_U8] = 1,  [LB_VALUE_I8] = 1,  [LB_VALUE_U16] = 2, [LB_VALUE_I16] = 2,
	[LB_VALUE_U32] = 4, [LB_VALUE_I32] = 4, [LB_VALUE_F32] = 4, [LB_VALUE_BOOL] = 1,
	[LB_VALUE_U64] = 8, [LB_VALUE_I64] = 8, [LB_VALUE_F64] = 8,
};

static bool take_string(struct lb_cursor *c, const char *field, const uint8_t **text, uint64_t *n)
{
	struct lb_cursor from = *c;
	if (!lb_cursor_u64(&from, field, n) || !lb_cursor_take(&from, field, *n, text))
		return false;
	*c = from;
	return true;
}

/* A copy, which the caller frees. */
static bool take_text(struct lb_cursor *c, const char *field, bool utf8, char **ret)
{
	const uint8_t *text;
	uint64_t n;
	char quoted[LB_QUOTED];
	if (!take_string(c, field, &text, &n))
		return false;
	if (utf8 && !lb_is_text(text, n))
		return lb_fail("%s: %s '%s' is not UTF-8, or holds NUL", c->path, field, lb_quoted(text, n, quoted));
	*ret = strndup((const char *)text, n);
	return *ret || lb_fail("%s: out of memory for a string of %llu bytes", c->path, (unsigned long long)n);
}

/* ---- metadata ---- */

static void print_value(uint32_t type, const uint8_t *bytes, char *to, size_t size)
{
	int64_t i = 0;
	uint64_t u = 0;
	float f;
	double d;
	switch (type) {
	case LB_VALUE_F32:
		memcpy(&f, bytes, sizeof f);
		snprintf(to, size, "%.9g", (double)f);
		return;
	case LB_VALUE_F64:
		memcpy(&d, bytes, sizeof d);
		snprintf(to, size, "%.17g", d);
		return;
	case LB_VALUE_BOOL: snprintf(to, size, "%s", bytes[0] ? "true" : "false"); return;
	}
	memcpy(&u, bytes, value_bytes[type]);
	int unused = 64 - 8 * value_bytes[type];
	i = (int64_t)(u << unused) >> unused;
	bool is_signed = type == LB_VALUE_I8 || type == LB_VALUE_I16 || type == LB_VALUE_I32 || type == LB_VALUE_I64;
	snprintf(to, size, is_signed ? "%" PRId64 : "%" PRIu64, is_signed ? (uint64_t)i : u);
}

/* Steps over an array's elements. */
static bool skip_elements(struct lb_cursor *c, const char *field, uint32_t type, uint64_t count)
{
	const uint8_t *skipped;
	uint64_t n;
	if (type != LB_VALUE_STRING) {
		if (count > lb_cursor_left(c) / value_bytes[type])
			n = UINT64_MAX;
		else
			n = count * value_bytes[type];
		return lb_cursor_take(c, field, n, &skipped);
	}
	for (uint64_t i = 0; i < count; i++) {
		if (!take_string(c, field, &skipped, &n))
			return false;
	}
	return true;
}

static bool read_value(struct lb_cursor *c, struct lb_metadata *m)
{
	char field[128], text[32];
	snprintf(field, sizeof field, "metadata '%.64s'", m->key);
	m->count = 1;
	if (!lb_cursor_u32(c, field, &m->type))
		return false;
	m->is_array = m->type == LB_VALUE_ARRAY;
	if (m->is_array && (!lb_cursor_u32(c, field, &m->type) || !lb_cursor_u64(c, field, &m->count)))
		return false;
	if (m->type >= LB_VALUE_TYPES || m->type == LB_VALUE_ARRAY)
		return lb_fail("%s: %s: unknown type %u of values%s", c->path, field, m->type,
			       m->is_array ? " in an array" : "");
	m->at = m->next_at = c->at;
	const uint8_t *bytes = c->data + c->at;
	if (m->is_array || m->type != LB_VALUE_STRING) {
		if (!skip_elements(c, field, m->type, m->count))
			return false;
	} else if (!take_text(c, field, false, &m->text)) {
		return false;
	}
	m->nbytes = c->at - m->at;
	if (m->is_array || m->type == LB_VALUE_STRING)
		return true;
	print_value(m->type, bytes, text, sizeof text);
	m->text = strdup(text);
	return m->text || lb_fail("%s: out of memory", c->path);
}

static bool read_metadata(struct lb_file *file, struct lb_cursor *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		char *key;
		if (!take_text(c, "metadata key", true, &key))
			return false;
		struct lb_metadata *m = lb_file_add_metadata(file, key);
		if (!m || !read_value(c, m))
			return false;
	}
	return true;
}

/* ---- tensors ---- */

/* The array from its type and sizes; `at` is still an offset in the data. */
static bool describe_entry(struct lb_entry *entry, uint32_t type, const char *what)
{
	struct lb_array *array = &entry->array;
	if (type >= TYPES || !types[type].name)
		return lb_fail("%s: unknown type %u", what, type);
	const struct type *t = &types[type];
	snprintf(entry->type, sizeof entry->type, "%s", t->name);
	entry->unknown = t->kind == OTHER;
	array->encoding = t->kind == ENCODED ? (enum lb_encoding)t->as : LB_LITTLE_ENDIAN;
	array->dtype = t->kind == PLAIN ? (enum lb_dtype)t->as : LB_F32;
	int64_t *row = &array->shape[array->rank - 1];
	if (entry->unknown) { /* its bytes can be had */
		if (*row % t->elements)
			return lb_fail("%s: rows of %lld elements are not whole blocks of %s", what, (long long)*row,
				       t->name);
		array->dtype = LB_U8;
		if (!lb_mul(*row / t->elements, t->bytes, row))
			return lb_fail("%s: rows of %lld blocks are too long", what, (long long)*row / t->elements);
	}
	return lb_array_measure(array, what);
}

static bool read_tensor(struct lb_cursor *c, struct lb_entry *entry)
{
	char what[320];
	struct lb_array *array = &entry->array;
	uint32_t rank, type;
	snprintf(what, sizeof what, "%.200s: tensor '%.64s'", c->path, entry->name);
	if (!lb_cursor_u32(c, "tensor rank", &rank))
		return false;
	if (rank > LB_MAX_RANK)
		return lb_fail("%s: rank %u is more than %d", what, rank, LB_MAX_RANK);
	array->rank = rank ? (int)rank : 1;
	array->shape[0] = 1;
	for (uint32_t i = 0; i < rank; i++) {
		uint64_t size;
		if (!lb_cursor_u64(c, "tensor sizes", &size))
			return false;
		if (size > INT64_MAX)
			return lb_fail("%s: size %llu of axis %u does not fit 63 bits", what, (unsigned long long)size,
				       i);
		array->shape[rank - 1 - i] = (int64_t)size;
	}
	return lb_cursor_u32(c, "tensor type", &type) && lb_cursor_u64(c, "tensor offset", &array->at) &&
	       describe_entry(entry, type, what);
}

/* Turns offsets into places in the file, where they lie inside it. */
static bool place_tensors(struct lb_file *file, const struct lb_cursor *c, uint64_t alignment)
{
	uint64_t data_at = (c->at + alignment - 1) & ~(alignment - 1);
	/* a file without tensors may end without padding */
	uint64_t data_size = data_at < c->size ? c->size - data_at : 0;
	for (int64_t i = 0; i < file->n; i++) {
		struct lb_entry *entry = &file->entries[i];
		struct lb_array *array = &entry->array;
		if (array->at % alignment)
			return lb_fail("%s: tensor '%.64s': offset %llu is not a multiple of the alignment %llu",
				       c->path, entry->name, (unsigned long long)array->at,
				       (unsigned long long)alignment);
		if (array->at > data_size || array->nbytes > data_size - array->at)
			return lb_fail("%s: tensor '%.64s': offset %llu and %llu byte%s go beyond the %llu byte%s of "
				       "data: the file is truncated or damaged",
				       c->path, entry->name, (unsigned long long)array->at,
				       (unsigned long long)array->nbytes, LB_S(array->nbytes),
				       (unsigned long long)data_size, LB_S(data_size));
		array->at += data_at < c->size ? data_at : c->at;
	}
	return lb_file_check_overlap(file);
}

static bool read_alignment(const struct lb_file *file, uint64_t *ret)
{
	const struct lb_metadata *m = lb_file_find_metadata(file, "general.alignment");
	*ret = LB_GGUF_ALIGNMENT;
	if (!m)
		return true;
	*ret = m->text ? strtoull(m->text, NULL, 10) : 0;
	if (m->type != LB_VALUE_U32 || m->is_array || *ret == 0 || (*ret & (*ret - 1)))
		return lb_fail("%s: metadata 'general.alignment' is not a uint32 that is a power of two",
			       file->mapping->path);
	return true;
}

static bool open_gguf(struct lb_file *file)
{
	struct lb_cursor c = lb_mapping_cursor(file->mapping);
	const uint8_t *magic;
	uint32_t version;
	uint64_t n_tensors, n_metadata, alignment;
	if (!lb_cursor_take(&c, "magic", 4, &magic) || !lb_cursor_u32(&c, "version", &version))
		return false;
	if (version && (version & 0xffff) == 0)
		return lb_fail("%s: version: a big-endian GGUF file cannot be read", c.path);
	if (version != 2 && version != 3)
		return lb_fail("%s: version: GGUF %u cannot be read, only 2 and 3", c.path, version);
	if (!lb_cursor_u64(&c, "tensor count", &n_tensors) || !lb_cursor_u64(&c, "metadata count", &n_metadata) ||
	    !read_metadata(file, &c, n_metadata) || !read_alignment(file, &alignment))
		return false;
	for (uint64_t i = 0; i < n_tensors; i++) {
		char *name;
		if (!take_text(&c, "tensor name", true, &name))
			return false;
		struct lb_entry *entry = lb_file_add(file, name);
		if (!entry || !read_tensor(&c, entry))
			return false;
	}
	return place_tensors(file, &c, alignment);
}

static bool recognise(const struct lb_mapping *mapping)
{
	return lb_begins_with(mapping, "GGUF", 4);
}

const struct lb_format lb_format_gguf = {
	.name = "gguf",
	.recognise = recognise,
	.open = open_gguf,
	.get = lb_file_get_in_place,
};
