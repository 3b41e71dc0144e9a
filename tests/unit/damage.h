/* Inspections of a program whose memory anybody may have written: nothing may crash, read
 * outside, or take long; what is said does not matter. */
#ifndef TESTS_DAMAGE_H
#define TESTS_DAMAGE_H

#include "image.h"

/* Runs every inspection, as text and as JSON; aborts when one fails without saying why. */
void image_inspect(struct image *image);
/* Overwrites a few places, mostly where it hurts. `random` is the generator's state, not 0. */
void image_damage(struct image *image, uint64_t *random);

#endif
