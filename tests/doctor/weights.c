/* Weights: left as they were made, of an odd dtype, read where they could be mapped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene.h"

enum { LAYERS = 8 };

static lb_tensor *named(const char *format, int i, lb_tensor *x)
{
	char name[64];

	snprintf(name, sizeof name, format, i);
	return lb_keep(lb_named(name, x));
}

/* The program's own memory, as a file that was mapped is. */
static lb_tensor *loaded(void)
{
	static float values[LAYERS * 64];
	static int taken;

	for (int i = 0; i < 64; i++)
		values[64 * taken + i] = (float)(i + taken) / 100;
	return lb_from_memory(&values[64 * taken++], 64 * sizeof *values, LB_SHAPE(8, 8), LB_F32, NULL, NULL);
}

void play_left_random(bool sick)
{
	for (int i = 0; i < LAYERS; i++)
		lb_eval(named("layers.%d.fc.weight", i, sick && i == 5 ? normal(8, 8, 7) : loaded()));
}

void play_left_zero(bool sick)
{
	for (int i = 0; i < LAYERS; i++)
		lb_eval(named("blocks.%d.attn.bias", i, sick && i == 2 ? lb_zeros(LB_SHAPE(8, 8), LB_F32) : loaded()));
}

void play_odd_dtype(bool sick)
{
	for (int i = 0; i < LAYERS; i++)
		lb_eval(named("h.%d.weight", i, lb_astype(loaded(), sick && i == 7 ? LB_F32 : LB_F16)));
}

/* Of a layer in the midst; in the healthy one the last layer is a head of another width, and each bias fits its weight. */
static void make_layers(const char *weight, const char *bias, int cut, int64_t head)
{
	for (int i = 0; i < LAYERS; i++) {
		int64_t width = head && i == LAYERS - 1 ? head : 8;
		lb_eval(named(weight, i, normal(width, 4, 40 + (uint64_t)i)),
			named(bias, i, lb_full(LB_SHAPE(i == cut ? 1 : width), 0.5, LB_F32)));
	}
}

void play_odd_bias(bool sick)
{
	make_layers("layers.%d.fc.weight", "layers.%d.fc.bias", sick ? 3 : -1, sick ? 0 : 10);
}

/* Biases that differ for good reasons: of the first layer, of several, of a layer whose weight differs, too, of convolutions. */
void play_uneven_layers(bool sick)
{
	(void)sick;
	make_layers("first.%d.weight", "first.%d.bias", 0, 0);
	make_layers("last.%d.weight", "last.%d.bias", LAYERS - 1, 0);
	for (int i = 0; i < LAYERS; i++) {
		int64_t width = i == 4 ? 16 : 8;
		lb_eval(named("wide.%d.weight", i, normal(width, 4, 60 + (uint64_t)i)),
			named("wide.%d.bias", i, lb_zeros(LB_SHAPE(width), LB_F32)),
			named("two.%d.weight", i, normal(8, 4, 80 + (uint64_t)i)),
			named("two.%d.bias", i, lb_zeros(LB_SHAPE(i == 3 || i == 5 ? 1 : 8), LB_F32)),
			named("rope.%d.weight", i, normal(8, 4, 90 + (uint64_t)i)),
			named("rope.%d.bias", i, lb_zeros(LB_SHAPE(i == 4 ? 4 : 8), LB_F32)));
	}
}

/* All of them are random, as those of a model that is to be trained; and norms have a dtype of their own. */
void play_initialised(bool sick)
{
	(void)sick;
	for (int i = 0; i < LAYERS; i++) {
		lb_eval(named("layers.%d.weight", 2 * i, lb_astype(normal(8, 8, 20 + (uint64_t)i), LB_F16)));
		if (i == 0)
			lb_eval(named("layers.%d.weight", 1, lb_full(LB_SHAPE(8), 1, LB_F32)));
	}
}

