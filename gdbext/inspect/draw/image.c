/* Pictures of tensors: in the terminal, as PNG files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/draw/pixels.h"
#include "inspect/draw/png_file.h"
#include "inspect/operand/value.h"
#include "inspect/texts.h"

enum {
	FILE_MAX = 8192,
	FILE_ZOOM = 8,
	TEXT_ZOOM = 4,
	ROWS_MAX = 48,
	/* pixels of a character, which terminals do not tell: rather few */
	CELL_WIDTH = 8,
	CELL_HEIGHT = 16,
	PIXEL_ZOOM = 24,
	VALUES_MAX = 1 << 17,
};

/* What it is made of. */
enum medium { BLOCKS, ASCII, SIXEL, KITTY, FILE_PNG };

struct range {
	bool given;
	double low, high;
};

static bool parse_range(const char *text, struct range *ret)
{
	char *end;

	*ret = (struct range){ 0 };
	if (!text)
		return true;
	ret->low = strtod(text, &end);
	if (end != text && *end == ',') {
		const char *second = end + 1;
		ret->high = strtod(second, &end);
		ret->given =
		    end != second && !*end && isfinite(ret->low) && isfinite(ret->high) && ret->low < ret->high;
	}
	return ret->given || lbx_misuse("image: --range takes LOW,HIGH as in --range=-1,1, not '%s'", text);
}

static bool parse_channels(const char *text, enum lbx_channels *ret)
{
	*ret = LBX_CHANNELS_GUESS;
	if (!text)
		return true;
	if (strcmp(text, "last") == 0)
		*ret = LBX_CHANNELS_LAST;
	else if (strcmp(text, "first") == 0)
		*ret = LBX_CHANNELS_FIRST;
	else if (strcmp(text, "none") == 0)
		*ret = LBX_CHANNELS_NONE;
	else
		return lbx_misuse("image: --channels takes last, first or none, not '%s'", text);
	return true;
}

static bool parse_medium(const struct lbx_args *args, const struct lbx_out *out, enum medium *ret)
{
	static const char *const names[] = { "blocks", "ascii", "sixel", "kitty" };
	const char *text = lbx_args_option(args, "as");
	enum lbx_pixels pixels = out->pixels ? lbx_terminal_pixels() : LBX_PIXELS_NONE;

	if (lbx_args_option(args, "out")) {
		*ret = FILE_PNG;
		return !text || lbx_misuse("image: --out writes PNG files, not --as %s", text);
	}
	*ret = pixels == LBX_PIXELS_KITTY ? KITTY : pixels == LBX_PIXELS_SIXEL ? SIXEL : out->colours ? BLOCKS : ASCII;
	if (!text)
		return true;
	for (int i = 0; i < 4; i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret = (enum medium)i;
			return true;
		}
	}
	return lbx_misuse("image: --as takes blocks, ascii, sixel or kitty, not '%s'", text);
}

/* Bytes are drawn as they are, colours in [0, 1] too where they fit; the rest from its smallest
 * to its largest value. */
static struct range range_of(const struct lbx_raster *r, enum lb_dtype dtype, struct range given)
{
	if (given.given)
		return given;
	if (r->channels > 1 && dtype == LB_U8)
		return (struct range){ true, 0, 255 };
	if (r->channels > 1 && r->low >= 0 && r->high <= 1)
		return (struct range){ true, 0, 1 };
	return (struct range){ true, r->low, r->high };
}

static void set_colour(struct lbx_out *out, bool background, const unsigned char c[4])
{
	if (out->colours > 256)
		lbx_escape_terminal(out, "\033[%d;2;%d;%d;%dm", background ? 48 : 38, c[0], c[1], c[2]);
	else
		lbx_escape_terminal(out, "\033[%d;5;%dm", background ? 48 : 38, lbx_colour_of_256(c));
}

/* Two rows of pixels a line: the upper in the colour of a half block, the lower behind it. */
static void draw_blocks(struct lbx_out *out, const struct lbx_raster *r, struct range range)
{
	for (int y = 0; y < r->height; y += 2) {
		for (int x = 0; x < r->width; x++) {
			unsigned char c[4];
			lbx_raster_colour(r, x, y, range.low, range.high, c);
			set_colour(out, false, c);
			if (y + 1 < r->height) {
				lbx_raster_colour(r, x, y + 1, range.low, range.high, c);
				set_colour(out, true, c);
			}
			lbx_printf(out, "▀");
		}
		lbx_escape_terminal(out, "\033[m\n");
	}
}

