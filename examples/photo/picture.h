/* A picture in memory, to and from PNG files: 8 bits each of red, green and blue, row
 * after row. Nothing here knows of tensors.
 *
 * Both functions return false on failure, with one line about it in `error`. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PICTURE_SIDE_MAX = 16384,
	PICTURE_ERROR_MAX = 256,
};

struct picture {
	int64_t width, height;
	uint8_t *rgb; /* height * width * 3 bytes from malloc() */
};

/* Any PNG: palettes, grey, 1 to 16 bits; alpha is dropped. The file is not trusted. */
bool picture_load(const char *path, struct picture *ret, char error[PICTURE_ERROR_MAX]);
bool picture_save(const char *path, int64_t width, int64_t height, const uint8_t *rgb,
		  char error[PICTURE_ERROR_MAX]);

#endif
