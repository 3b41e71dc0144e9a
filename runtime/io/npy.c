#include "io/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

bool lb_npy_header(struct lb_cursor *c, const char *what, struct lb_array *ret)
{
	char name[256];
	if (!lb_npy_parse(c, what, ret))
		return false;
	snprintf(name, sizeof name, "%.180s: %.64s", c->path, what);
	return lb_array_measure(ret, name);
}

/* "latents" of "/tmp/latents.npy" */
static char *stem(const char *path)
{
	const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
	const char *dot = strrchr(from, '.');
	size_t n = dot && dot > from ? (size_t)(dot - from) : strlen(from);
	return strndup(from, n);
}

static bool open_npy(struct lb_file *file)
{
	struct lb_cursor c = lb_mapping_cursor(file->mapping);
	char *name = stem(c.path);
	struct lb_entry *entry = name ? lb_file_add(file, name) : NULL;
	if (!entry)
		return lb_fail("%s: out of memory", c.path);
	const uint8_t *data;
	return lb_npy_header(&c, "array", &entry->array) && lb_cursor_take(&c, "elements", entry->array.nbytes, &data);
}

static bool recognise(const struct lb_mapping *mapping)
{
	return lb_begins_with(mapping, "\x93NUMPY", 6);
}

const struct lb_format lb_format_npy = {
	.name = "npy",
	.recognise = recognise,
	.open = open_npy,
	.get = lb_file_get_in_place,
};
