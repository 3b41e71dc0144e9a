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
#include "between.h"
#include "inspect/draw/drawing.h"
#include "inspect/draw/pixels.h"
#include "inspect/draw/raster.h"
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

static void axes_are_fitted_by_themselves(void **state)
{
	enum { ROWS = 1000, COLUMNS = 3 };
	static float data[ROWS * COLUMNS];
	struct session *s = *state;
	struct lbx_raster r;

	for (int i = 0; i < ROWS * COLUMNS; i++)
		data[i] = (float)(i % COLUMNS);
	struct lbx_array a = array_of(data, LB_F32, 2, (int64_t[]){ ROWS, COLUMNS });
	assert_true(lbx_raster_create(&a, LBX_CHANNELS_GUESS, 10, 20, 0, &s->out, &r));
	assert_int_equal(r.width, COLUMNS);
	assert_int_equal(r.height, 20);
	for (int i = 0; i < 20 * COLUMNS; i++)
		assert_float_equal(r.values[i], (float)(i % COLUMNS), 0);
	lbx_raster_deinit(&r);
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
	static const unsigned char last[2][2][3] = { { { 1, 2, 3 }, { 4, 5, 6 } }, { { 7, 8, 9 }, { 10, 11, 12 } } };
	static const unsigned char first[3][2][2] = { { { 1, 4 }, { 7, 10 } },
						      { { 2, 5 }, { 8, 11 } },
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
	assert_non_null(strstr(lb_error_message(), "(2, 3, 2) is not a picture"));
	lb_clear_error();
}

/* Axes of stride 0 are read once: a picture of them is that of the same elements written out. */
static void repeats_are_read_once(void **state)
{
	enum { ROWS = 6, COLUMNS = 8, CHANNELS = 3 };
	static float data[ROWS * COLUMNS * CHANNELS], whole[ROWS][COLUMNS][CHANNELS];
	const int64_t shape[] = { ROWS, COLUMNS, CHANNELS }, huge[] = { 1000000, 1000000 }, none[] = { 0, 0 };
	struct session *s = *state;
	struct lbx_raster r, expected;
	struct lbx_array a;

	for (int i = 0; i < ROWS * COLUMNS * CHANNELS; i++)
		data[i] = i == 0 ? NAN : cosf((float)i);
	for (int mask = 1; mask < 8; mask++) {
		int64_t strides[] = { mask & 1 ? 0 : COLUMNS * CHANNELS, mask & 2 ? 0 : CHANNELS, mask & 4 ? 0 : 1 };
		for (int i = 0; i < ROWS * COLUMNS * CHANNELS; i++) {
			int y = i / (COLUMNS * CHANNELS), x = i / CHANNELS % COLUMNS, k = i % CHANNELS;
			whole[y][x][k] = data[y * strides[0] + x * strides[1] + k * strides[2]];
		}
		struct lbx_array dense = array_of(whole, LB_F32, 3, shape);
		assert_true(lbx_array_local(data, sizeof data, LB_F32, 3, shape, strides, 0, &a));
		assert_true(lbx_raster_create(&a, LBX_CHANNELS_GUESS, 4, 100, 1, &s->out, &r));
		assert_true(lbx_raster_create(&dense, LBX_CHANNELS_GUESS, 4, 100, 1, &s->out, &expected));
		assert_int_equal(r.finite, expected.finite);
		assert_int_equal(r.not_finite, expected.not_finite);
		assert_true(r.low == expected.low && r.high == expected.high);
		assert_int_equal(r.width * r.height * r.channels, 4 * 3 * CHANNELS);
		for (int i = 0; i < 4 * 3 * CHANNELS; i++) {
			assert_int_equal(isnan(r.values[i]), isnan(expected.values[i]));
			if (!isnan(r.values[i]))
				assert_float_equal(r.values[i], expected.values[i], 1e-6);
			assert_int_equal(r.nan[i / CHANNELS], expected.nan[i / CHANNELS]);
		}
		lbx_raster_deinit(&r);
		lbx_raster_deinit(&expected);
	}
	assert_true(lbx_array_local(data + 1, 4, LB_F32, 2, huge, none, 0, &a));
	assert_true(lbx_raster_create(&a, LBX_CHANNELS_GUESS, 80, 80, 1, &s->out, &r));
	assert_int_equal(r.finite, 1000000000000);
	assert_true(r.values[80 * 80 - 1] == data[1]);
	lbx_raster_deinit(&r);
}

static void pictures_are_drawn(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "image", "x[0,:2] --width 20"), "x[0,:2]: float32 (2, 10), 0 to 4.75\n"
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

/* A sixel picture as its escape sequence draws it: colours as 0xffRRGGBB, 0 where nothing is drawn. */
struct screen {
	int width, height;
	uint32_t pixels[512 * 512];
};

static long number(const char **at)
{
	char *end;
	long n = strtol(*at, &end, 10);

	assert_ptr_not_equal(end, *at);
	*at = end;
	return n;
}

static void count_bytes(struct lbx_out *out, const char *text, size_t n)
{
	(void)text;
	*(size_t *)out->context += n;
}

/* Noise of 192 by 192 pixels of three channels is 110 KB and more: the pictures of a page have a limit together. */
static void a_page_has_room_for_some(void **state)
{
	enum { SIDE = 192, ROOM = 400000 };
	static uint8_t noise[SIDE * SIDE * 3];
	struct lbx_array a = array_of(noise, LB_U8, 3, (const int64_t[]){ SIDE, SIDE, 3 });
	size_t written = 0, room = ROOM;
	struct lbx_out page = { .width = 80, .context = &written, .write = count_bytes };
	uint64_t random = 1;
	double low, high;
	int drawn = 0;

	(void)state;
	for (size_t i = 0; i < sizeof noise; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		noise[i] = (uint8_t)(random >> 56);
	}
	while (drawn < 10 && lbx_draw_picture(&page, &a, "noise", &room, &low, &high))
		drawn++;
	assert_in_range(drawn, 1, ROOM / 140000);
	assert_in_range(written, (ROOM - room), ROOM - room + 200 * (size_t)drawn);
	assert_non_null(strstr(lb_error_message(), "the others have taken the room"));
	lb_clear_error();
}

static void colour_in(const char **at, uint32_t *palette)
{
	long i = number(at), rgb[3];

	assert_between(i, 0, 255);
	if (**at != ';')
		return;
	(*at)++;
	assert_int_equal(number(at), 2);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(*(*at)++, ';');
		rgb[k] = number(at);
		assert_between(rgb[k], 0, 100);
	}
	palette[i] = 0xff000000u | (uint32_t)(rgb[0] * 255 + 50) / 100 << 16 |
		     (uint32_t)(rgb[1] * 255 + 50) / 100 << 8 | (uint32_t)(rgb[2] * 255 + 50) / 100;
}

