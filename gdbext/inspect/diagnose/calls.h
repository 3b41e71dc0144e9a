/* What was seen at each call of the program: how often, and the tensors of one time. */
#ifndef LBX_CALLS_H
#define LBX_CALLS_H

#include "tensors/tensors.h"

enum { LBX_CALLS_MOST = 64 };

struct lbx_call {
	uint64_t site, times;
	struct lbx_key tensors[2]; /* whoever counts it says which; all 0 at first */
};

struct lbx_calls {
	int n;
	struct lbx_call list[LBX_CALLS_MOST];
};

/* Counts one more at a call. NULL: there are too many others. */
struct lbx_call *lbx_calls_count(struct lbx_calls *calls, uint64_t site);

#endif
