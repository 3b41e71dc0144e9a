/* An array of a file: .npy, .npz, safetensors or GGUF. Files are read by the replay's process, so
 * that a damaged one, or one that unpacks to more than there is memory, harms nobody here; what lies
 * in the file as it is gets mapped, and is used in place; or copied, in a debugger, which must outlive a
 * file that becomes shorter. */
#ifndef LBX_ARRAY_FILE_H
#define LBX_ARRAY_FILE_H

#include "inspect/command.h"
#include "inspect/tensor/array.h"

struct lb_mapping;
struct lbx_wire_entry; /* replay/wire.h */

struct lbx_array_file {
	struct lbx_array array; /* valid until lbx_array_file_close() */
	char name[512];         /* in the file */
	bool is_only;           /* the file holds no other */
	int64_t group;          /* elements that were quantised together; 0: none were */
	struct lb_mapping *mapping;
	void *map;
	size_t map_bytes;
};

/* Whether it is called as such files are. */
bool lbx_is_array_path(const char *path);
/* `name` may be "": then the only array of the file, or the one named `like`. */
bool lbx_array_file_open(struct lbx_context *context, const char *path, const char *name, const char *like,
			 struct lbx_array_file *ret);
void lbx_array_file_close(struct lbx_array_file *file);

/* What arrays a file has, in its order. */
struct lbx_array_list {
	struct lbx_context *context;
	char *path;
	size_t n;
	const struct lbx_wire_entry *entries;
	char *map;
	size_t map_bytes;
};

bool lbx_array_list_open(struct lbx_context *context, const char *path, struct lbx_array_list *ret);
void lbx_array_list_close(struct lbx_array_list *list);
/* Printable. Valid until the list is closed. */
const char *lbx_array_list_name(const struct lbx_array_list *list, size_t i);
/* What it says of an array without reading it: *ret is an array whose elements must not be read. False, without an error,
 * where that is not known. */
bool lbx_array_list_describe(const struct lbx_array_list *list, size_t i, struct lbx_array *ret);
/* *ret is to be closed. */
bool lbx_array_list_get(const struct lbx_array_list *list, size_t i, struct lbx_array_file *ret);

#endif