/* Ends after the picture. */
static const char *sixel_decode(const char *text, struct screen *ret)
{
	static const char head[] = "\033P0;1q\"1;1;";
	uint32_t palette[256] = { 0 };
	int x = 0, y = 0;
	long current = 0;
	const char *p = strstr(text, head);

	memset(ret, 0, sizeof *ret);
	assert_non_null(p);
	p += sizeof head - 1;
	ret->width = (int)number(&p);
	assert_int_equal(*p++, ';');
	ret->height = (int)number(&p);
	assert_between(ret->width, 1, 512);
	assert_between(ret->height, 1, 512);
	while (*p != '\033') {
		char c = *p++;
		if (c == '#') {
			const char *from = p;
			current = number(&from);
			colour_in(&p, palette);
		} else if (c == '$') {
			x = 0;
		} else if (c == '-') {
			x = 0;
			y += 6;
		} else {
			long n = c == '!' ? number(&p) : 1;
			c = c == '!' ? *p++ : c;
			assert_between(c, '?', '~');
			for (; n > 0; n--, x++) {
				for (int k = 0; k < 6; k++) {
					if (!((c - '?') >> k & 1))
						continue;
					assert_true(x < ret->width && y + k < ret->height);
					uint32_t *pixel = &ret->pixels[(y + k) * ret->width + x];
					assert_int_equal(*pixel, 0);
					assert_int_not_equal(palette[current], 0);
					*pixel = palette[current];
				}
			}
		}
	}
	assert_memory_equal(p, "\033\\\n", 3);
	return p + 3;
}

