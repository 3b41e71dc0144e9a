/* What was seen at each call of the program: how often, and the tensors of one time. */
#ifndef LBX_CALLS_H
#define LBX_CALLS_H

#include "inspect/diagnose/rule.h"

enum { LBX_CALLS_MOST = 64 };

struct lbx_call {
	uint64_t site, times;
	struct lbx_key tensors[2]; /* whoever counts it says which; all 0 at first */
	double figure;             /* likewise */
};

struct lbx_calls {
	int n;
	struct lbx_call list[LBX_CALLS_MOST];
};

/* Counts one more at a call. NULL: there are too many others. */
struct lbx_call *lbx_calls_count(struct lbx_calls *calls, uint64_t site);
/* Counts that t was made; of the first of its call, it is kept, with another tensor or NULL. */
struct lbx_call *lbx_calls_see(struct lbx_calls *calls, const struct lbx_tensor *t, const struct lbx_tensor *other);
/* Likewise, with a figure that is kept of the first. */
void lbx_calls_see_figure(struct lbx_calls *calls, const struct lbx_tensor *t, double figure);

/* Fills in a finding about the tensor of a call; `text` describes it. */
typedef void lbx_say_call(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t,
			  const char *text);
/* A finding for each call whose tensor is still there. */
bool lbx_calls_tell(struct lbx_case *c, const struct lbx_calls *calls, enum lbx_severity severity, double confidence,
		    lbx_say_call *say);

#endif