/* Without colours: a character for two rows, by lightness; '?' for NaN and Inf. */
static void draw_text(struct lbx_out *out, const struct lbx_raster *r, struct range range)
{
	static const char ramp[] = " .:-=+*#%@";
	int last = (int)sizeof ramp - 2;

	for (int y = 0; y < r->height; y += 2) {
		for (int x = 0; x < r->width; x++) {
			double sum = 0;
			int n = 0;
			bool nan = false;
			for (int row = y; row < y + 2 && row < r->height; row++) {
				int64_t pixel = (int64_t)row * r->width + x;
				nan |= r->nan[pixel];
				for (int k = 0; k < r->channels && k < 3; k++, n++)
					sum += r->values[pixel * r->channels + k];
			}
			double t = range.high > range.low ? (sum / n - range.low) / (range.high - range.low) : 0.5;
			int step = (int)(fmax(0, fmin(1, t)) * last + 0.5);
			lbx_printf(out, "%c", nan || isnan(t) ? '?' : ramp[step]);
		}
		lbx_printf(out, "\n");
	}
}

static void print_title(struct lbx_out *out, const struct lbx_selection *s, const struct lbx_sight *sight,
			const struct lbx_raster *r, struct range range)
{
	lbx_print_heading(out, s, &sight->array);
	lbx_tell_part(out, sight->array.dtype);
	if (r->finite)
		lbx_printf(out, ", %g to %g", r->low, r->high);
	else
		lbx_printf(out, ", no finite element");
	if (r->finite && (range.low != r->low || range.high != r->high))
		lbx_printf(out, ", drawn from %g to %g", range.low, range.high);
	if (r->not_finite)
		lbx_styled(out, LBX_WARNING, ", %lld NaN or Inf", (long long)r->not_finite);
	if (r->width < r->columns)
		lbx_printf(out, ", averaged to %d x %d", r->height, r->width);
	lbx_printf(out, "%s%s\n", sight->note[0] ? ", " : "", sight->note);
}

static bool draw_pixels(struct lbx_out *out, const struct lbx_raster *r, struct range range, enum lbx_pixels how)
{
	size_t n;
	lb_auto_free char *text = lbx_pixels_encode(r, range.low, range.high, how, &n);

	if (text)
		(out->write_whole ? out->write_whole : out->write)(out, text, n);
	return text != NULL;
}

static bool draw(struct lbx_out *out, const struct lbx_raster *r, struct range range, enum medium medium)
{
	switch (medium) {
	case SIXEL: return draw_pixels(out, r, range, LBX_PIXELS_SIXEL);
	case KITTY: return draw_pixels(out, r, range, LBX_PIXELS_KITTY);
	case BLOCKS: draw_blocks(out, r, range); return true;
	default: draw_text(out, r, range); return true;
	}
}

static json_t *json_raster(const struct lbx_raster *r, struct range range)
{
	return json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:I}", "width", r->width, "height", r->height, "channels",
			 r->channels, "min", r->finite ? lbx_json_double(r->low) : json_null(), "max",
			 r->finite ? lbx_json_double(r->high) : json_null(), "low", lbx_json_double(range.low), "high",
			 lbx_json_double(range.high), "not_finite", (json_int_t)r->not_finite);
}

/* Row by row; of several channels a pixel is a list. */
static json_t *json_values(const struct lbx_raster *r)
{
	json_t *rows = json_array(), *row = NULL, *pixel = NULL;
	int64_t per_row = (int64_t)r->width * r->channels;

	for (int64_t i = 0; i < r->height * per_row; i++) {
		if (i % per_row == 0)
			json_array_append_new(rows, row = json_array());
		if (r->channels > 1 && i % r->channels == 0)
			json_array_append_new(row, pixel = json_array());
		json_array_append_new(r->channels > 1 ? pixel : row, lbx_json_double(r->values[i]));
	}
	return rows;
}

/* The numbers of pixels with NaN or Inf among their elements. */
static json_t *json_marked(const struct lbx_raster *r)
{
	json_t *ret = json_array();

	for (int64_t i = 0; i < (int64_t)r->width * r->height; i++)
		if (r->nan[i])
			json_array_append_new(ret, json_integer((json_int_t)i));
	return ret;
}

