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

bool lb_npy_open(struct lb_file *file)
{
	struct lb_cursor c = lb_mapping_cursor(file->mapping);
	char *name = stem(c.path);
	struct lb_entry *entry = name ? lb_file_add(file, name) : NULL;
	if (!entry)
		return lb_fail("%s: out of memory", c.path);
	const uint8_t *data;
	return lb_npy_header(&c, "array", &entry->array) &&
		lb_cursor_take(&c, "elements", entry->array.nbytes, &data);
}

bool lb_npy_write_header(const struct lb_tensor *x, char to[LB_NPY_WRITTEN], size_t *ret)
{
	enum { START = 10 };
	char kind;
	int width;
	if (!lb_npy_type(x->dtype, &kind, &width))
		return lb_fail("save: .npy has no %s; lb_astype() it to float32, or save as safetensors",
			       lb_dtypes[x->dtype].name);
	size_t n = START;
	n += (size_t)snprintf(to + n, LB_NPY_WRITTEN - n,
			      "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
			      width == 1 ? '|' : '<', kind, width);
	for (int i = 0; i < x->rank; i++)
		n += (size_t)snprintf(to + n, LB_NPY_WRITTEN - n, i ? " %lld," : "%lld,",
				      (long long)x->shape[i]);
	n -= x->rank > 1; /* (3,) but (3, 4) */
	n += (size_t)snprintf(to + n, LB_NPY_WRITTEN - n, "), }");
	while ((n + 1) % 64)
		to[n++] = ' ';
	to[n++] = '\n';
	memcpy(to, "\x93NUMPY\1\0", 8);
	to[8] = (char)((n - START) & 0xff);
	to[9] = (char)((n - START) >> 8);
	*ret = n;
	return true;
}
