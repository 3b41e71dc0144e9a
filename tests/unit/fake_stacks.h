/* The stacks of a program whose memory is made by hand: it has died of a signal; two threads with three frames each,
 * whose variables hold the addresses of the image's regions, and what stands at some places of its (damaged) memory. */
#ifndef TESTS_FAKE_STACKS_H
#define TESTS_FAKE_STACKS_H

#include "image.h"
#include "target/stacks.h"

struct fake_stacks {
	struct lbx_stacks base;
	struct image *image;
};

struct fake_stacks fake_stacks(struct image *image);

#endif
