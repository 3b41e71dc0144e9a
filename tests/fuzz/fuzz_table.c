/* Fuzzes the readers: the input's bytes are laid over the memory of a hand-made program
 * (tests/unit/image.c), and one inspection looks at it.
 *
 * The first byte of an input chooses the inspection, the second text or JSON, whether memory
 * can be mapped, and the order of the fields; then come changes of 12 bytes. The program is made
 * once, and each run undoes its changes: ten million runs are a matter of minutes. */
#include <string.h>

#include "../unit/damage.h"
#include "stand_alone.h"

enum { HEAD = 2, CHANGES = 64, CHANGE = sizeof(struct image_change) };
enum { JSON = 1, MAPS = 2, SHUFFLED = 4 };

static struct image *image_of(bool shuffled)
{
	static struct image images[2];
	struct image *image = &images[shuffled];

	if (image->n_regions == 0)
		image_create_whole(image, shuffled);
	return image;
}

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
static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
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
#endif
