/* What the program's threads do with tensors, as the sets that are no runtime of ours tell it (tensors/work.h). */
#ifndef LBX_SHOW_WORK_H
#define LBX_SHOW_WORK_H

#include "inspect/command.h"
#include "tensors/work.h"

struct lbx_works {
	bool is_told; /* there is a set that tells */
	struct lbx_work *list; /* those that have something to do, who computes first */
	int n, n_idle;
};

/* Of all sets; to be freed. Fails without memory. */
bool lbx_works_collect(struct lbx_context *context, struct lbx_works *ret);
void lbx_works_free(struct lbx_works *works);
/* The i-th line of text on a thread, without its newline; false: there are i. */
bool lbx_describe_work(const struct lbx_work *work, int i, char *ret, size_t size);
/* Members of the list that is open, and lines of text behind `indent` blanks; or that there are none. */
void lbx_tell_works(struct lbx_context *context, const struct lbx_works *works, int indent);

#endif
