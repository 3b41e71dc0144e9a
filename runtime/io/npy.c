#include "io/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

bool lb_npy_header(struct lb_cursor *c, const char *what, struct lb_array *ret)
{
	return lb_npy_header_of_any(c, what, ret, NULL);
}

bool lb_npy_header_of_any(struct lb_cursor *c, const char *what, struct lb_array *ret, struct lb_npy_shape *shape)
{
	char name[256];
	if (!lb_npy_parse(c, what, ret, shape))
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
	struct lb_npy_shape shape;
	const uint8_t *data;
	if (!lb_npy_header_of_any(&c, "array", &entry->array, &shape))
		return false;
	if (shape.rank && !(file->shape = malloc(sizeof *file->shape)))
		return lb_fail("%s: out of memory", c.path);
	if (shape.rank)
		*file->shape = shape;
	return lb_cursor_take(&c, "elements", entry->array.nbytes, &data);
}

/* What has more axes than a tensor may be looked at, but is none. */
static struct lb_tensor *get_npy(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site)
{
	if (file->shape && !raw) {
		lb_fail("%s: array: shape: more than %d axes", file->mapping->path, LB_MAX_RANK);
		return NULL;
	}
	return lb_file_get_in_place(file, entry, raw, site);
}

static bool recognise(const struct lb_mapping *mapping)
{
	return lb_begins_with(mapping, "\x93NUMPY", 6);
}

const struct lb_format lb_format_npy = {
	.name = "npy",
	.recognise = recognise,
	.open = open_npy,
	.get = get_npy,
};
