/* Fuzzes the command line: rows of the command table with arguments that are half sense, over
 * the memory of a hand-made program (tests/unit/image.c).
 *
 * The first byte of an input chooses the command, the second text or JSON; of the others each is
 * a character, or from 0x80 on a word. Some commands write files: run it in a directory of its own,
 * which no line leads out of. */
#include <stdio.h>
#include <string.h>

#include "../unit/damage.h"
#include "stand_alone.h"

enum { HEAD = 2, MOST = 62, WORDS = 0x80 };

static const char *const words[] = {
	" x",     " lazy",    " layer.0",  " #1",       " #2",
	" #99",   " #",       " nobody",   " 0x200010", " 0x100010",
	" -1",    " 0",       " 1",        " 8",        " 9223372036854775807",
	" 1e308", " nan",     " 1e-3",     " 1:2",      "=",
	"[0]",    "[0, ::2]", "[..., -1]", "[::-1]",    "[-9223372036854775808:]",
	"[",      "]",        "(",         ")",         "'",
	"\"",     "\\",       " *",        " ?",        " [a-z]",
	" f32",   " float32", " int64",    " ready",    " bytes",
	" --",    " --json",  " x.npy",    " x.core:x", " 0,1",
	" 4,4",   " (2, 3)",  " shape",    " 2G",       " all",
	",",      "\xff",     "%s%n",
};
enum { N_WORDS = sizeof words / sizeof *words, N_TENSORS = 5 };

static const struct lbx_command *command_of(unsigned which)
{
	unsigned n = 0;

	while (lbx_commands[n])
		n++;
	return lbx_commands[which % n];
}

/* An option of the command, or a word of any kind. --png and --svg would run another program each time. */
static void append_word(char *line, size_t size, const struct lbx_command *command, unsigned which)
{
	const unsigned max = sizeof command->options / sizeof *command->options;
	size_t n = strlen(line);

	if (which < max) {
		const char *name = command->options[which].name;
		if (name && strcmp(name, "png") != 0 && strcmp(name, "svg") != 0)
			snprintf(line + n, size - n, " --%s ", name);
	} else {
		snprintf(line + n, size - n, "%s", words[which % N_WORDS]);
	}
}

static void line_of(const struct lbx_command *command, const uint8_t *data, size_t size, char *line, size_t room)
{
	*line = '\0';
	for (size_t i = 0; i < size && strlen(line) + 40 < room; i++) {
		if (data[i] >= WORDS)
			append_word(line, room, command, data[i] - WORDS);
		else if (data[i] && data[i] != '/' && data[i] != '~')
			strncat(line, (const char *)&data[i], 1);
	}
}

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
	image_command(&image, command, line, data[1] & 1);
	return 0;
}

#ifndef LBX_LIBFUZZER
/* Mostly words, and few of them, often a tensor to begin with: other lines have no meaning. */
static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
{
	size_t n = fuzz_random(random) % 8 ? fuzz_random(random) % 6 : fuzz_random(random) % MOST;

	for (size_t k = 0; k < HEAD + n; k++) {
		uint64_t r = fuzz_random(random);
		input[k] = (uint8_t)(r >> 8 | (k >= HEAD && r % 4 ? WORDS : 0));
	}
	if (n && fuzz_random(random) % 2)
		input[HEAD] = (uint8_t)(WORDS + N_WORDS + fuzz_random(random) % N_TENSORS);
	return HEAD + n;
}
#endif