/* Each pixel is the raster's, to `within` of 255. */
static void compare_screen(const struct screen *screen, const struct lbx_raster *r, int within)
{
	assert_int_equal(screen->width, r->width);
	assert_int_equal(screen->height, r->height);
	for (int y = 0; y < r->height; y++) {
		for (int x = 0; x < r->width; x++) {
			unsigned char c[4];
			uint32_t pixel = screen->pixels[y * r->width + x];
			lbx_raster_colour(r, x, y, r->low, r->high, c);
			assert_int_equal(pixel >> 24, c[3] >= 128 ? 255 : 0);
			for (int k = 0; k < 3 && c[3] >= 128; k++)
				assert_between((int)(pixel >> (16 - 8 * k) & 255) - c[k] + within, 0, 2 * within);
		}
	}
}

static void sixels_are_the_pixels(void **state)
{
	enum { ROWS = 47, COLUMNS = 61 };
	static float heat[ROWS * COLUMNS];
	static unsigned char colours[ROWS * COLUMNS * 4];
	static struct screen screen;
	struct session *s = *state;
	struct lbx_raster r;
	size_t n;
	uint32_t random = 1;

	for (int i = 0; i < ROWS * COLUMNS; i++)
		heat[i] = i < 4 ? NAN : (float)(i % 7 + i / COLUMNS);
	for (int i = 0; i < ROWS * COLUMNS * 4; i++)
		colours[i] = (unsigned char)((random = random * 1664525 + 1013904223) >> 24);
	for (int i = 0; i < 3; i++) {
		/* few colours are as exact as percents are; many are steps of a fifth */
		struct lbx_array a = i == 0 ? array_of(heat, LB_F32, 2, (int64_t[]){ ROWS, COLUMNS })
					    : array_of(colours, LB_U8, 3, (int64_t[]){ ROWS, COLUMNS, 2 + i });
		assert_true(lbx_raster_create(&a, LBX_CHANNELS_GUESS, 300, 300, 4, &s->out, &r));
		char *text = lbx_pixels_encode(&r, r.low, r.high, LBX_PIXELS_SIXEL, &n);
		assert_non_null(text);
		assert_string_equal(sixel_decode(text, &screen), "");
		compare_screen(&screen, &r, i == 0 ? 2 : 26);
		free(text);
		lbx_raster_deinit(&r);
	}
}

