/* The readers over memory that anybody may have written: the input's bytes are laid over the
 * regions of a hand-made program (tests/unit/image.c), then every inspection runs. Nothing may
 * crash, read outside, or take long; what the inspections say does not matter here.
 *
 *	clang -fsanitize=fuzzer,address … -DLBX_LIBFUZZER     coverage-guided
 *	fuzz_table FILE…                                      repeats inputs
 *	fuzz_table [-n N] [-s SEED] [-w FILE]                 N random damages of a good image;
 *	                                                      -w keeps the last one */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/image.h"
#include "base/error.h"
#include "inspect/command.h"

enum { MAX_TICKS = 64 };

struct sink {
	size_t bytes;
	int ticks;
};

static void swallow(struct lbx_out *out, const char *text, size_t n)
{
	struct sink *sink = out->context;
	/* read each byte, so that sanitizers see them */
	for (size_t i = 0; i < n; i++)
		sink->bytes += (unsigned char)text[i] & 1;
}

/* Long work is cut short: it must ask often enough. */
static bool tick(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	struct sink *sink = out->context;
	(void)what;
	(void)done;
	(void)total;
	return sink->ticks++ < MAX_TICKS;
}

static void run(struct lbx_context *context, const char *name, const char *rest, bool json)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);
	struct sink *sink = context->out->context;

	lb_clear_error();
	sink->ticks = 0;
	context->out->json = json;
	bool done = lbx_command_run(context, command, rest);
	if (!done && lb_ok()) {
		fprintf(stderr, "%s%s failed without saying why\n", name, rest);
		abort();
	}
}

static void inspect(struct image *image)
{
	static const struct { const char *name, *rest; } lines[] = {
		{ "status", "" }, { "list", "" }, { "list", "--sort name" }, { "list", "* --sort bytes" },
		{ "print", "x" }, { "print", "x[0,::-1,2:8:2]" }, { "stats", "lazy" },
		{ "info", "layer.0/view" }, { "stats", "layer.0/view[...,0]" }, { "at", "0x200010" },
		{ "at", "0x100010" }, { "info", "nobody" },
	};
	struct lbx_settings settings = lbx_default_settings;
	struct sink sink = { 0, 0 };
	struct lbx_out out = { .width = 80, .context = &sink, .write = swallow, .progress = tick };
	struct lbx_context context = { .target = &image->target, .out = &out,
				       .settings = &settings };
	char text[32];

	settings.edge_items = 1;
	settings.threshold = 64;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		run(&context, lines[i].name, lines[i].rest, false);
		run(&context, lines[i].name, lines[i].rest, true);
	}
	for (int id = 1; id <= 18 && context.table; id++) {
		snprintf(text, sizeof text, "#%d", id);
		run(&context, "info", text, id & 1);
		run(&context, "print", text, !(id & 1));
		run(&context, "stats", text, id & 1);
	}
	lbx_table_destroy(context.table);
	lb_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image;

	image_create(&image, size & 1);
	image_populate(&image);
	image.maps = size & 2;
	for (int i = 0; i < image.n_regions && size; i++) {
		size_t n = size < image.regions[i].size ? size : image.regions[i].size;
		memcpy(image.regions[i].bytes, data, n);
		data += n;
		size -= n;
	}
	inspect(&image);
	image_destroy(&image);
	return 0;
}

#ifndef LBX_LIBFUZZER
static uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void damage(struct image *image, uint64_t *random)
{
	static const uint64_t values[] = {
		0, 1, 2, 8, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX,
		1ULL << 62, 1ULL << 32, IMAGE_TENSORS, IMAGE_BUFFERS, IMAGE_DATA, IMAGE_NAMES,
		UINT64_MAX - 4096,
	};
	int places = 1 << (random_bits(random) % 5);

	for (int i = 0; i < places; i++) {
		struct image_region *r = &image->regions[random_bits(random) % (uint64_t)image->n_regions];
		/* near the beginning there is more to break */
		uint64_t room = random_bits(random) % 3 ? (r->size < 0x900 ? r->size : 0x900) : r->size;
		uint64_t at = random_bits(random) % room, width = 1ULL << random_bits(random) % 4;
		uint64_t value = random_bits(random);
		if (random_bits(random) % 4)
			value = values[random_bits(random) % (sizeof values / sizeof *values)];
		at -= at % width;
		if (width <= r->size - at)
			memcpy(r->bytes + at, &value, width);
	}
}

static bool write_image(const struct image *image, const char *path)
{
	FILE *f = fopen(path, "wb");
	for (int i = 0; f && i < image->n_regions; i++)
		fwrite(image->regions[i].bytes, 1, image->regions[i].size, f);
	return f && fclose(f) == 0;
}

static bool run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = malloc(1 << 20);
	size_t n = f && bytes ? fread(bytes, 1, 1 << 20, f) : 0;

	if (f)
		fclose(f);
	else
		perror(path);
	LLVMFuzzerTestOneInput(bytes, n);
	free(bytes);
	return f != NULL;
}

int main(int argc, char **argv)
{
	long n = 1000;
	uint64_t random = 0x9e3779b97f4a7c15ULL;
	const char *keep = NULL;
	int option, status = 0;

	while ((option = getopt(argc, argv, "n:s:w:")) != -1) {
		if (option == 'n')
			n = atol(optarg);
		else if (option == 's')
			random ^= strtoull(optarg, NULL, 0) * 0xbf58476d1ce4e5b9ULL;
		else if (option == 'w')
			keep = optarg;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		status |= !run_file(argv[i]);
	for (long i = 0; i < n && optind == argc; i++) {
		struct image image;
		image_create(&image, random_bits(&random) & 1);
		image.maps = random_bits(&random) & 1;
		image_populate(&image);
		damage(&image, &random);
		if (keep && !write_image(&image, keep))
			perror(keep);
		inspect(&image);
		image_destroy(&image);
	}
	if (optind == argc)
		printf("%ld damaged images inspected\n", n);
	return status;
}
#endif
