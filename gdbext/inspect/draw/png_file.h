#ifndef LBX_PNG_FILE_H
#define LBX_PNG_FILE_H

#include "inspect/draw/raster.h"

#include <stddef.h>

/* The bytes of a PNG file, to be freed; NULL with an error. */
unsigned char *lbx_png_encode(const struct lbx_raster *raster, double low, double high, size_t *ret_n);
/* Writes a picture, its values from low to high. Fails where libpng was not there at build time. */
bool lbx_png_write(const struct lbx_raster *raster, double low, double high, const char *path);

#endif
