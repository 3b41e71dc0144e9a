/* Which elements one element is made of, where a replay computes the operation as a whole. */
#ifndef LBX_WHOLE_H
#define LBX_WHOLE_H

#include "inspect/replay/sources.h"

/* Sets the sources that it can tell more closely; ret has one for each input, which hold all of it.
 * False where nothing could be told. The inputs and the node have elements. */
bool lbx_sources_of_whole(const struct lbx_graph *graph, uint32_t node, int op, const int64_t *at,
			  const struct lbx_choice *choice, struct lbx_source *ret);

#endif
