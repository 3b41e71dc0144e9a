/* Memory that no variable of the program leads to, as far as its language is known, and which variables keep graphs. */
#ifndef LBX_UNREACHED_H
#define LBX_UNREACHED_H

#include "inspect/memory/holdings.h"

/* "unreached" and "graphs", and as text, where there are some; the first `limit` graphs, 0: all. */
void lbx_unreached_tell(struct lbx_context *context, const struct lbx_snapshot *s, int64_t limit);

#endif
