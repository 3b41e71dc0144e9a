/* libpng reports an error by a jump out of whatever it was doing. Two rules keep that
 * tame: everything that must be given back is in a struct outside the function that
 * calls setjmp(), so no local is read that a jump may have spoilt; and the calls that
 * may jump are in a function of their own, which owns nothing. */
#include "picture.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct codec {
	const char *path;
	FILE *file;
	png_structp png;
	png_infop info;
	char *error;
};

__attribute__((format(printf, 2, 3)))
static bool fail(struct codec *codec, const char *format, ...)
{
	char what[PICTURE_ERROR_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(codec->error, PICTURE_ERROR_MAX, "%.120s: %.120s", codec->path, what);
	return false;
}

static void on_error(png_structp png, png_const_charp message)
{
	fail(png_get_error_ptr(png), "not a PNG that can be used: %s", message);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}

/* ---- reading ---- */

static void decode(struct codec *codec, struct picture *picture)
{
	png_structp png = codec->png;
	png_infop info = codec->info;

	png_init_io(png, codec->file);
	png_set_sig_bytes(png, 8);
	png_set_user_limits(png, PICTURE_SIDE_MAX, PICTURE_SIDE_MAX);
	png_set_chunk_malloc_max(png, 8 << 20);
	png_read_info(png, info);

	png_set_expand(png);
	png_set_scale_16(png);
	png_set_gray_to_rgb(png);
	png_set_strip_alpha(png);
	int passes = png_set_interlace_handling(png);
	png_read_update_info(png, info);

	size_t width = png_get_image_width(png, info);
	size_t height = png_get_image_height(png, info);
	if (png_get_rowbytes(png, info) != width * 3)
		png_error(png, "its rows cannot be read as 8-bit RGB");
	picture->width = (int64_t)width;
	picture->height = (int64_t)height;
	picture->rgb = calloc(height, width * 3); /* PICTURE_SIDE_MAX bounds both */
	if (!picture->rgb)
		png_error(png, "too large for memory");
	for (int pass = 0; pass < passes; pass++)
		for (size_t y = 0; y < height; y++)
			png_read_row(png, picture->rgb + y * width * 3, NULL);
	png_read_end(png, NULL);
}

static bool check_signature(struct codec *codec)
{
	uint8_t signature[8];
	size_t got = fread(signature, 1, sizeof(signature), codec->file);

	if (ferror(codec->file))
		return fail(codec, "%s", strerror(errno));
	if (got == 0)
		return fail(codec, "the file is empty");
	if (got < sizeof(signature) || png_sig_cmp(signature, 0, sizeof(signature)))
		return fail(codec, "not a PNG file");
	return true;
}

static bool load(struct codec *codec, struct picture *picture)
{
	codec->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, codec, on_error, on_warning);
	codec->info = codec->png ? png_create_info_struct(codec->png) : NULL;
	if (!codec->info)
		return fail(codec, "no memory for a PNG reader");
	if (setjmp(png_jmpbuf(codec->png)))
		return false;
	decode(codec, picture);
	return true;
}

bool picture_load(const char *path, struct picture *ret, char error[PICTURE_ERROR_MAX])
{
	struct codec codec = {.path = path, .error = error};

	*ret = (struct picture){0};
	codec.file = fopen(path, "rb");
	if (!codec.file)
		return fail(&codec, "%s", strerror(errno));
	bool loaded = check_signature(&codec) && load(&codec, ret);
	png_destroy_read_struct(&codec.png, &codec.info, NULL);
	fclose(codec.file);
	if (!loaded) {
		free(ret->rgb);
		ret->rgb = NULL;
	}
	return loaded;
}

/* ---- writing ---- */

static void encode(struct codec *codec, size_t width, size_t height, const uint8_t *rgb)
{
	png_init_io(codec->png, codec->file);
	png_set_IHDR(codec->png, codec->info, (png_uint_32)width, (png_uint_32)height, 8,
		     PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
		     PNG_FILTER_TYPE_DEFAULT);
	png_write_info(codec->png, codec->info);
	for (size_t y = 0; y < height; y++)
		png_write_row(codec->png, rgb + y * width * 3);
	png_write_end(codec->png, codec->info);
}

static bool save(struct codec *codec, size_t width, size_t height, const uint8_t *rgb)
{
	codec->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, codec, on_error, on_warning);
	codec->info = codec->png ? png_create_info_struct(codec->png) : NULL;
	if (!codec->info)
		return fail(codec, "no memory for a PNG writer");
	errno = 0;
	if (setjmp(png_jmpbuf(codec->png)))
		return errno ? fail(codec, "%s", strerror(errno)) : false;
	encode(codec, width, height, rgb);
	return true;
}

bool picture_save(const char *path, int64_t width, int64_t height, const uint8_t *rgb,
		  char error[PICTURE_ERROR_MAX])
{
	struct codec codec = {.path = path, .error = error};

	codec.file = fopen(path, "wb");
	if (!codec.file)
		return fail(&codec, "%s", strerror(errno));
	bool saved = save(&codec, (size_t)width, (size_t)height, rgb);
	png_destroy_write_struct(&codec.png, &codec.info);
	if (fclose(codec.file) && saved)
		saved = fail(&codec, "%s", strerror(errno));
	return saved;
}
