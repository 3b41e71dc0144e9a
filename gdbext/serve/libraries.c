#include "serve/libraries.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "serve/mi.h"

/* How their names begin. */
static const char *const inner[] = {
	"liblazybones.", "libggml",    "libtorch", "libc10", "libmlx",   "libopenblas", "libblas",   "liblapack",
	"libgomp.",      "libomp.",    "libc.so",  "libc-",  "libm.so",  "libm-",       "libmvec",   "libstdc++.",
	"libgcc_s",      "libpthread", "libdl.",   "librt.", "ld-linux", "ld-2",        "libunwind",
};

static bool is_inner(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		if (strncmp(name, inner[i], strlen(inner[i])) == 0)
			return true;
	return false;
}

void lbx_libraries_add(struct lbx_libraries *libraries, const json_t *loaded)
{
	size_t i;
	json_t *each;

	if (!is_inner(lbx_mi_string(loaded, "target-name")))
		return;
	json_array_foreach(json_object_get(loaded, "ranges"), i, each)
	{
		uint64_t from = strtoull(lbx_mi_string(each, "from"), NULL, 16),
			 to = strtoull(lbx_mi_string(each, "to"), NULL, 16);
		if (from < to && lb_reserve(libraries->ranges, libraries->room, libraries->n + 1))
			libraries->ranges[libraries->n++] = (struct lbx_range){ from, to };
	}
}

void lbx_libraries_remove(struct lbx_libraries *libraries, const json_t *unloaded)
{
	size_t i;
	json_t *each;

	json_array_foreach(json_object_get(unloaded, "ranges"), i, each)
	{
		uint64_t from = strtoull(lbx_mi_string(each, "from"), NULL, 16);
		for (size_t j = libraries->n; j-- > 0;)
			if (libraries->ranges[j].from == from)
				libraries->ranges[j] = libraries->ranges[--libraries->n];
	}
}

bool lbx_libraries_have(const struct lbx_libraries *libraries, uint64_t address)
{
	for (size_t i = 0; i < libraries->n; i++)
		if (address >= libraries->ranges[i].from && address < libraries->ranges[i].to)
			return true;
	return false;
}

void lbx_libraries_clear(struct lbx_libraries *libraries)
{
	free(libraries->ranges);
	*libraries = (struct lbx_libraries){ 0 };
}
