/* photo: blurs and grades a picture.
 *
 *	photo [--buggy] [--blur R] [IN] OUT
 *
 * What it teaches: a transposed tensor is a view. Its shape says (height, width, 3),
 * but in memory the three colour planes still follow each other. Whoever takes the
 * storage pointer and forgets the strides writes the famous picture of nine small
 * grey pictures; `photo --buggy` does just that. lb_data() is right: it copies
 * the elements into row-major order when they are not in it already.
 *
 * See it from gdb:
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/photo --buggy out.png
 *	(gdb) break write_image
 *	(gdb) run
 *	(gdb) tensor list photo.*                      what exists, and what is still lazy
 *	(gdb) tensor peek image->hwc[200:203, 300]     values that nobody has computed yet
 *	(gdb) tensor catch misuse
 *	(gdb) continue                                 stops where the storage is asked for
 *	(gdb) bt
 *	(gdb) tensor info photo.hwc                    strides (600, 1, 270000)
 *	(gdb) tensor catch access
 *	(gdb) run                                      stops in picture.c, where the first row is read
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lazybones.h"
#include "marbles.h"
#include "picture.h"

enum { RADIUS_MAX = 64, WIDTH = 600, HEIGHT = 450 /* of the picture that is painted here */ };

struct options {
	const char *in; /* NULL: paint one */
	const char *out;
	int radius;
	bool buggy, pause, crash;
};

/* A picture on its way through the program; each step is a tensor. */
struct image {
	lb_tensor *pixels;  /* u8 (height, width, 3), as in the file */
	lb_tensor *chw;     /* f32 (3, height, width), 0 to 1 */
	lb_tensor *blurred; /* likewise */
	lb_tensor *graded;  /* likewise */
	lb_tensor *hwc;     /* u8 (height, width, 3): a view of colour planes */
};

/* More saturation, a warmer white. */
static const float colour_matrix[3][3] = {
	{1.28F, -0.18F, -0.04F},
	{-0.09F, 1.16F, -0.05F},
	{-0.10F, -0.22F, 1.20F},
};

/* ---- the picture as tensors ---- */

static lb_tensor *range_along(lb_tensor *x, int axis, int64_t start, int64_t stop)
{
	lb_index index[] = {LB_ALL, LB_ALL, LB_ALL};

	index[axis] = LB_RANGE(start, stop);
	return lb_slice_n(x, 3, index);
}

/* One line of pixels, n times over: a view that copies nothing. */
static lb_tensor *edge(lb_tensor *x, int axis, int64_t at, int64_t n)
{
	int64_t shape[] = {lb_dim(x, 0), lb_dim(x, 1), lb_dim(x, 2)};

	shape[axis] = n;
	return lb_broadcast_to(range_along(x, axis, at, at + 1), (lb_list){3, shape});
}

static lb_tensor *blur_along(lb_tensor *x, int axis, int radius)
{
	int64_t n = lb_dim(x, axis);
	double sigma = radius / 2.0, total = 0, weight[2 * RADIUS_MAX + 1];

	for (int i = 0; i <= 2 * radius; i++)
		total += weight[i] = exp(-(i - radius) * (i - radius) / (2 * sigma * sigma));

	lb_tensor *padded = lb_concatenate(3, (lb_tensor *[]){
		edge(x, axis, 0, radius), x, edge(x, axis, n - 1, radius)}, axis);
	lb_tensor *sum = lb_scalar(0);
	for (int i = 0; i <= 2 * radius; i++) {
		lb_tensor *shifted = range_along(padded, axis, i, i + n);
		sum = lb_add(sum, lb_multiply(shifted, lb_scalar(weight[i] / total)));
	}
	return sum;
}

static lb_tensor *blur(lb_tensor *chw, int radius)
{
	if (radius == 0)
		return chw;
	return blur_along(blur_along(chw, 2, radius), 1, radius);
}

static lb_tensor *grade(lb_tensor *chw)
{
	lb_tensor *matrix = lb_named("photo.matrix",
		lb_from_data(colour_matrix, sizeof(colour_matrix), LB_SHAPE(3, 3), LB_F32));
	lb_tensor *planes = lb_matmul(matrix, lb_reshape(chw, LB_SHAPE(3, -1)));

	return lb_reshape(planes, LB_SHAPE(3, lb_dim(chw, 1), lb_dim(chw, 2)));
}

static lb_tensor *to_bytes(lb_tensor *x)
{
	lb_tensor *clipped = lb_clip(x, lb_scalar(0), lb_scalar(1));

	return lb_astype(lb_round(lb_multiply(clipped, lb_scalar(255))), LB_U8);
}

/* Nothing is computed here: this writes down what each step is. */
static struct image describe(lb_tensor *pixels, int radius)
{
	struct image image = {.pixels = pixels};
	lb_tensor *planes = lb_transpose(pixels, LB_AXES(2, 0, 1));

