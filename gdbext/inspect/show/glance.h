/* A tensor, or what is computed of some, in one line: what it is, and its value, or how far its values reach. */
#ifndef LBX_GLANCE_H
#define LBX_GLANCE_H

#include "inspect/command.h"

enum { LBX_GLANCE_WHOLE = 6, LBX_GLANCE_MOST = 1 << 20 };

struct lbx_glance {
	const char *text; /* as an operand is written */
	bool peek;        /* what is lazy is computed outside the program */
};

/* Tells "loss: float32 (), ready: 0.25", or the fields of the object that is open. Up to LBX_GLANCE_WHOLE elements are
 * told themselves; of more the range, the mean and the NaN, of the first LBX_GLANCE_MOST at most. What cannot be
 * evaluated is told as such, and no failure: false only where the debugger has not answered yet, or the user does not
 * want to wait. */
bool lbx_glance(struct lbx_context *context, const struct lbx_glance *glance);

#endif
