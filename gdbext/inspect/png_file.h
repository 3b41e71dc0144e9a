#ifndef LBX_PNG_FILE_H
#define LBX_PNG_FILE_H

#include "inspect/raster.h"

/* Writes a picture, its values from low to high. Fails where libpng was not there at build time. */
bool lbx_png_write(const struct lbx_raster *raster, double low, double high, const char *path);

#endif
