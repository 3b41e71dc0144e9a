#define _GNU_SOURCE /* qsort_r */
#include "io/file.h"

#include <stdlib.h>
#include <string.h>

/* ---- the directory ---- */

/* Room for one more of `size` bytes. */
static bool grow(const struct lb_file *file, void **list, int64_t n, int64_t *capacity, size_t size)
{
	if (n < *capacity)
		return true;
	int64_t wanted = *capacity ? *capacity * 2 : 16;
	void *grown = realloc(*list, (size_t)wanted * size);
	if (!grown)
		return lb_fail("%s: out of memory for %lld entries", file->mapping->path, (long long)wanted);
	*list = grown;
	*capacity = wanted;
	return true;
}

struct lb_entry *lb_file_add(struct lb_file *file, char *name)
{
	if (!grow(file, (void **)&file->entries, file->n, &file->capacity, sizeof *file->entries)) {
		free(name);
		return NULL;
	}
	struct lb_entry *entry = &file->entries[file->n++];
	*entry = (struct lb_entry){ .name = name };
	return entry;
}

struct lb_metadata *lb_file_add_metadata(struct lb_file *file, char *key)
{
	if (!grow(file, (void **)&file->metadata, file->n_metadata, &file->metadata_capacity,
		  sizeof *file->metadata)) {
		free(key);
		return NULL;
	}
	struct lb_metadata *metadata = &file->metadata[file->n_metadata++];
	*metadata = (struct lb_metadata){ .key = key, .type = LB_VALUE_STRING };
	return metadata;
}

static int compare_names(const void *a, const void *b, void *entries)
{
	const struct lb_entry *list = entries;
	return strcmp(list[*(const int64_t *)a].name, list[*(const int64_t *)b].name);
}

static int compare_places(const void *a, const void *b, void *entries)
{
	const struct lb_array *x = &((struct lb_entry *)entries)[*(const int64_t *)a].array;
	const struct lb_array *y = &((struct lb_entry *)entries)[*(const int64_t *)b].array;
	return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
		: (x->nbytes > y->nbytes) - (x->nbytes < y->nbytes);
}

/* Indices of the entries in an order; the caller frees them. */
static int64_t *sorted(const struct lb_file *file, int (*compare)(const void *, const void *, void *))
{
	int64_t *order = malloc((size_t)(file->n + 1) * sizeof *order);
	if (!order) {
		lb_fail("%s: out of memory for %lld names", file->mapping->path, (long long)file->n);
		return NULL;
	}
	for (int64_t i = 0; i < file->n; i++)
		order[i] = i;
	if (file->n)
		qsort_r(order, (size_t)file->n, sizeof *order, compare, file->entries);
	return order;
}

static bool index_names(struct lb_file *file)
{
	file->by_name = sorted(file, compare_names);
	for (int64_t i = 1; file->by_name && i < file->n; i++) {
		const char *name = file->entries[file->by_name[i]].name;
		if (strcmp(file->entries[file->by_name[i - 1]].name, name) == 0)
			return lb_fail("%s: two tensors are named '%.64s'", file->mapping->path, name);
	}
	return file->by_name != NULL;
}

bool lb_file_check_overlap(const struct lb_file *file)
{
	int64_t *order = sorted(file, compare_places);
	if (!order)
		return false;
	bool ok = true;
	for (int64_t i = 1; i < file->n && ok; i++) {
		const struct lb_entry *a = &file->entries[order[i - 1]], *b = &file->entries[order[i]];
		if (b->array.nbytes && a->array.at + a->array.nbytes > b->array.at)
			ok = lb_fail("%s: tensors '%.64s' and '%.64s' overlap at %llu: the file is damaged",
				     file->mapping->path, a->name, b->name,
				     (unsigned long long)b->array.at);
	}
	free(order);
	return ok;
}

const struct lb_entry *lb_file_find(const struct lb_file *file, const char *name)
{
	int64_t from = 0, to = file->n;
	while (from < to) {
		int64_t middle = from + (to - from) / 2;
		const struct lb_entry *entry = &file->entries[file->by_name[middle]];
		int order = strcmp(name, entry->name);
		if (order == 0)
			return entry;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	lb_fail("%s: no tensor '%.64s' among %lld; lb_file_name() lists them", file->mapping->path, name,
		(long long)file->n);
	return NULL;
}

/* ---- opening ---- */

static bool open_format(struct lb_file *file)
{
	static const struct {
		const char *format, *magic;
		size_t length;
		bool (*open)(struct lb_file *);
	} formats[] = {
		{ "npy", "\x93NUMPY", 6, lb_npy_open },
		{ "npz", "PK\3\4", 4, lb_npz_open },
		{ "npz", "PK\5\6", 4, lb_npz_open }, /* without members */
		{ "gguf", "GGUF", 4, lb_gguf_open },
	};
	const struct lb_mapping *mapping = file->mapping;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (mapping->size >= formats[i].length &&
		    memcmp(mapping->data, formats[i].magic, formats[i].length) == 0) {
			file->format = formats[i].format;
			return formats[i].open(file);
		}
	}
	/* the only one without a magic: a length, then an object */
	if (mapping->size > 8 && mapping->data[8] == '{') {
		file->format = "safetensors";
		return lb_safetensors_open(file);
	}
	return lb_fail("%s: %s: neither .npy nor .npz nor safetensors nor GGUF", mapping->path,
		       mapping->size < 9 ? "too short" : "unknown format");
}

