/* The time of a running program's events, for as long as somebody asks. */
#ifndef LBX_TIMED_H
#define LBX_TIMED_H

#include <stdint.h>

#include "inspect/command.h"

struct lbx_timed {
	bool detailed;     /* the buffers of the cache are asked for, too */
	uint64_t asked_ns; /* 0: not yet */
};

/* To be called again and again: what is asked for holds for some seconds, and ends by itself, in the
 * program, when nobody asks any more, for whatever reason. A program whose runtime does not know of that is
 * not asked: then only long operations are timed. */
void lbx_timed_ask(struct lbx_context *context, struct lbx_timed *timed);

#endif
