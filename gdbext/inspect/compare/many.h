/* All tensors of a pattern beside those of the same names elsewhere: a line each. */
#ifndef LBX_MANY_H
#define LBX_MANY_H

#include "inspect/command.h"
#include "inspect/compare/closeness.h"

/* Whether what stands where a tensor could means several: a pattern, which is no expression of C (*p), or a file of arrays
 * or a folder of such, all of which is meant. */
bool lbx_is_many(const char *text);
/* `other`: a file or a folder of arrays, or a core. `seconds`: what is spent on an explanation of the first that differs;
 * 0: none is looked for. `limit`: rows; 0: all. */
bool lbx_diff_many(struct lbx_context *context, const char *text, const char *other, const struct lbx_levels *levels,
		   double seconds, int64_t limit);

#endif
