/* Who holds the largest buffers. */
#ifndef LBX_HOLDERS_H
#define LBX_HOLDERS_H

#include "inspect/command.h"

enum { LBX_HOLDERS_MAX = 32, LBX_HOLDERS_NAMED = 6, LBX_HOLDERS_OTHERS = 4 };

struct lbx_held_by {
	const struct lbx_tensors *of;
	uint64_t id;
	bool is_view;
	char name[LB_NAME_MAX + 1];
};

struct lbx_holder {
	struct lbx_buffer buffer;
	int64_t bytes;
	uint64_t site;           /* that made the tensor it was allocated for, or the first of them */
	uint64_t n_tensors;      /* that lie over it; the first LBX_HOLDERS_NAMED in `tensors` */
	struct lbx_held_by tensors[LBX_HOLDERS_NAMED];
	int64_t named;           /* bytes of those that have a name: no more of it has one; 0: none has */
	int64_t covered;         /* likewise of all of them */
	uint64_t n_consumers;    /* lazy tensors that these are inputs of; likewise */
	struct lbx_held_by consumers[LBX_HOLDERS_NAMED];
	int n_others;            /* who holds tensors of its size that are kept for it, as an optimiser's state: */
	struct lbx_other_holder {
		char name[LB_NAME_MAX + 1];
		int64_t n;
	} others[LBX_HOLDERS_OTHERS];
	bool scope;              /* an open scope holds one of them */
};

/* The `max` (at most LBX_HOLDERS_MAX) largest buffers in use, the largest first; *ret_n of them. */
bool lbx_holders_find(struct lbx_context *context, int max, struct lbx_holder *ret, int *ret_n);
/* Whether a small part of a large buffer, all that has a name, keeps the rest; or, where none has one, all that anybody holds. */
bool lbx_holder_is_pinned(const struct lbx_holder *holder);
/* "w (#3), 2 views of it: v (#5), …; an input of y (#9); an open scope; 2 of its size held by optimizer.state" */
void lbx_describe_holder(const struct lbx_holder *holder, char *ret, size_t size);
json_t *lbx_json_holder(const struct lbx_holder *holder);

#endif
