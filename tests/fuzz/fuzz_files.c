/* Fuzzes the readers of files: every format, from bytes that a fuzzer makes up, used to the end
 * under sanitizers. `make fuzz` builds and runs it with libFuzzer; without that it has a main of
 * its own:
 *
 *	fuzz_files FILE…                      repeats inputs, such as those of a crash
 *	fuzz_files -n N [-s SEED] FILE…       then makes N of them with random damages */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_walk.h"
#include "lazybones.h"

enum { MAX_BYTES = 1 << 20 }; /* of a tensor that is evaluated */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* what a small file makes the runtime allocate must stay small */
	lb_set_memory_limit(64 << 20);
	bool ok = file_walk(data, size, MAX_BYTES);
	if (ok != lb_ok())
		__builtin_trap(); /* an error without a message, or a message without an error */
	lb_clear_error();
	return 0;
}

#ifndef LBX_LIBFUZZER

static uint64_t random_state = 1;

/* xorshift64* (Vigna, 2016) */
static uint64_t next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1d;
}

/* Changes up to eight places: bits, interesting numbers, copies, and the length. */
static size_t mutate(uint8_t *bytes, size_t n)
{
	static const uint64_t numbers[] = { 0,
					    1,
					    0x7f,
					    0xff,
					    0xffff,
					    0x7fffffff,
					    0xffffffff,
					    0x7fffffffffffffff,
					    0xffffffffffffffff,
					    1ull << 62,
					    1ull << 32 };
	for (uint64_t i = next_random() % 8 + 1; i-- && n;) {
		size_t at = next_random() % n, to = next_random() % n, width = 1u << next_random() % 4;
		size_t larger = at > to ? at : to, fits = n - larger < width ? n - larger : width;
		switch (next_random() % 5) {
		case 0: bytes[at] ^= (uint8_t)(1 << next_random() % 8); break;
		case 1: bytes[at] = (uint8_t)next_random(); break;
		case 2:
			memcpy(bytes + at, &numbers[next_random() % (sizeof numbers / sizeof *numbers)],
			       n - at < width ? n - at : width);
			break;
		case 3: memmove(bytes + to, bytes + at, fits); break;
		default:
			if (next_random() % 8 == 0)
				n = at;
		}
	}
	return n;
}

struct input {
	uint8_t *bytes;
	size_t n;
};

static bool read_input(const char *path, struct input *ret)
{
	enum { MOST = 1 << 20 };
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		return false;
	}
	ret->bytes = malloc(MOST);
	ret->n = ret->bytes ? fread(ret->bytes, 1, MOST, f) : 0;
	fclose(f);
	return ret->bytes != NULL;
}

/* A copy of exactly its size, so that a sanitizer sees the first byte beyond. */
static bool run(const struct input *input, bool changed)
{
	uint8_t *copy = malloc(input->n + 1);
	if (!copy)
		return false;
	memcpy(copy, input->bytes, input->n);
	size_t n = changed ? mutate(copy, input->n) : input->n;
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
	return true;
}

int main(int argc, char **argv)
{
	struct input *inputs = calloc((size_t)argc + 1, sizeof *inputs);
	uint64_t runs = 0;
	int n = 0;
	bool ok = inputs != NULL;
	for (int option; (option = getopt(argc, argv, "n:s:")) != -1 && ok;) {
		if (option == 'n')
			runs = strtoull(optarg, NULL, 10);
		else if (option == 's')
			random_state = strtoull(optarg, NULL, 0) | 1;
		else
			ok = false;
	}
	for (int i = optind; i < argc && ok; i++)
		ok = read_input(argv[i], &inputs[n++]);
	for (int i = 0; i < n && ok; i++)
		ok = run(&inputs[i], false);
	for (uint64_t i = 0; i < runs && n && ok; i++)
		ok = run(&inputs[next_random() % (uint64_t)n], true);
	if (ok)
		printf("%d inputs, %llu with damages\n", n, (unsigned long long)runs);
	for (int i = 0; i < n; i++)
		free(inputs[i].bytes);
	free(inputs);
	return ok ? 0 : 1;
}
#endif