static void kitty_gets_the_file(void **state)
{
#if LB_HAVE_PNG
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	enum { ROWS = 120, COLUMNS = 130 };
	static float noise[ROWS * COLUMNS];
	struct session *s = *state;
	struct lbx_raster r;
	png_image image = { .version = PNG_IMAGE_VERSION };
	uint32_t random = 1, word = 0;
	size_t n, size = 0, digit = 0;
	int pieces = 0;

	for (int i = 0; i < ROWS * COLUMNS; i++)
		noise[i] = (float)((random = random * 1664525 + 1013904223) >> 16);
	struct lbx_array a = array_of(noise, LB_F32, 2, (int64_t[]){ ROWS, COLUMNS });
	assert_true(lbx_raster_create(&a, LBX_CHANNELS_GUESS, COLUMNS, ROWS, 1, &s->out, &r));
	char *text = lbx_pixels_encode(&r, r.low, r.high, LBX_PIXELS_KITTY, &n);
	assert_non_null(text);
	unsigned char *file = malloc(n);
	for (const char *p = text, *end; *p != '\n'; p = end + 2, pieces++) {
		const char *data = strchr(p, ';');
		end = strstr(p, "\033\\");
		assert_true(data && end && data < end);
		assert_memory_equal(p, pieces ? "\033_Gm=" : "\033_Ga=T,f=100,q=2,m=", pieces ? 5 : 19);
		assert_int_equal(data[-1], end[2] == '\n' ? '0' : '1');
		assert_between(end - data - 1, 4, 4096);
		for (data++; data < end && *data != '='; data++) {
			word = word << 6 | (uint32_t)(strchr(digits, *data) - digits);
			if (digit++ % 4)
				file[size++] = (unsigned char)(word >> (6 - 2 * ((digit - 1) % 4)));
		}
	}
	assert_true(pieces > 2);
	assert_true(png_image_begin_read_from_memory(&image, file, size));
	image.format = PNG_FORMAT_RGBA;
	unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
	assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
	assert_int_equal(image.width, COLUMNS);
	assert_int_equal(image.height, ROWS);
	for (int i = 0; i < ROWS * COLUMNS; i++) {
		unsigned char c[4];
		lbx_raster_colour(&r, i % COLUMNS, i / COLUMNS, r.low, r.high, c);
		assert_memory_equal(pixels + 4 * i, c, 4);
	}
	free(pixels);
	free(file);
	free(text);
	lbx_raster_deinit(&r);
#else
	(void)state;
	skip();
#endif
}

static void set_or_unset(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void terminals_announce_pixels(void **state)
{
	static const struct {
		const char *term, *program, *kitty, *tmux;
		enum lbx_pixels expected;
	} terminals[] = {
		{ "xterm-256color", NULL, NULL, NULL, LBX_PIXELS_NONE },
		{ NULL, NULL, "1", NULL, LBX_PIXELS_NONE },
		{ "dumb", "WezTerm", NULL, NULL, LBX_PIXELS_NONE },
		{ "xterm-kitty", NULL, "1", NULL, LBX_PIXELS_KITTY },
		{ "xterm-256color", "WezTerm", NULL, NULL, LBX_PIXELS_KITTY },
		{ "xterm-256color", "mintty", NULL, NULL, LBX_PIXELS_SIXEL },
		{ "foot", NULL, NULL, NULL, LBX_PIXELS_SIXEL },
		{ "foot", NULL, NULL, "/tmp/tmux", LBX_PIXELS_NONE },
		{ "screen-256color", "WezTerm", "1", NULL, LBX_PIXELS_NONE },
		{ "tmux-256color", "mintty", NULL, NULL, LBX_PIXELS_NONE },
	};
	struct session *s = *state;

	for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
		enum lbx_pixels expected = terminals[i].expected;
		if (!LB_HAVE_PNG && expected == LBX_PIXELS_KITTY)
			expected = LBX_PIXELS_NONE;
		set_or_unset("TERM", terminals[i].term);
		set_or_unset("TERM_PROGRAM", terminals[i].program);
		set_or_unset("KITTY_WINDOW_ID", terminals[i].kitty);
		set_or_unset("TMUX", terminals[i].tmux);
		assert_int_equal(lbx_terminal_pixels(), expected);
	}
	set_or_unset("TMUX", NULL);
	set_or_unset("TERM_PROGRAM", NULL);
	set_or_unset("KITTY_WINDOW_ID", NULL);
	set_or_unset("TERM", "foot");
	/* which only a front end on a terminal makes use of */
	assert_null(strchr(session_says(s, "image", "x[0]"), '\033'));
	s->out.pixels = true;
	assert_non_null(strstr(session_says(s, "image", "x[0]"), "\n\033P0;1q"));
	assert_null(strchr(session_says(s, "image", "x[0] --as ascii"), '\033'));
	assert_null(strchr(session_says(s, "image", "x[0] --json"), '\033'));
	assert_non_null(strstr(session_says(s, "image", "x[0] --as blocks"), "\033[38;5;"));
	s->out.pixels = false;
	assert_non_null(strstr(session_says(s, "image", "x[0] --as sixel"), "\033P0;1q"));
	assert_non_null(strstr(session_says(s, "image", "x[0] --as iterm"), "not 'iterm'"));
	assert_non_null(strstr(session_says(s, "image", "x[0] --as sixel --out x.png"), "--out writes PNG files"));
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
	assert_between(bytes[2], 80, 90);
	assert_between(bytes[PNG_IMAGE_SIZE(image) - 4], 248, 255);
	assert_between(bytes[PNG_IMAGE_SIZE(image) - 3], 225, 235);
	free(bytes);
	unlink(path);
	assert_non_null(strstr(session_says(s, "image", "x[0] --out /nonexistent/x.png"), "cannot be written"));
#else
	(void)state;
	skip();
#endif
}

