#include "inspect/diagnose/calls.h"

struct lbx_call *lbx_calls_count(struct lbx_calls *calls, uint64_t site)
{
	int i = 0;

	while (i < calls->n && calls->list[i].site != site)
		i++;
	if (i == LBX_CALLS_MOST)
		return NULL;
	if (i == calls->n)
		calls->list[calls->n++] = (struct lbx_call){ .site = site };
	calls->list[i].times++;
	return &calls->list[i];
}
