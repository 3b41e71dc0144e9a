/* Fuzzes the command line: rows of the command table with arguments that are half sense, over
 * the memory of a hand-made program (tests/unit/image.c). `make fuzz` builds and runs it with
 * libFuzzer; without that it has a main of its own:
 *
 *	fuzz_command FILE…              repeats inputs
 *	fuzz_command [-n N] [-s SEED]   N random lines, -v prints them
 *
 * The first byte of an input chooses the command, the second text or JSON; of the others each is
 * a character, or from 0x80 on a word. Some commands write files: run it in a directory of its own,
 * which no line leads out of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/damage.h"

enum { HEAD = 2, INPUT = 64, WORDS = 0x80 };

static const char *const words[] = {
	" x", " lazy", " layer.0", " #1", " #2", " #99", " #", " nobody", " 0x200010", " 0x100010",
	" -1", " 0", " 1", " 8", " 9223372036854775807", " 1e308", " nan", " 1e-3", " 1:2", "=",
	"[0]", "[0, ::2]", "[..., -1]", "[::-1]", "[-9223372036854775808:]", "[", "]", "(", ")", "'",
	"\"", "\\", " *", " ?", " [a-z]", " f32", " float32", " int64", " ready", " bytes", " --", " --json",
	" x.npy", " x.core:x", " 0,1", " 4,4", " (2, 3)", " shape", " 2G", " all", ",", "\xff", "%s%n",
};
enum { N_WORDS = sizeof words / sizeof *words, N_TENSORS = 5 };

static const struct lbx_command *command_of(unsigned which)
{
	unsigned n = 0;

	while (lbx_commands[n].name)
		n++;
	return &lbx_commands[which % n];
}

/* An option of the command, or a word of any kind. --png would run another program each time. */
static void append_word(char *line, size_t size, const struct lbx_command *command, unsigned which)
{
	const unsigned max = sizeof command->options / sizeof *command->options;
	size_t n = strlen(line);

	if (which < max) {
		const char *name = command->options[which].name;
		if (name && strcmp(name, "png") != 0)
			snprintf(line + n, size - n, " --%s ", name);
	} else {
		snprintf(line + n, size - n, "%s", words[which % N_WORDS]);
	}
}

static void line_of(const struct lbx_command *command, const uint8_t *data, size_t size, char *line,
		    size_t room)
{
	*line = '\0';
	for (size_t i = 0; i < size && strlen(line) + 40 < room; i++) {
		if (data[i] >= WORDS)
			append_word(line, room, command, data[i] - WORDS);
		else if (data[i] && data[i] != '/' && data[i] != '~')
			strncat(line, (const char *)&data[i], 1);
	}
}

static bool verbose;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;
	char line[1024];

	if (size < HEAD)
		return 0;
	if (image.n_regions == 0)
		image_create_whole(&image, false);
	const struct lbx_command *command = command_of(data[0]);
	line_of(command, data + HEAD, size - HEAD, line, sizeof line);
	if (verbose)
		fprintf(stderr, "%s %s\n", command->name, line);
	image_command(&image, command, line, data[1] & 1);
	return 0;
}

#ifndef LBX_LIBFUZZER
static bool run_file(const char *path)
{
	uint8_t bytes[4096];
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

int main(int argc, char **argv)
{
	uint64_t random = 0x9e3779b97f4a7c15ULL;
	long n = 10000;
	int option, status = 0;

	while ((option = getopt(argc, argv, "n:s:v")) != -1) {
		if (option == 'n')
			n = atol(optarg);
		else if (option == 's')
			random ^= strtoull(optarg, NULL, 0) * 0xbf58476d1ce4e5b9ULL;
		else if (option == 'v')
			verbose = true;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		status |= !run_file(argv[i]);
	for (long i = 0; i < n && optind == argc; i++) {
		uint8_t input[INPUT];
		size_t size = HEAD;

		for (size_t k = 0; k < sizeof input; k++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			input[k] = (uint8_t)(random >> 33);
			/* mostly words */
			input[k] |= k >= HEAD && random >> 62 ? WORDS : 0;
		}
		if (random >> 45 & 1) /* a tensor to begin with */
			input[HEAD] = (uint8_t)(WORDS + N_WORDS + random % N_TENSORS);
		/* few words have a meaning; now and then more */
		size += random >> 40 & 7 ? input[0] % 4 + (random >> 50 & 3) : input[0] % (INPUT - HEAD);
		LLVMFuzzerTestOneInput(input, size);
	}
	if (optind == argc)
		printf("%ld lines tried\n", n);
	return status;
}
#endif
