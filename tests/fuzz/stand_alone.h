/* The main of a fuzzer without libFuzzer:
 *
 *	FUZZER FILE…                        repeats inputs
 *	FUZZER [-n N] [-s SEED] [-w FILE]   N random inputs; -w keeps the last one */
#ifndef TESTS_STAND_ALONE_H
#define TESTS_STAND_ALONE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FUZZ_INPUT = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef LBX_LIBFUZZER

/* Never 0. (xorshift64, Marsaglia 2003) */
static inline uint64_t fuzz_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Makes a random input; returns its size, FUZZ_INPUT at most. */
static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT]);

static int fuzz_repeat(const char *path)
{
	uint8_t input[FUZZ_INPUT];
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		return 1;
	}
	size_t n = fread(input, 1, sizeof input, f);
	fclose(f);
	LLVMFuzzerTestOneInput(input, n);
	return 0;
}

static void fuzz_keep(const char *path, const uint8_t *input, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(input, 1, n, f) != n)
		perror(path);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	uint64_t random = 0x9e3779b97f4a7c15ULL;
	const char *kept = NULL;
	long n = 1000;
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
		status |= fuzz_repeat(argv[i]);
	for (long i = 0; i < n && optind == argc; i++) {
		uint8_t input[FUZZ_INPUT];
		size_t size = fuzz_make(&random, input);

		if (kept)
			fuzz_keep(kept, input, size);
		LLVMFuzzerTestOneInput(input, size);
	}
	if (optind == argc)
		printf("%ld inputs tried\n", n);
	return status;
}

#endif
#endif