/* Takes over the reference to the mapping. */
static struct lb_file *open_mapping(struct lb_mapping *mapping)
{
	if (!mapping)
		return NULL;
	struct lb_file *file = calloc(1, sizeof *file);
	if (!file) {
		lb_fail("open: out of memory");
		lb_mapping_drop(mapping);
		return NULL;
	}
	file->mapping = mapping;
	if (!open_format(file) || !index_names(file)) {
		lb_file_close(file);
		return NULL;
	}
	return file;
}

lb_file *lb_open(const char *path)
{
	LB_ENTER();
	(void)site;
	return LB_GIVEN("open", path) ? open_mapping(lb_mapping_open(path)) : NULL;
}

lb_file *lb_open_bytes(const void *bytes, size_t nbytes, const char *name)
{
	LB_ENTER();
	(void)site;
	if ((nbytes && !LB_GIVEN("open_bytes", bytes)) || !LB_GIVEN("open_bytes", name))
		return NULL;
	return open_mapping(lb_mapping_copy(name, bytes, nbytes));
}

void lb_file_close(lb_file *file)
{
	if (!file)
		return;
	for (int64_t i = 0; i < file->n; i++)
		free(file->entries[i].name);
	for (int64_t i = 0; i < file->n_metadata; i++) {
		free(file->metadata[i].key);
		free(file->metadata[i].text);
	}
	free(file->entries);
	free(file->metadata);
	free(file->by_name);
	lb_mapping_drop(file->mapping);
	free(file);
}

/* ---- what is in it ---- */

const char *lb_file_format(const lb_file *file)
{
	return LB_GIVEN_HERE("file_format", file) ? file->format : NULL;
}

int64_t lb_file_count(const lb_file *file)
{
	return LB_GIVEN_HERE("file_count", file) ? file->n : 0;
}

static const struct lb_entry *entry_at(const struct lb_file *file, int64_t i)
{
	if (i >= 0 && i < file->n)
		return &file->entries[i];
	lb_fail("%s: no tensor number %lld, there are %lld", file->mapping->path, (long long)i,
		(long long)file->n);
	return NULL;
}

const char *lb_file_name(const lb_file *file, int64_t i)
{
	LB_ENTER();
	(void)site;
	const struct lb_entry *entry = LB_GIVEN("file_name", file) ? entry_at(file, i) : NULL;
	return entry ? entry->name : NULL;
}

static struct lb_tensor *get(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site)
{
	if (!entry)
		return NULL;
	if (strcmp(file->format, "npz") == 0)
		return lb_npz_get(file, entry, raw, site);
	if (entry->unknown && !raw) {
		lb_fail("%s: tensor '%.64s' is of type %s, which has no dtype here; lb_file_get_raw() gives "
			"its bytes", file->mapping->path, entry->name, entry->type);
		return NULL;
	}
	return lb_array_in_file(&entry->array, file->mapping, raw, entry->name, site);
}

lb_tensor *lb_file_get(lb_file *file, const char *name)
{
	LB_ENTER();
	if (!LB_GIVEN("file_get", file) || !LB_GIVEN("file_get", name))
		return NULL;
	return get(file, lb_file_find(file, name), false, site);
}

lb_tensor *lb_file_get_at(lb_file *file, int64_t i)
{
	LB_ENTER();
	return LB_GIVEN("file_get_at", file) ? get(file, entry_at(file, i), false, site) : NULL;
}

lb_tensor *lb_file_get_raw(lb_file *file, const char *name)
{
	LB_ENTER();
	if (!LB_GIVEN("file_get_raw", file) || !LB_GIVEN("file_get_raw", name))
		return NULL;
	return get(file, lb_file_find(file, name), true, site);
}

lb_tensor *lb_load_npy(const char *path)
{
	LB_ENTER();
	if (!LB_GIVEN("load_npy", path))
		return NULL;
	struct lb_file *file = open_mapping(lb_mapping_open(path));
	struct lb_tensor *t = NULL;
	if (file && strcmp(file->format, "npy") != 0)
		lb_fail("%s: not .npy but %s: lb_open() reads it", path, file->format);
	else if (file)
		t = get(file, &file->entries[0], false, site);
	lb_file_close(file);
	return t;
}
