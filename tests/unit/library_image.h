/* A program with one library in C++, made by hand: what its loader lists, what the library exports, and classes. */
#ifndef TESTS_LIBRARY_IMAGE_H
#define TESTS_LIBRARY_IMAGE_H

#include "regions.h"

enum {
	LIBRARY_PROGRAM = 0x400000,
	LIBRARY_PROGRAM_SIZE = 0x400,
	LIBRARY = 0x600000,
	LIBRARY_CODE = LIBRARY + 0x1000,
	LIBRARY_DATA = LIBRARY + 0x2000, /* that may be written: classes, from its beginning on */
	LIBRARY_SIZE = 0x3000
};

struct library_class {
	uint64_t type, vtable; /* addresses of the type_info, and of the functions */
};

struct library_image {
	struct regions *regions;
	uint64_t classes, names; /* where the next will be */
};

/* Makes the regions, with those two, for a library of that path. */
void library_image_create(struct library_image *image, struct regions *regions, const char *path);
/* All that it exports, by their addresses in it: 7 at most. */
void library_image_export(struct library_image *image, const char *const *names, const uint64_t *at, uint32_t n);
/* A class by its mangled name, which may be derived from one that is there; NULL: it is not. Its n functions lie at the
 * addresses. */
struct library_class library_image_class(struct library_image *image, const char *name,
					 const struct library_class *base, int n, const uint64_t *functions);

#endif
