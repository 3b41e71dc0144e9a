/* Which tensors were there at a mark (`memory mark NAME`), to tell those that have been made since. */
#ifndef LBX_SINCE_H
#define LBX_SINCE_H

#include "inspect/command.h"

enum { LBX_MARKED_MAX = 32 };

/* What a front end keeps as long as it lives (context->marked). Of a runtime whose numbers are given once. */
struct lbx_marked {
	int n;
	struct {
		char name[64];
		uint64_t pid, *ids; /* sorted */
		size_t n_ids;
	} list[LBX_MARKED_MAX];
};

void lbx_marked_deinit(struct lbx_marked *marked);
/* Those that are there now, under a name; what had the name before goes. */
bool lbx_marked_note(struct lbx_context *context, const char *name);
/* Those that were there. Fails, saying which marks there are, or that it was of another process. */
bool lbx_marked_find(struct lbx_context *context, const char *name, const uint64_t **ret, size_t *ret_n);

#endif