static void lines_are_plotted(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "plot", "x[0,0,:4] --rows 2"), "x[0,0,:4]: float32 (4,)\n"
									   "      0.75 │⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⡤⠤⠤⠤⠤⠋⠉⠉⠉⠉\n"
									   "         0 │⣀⣀⣀⣀⣀⠖⠒⠒⠒⠒⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀\n"
									   "            0                  3\n");
	assert_non_null(strstr(session_says(s, "plot", "x --width 30"), "59.75"));
	assert_non_null(strstr(session_says(s, "plot", "x[:0]"), "no elements"));
	assert_non_null(strstr(session_says(s, "plot", "x[0,0,:3] --json"), "\"low\":[0.0,0.25,0.5]"));
	assert_non_null(strstr(session_says(s, "plot", "x --rows 1"), "--rows must be from 2"));
	const char *text = session_says(s, "plot", "@0x200000:f32:1000000,2,1000000:0,1,0 --rows 2 --width 14");
	assert_non_null(strstr(text, "      0.25 │⣿⣿\n         0 │⣿⣿\n"));
	assert_non_null(strstr(text, "of a sample of 4096 of 2000000000000 elements\n"));
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
	/* what a view repeats is read once, and counted so often */
	assert_string_equal(session_says(s, "hist", "@0x200000:f32:1000000,2,1000000:0,1,0 --bins 2"),
			    "@0x200000: float32 (1000000, 2, 1000000)\n"
			    "           0 ████████████████████████████████████████████████████████ 1000000000000\n"
			    "       0.125 ████████████████████████████████████████████████████████ 1000000000000\n"
			    "        0.25\n");
	assert_non_null(strstr(session_says(s, "hist", "@0x200000:f32:1000000,2:0,1 --json"),
			       "\"sampled\":2000000,\"size\":2000000"));
}

/* Magnitudes 5, 10, 13 and 0: the real parts have other orders and signs. */
static void complex_values_count_by_magnitude(void **state)
{
	static const float parts[] = { -3, 4, 6, -8, -5, 12, 0, 0 };
	struct session *s = *state;

	memcpy(image_at(&s->image, IMAGE_DATA, sizeof parts), parts, sizeof parts);
	assert_string_equal(session_says(s, "hist", "@0x200000:c64:4 --bins 1"),
			    "@0x200000: complex64 (4,), by magnitude\n"
			    "           0 ████████████████████████████████████████████████████████ 4\n"
			    "          13\n");
	assert_non_null(strstr(session_says(s, "plot", "@0x200000:c64:4 --rows 2"),
			       "complex64 (4,), by magnitude\n        13 │"));
	assert_non_null(strstr(session_says(s, "image", "@0x200000:c64:2,2 --as ascii"),
			       "complex64 (2, 2), by magnitude, 0 to 13\n"));
	assert_non_null(strstr(session_says(s, "stats", "@0x200000:c64:4"), "complex64 (4,), by magnitude\n"));
	assert_non_null(strstr(session_says(s, "plot", "@0x200000:c64:4 --json"), "\"low\":[5.0,10.0,13.0,0.0]"));
	static const char *const commands[] = { "hist", "plot", "image", "stats" };
	for (int i = 0; i < 4; i++) {
		assert_non_null(strstr(session_says(s, commands[i], "@0x200000:c64:2,2 --json"),
				       "\"part\":\"magnitude\""));
		assert_null(strstr(session_says(s, commands[i], "@0x200000:f32:2,2 --json"), "\"part\""));
	}
}

