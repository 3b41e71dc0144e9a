#include "record/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "record/skips.h"

/* How their names begin. */
static const char *const inner[] = {
	"liblazybones.", "libggml",  "libtorch",   "libc10",  "libmlx", "libopenblas", "libblas", "liblapack",
	"libfftw3",      "libgomp.", "libomp.",    "libc.so", "libc-",  "libm.so",     "libm-",   "libmvec",
	"libstdc++.",    "libgcc_s", "libpthread", "libdl.",  "librt.", "ld-linux",    "ld-2",    "libunwind",
};

static bool is_inner(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		if (strncmp(name, inner[i], strlen(inner[i])) == 0)
			return true;
	return false;
}

void lbx_libraries_add(struct lbx_libraries *libraries, const char *path, uint64_t from, uint64_t to)
{
	if (from < to && lb_reserve(libraries->list, libraries->room, libraries->n + 1))
		libraries->list[libraries->n++] = (struct lbx_library_code){ from, to, is_inner(path) };
}

void lbx_libraries_add_shown(struct lbx_libraries *libraries, const char *lines)
{
	char path[4096];

	for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char *rest;
		uint64_t from = strtoull(line, &rest, 16), to = strtoull(rest, NULL, 16);
		size_t n = strcspn(line, "\n"), blanks = strcspn(line, "/");
		if (strncmp(line, "0x", 2) != 0 || blanks >= n)
			continue;
		snprintf(path, sizeof path, "%.*s", (int)(n - blanks), line + blanks);
		lbx_libraries_add(libraries, path, from, to);
	}
}

void lbx_libraries_remove(struct lbx_libraries *libraries, uint64_t from)
{
	for (size_t i = libraries->n; i-- > 0;)
		if (libraries->list[i].from == from)
			libraries->list[i] = libraries->list[--libraries->n];
}

void lbx_libraries_clear(struct lbx_libraries *libraries)
{
	free(libraries->list);
	*libraries = (struct lbx_libraries){ 0 };
}

static const struct lbx_library_code *find(const struct lbx_libraries *libraries, uint64_t address)
{
	for (size_t i = 0; i < libraries->n; i++)
		if (address >= libraries->list[i].from && address < libraries->list[i].to)
			return &libraries->list[i];
	return NULL;
}

bool lbx_is_own_frame(const struct lbx_told_frame *frame, const struct lbx_libraries *libraries, uint64_t ours)
{
	const struct lbx_library_code *library = find(libraries, frame->address), *stop = find(libraries, ours);

	if (!frame->has_source || lbx_is_librarys(frame->function) || (library && library->is_inner))
		return false;
	return !ours || (stop && library != stop);
}
