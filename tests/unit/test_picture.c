/* Pictures, plots and histograms, over memory made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if LB_HAVE_PNG
#include <png.h>
#endif

#include "base/error.h"
#include "inspect/raster.h"
#include "session.h"

static struct lbx_array array_of(const void *data, enum lb_dtype dtype, int rank, const int64_t *shape)
{
	struct lbx_array a;
	int64_t strides[8], size = 1;

	for (int i = rank; i-- > 0;) {
		strides[i] = size;
		size *= shape[i];
	}
	assert_true(lbx_array_local(data, size * lbx_dtype_bytes(dtype), dtype, rank, shape, strides, 0, &a));
	return a;
}

static void boxes_are_averaged(void **state)
{
	enum { ROWS = 37, COLUMNS = 53, WIDTH = 10 };
	static float data[ROWS * COLUMNS];
	struct session *s = *state;
	struct lbx_raster r;

	for (int i = 0; i < ROWS * COLUMNS; i++)
		data[i] = sinf((float)i);
	data[5 * COLUMNS + 50] = NAN;
	data[0] = INFINITY;
	struct lbx_array a = array_of(data, LB_F32, 2, (int64_t[]){ ROWS, COLUMNS });
	assert_true(lbx_raster_create(&a, LBX_CHANNELS_GUESS, WIDTH, 100, 1, &s->out, &r));
	assert_int_equal(r.width, WIDTH);
	assert_int_equal(r.height, ROWS * WIDTH / COLUMNS);
	assert_int_equal(r.not_finite, 2);
	assert_int_equal(r.finite, ROWS * COLUMNS - 2);
	for (int y = 0; y < r.height; y++) {
		for (int x = 0; x < r.width; x++) {
			double sum = 0;
			int n = 0;
			bool bad = false;
			for (int row = 0; row < ROWS; row++) {
				for (int column = 0; column < COLUMNS; column++) {
					float value = data[row * COLUMNS + column];
					if (row * r.height / ROWS != y || column * r.width / COLUMNS != x)
						continue;
					bad |= !isfinite(value);
					sum += isfinite(value) ? value : 0;
					n += isfinite(value);
				}
			}
			assert_float_equal(r.values[y * r.width + x], sum / n, 1e-12);
			assert_int_equal(r.nan[y * r.width + x], bad);
		}
	}
	unsigned char colour[4];
	lbx_raster_colour(&r, 0, 0, r.low, r.high, colour);
	assert_memory_equal(colour, ((unsigned char[]){ 255, 0, 255, 255 }), 4);
	lbx_raster_deinit(&r);
}

static void channels_are_found(void **state)
{
	static const unsigned char last[2][2][3] = { { { 1, 2, 3 }, { 4, 5, 6 } },
						     { { 7, 8, 9 }, { 10, 11, 12 } } };
	static const unsigned char first[3][2][2] = { { { 1, 4 }, { 7, 10 } }, { { 2, 5 }, { 8, 11 } },
						      { { 3, 6 }, { 9, 12 } } };
	struct session *s = *state;
	struct lbx_raster r;
	unsigned char colour[4];

	for (int i = 0; i < 2; i++) {
		struct lbx_array a = i ? array_of(first, LB_U8, 3, (int64_t[]){ 3, 2, 2 })
				       : array_of(last, LB_U8, 3, (int64_t[]){ 2, 2, 3 });
		assert_true(lbx_raster_create(&a, LBX_CHANNELS_GUESS, 80, 80, 1, &s->out, &r));
		assert_int_equal(r.channels, 3);
		lbx_raster_colour(&r, 1, 0, 0, 255, colour);
		assert_memory_equal(colour, ((unsigned char[]){ 4, 5, 6, 255 }), 4);
		lbx_raster_colour(&r, 0, 1, 0, 255, colour);
		assert_memory_equal(colour, ((unsigned char[]){ 7, 8, 9, 255 }), 4);
		lbx_raster_deinit(&r);
	}
	struct lbx_array a = array_of(last, LB_U8, 3, (int64_t[]){ 2, 3, 2 });
	assert_false(lbx_raster_create(&a, LBX_CHANNELS_GUESS, 80, 80, 1, &s->out, &r));
	assert_non_null(strstr(lb_error_message(), "(2, 3, 2) is no picture"));
	lb_clear_error();
}

static void pictures_are_drawn(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "image", "x[0,:2] --width 20"),
		"x[0,:2]: float32 (2, 10), 0 to 4.75\n"
		"    ....::::----====\n"
		"++++****####%%%%@@@@\n");
	s->out.colours = 1 << 24;
	assert_non_null(strstr(session_says(s, "image", "x[0,:1,:1]"), "\033[38;2;"));
	s->out.colours = 256;
	assert_non_null(strstr(session_says(s, "image", "x[0,:1,:1]"), "\033[38;5;"));
	s->out.colours = 0;
	assert_non_null(strstr(session_says(s, "image", "x[0] --range=1,0"), "not '1,0'"));
	assert_non_null(strstr(session_says(s, "image", "x[0] --range=-1,1"), ", drawn from -1 to 1"));
	assert_non_null(strstr(session_says(s, "image", "x[0] --channels up"), "not 'up'"));
	assert_non_null(strstr(session_says(s, "image", "x[0,0]"), "has two axes"));
	assert_non_null(strstr(session_says(s, "image", "x[0,:0]"), "no elements"));
	assert_non_null(strstr(session_says(s, "image", "x[0] --json"), "\"width\":"));
}

static void files_hold_the_picture(void **state)
{
#if LB_HAVE_PNG
	struct session *s = *state;
	char path[64], line[128];
	png_image image = { .version = PNG_IMAGE_VERSION };

	snprintf(path, sizeof path, "/tmp/lazybones-test-%d.png", (int)getpid());
	snprintf(line, sizeof line, "x[0] --out %s", path);
	assert_non_null(strstr(session_says(s, "image", line), ", 80 x 48\n"));
	assert_true(png_image_begin_read_from_file(&image, path));
	image.format = PNG_FORMAT_RGBA;
	unsigned char *bytes = malloc(PNG_IMAGE_SIZE(image));
	assert_true(png_image_finish_read(&image, NULL, bytes, 0, NULL));
	assert_int_equal(image.width, 80);
	/* viridis: dark violet, yellow */
	assert_in_range(bytes[2], 80, 90);
	assert_in_range(bytes[PNG_IMAGE_SIZE(image) - 4], 248, 255);
	assert_in_range(bytes[PNG_IMAGE_SIZE(image) - 3], 225, 235);
	free(bytes);
	unlink(path);
	assert_non_null(strstr(session_says(s, "image", "x[0] --out /nonexistent/x.png"), "cannot write"));