static bool show(struct lbx_context *context, const struct lbx_selection *s, const struct lbx_sight *sight,
		 const struct lbx_raster *r, struct range range, enum medium medium, const char *path, bool values)
{
	struct lbx_out *out = context->out;

	range = range_of(r, sight->array.dtype, range);
	if (path && !lbx_png_write(r, range.low, range.high, path))
		return false;
	lbx_set_double(out, "tensor_min", r->finite ? r->low : NAN);
	lbx_set_double(out, "tensor_max", r->finite ? r->high : NAN);
	lbx_set_int(out, "tensor_nan_count", r->not_finite);
	lbx_begin(out, NULL);
	LBX_KEY(out, "id", json_integer((json_int_t)s->tensor.id));
	LBX_KEYS(out, json_raster(r, range));
	if (values) {
		LBX_KEY(out, "rows", json_integer((json_int_t)r->rows));
		LBX_KEY(out, "columns", json_integer((json_int_t)r->columns));
		LBX_KEY(out, "values", json_values(r));
		LBX_KEY(out, "marked", json_marked(r));
	}
	print_title(out, s, sight, r, range);
	LBX_KEY(out, "file", lbx_json_text(path));
	if (path)
		lbx_printf(out, "written to %s, %d x %d\n", path, r->width, r->height);
	else if (!out->json && !draw(out, r, range, medium))
		return false;
	lbx_end(out);
	return lb_ok();
}

static bool check_values(const struct lbx_out *out, bool values, int64_t pixels)
{
	if (values && !out->json)
		return lbx_misuse("image: --values goes with --json");
	return !values || pixels <= VALUES_MAX ||
	       lbx_misuse("image: --values gives %d at most: --width and --rows may be so many together", VALUES_MAX);
}

static bool run_image(struct lbx_context *context, const struct lbx_args *args)
{
	const char *path = lbx_args_option(args, "out");
	int64_t width = context->out->width, rows = ROWS_MAX;
	bool values = lbx_args_option(args, "values");
	enum lbx_channels channels;
	struct lbx_selection s;
	struct lbx_sight sight;
	struct lbx_raster raster;
	struct range range;
	enum medium medium;

	if (!parse_medium(args, context->out, &medium) || !parse_range(lbx_args_option(args, "range"), &range) ||
	    !parse_channels(lbx_args_option(args, "channels"), &channels) ||
	    !lbx_args_int(args, "width", 1, 1000, &width) || !lbx_args_int(args, "rows", 1, 1000, &rows) ||
	    !check_values(context->out, values, width * rows) || !lbx_select_values(context, args->v[0], &s) ||
	    !lbx_sight_begin(context, &s, &sight))
		return false;
	bool pixels = !values && (medium == SIXEL || medium == KITTY);
	int max_width = path ? FILE_MAX : (int)width * (pixels ? CELL_WIDTH : 1);
	int max_height = path ? FILE_MAX : (int)rows * (values ? 1 : pixels ? CELL_HEIGHT : 2);
	bool ok = lbx_raster_create(&sight.array, channels, max_width, max_height,
				    path     ? FILE_ZOOM
				    : values ? 0
				    : pixels ? PIXEL_ZOOM
					     : TEXT_ZOOM,
				    context->out, &raster);
	if (ok) {
		ok = show(context, &s, &sight, &raster, range, medium, path, values);
		lbx_raster_deinit(&raster);
	}
	lbx_sight_end(&sight);
	return ok;
}

const struct lbx_command lbx_command_image = {
	.name = "image",
	.arguments = "T[slice]",
	.summary = "draw a tensor as a picture or a heat map, here or as PNG",
	.help = "Two axes are a heat map, in the colours of viridis from the smallest to the\n"
		"largest value; a third of 1, 3 or 4 channels, first or last, is grey, RGB or RGBA.\n"
		"NaN and Inf are magenta. Large ones are averaged to fit. Complex values count by\n"
		"magnitude. A lazy tensor is replayed.\n"
		"Terminals that announce sixel or kitty's protocol show pixels, others half blocks in\n"
		"their colours; without colours, characters.\n"
		LBX_SLICE_HELP "\n"
		"Example: image latents[0, 2] --range=-3,3 --out latents.png",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES | LBX_NEEDS_PIXELS,
	.options = {
		{ "out", "FILE", "write a PNG file" },
		{ "as", "HOW", "blocks, ascii, sixel or kitty (default: what the terminal announces)" },
		{ "range", "LOW,HIGH", "values of the darkest and the brightest colour" },
		{ "channels", "WHERE", "first, last or none" },
		{ "width", "N", "columns to use (default: the terminal's)" },
		{ "rows", "N", "lines to use (default 48)" },
		{ "values", NULL, "with JSON, the values drawn: a pixel a column of --width and a line of --rows" },
	},
	.run = run_image,
};
