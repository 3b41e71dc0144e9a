/* Which tensors have come and gone between two looks at a program. */
#ifndef LBX_COMINGS_H
#define LBX_COMINGS_H

#include "inspect/command.h"

struct lbx_comings {
	uint64_t *keys; /* of those at the last look, sorted */
	size_t n, room;
	bool is_compared; /* there was a look before it, since which: */
	int64_t born, gone;
};

bool lbx_comings_look(struct lbx_context *context, struct lbx_comings *comings);
void lbx_comings_deinit(struct lbx_comings *comings);

#endif
