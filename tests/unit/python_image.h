/* Python in a program whose memory is made by hand: an interpreter with a thread, its types, and objects of them. */
#ifndef TESTS_PYTHON_IMAGE_H
#define TESTS_PYTHON_IMAGE_H

#include "python/layout.h"
#include "regions.h"

enum {
	PYTHON_HEAP = 0x20000000, /* types, objects, frames */
	PYTHON_HEAP_SIZE = 0x8000,
	/* what libpython exports, so far behind where it begins */
	PYTHON_RUNTIME = 0,
	PYTHON_VERSION = 0x1c0,
	PYTHON_TYPE_TYPE = 0x1d0,
	PYTHON_STATICS = 0x300
};

struct python_class {
	uint64_t type;
	int n; /* attributes that its instances share */
};

struct python_image {
	struct regions *regions;
	struct lbx_py_layout layout;
	uint64_t statics, heap; /* heap: where the next will be */
	uint64_t interpreter, thread, frame; /* frame: the innermost */
	uint64_t str, integer, list, tuple, dict, module, bytes, code, cell;
};

/* Of 3.11 or 3.13; `statics` is memory of the program. Adds a region for the heap. */
void python_image_create(struct python_image *image, struct regions *regions, uint64_t statics, unsigned minor);
/* Its flags are Py_TPFLAGS_…, its instances have so many bytes. */
uint64_t python_image_type(struct python_image *image, const char *name, uint64_t flags, uint64_t bytes);
uint64_t python_image_object(struct python_image *image, uint64_t type, uint64_t bytes);
uint64_t python_image_str(struct python_image *image, const char *text);
uint64_t python_image_int(struct python_image *image, uint32_t value);
uint64_t python_image_tuple(struct python_image *image, const uint64_t *items, int n);
uint64_t python_image_list(struct python_image *image, const uint64_t *items, int n);
uint64_t python_image_dict(struct python_image *image, const uint64_t *keys, const uint64_t *values, int n);
/* Of at most 8 strs. */
uint64_t python_image_dict_of(struct python_image *image, const char *const *names, const uint64_t *values, int n);
uint64_t python_image_cell(struct python_image *image, uint64_t value);
/* A class made in Python; its instances have values of these names, or as many of them. */
struct python_class python_image_class(struct python_image *image, const char *name, const char *const *names, int n);
uint64_t python_image_instance(struct python_image *image, const struct python_class *class, const uint64_t *values);
/* What import knows: modules by their names, each with the dict of its variables. */
void python_image_import(struct python_image *image, const char *const *names, const uint64_t *dicts, int n);
/* A call, of the function in which the thread is until now: its variables are local ones, the last in a cell. */
void python_image_call(struct python_image *image, const char *function, uint64_t globals, const char *const *names,
		       const uint64_t *values, int n);
/* An exception on its way through the thread. */
void python_image_raise(struct python_image *image, const char *name, const char *message);

#endif
