/* Work cut into parts that all cores take in turn. */
#ifndef LBX_CREW_H
#define LBX_CREW_H

#include "inspect/out.h"

/* Calls work(context, i) for each i in [begin, end), from several threads at once, the calling one
 * among them, which alone tells progress (as `per_part` of `total`). The work touches neither
 * target, output nor errors. False when the user interrupts: parts that were begun are done then,
 * others are not. */
bool lbx_crew_run(struct lbx_out *out, const char *doing, int64_t begin, int64_t end,
		  int64_t per_part, int64_t total, void (*work)(void *context, int64_t part),
		  void *context);

#endif