static lb_quantized quantised(const char *name, lb_tensor *x, lb_quant how)
{
	lb_quantized q = lb_quantize(x, how, NULL);
	lb_tensor *parts[] = { q.w, q.scales, q.biases };
	static const char *const ends[] = { "weight", "scales", "biases" };

	for (int i = 0; i < 3 && parts[i]; i++) {
		char text[64];
		snprintf(text, sizeof text, "%s.%s", name, ends[i]);
		lb_eval(lb_keep(lb_named(text, parts[i])));
	}
	return q;
}

static const lb_quant affine = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 64 };

/* One weight that is NaN makes the scale of its group NaN. */
void play_quantised_nan(bool sick)
{
	LB_SCOPE {
		lb_tensor *x = normal(16, 192, 3);
		lb_tensor *odd = lb_where(lb_greater(x, lb_scalar(2.5)), lb_scalar(NAN), x);
		quantised("wq", sick ? odd : x, affine);
	}
}

/* The name of a part is given to one of another weight: of more rows, or of half as many columns. */
void play_scales_of_another(bool sick)
{
	lb_quantized q = quantised("layers.0.wq", normal(16, 192, 3), affine);

	if (!sick)
		return;
	lb_named("layers.0.wq.unused", q.scales);
	lb_eval(lb_keep(lb_named("layers.0.wq.scales", lb_quantize(normal(16, 320, 4), affine, NULL).scales)));
}

void play_scales_transposed(bool sick)
{
	lb_quantized q = quantised("h.0.mlp", normal(16, 192, 3), affine);

	if (!sick)
		return;
	lb_named("h.0.mlp.unused", q.scales);
	lb_eval(lb_keep(lb_named("h.0.mlp.scales", lb_transpose(q.scales, LB_AXES(1, 0)))));
}

void play_biases_of_another(bool sick)
{
	lb_quantized q = quantised("out", normal(8, 256, 3), affine);

	if (!sick)
		return;
	lb_named("out.unused", q.biases);
	lb_eval(lb_keep(lb_named("out.biases", lb_quantize(normal(8, 128, 4), affine, NULL).biases)));
}

/* All formats; and words that have no scales, scales that have no words. */
void play_quantised(bool sick)
{
	static const lb_quant formats[] = { { .mode = LB_QUANT_AFFINE, .bits = 2, .group = 128 }, { .mode = LB_QUANT_AFFINE, .bits = 3, .group = 32 },
					    { .mode = LB_QUANT_AFFINE, .bits = 5, .group = 64 },  { .mode = LB_QUANT_AFFINE, .bits = 6, .group = 128 },
					    { .mode = LB_QUANT_AFFINE, .bits = 8, .group = 32 },  { .mode = LB_QUANT_MXFP4, .bits = 4, .group = 32 },
					    { .mode = LB_QUANT_MXFP8, .bits = 8, .group = 32 },   { .mode = LB_QUANT_NVFP4, .bits = 4, .group = 16 } };

	(void)sick;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		char name[32];
		snprintf(name, sizeof name, "layers.%zu.fc", i);
		quantised(name, normal(8, 384, 3), formats[i]);
	}
	lb_eval(named("ids.%d.weight", 0, lb_zeros(LB_SHAPE(4, 4), LB_U32)));
	lb_eval(named("norm.%d.scale", 0, lb_ones(LB_SHAPE(4), LB_F32)));
}

/* A file of 12 MiB, read and then opened; or mapped. */
void play_read_whole(bool sick)
{
	char path[] = "/tmp/lazybones-doctor-XXXXXX";
	int64_t n = 3 << 20;
	size_t size = 4 * (size_t)n + 4096;
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
	char *bytes = malloc(size);

	if (!file || !bytes || !lb_save_npy(path, lb_zeros(LB_SHAPE(n), LB_F32)))
		return;
	file = freopen(path, "rb", file);
	size = fread(bytes, 1, size, file);
	lb_file *opened = sick ? lb_open_bytes(bytes, size, "model") : lb_open(path);
	lb_eval(lb_keep(lb_named("x", lb_file_get_at(opened, 0))));
	remove(path);
}
