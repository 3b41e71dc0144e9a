/* Fuzzes the readers: the input's bytes are laid over the memory of a hand-made program
 * (tests/unit/image.c), and one inspection looks at it. `make fuzz` builds and runs it with
 * libFuzzer; without that it has a main of its own:
 *
 *	fuzz_table FILE…                        repeats inputs
 *	fuzz_table [-n N] [-s SEED] [-w FILE]   N random damages; -w keeps the last input
 *
 * The first byte of an input chooses the inspection, the second text or JSON, whether memory
 * can be mapped, and the order of the fields; then come changes of 12 bytes. The program is made
 * once, and each run undoes its changes: ten million runs are a matter of minutes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/damage.h"

enum { HEAD = 2, CHANGES = 64, CHANGE = sizeof(struct image_change), INPUT = HEAD + CHANGES * CHANGE };
enum { JSON = 1, MAPS = 2, SHUFFLED = 4 };

static struct image *image_of(bool shuffled)
{
	static struct image images[2];
	struct image *image = &images[shuffled];

	if (image->n_regions == 0)
		image_create_whole(image, shuffled);
	return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_change changes[CHANGES];

	if (size < HEAD)
		return 0;
	struct image *image = image_of(data[1] & SHUFFLED);
	size_t n = (size - HEAD) / CHANGE < CHANGES ? (size - HEAD) / CHANGE : CHANGES;
	memcpy(changes, data + HEAD, n * CHANGE);
	for (size_t i = 0; i < n; i++)
		image_swap(image, &changes[i]);
	image->maps = data[1] & MAPS;
	image_inspect_one(image, data[0], data[1] & JSON);
	while (n > 0)
		image_swap(image, &changes[--n]);
	return 0;
}

#ifndef LBX_LIBFUZZER
static bool run_file(const char *path)
{
	uint8_t bytes[INPUT];
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		return false;
	}
	size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, n);
	return true;
}

static bool keep(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	bool done = f && fwrite(bytes, 1, n, f) == n;
	return f && fclose(f) == 0 && done;
}

static size_t make_input(uint64_t *random, uint8_t *input)
{
	struct image_change change = image_random_change(random);
	int changes = 1 << (change.where >> 16) % 5;

	for (int i = -1; i < changes; i++) {
		if (i < 0)
			memcpy(input, &change.where, HEAD);
		else
			memcpy(input + HEAD + i * CHANGE, &change, CHANGE);
		change = image_random_change(random);
	}
	return HEAD + (size_t)changes * CHANGE;
}

int main(int argc, char **argv)
{
	long n = 1000;
	uint64_t random = 0x9e3779b97f4a7c15ULL;
	const char *kept = NULL;
	uint8_t input[INPUT];
	int option, status = 0;

	while ((option = getopt(argc, argv, "n:s:w:")) != -1) {
		if (option == 'n')
			n = atol(optarg);
		else if (option == 's')
			random ^= strtoull(optarg, NULL, 0) * 0xbf58476d1ce4e5b9ULL;
		else if (option == 'w')
			kept = optarg;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		status |= !run_file(argv[i]);
	for (long i = 0; i < n && optind == argc; i++) {
		size_t size = make_input(&random, input);
		if (kept && !keep(kept, input, size))
			perror(kept);
		LLVMFuzzerTestOneInput(input, size);
	}
	if (optind == argc)
		printf("%ld damaged images inspected\n", n);
	return status;
}
#endif
