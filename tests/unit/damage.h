/* Inspections of a program whose memory anybody may have written: nothing may crash, read
 * outside, or take long; what is said does not matter. */
#ifndef TESTS_DAMAGE_H
#define TESTS_DAMAGE_H

#include "image.h"
#include "inspect/command.h"

/* A program with records of every kind. To be destroyed by image_destroy(). */
void image_create_whole(struct image *image, bool shuffled);
/* Runs every inspection, as text and as JSON; aborts when one fails without saying why. */
void image_inspect(struct image *image);
/* Runs one of them; any number chooses one. */
void image_inspect_one(struct image *image, unsigned which, bool json);

/* Runs one command with any arguments. */
void image_command(struct image *image, const struct lbx_command *command, const char *line, bool json);

/* Bytes for some place of the memory. */
struct image_change {
	uint32_t where;
	unsigned char bytes[8];
};

/* Exchanges the bytes of a change with those in memory: again, and nothing has happened. */
void image_swap(struct image *image, struct image_change *change);
/* One that hurts. `random` is the generator's state, not 0. */
struct image_change image_random_change(uint64_t *random);
/* Overwrites a few places, mostly where it hurts. */
void image_damage(struct image *image, uint64_t *random);

#endif