	image.chw = lb_divide(lb_astype(planes, LB_F32), lb_scalar(255));
	lb_named("photo.chw", image.chw);
	image.blurred = lb_named("photo.blurred", blur(image.chw, radius));
	image.graded = lb_named("photo.graded", grade(image.blurred));
	image.hwc = lb_transpose(to_bytes(image.graded), LB_AXES(1, 2, 0));
	lb_named("photo.hwc", image.hwc);
	return image;
}

/* ---- in and out ---- */

static bool complain(const char *what)
{
	fprintf(stderr, "photo: %s\n", what);
	return false;
}

static void free_pixels(void *data, void *context)
{
	(void)context;
	free(data);
}

/* The tensor uses the picture's memory in place, and gives it back at its end. */
static lb_tensor *read_pixels(const char *path)
{
	struct picture picture;
	char error[PICTURE_ERROR_MAX];

	if (path ? !picture_load(path, &picture, error) : !marbles_paint(WIDTH, HEIGHT, &picture)) {
		complain(path ? error : "not enough memory");
		return NULL;
	}
	int64_t nbytes = picture.height * picture.width * 3;
	lb_tensor *pixels = lb_from_memory(picture.rgb, (size_t)nbytes,
		LB_SHAPE(picture.height, picture.width, 3), LB_U8, free_pixels, NULL);
	if (!pixels)
		free(picture.rgb);
	return lb_named("photo.pixels", pixels);
}

static bool write_image(const struct image *image, const char *path, bool buggy)
{
	char error[PICTURE_ERROR_MAX];
	int64_t height = lb_dim(image->hwc, 0), width = lb_dim(image->hwc, 1);
	const uint8_t *rgb;

	if (!lb_eval(image->hwc))
		return false;
	if (buggy)
		rgb = lb_raw_data(image->hwc);
	else
		rgb = lb_data(image->hwc);
	if (!rgb)
		return false;
	return picture_save(path, width, height, rgb, error) || complain(error);
}

/* ---- the program ---- */

static void wait_for_enter(void)
{
	fprintf(stderr, "photo: process %d waits for Enter\n", (int)getpid());
	for (int c = getchar(); c != '\n' && c != EOF;)
		c = getchar();
}

/* Dies halfway, for those who want a core to look into: the blur is done, the rest is not. */
static void crash(const struct image *image)
{
	if (lb_eval(image->chw, image->blurred))
		abort();
}

static bool process(const struct options *options)
{
	bool written = false;

	LB_SCOPE {
		lb_tensor *pixels = read_pixels(options->in);
		if (!pixels)
			break;
		struct image image = describe(pixels, options->radius);
		if (options->pause)
			wait_for_enter();
		if (options->crash)
			crash(&image);
		written = write_image(&image, options->out, options->buggy);
	}
	if (!lb_ok())
		complain(lb_error_message());
	return written;
}

static const char usage[] =
	"Usage: photo [OPTION]... [IN] OUT\n"
	"Blurs and grades the PNG picture IN, or one of marbles, and writes the PNG file OUT.\n"
	"\n"
	"  --blur R   blur over R pixels each way, 0 to 64 (default 2)\n"
	"  --buggy    write the transposed picture by its storage pointer\n"
	"  --pause    describe the picture, then wait for Enter\n"
	"  --crash    abort() with the blur computed and the rest still lazy\n"
	"  --help     show this\n";

static bool parse_radius(const char *text, int *ret)
{
	char *end;
	long radius = strtol(text, &end, 10);

	if (end == text || *end || radius < 0 || radius > RADIUS_MAX)
		return complain("--blur needs a number from 0 to 64");
	*ret = (int)radius;
	return true;
}

static bool parse_options(int argc, char **argv, struct options *ret)
{
	static const struct option longs[] = {
		{"blur", required_argument, NULL, 'r'}, {"buggy", no_argument, NULL, 'b'},
		{"pause", no_argument, NULL, 'p'},      {"crash", no_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},       {0},
	};

	*ret = (struct options){.radius = 2};
	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		switch (c) {
		case 'r':
			if (!parse_radius(optarg, &ret->radius))
				return false;
			break;
		case 'b': ret->buggy = true; break;
		case 'p': ret->pause = true; break;
		case 'c': ret->crash = true; break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default: return false;
		}
	}
	if (argc - optind < 1 || argc - optind > 2)
		return complain("expected [IN] OUT; `photo --help` says more");
	if (argc - optind == 2)
		ret->in = argv[optind++];
	ret->out = argv[optind];
	return true;
}

int main(int argc, char **argv)
{
	struct options options;

	if (!parse_options(argc, argv, &options))
		return 2;
	return process(&options) ? 0 : 1;
}
