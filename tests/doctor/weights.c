/* Weights: left as they were made, of an odd dtype, read where they could be mapped. */
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
