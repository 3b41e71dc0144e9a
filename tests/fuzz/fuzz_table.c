/* Fuzzes the readers: the input's bytes are laid over the memory of a hand-made program
 * (tests/unit/image.c), then every inspection runs. `make fuzz` builds and runs it with libFuzzer;
 * without that it has a main of its own:
 *
 *	fuzz_table FILE…                        repeats inputs
 *	fuzz_table [-n N] [-s SEED] [-w FILE]   N random damages; -w keeps the last image */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/damage.h"

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
	image_inspect(&image);
	image_destroy(&image);
	return 0;
}

#ifndef LBX_LIBFUZZER
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
		image_create(&image, i & 1);
		image.maps = i & 2;
		image_populate(&image);
		image_damage(&image, &random);
		if (keep && !write_image(&image, keep))
			perror(keep);
		image_inspect(&image);
		image_destroy(&image);
	}
	if (optind == argc)
		printf("%ld damaged images inspected\n", n);
	return status;
}
#endif
