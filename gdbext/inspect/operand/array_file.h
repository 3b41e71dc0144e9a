/* An array of a file: .npy, .npz, safetensors or GGUF. Files are read by the replay's process, so
 * that a damaged one, or one that unpacks to more than there is memory, harms nobody here; what lies
 * in the file as it is gets mapped, and is used in place; or copied, in a debugger, which must outlive a
 * file that becomes shorter. */
#ifndef LBX_ARRAY_FILE_H
#define LBX_ARRAY_FILE_H

#include "inspect/command.h"
#include "inspect/tensor/array.h"

struct lb_mapping;

struct lbx_array_file {
	struct lbx_array array; /* valid until lbx_array_file_close() */
	char name[512];         /* in the file */
	bool is_only;           /* the file holds no other */
	int64_t group;          /* elements that were quantised together; 0: none were */
	struct lb_mapping *mapping;
	void *map;
	size_t map_bytes;
};

/* `name` may be "": then the only array of the file, or the one named `like`. */
bool lbx_array_file_open(struct lbx_context *context, const char *path, const char *name, const char *like,
			 struct lbx_array_file *ret);
void lbx_array_file_close(struct lbx_array_file *file);

#endif
