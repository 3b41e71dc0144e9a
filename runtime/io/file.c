#include "io/file.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

/* A row a format: the first that knows the file by its beginning reads it, so what has no magic comes last. */
static const struct lb_format *const formats[] = {
	&lb_format_npy,
	&lb_format_npz,
	&lb_format_gguf,
	&lb_format_safetensors,
};

static bool open_format(struct lb_file *file)
{
	const struct lb_mapping *mapping = file->mapping;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (formats[i]->recognise(mapping)) {
			file->format = formats[i];
			return formats[i]->open(file);
		}
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
	if (!open_format(file) || !lb_file_index_names(file)) {
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
	free(file->shape);
	lb_mapping_drop(file->mapping);
	free(file);
}

/* ---- what is in it ---- */

const char *lb_file_format(const lb_file *file)
{
	return LB_GIVEN_HERE("file_format", file) ? file->format->name : NULL;
}

int64_t lb_file_count(const lb_file *file)
{
	return LB_GIVEN_HERE("file_count", file) ? file->n : 0;
}

static const struct lb_entry *entry_at(const struct lb_file *file, int64_t i)
{
	if (i >= 0 && i < file->n)
		return &file->entries[i];
	lb_fail("%s: no tensor number %lld, there are %lld", file->mapping->path, (long long)i, (long long)file->n);
	return NULL;
}

const char *lb_file_name(const lb_file *file, int64_t i)
{
	LB_ENTER();
	(void)site;
	const struct lb_entry *entry = LB_GIVEN("file_name", file) ? entry_at(file, i) : NULL;
	return entry ? entry->name : NULL;
}

static struct lb_tensor *get_entry(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site)
{
	return entry ? file->format->get(file, entry, raw, site) : NULL;
}

lb_tensor *lb_file_get(lb_file *file, const char *name)
{
	LB_ENTER();
	if (!LB_GIVEN("file_get", file) || !LB_GIVEN("file_get", name))
		return NULL;
	return get_entry(file, lb_file_find(file, name), false, site);
}

lb_tensor *lb_file_get_at(lb_file *file, int64_t i)
{
	LB_ENTER();
	return LB_GIVEN("file_get_at", file) ? get_entry(file, entry_at(file, i), false, site) : NULL;
}

lb_tensor *lb_file_get_raw(lb_file *file, const char *name)
{
	LB_ENTER();
	if (!LB_GIVEN("file_get_raw", file) || !LB_GIVEN("file_get_raw", name))
		return NULL;
	return get_entry(file, lb_file_find(file, name), true, site);
}

lb_tensor *lb_load_npy(const char *path)
{
	LB_ENTER();
	if (!LB_GIVEN("load_npy", path))
		return NULL;
	struct lb_file *file = open_mapping(lb_mapping_open(path));
	struct lb_tensor *t = NULL;
	if (file && file->format != &lb_format_npy)
		lb_fail("%s: not .npy but %s: lb_open() reads it", path, file->format->name);
	else if (file)
		t = get_entry(file, &file->entries[0], false, site);
	lb_file_close(file);
	return t;
}
