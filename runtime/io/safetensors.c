/* safetensors: a 64-bit length, a JSON object of that length, then the bytes of the tensors
 * (huggingface/safetensors, README, "Format"):
 *
 *	{"__metadata__": {"key": "value"}, "name": {"dtype": "F32", "shape": [2, 3],
 *	 "data_offsets": [begin, end]}}
 *
 * As the reference has it, the tensors must cover the bytes without overlap or gap, and a
 * header is at most 100 MB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"

/* A tensor's description as it is read, with begin and end still relative to the data. */
struct description {
	bool has_dtype, has_shape, has_offsets;
	int64_t begin, end;
};

static bool read_shape(struct lb_json *j, struct lb_array *array)
{
	bool more;
	if (!lb_json_open(j, '['))
		return false;
	for (array->rank = 0;;) {
		if (!lb_json_more(j, ']', array->rank, &more))
			return false;
		if (!more)
			return true;
		if (array->rank == LB_MAX_RANK)
			return lb_json_wrong(j, "shape: more than 8 axes");
		if (!lb_json_size(j, &array->shape[array->rank]))
			return false;
		array->rank++;
	}
}

/* The list, of which `n` have been read, goes on or ends as it must. */
static bool goes_on(struct lb_json *j, int64_t n, bool must)
{
	bool more;
	return lb_json_more(j, ']', n, &more) &&
	       (more == must || lb_json_wrong(j, "data_offsets: expected [begin, end]"));
}

static bool read_offsets(struct lb_json *j, struct description *d)
{
	return lb_json_open(j, '[') && goes_on(j, 0, true) && lb_json_size(j, &d->begin) && goes_on(j, 1, true) &&
	       lb_json_size(j, &d->end) && goes_on(j, 2, false);
}

static bool read_dtype(struct lb_json *j, struct lb_entry *entry)
{
	char *name;
	if (!lb_json_string(j, &name))
		return false;
	snprintf(entry->type, sizeof entry->type, "%s", name);
	entry->unknown = !lb_safetensors_dtype(name, &entry->array.dtype);
	free(name);
	return true;
}

static bool read_field(struct lb_json *j, const char *key, struct lb_entry *entry, struct description *d)
{
	bool *seen = strcmp(key, "dtype") == 0          ? &d->has_dtype
		     : strcmp(key, "shape") == 0        ? &d->has_shape
		     : strcmp(key, "data_offsets") == 0 ? &d->has_offsets
							: NULL;
	if (!seen)
		return lb_json_skip(j);
	if (*seen)
		return lb_json_wrong(j, "a field twice");
	*seen = true;
	return seen == &d->has_dtype   ? read_dtype(j, entry)
	       : seen == &d->has_shape ? read_shape(j, &entry->array)
				       : read_offsets(j, d);
}

/* Says where the tensor lies, when that fits the data and its shape. */
static bool place_entry(const char *path, struct lb_entry *entry, const struct description *d, uint64_t data_at,
			uint64_t data_size)
{
	char what[320];
	struct lb_array *array = &entry->array;
	snprintf(what, sizeof what, "%.200s: tensor '%.64s'", path, entry->name);
	if (!d->has_dtype || !d->has_shape || !d->has_offsets)
		return lb_fail("%s: its %s is missing", what,
			       !d->has_dtype   ? "dtype"
			       : !d->has_shape ? "shape"
					       : "data_offsets");
	if (d->begin > d->end || (uint64_t)d->end > data_size)
		return lb_fail("%s: data_offsets [%lld, %lld]: there %s %llu byte%s of data: the file is truncated "
			       "or damaged",
			       what, (long long)d->begin, (long long)d->end, LB_PLURAL(data_size, "is", "are"),
			       (unsigned long long)data_size, LB_S(data_size));
	uint64_t nbytes = (uint64_t)(d->end - d->begin);
	array->at = data_at + (uint64_t)d->begin;
	if (entry->unknown) { /* its bytes can be had */
		array->dtype = LB_U8;
		array->rank = 1;
		array->shape[0] = (int64_t)nbytes;
	}
	if (!lb_array_measure(array, what))
		return false;
	if (array->nbytes != nbytes)
		return lb_fail("%s: data_offsets [%lld, %lld]: its shape takes %llu byte%s of %s", what,
			       (long long)d->begin, (long long)d->end, (unsigned long long)array->nbytes,
			       LB_S(array->nbytes), entry->type);
	return true;
}