static void a_constant_is_one_bin(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "hist", "@0x200004:f32:1000:0"),
			    "@0x200004: float32 (1000,)\n"
			    "        0.25 ████████████████████████████████████████████████████████ 1000\n");
	assert_non_null(strstr(session_says(s, "hist", "@0x200004:f32:1000:0 --json"),
			       "\"counts\":[1000],\"low\":0.25,\"high\":0.25"));
	const char *text = session_says(s, "stats", "@0x200004:f32:1000:0");
	assert_null(strstr(text, "histogram"));
	assert_non_null(strstr(text, "\n  first"));
	assert_string_equal(session_says(s, "stats", "@0x200004:f32:1000:0[7]"), "@0x200004[7]: float32 (): 0.25\n");
	text = session_says(s, "stats", "@0x200004:f32:1000:0 --json");
	assert_non_null(strstr(text, "\"histogram\":{\"low\":0.25,\"high\":0.25,\"counts\":[1000]}"));
	/* values that differ little have edges that differ */
	static const double close[] = { 1, 1 + 1e-9 };
	memcpy(image_at(&s->image, IMAGE_DATA, sizeof close), close, sizeof close);
	assert_string_equal(session_says(s, "hist", "@0x200000:f64:2 --bins 2"),
			    "@0x200000: float64 (2,)\n"
			    "           1 ████████████████████████████████████████████████████████ 1\n"
			    "1.0000000005 ████████████████████████████████████████████████████████ 1\n"
			    " 1.000000001\n");
}

/* As a plot does. */
static void a_histogram_says_what_it_leaves_out(void **state)
{
	static const float values[] = { 0, -INFINITY, 1000, -3, NAN, 5 };
	struct session *s = *state;

	memcpy(image_at(&s->image, IMAGE_DATA, sizeof values), values, sizeof values);
	assert_non_null(strstr(session_says(s, "hist", "@0x200000:f32:6 --bins 4"), "2 NaN or Inf are left out\n"));
	assert_non_null(strstr(session_says(s, "hist", "@0x200000:f32:6 --bins 4 --json"), "\"counts\":[3,0,0,1]"));
	assert_non_null(strstr(session_says(s, "hist", "@0x200000:f32:6 --bins 4 --json"),
			       "\"sampled\":6,\"size\":6,\"not_finite\":2}"));
	assert_null(strstr(session_says(s, "hist", "@0x200000:f32:1"), "left out"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(complex_values_count_by_magnitude, session_start, session_stop),
		cmocka_unit_test_setup_teardown(a_constant_is_one_bin, session_start, session_stop),
		cmocka_unit_test_setup_teardown(a_histogram_says_what_it_leaves_out, session_start, session_stop),
		cmocka_unit_test_setup_teardown(axes_are_fitted_by_themselves, session_start, session_stop),
		cmocka_unit_test_setup_teardown(boxes_are_averaged, session_start, session_stop),
		cmocka_unit_test_setup_teardown(channels_are_found, session_start, session_stop),
		cmocka_unit_test_setup_teardown(repeats_are_read_once, session_start, session_stop),
		cmocka_unit_test_setup_teardown(pictures_are_drawn, session_start, session_stop),
		cmocka_unit_test(a_page_has_room_for_some),
		cmocka_unit_test_setup_teardown(sixels_are_the_pixels, session_start, session_stop),
		cmocka_unit_test_setup_teardown(kitty_gets_the_file, session_start, session_stop),
		cmocka_unit_test_setup_teardown(terminals_announce_pixels, session_start, session_stop),
		cmocka_unit_test_setup_teardown(files_hold_the_picture, session_start, session_stop),
		cmocka_unit_test_setup_teardown(lines_are_plotted, session_start, session_stop),
		cmocka_unit_test_setup_teardown(values_are_counted, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
