#include "inspect/draw/pixels.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/draw/base64.h"
#include "inspect/draw/png_file.h"

enum { COLOURS = 256, SLOTS = 1024, BAND = 6, CHUNK = 4096, CLEAR = -1 };

static bool is_any(const char *name, const char *const *list)
{
	for (; name && *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

enum lbx_pixels lbx_terminal_pixels(void)
{
	static const char *const kitty[] = { "xterm-kitty", "xterm-ghostty", "ghostty", "WezTerm", NULL };
	static const char *const sixel[] = { "foot",    "foot-extra", "mlterm",        "mlterm-256color",
					     "contour", "mintty",     "mintty-direct", "vt340",
					     NULL };
	const char *term = getenv("TERM"), *program = getenv("TERM_PROGRAM");

	if (getenv("TMUX") || !term || strncmp(term, "screen", 6) == 0 || strncmp(term, "tmux", 4) == 0 ||
	    strcmp(term, "dumb") == 0)
		return LBX_PIXELS_NONE;
	if (LB_HAVE_PNG && (getenv("KITTY_WINDOW_ID") || is_any(term, kitty) || is_any(program, kitty)))
		return LBX_PIXELS_KITTY;
	return is_any(term, sixel) || is_any(program, sixel) || strstr(term, "sixel") ? LBX_PIXELS_SIXEL
										      : LBX_PIXELS_NONE;
}

/* ---- sixel ---- */

/* Colours in percent: 101 (101 red + green) + blue. */
struct palette {
	int n;
	int32_t colours[COLOURS];
	int16_t slots[SLOTS]; /* a hash table of their numbers, plus one */
};

/* -1: there is no room. */
static int colour_number(struct palette *p, int32_t colour)
{
	uint32_t slot = (uint32_t)colour * 2654435761u >> 22;

	while (p->slots[slot] && p->colours[p->slots[slot] - 1] != colour)
		slot = (slot + 1) % SLOTS;
	if (!p->slots[slot]) {
		if (p->n == COLOURS)
			return -1;
		p->colours[p->n++] = colour;
		p->slots[slot] = (int16_t)p->n;
	}
	return p->slots[slot] - 1;
}

static int32_t percent(unsigned char value, int steps)
{
	return (value * steps + 127) / 255 * (100 / steps);
}

/* The pixels' numbers of colours, CLEAR for what is not drawn. False: too many at so fine steps. */
static bool reduce(const struct lbx_raster *r, double low, double high, int steps, struct palette *palette,
		   int16_t *numbers)
{
	memset(palette, 0, sizeof *palette);
	for (int y = 0; y < r->height; y++) {
		for (int x = 0; x < r->width; x++) {
			unsigned char c[4];
			int number = CLEAR;
			lbx_raster_colour(r, x, y, low, high, c);
			if (c[3] >= 128) {
				number =
				    colour_number(palette, (percent(c[0], steps) * 101 + percent(c[1], steps)) * 101 +
							       percent(c[2], steps));
				if (number < 0)
					return false;
			}
			*numbers++ = (int16_t)number;
		}
	}
	return true;
}

static void write_run(FILE *to, int n, char sixel)
{
	if (n > 3)
		fprintf(to, "!%d%c", n, sixel);
	else
		for (; n > 0; n--)
			putc(sixel, to);
}

/* One colour's bits of a band of six rows; what is blank at its end is left out. */
static void write_colour(FILE *to, const int16_t *band, int width, int rows, int number)
{
	int run = 0;
	char last = '?';

	for (int x = 0; x < width; x++) {
		char sixel = '?';
		for (int y = 0; y < rows; y++)
			sixel = (char)(sixel + ((band[y * width + x] == number) << y));
		if (sixel != last) {
			write_run(to, run, last);
			run = 0;
		}
		last = sixel;
		run++;
	}
	if (last != '?')
		write_run(to, run, last);
}

static void write_band(FILE *to, const int16_t *band, int width, int rows)
{
	bool here[COLOURS] = { false }, first = true;

	for (int i = 0; i < width * rows; i++)
		if (band[i] != CLEAR)
			here[band[i]] = true;
	for (int number = 0; number < COLOURS; number++) {
		if (!here[number])
			continue;
		fprintf(to, "%s#%d", first ? "" : "$", number);
		write_colour(to, band, width, rows, number);
		first = false;
	}
}

static void write_sixel(FILE *to, const struct lbx_raster *r, const struct palette *palette, const int16_t *numbers)
{
	/* square pixels; what is not drawn stays as it is */
	fprintf(to, "\033P0;1q\"1;1;%d;%d", r->width, r->height);
	for (int i = 0; i < palette->n; i++)
		fprintf(to, "#%d;2;%d;%d;%d", i, palette->colours[i] / (101 * 101), palette->colours[i] / 101 % 101,
			palette->colours[i] % 101);
	for (int y = 0; y < r->height; y += BAND) {
		if (y)
			putc('-', to);
		write_band(to, numbers + (size_t)y * (size_t)r->width, r->width,
			   r->height - y < BAND ? r->height - y : BAND);
	}
	fputs("\033\\", to);
}

static bool sixel(FILE *to, const struct lbx_raster *r, double low, double high)
{
	static const int steps[] = { 100, 50, 25, 20, 10, 5 }; /* the last: 216 colours at most */
	lb_auto_free int16_t *numbers = malloc((size_t)r->width * (size_t)r->height * sizeof *numbers);
	struct palette palette;

	if (!numbers)
		return lb_fail("out of memory for a picture of %d x %d", r->width, r->height);
	for (int i = 0; !reduce(r, low, high, steps[i], &palette, numbers); i++)
		;
	write_sixel(to, r, &palette, numbers);
	return true;
}

/* ---- kitty ---- */

static bool kitty(FILE *to, const struct lbx_raster *r, double low, double high)
{
	char text[CHUNK];
	size_t n;
	lb_auto_free unsigned char *png = lbx_png_encode(r, low, high, &n);

	/* q=2: no answer, which the debugger would read */
	for (size_t at = 0; png && at < n; at += CHUNK / 4 * 3) {
		size_t piece = n - at < CHUNK / 4 * 3 ? n - at : CHUNK / 4 * 3;
		lbx_base64(png + at, piece, text);
		fprintf(to, "\033_G%sm=%d;%.*s\033\\", at ? "" : "a=T,f=100,q=2,", at + piece < n,
			(int)LBX_BASE64_SIZE(piece), text);
	}
	return png != NULL;
}

char *lbx_pixels_encode(const struct lbx_raster *raster, double low, double high, enum lbx_pixels how, size_t *ret_n)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, ret_n);
	bool ok;

	if (!to) {
		lb_fail("out of memory for a picture of %d x %d", raster->width, raster->height);
		return NULL;
	}
	ok = (how == LBX_PIXELS_KITTY ? kitty : sixel)(to, raster, low, high);
	putc('\n', to);
	if (ferror(to))
		ok = lb_fail("out of memory for a picture of %d x %d", raster->width, raster->height);
	if (fclose(to) != 0 && ok)
		ok = lb_fail("out of memory for a picture of %d x %d", raster->width, raster->height);
	if (!ok) {
		free(text);
		text = NULL;
	}
	return text;
}