static bool read_tensor(struct lb_file *file, struct lb_json *j, struct lb_entry *entry, uint64_t data_at)
{
	struct description d = { 0 };
	if (!lb_json_open(j, '{'))
		return false;
	for (int64_t n = 0;; n++) {
		lb_auto_free char *key = NULL;
		if (!lb_json_next(j, n, &key))
			return false;
		if (!key)
			break;
		if (!read_field(j, key, entry, &d))
			return false;
	}
	return place_entry(file->mapping->path, entry, &d, data_at, file->mapping->size - data_at);
}

/* MLX writes null where there is none. */
static bool read_metadata(struct lb_file *file, struct lb_json *j)
{
	if (lb_json_null(j))
		return true;
	if (!lb_json_open(j, '{'))
		return false;
	for (int64_t n = 0;; n++) {
		char *key;
		if (!lb_json_next(j, n, &key))
			return false;
		if (!key)
			return true;
		struct lb_metadata *metadata = lb_file_add_metadata(file, key);
		if (!metadata || !lb_json_string(j, &metadata->text))
			return false;
	}
}

static bool read_header(struct lb_file *file, struct lb_json *j, uint64_t data_at)
{
	bool had_metadata = false;
	if (!lb_json_open(j, '{'))
		return false;
	for (int64_t n = 0;; n++) {
		char *key;
		if (!lb_json_next(j, n, &key))
			return false;
		if (!key)
			return lb_json_end(j);
		if (strcmp(key, "__metadata__") == 0) {
			free(key);
			if (had_metadata)
				return lb_json_wrong(j, "__metadata__ twice");
			had_metadata = true;
			if (!read_metadata(file, j))
				return false;
			continue;
		}
		struct lb_entry *entry = lb_file_add(file, key);
		if (!entry || !read_tensor(file, j, entry, data_at))
			return false;
	}
}

/* Without overlaps, as many bytes as there are leave no gap. */
static bool check_cover(const struct lb_file *file, uint64_t data_at)
{
	if (!lb_file_check_overlap(file))
		return false;
	uint64_t covered = 0, there = file->mapping->size - data_at;
	for (int64_t i = 0; i < file->n; i++)
		covered += file->entries[i].array.nbytes;
	return covered == there ||
	       lb_fail("%s: data_offsets: %llu byte%s of data, of which the tensors take %llu: the file is "
		       "damaged",
		       file->mapping->path, (unsigned long long)there, LB_S(there), (unsigned long long)covered);
}

static bool open_safetensors(struct lb_file *file)
{
	struct lb_cursor c = lb_mapping_cursor(file->mapping);
	struct lb_json j = { .field = "header" };
	uint64_t length;
	if (!lb_cursor_u64(&c, "header length", &length))
		return false;
	if (length > LB_SAFETENSORS_HEADER_MAX)
		return lb_fail("%s: header length: %llu bytes are more than the %d that safetensors allows", c.path,
			       (unsigned long long)length, LB_SAFETENSORS_HEADER_MAX);
	return lb_cursor_part(&c, "header", c.at, length, &j.cursor) && read_header(file, &j, c.at + length) &&
	       check_cover(file, c.at + length);
}

static bool recognise(const struct lb_mapping *mapping)
{
	/* no magic: a length, then an object */
	return mapping->size > 8 && mapping->data[8] == '{';
}

const struct lb_format lb_format_safetensors = {
	.name = "safetensors",
	.recognise = recognise,
	.open = open_safetensors,
	.get = lb_file_get_in_place,
};
