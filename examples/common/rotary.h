/* Rotary positions: pairs of features turn by an angle that grows with the position, fast for the
 * first pair, slowly for the last. */
#ifndef COMMON_ROTARY_H
#define COMMON_ROTARY_H

#include "lazybones.h"

struct rotary {
	int64_t size;     /* features of a head that turn, the first ones; 0: all */
	double base, scale; /* pair i turns by position * scale * base^(-2i / size) */
	bool traditional; /* pairs are neighbours; else features half of `size` apart */
	struct yarn {
		int64_t context;   /* positions that the model has learnt; 0: no YaRN */
		double fast, slow; /* turns within them: pairs with more are not scaled, with fewer they are */
	} yarn;
};

/* x (…, positions, features), the first of which is at `position`. What the angle of each pair is
 * divided by, f32 (size / 2), or NULL. */
lb_tensor *rotary_turn(const struct rotary *rotary, lb_tensor *divisors, lb_tensor *x,
		       int64_t position);

#endif
