#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "io/file.h"

struct lb_entry *lb_file_add(struct lb_file *file, char *name)
{
	if (!lb_reserve(file->entries, file->capacity, file->n + 1)) {
		lb_fail("%s: out of memory for %lld entries", file->mapping->path, (long long)file->n);
		free(name);
		return NULL;
	}
	struct lb_entry *entry = &file->entries[file->n++];
	*entry = (struct lb_entry){ .name = name };
	return entry;
}

struct lb_metadata *lb_file_add_metadata(struct lb_file *file, char *key)
{
	if (!lb_reserve(file->metadata, file->metadata_capacity, file->n_metadata + 1)) {
		lb_fail("%s: out of memory for %lld entries", file->mapping->path, (long long)file->n_metadata);
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
	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->nbytes > y->nbytes) - (x->nbytes < y->nbytes);
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

bool lb_file_index_names(struct lb_file *file)
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
	lb_auto_free int64_t *order = sorted(file, compare_places);
	if (!order)
		return false;
	bool ok = true;
	for (int64_t i = 1; i < file->n && ok; i++) {
		const struct lb_entry *a = &file->entries[order[i - 1]], *b = &file->entries[order[i]];
		if (b->array.nbytes && a->array.at + a->array.nbytes > b->array.at)
			ok = lb_fail("%s: tensors '%.64s' and '%.64s' overlap at %llu: the file is damaged",
				     file->mapping->path, a->name, b->name, (unsigned long long)b->array.at);
	}
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

struct lb_tensor *lb_file_get_in_place(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site)
{
	if (entry->unknown && !raw) {
		lb_fail("%s: tensor '%.64s' is of type %s, which has no dtype here; lb_file_get_raw() gives "
			"its bytes",
			file->mapping->path, entry->name, entry->type);
		return NULL;
	}
	return lb_array_in_file(&entry->array, file->mapping, raw, entry->name, site);
}
