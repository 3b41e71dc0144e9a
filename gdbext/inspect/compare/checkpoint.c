#include "inspect/compare/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vector.h"

enum { PATH = 4096 };

static bool add_file(struct lbx_context *context, const char *path, struct lbx_checkpoint *c)
{
	if (!lb_reserve(c->files, c->room_files, c->n_files + 1))
		return lb_fail("out of memory for %zu files", c->n_files + 1);
	if (!lbx_array_list_open(context, path, &c->files[c->n_files]))
		return false;
	c->n += c->files[c->n_files++].n;
	return true;
}

static int holds_arrays(const struct dirent *entry)
{
	return lbx_is_array_path(entry->d_name);
}

static bool add_folder(struct lbx_context *context, const char *folder, struct lbx_checkpoint *c)
{
	struct dirent **list = NULL;
	int n = scandir(folder, &list, holds_arrays, alphasort);
	bool done = n > 0 || (n < 0 ? lb_fail("%s: %s", folder, strerror(errno))
				    : lb_fail("%s has no files *.safetensors, *.gguf, *.npz or *.npy", folder));
	char path[PATH];

	for (int i = 0; i < n; i++) {
		int length = snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
		done = done && (length < PATH || lb_fail("a path that is too long")) && add_file(context, path, c);
		free(list[i]);
	}
	free(list);
	return done;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool lbx_holds_arrays(const char *path)
{
	return is_folder(path) ? strchr(path, '/') != NULL : lbx_is_array_path(path) && access(path, F_OK) == 0;
}

static int by_name(const void *a, const void *b)
{
	const struct lbx_saved *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool index_names(struct lbx_checkpoint *c)
{
	size_t n = 0;

	c->list = calloc(c->n + 1, sizeof *c->list);
	if (!c->list)
		return lb_fail("out of memory for %zu arrays", c->n);
	for (size_t f = 0; f < c->n_files; f++)
		for (size_t i = 0; i < c->files[f].n; i++)
			c->list[n++] = (struct lbx_saved){ lbx_array_list_name(&c->files[f], i), f, i };
	qsort(c->list, n, sizeof *c->list, by_name);
	for (size_t i = 1; i < n; i++)
		if (strcmp(c->list[i - 1].name, c->list[i].name) == 0)
			return lb_fail("both %s and %s have an array '%s': name the files of one checkpoint alone",
				       c->files[c->list[i - 1].file].path, c->files[c->list[i].file].path,
				       c->list[i].name);
	return true;
}

bool lbx_checkpoint_open(struct lbx_context *context, const char *const *paths, int n, struct lbx_checkpoint *ret)
{
	bool done = true;

	*ret = (struct lbx_checkpoint){ .n = 0 };
	for (int i = 0; i < n && done; i++)
		done = is_folder(paths[i]) ? add_folder(context, paths[i], ret) : add_file(context, paths[i], ret);
	done = done && index_names(ret);
	if (!done)
		lbx_checkpoint_close(ret);
	return done;
}

void lbx_checkpoint_close(struct lbx_checkpoint *c)
{
	for (size_t i = 0; i < c->n_files; i++)
		lbx_array_list_close(&c->files[i]);
	free(c->files);
	free(c->list);
	*c = (struct lbx_checkpoint){ .n = 0 };
}

const struct lbx_saved *lbx_checkpoint_find(const struct lbx_checkpoint *c, const char *name)
{
	struct lbx_saved key = { .name = name };

	return c->n ? bsearch(&key, c->list, c->n, sizeof *c->list, by_name) : NULL;
}
