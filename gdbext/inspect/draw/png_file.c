#include "inspect/draw/png_file.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/file.h"

#if LB_HAVE_PNG
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* The pixels, to be freed, and what libpng needs to know of them. */
static unsigned char *paint(const struct lbx_raster *raster, double low, double high, png_image *ret)
{
	size_t pixels = (size_t)raster->width * (size_t)raster->height;
	unsigned char *bytes = malloc(pixels * 4);

	*ret = (png_image){ .version = PNG_IMAGE_VERSION,
			    .width = (png_uint_32)raster->width,
			    .height = (png_uint_32)raster->height,
			    .format = PNG_FORMAT_RGBA };
	for (size_t i = 0; i < pixels && bytes; i++)
		lbx_raster_colour(raster, (int)(i % (size_t)raster->width), (int)(i / (size_t)raster->width), low, high,
				  bytes + 4 * i);
	if (!bytes)
		lb_fail("out of memory for a picture of %d x %d", raster->width, raster->height);
	return bytes;
}

unsigned char *lbx_png_encode(const struct lbx_raster *raster, double low, double high, size_t *ret_n)
{
	png_image image;
	png_alloc_size_t n;
	unsigned char *bytes = paint(raster, low, high, &image), *encoded = NULL;

	if (!bytes)
		return NULL;
	n = PNG_IMAGE_PNG_SIZE_MAX(image);
	encoded = malloc(n);
	if (!encoded || !png_image_write_to_memory(&image, encoded, &n, 0, bytes, 0, NULL)) {
		lb_fail("cannot encode a picture of %d x %d", raster->width, raster->height);
		free(encoded);
		encoded = NULL;
	}
	free(bytes);
	*ret_n = n;
	return encoded;
}

bool lbx_png_write(const struct lbx_raster *raster, double low, double high, const char *path)
{
	size_t n;
	lb_auto_free unsigned char *bytes = lbx_png_encode(raster, low, high, &n);
	struct lbx_file file;
	bool ok = bytes && lbx_file_begin(&file, path);

	if (ok) {
		fwrite(bytes, 1, n, file.stream);
		ok = lbx_file_end(&file, true);
	}
	return ok;
}

#else

unsigned char *lbx_png_encode(const struct lbx_raster *raster, double low, double high, size_t *ret_n)
{
	(void)raster;
	(void)low;
	(void)high;
	(void)ret_n;
	lb_fail("no pictures: built without libpng (libpng-dev)");
	return NULL;
}

bool lbx_png_write(const struct lbx_raster *raster, double low, double high, const char *path)
{
	(void)raster;
	(void)low;
	(void)high;
	return lb_fail("cannot write %s: built without libpng (libpng-dev)", path);
}

#endif
