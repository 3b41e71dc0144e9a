/* The arrays of a checkpoint, by name: of one file, of several, or of a folder of them. */
#ifndef LBX_CHECKPOINT_H
#define LBX_CHECKPOINT_H

#include "inspect/operand/array_file.h"

struct lbx_saved {
	const char *name;
	size_t file, i; /* which array of which file it is */
};

struct lbx_checkpoint {
	size_t n_files, room_files;
	struct lbx_array_list *files;
	size_t n;
	struct lbx_saved *list; /* by name */
};

/* Whether there is such a file, or a folder, which has a / in its path: a name without one may be a tensor's. */
bool lbx_holds_arrays(const char *path);
/* A path may be that of a folder: then of all files there that are called *.safetensors, *.gguf, *.npz or *.npy. Fails
 * where two arrays have one name. */
bool lbx_checkpoint_open(struct lbx_context *context, const char *const *paths, int n, struct lbx_checkpoint *ret);
void lbx_checkpoint_close(struct lbx_checkpoint *checkpoint);
/* NULL, without an error: there is none. */
const struct lbx_saved *lbx_checkpoint_find(const struct lbx_checkpoint *checkpoint, const char *name);

#endif
