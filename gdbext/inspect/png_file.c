#include "inspect/png_file.h"

#include "base/error.h"

#if LB_HAVE_PNG
#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

bool lbx_png_write(const struct lbx_raster *raster, double low, double high, const char *path)
{
	size_t pixels = (size_t)raster->width * (size_t)raster->height;
	unsigned char *bytes = malloc(pixels * 4);
	png_image image = { .version = PNG_IMAGE_VERSION, .width = (png_uint_32)raster->width,
			    .height = (png_uint_32)raster->height, .format = PNG_FORMAT_RGBA };

	if (!bytes)
		return lb_fail("out of memory for a picture of %d x %d", raster->width, raster->height);
	for (size_t i = 0; i < pixels; i++)
		lbx_raster_colour(raster, (int)(i % (size_t)raster->width),
				  (int)(i / (size_t)raster->width), low, high, bytes + 4 * i);
	errno = 0;
	bool ok = png_image_write_to_file(&image, path, 0, bytes, 0, NULL);
	if (!ok)
		lb_fail("cannot write %s: %s", path, errno ? strerror(errno) : image.message);
	free(bytes);
	return ok;
}

#else

bool lbx_png_write(const struct lbx_raster *raster, double low, double high, const char *path)
{
	(void)raster;
	(void)low;
	(void)high;
	return lb_fail("cannot write %s: built without libpng (libpng-dev)", path);
}

#endif
