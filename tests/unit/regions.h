/* Memory made by hand, as a target: a few regions at fixed addresses, in which a program is laid out. */
#ifndef TESTS_REGIONS_H
#define TESTS_REGIONS_H

#include "target/target.h"

enum { REGIONS_MAX = 8 };

struct regions {
	struct lbx_target target; /* first */
	struct region {
		uint64_t address, size, constant; /* so many bytes in front the program may not write */
		unsigned char *bytes;
	} list[REGIONS_MAX];
	int n;
	bool maps; /* the target's map() works */
	int64_t reads;
	uint64_t headers, n_headers; /* of the program */
	unsigned machine; /* an EM_… */
};

/* Without any memory yet. */
void regions_create(struct regions *regions, uint64_t headers, uint64_t n_headers);
void regions_destroy(struct regions *regions);
/* Bytes that are 0. */
void regions_add(struct regions *regions, uint64_t address, uint64_t size, uint64_t constant);
/* Bytes at an address, to change; NULL where there are none. */
void *regions_at(struct regions *regions, uint64_t address, uint64_t n);
/* These abort where there is no memory. */
void regions_copy(struct regions *regions, uint64_t address, const void *from, size_t n);
void regions_put(struct regions *regions, uint64_t address, uint64_t value, size_t width);
uint64_t regions_get(struct regions *regions, uint64_t address, size_t width);
/* The text at *at, which becomes the address behind it; returns where it was. */
uint64_t regions_text(struct regions *regions, uint64_t *at, const char *text);

#endif