#else
	(void)state;
	skip();
#endif
}

static void lines_are_plotted(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "plot", "x[0,0,:4] --rows 2"),
		"x[0,0,:4]: float32 (4,)\n"
		"      0.75 │⠀⡜\n"
		"         0 │⡰⠁\n"
		"            03\n");
	assert_non_null(strstr(session_says(s, "plot", "x --width 30"), "59.75"));
	assert_non_null(strstr(session_says(s, "plot", "x[:0]"), "no elements"));
	assert_non_null(strstr(session_says(s, "plot", "x[0,0,:3] --json"), "\"low\":[0.0,0.25,0.5]"));
	assert_non_null(strstr(session_says(s, "plot", "x --rows 1"), "--rows must be from 2"));
}

static void values_are_counted(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "hist", "x[0,0,:4] --bins 3"),
		"x[0,0,:4]: float32 (4,)\n"
		"           0 ████████████████████████████ 1\n"
		"        0.25 ████████████████████████████ 1\n"
		"         0.5 ████████████████████████████████████████████████████████ 2\n"
		"        0.75\n");
	assert_non_null(strstr(session_says(s, "hist", "x --bins 4 --json"), "\"counts\":[60,60,60,60]"));
	assert_non_null(strstr(session_says(s, "hist", "x --bins 0"), "--bins must be from 1"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(boxes_are_averaged, session_start, session_stop),
		cmocka_unit_test_setup_teardown(channels_are_found, session_start, session_stop),
		cmocka_unit_test_setup_teardown(pictures_are_drawn, session_start, session_stop),
		cmocka_unit_test_setup_teardown(files_hold_the_picture, session_start, session_stop),
		cmocka_unit_test_setup_teardown(lines_are_plotted, session_start, session_stop),
		cmocka_unit_test_setup_teardown(values_are_counted, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
