/* What several looks at one program have counted, for the rule that compares them: how many tensors there are of each
 * kind, which is those of one call, or runtime, that are alike in dtype and shape. */
#ifndef LBX_LOOKS_H
#define LBX_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

enum { LBX_LOOK_KINDS = 1 << 12 }; /* further ones are not counted */

struct lbx_look_kind {
	uint64_t hash; /* 0: there is none here */
	uint64_t n;
	int64_t bytes;
	/* Since when there have been more at each look: what the first of these looks saw, and when; how many came after it. */
	uint64_t n_then;
	int64_t bytes_then, ms_then;
	int grown;
};

/* One for a program; begins as zeros. */
struct lbx_looks {
	struct lbx_look_kind *kinds; /* LBX_LOOK_KINDS of them, of the last look; NULL: there was none */
};

/* Where the kind is, or its free place, in a table of LBX_LOOK_KINDS; NULL: the table is full. */
struct lbx_look_kind *lbx_look_kind(struct lbx_look_kind *kinds, uint64_t hash);
/* The counts of a look at this time, which become the looks' own: of each kind, how it has grown is filled in. */
void lbx_looks_add(struct lbx_looks *looks, struct lbx_look_kind *kinds, int64_t now_ms);
void lbx_looks_deinit(struct lbx_looks *looks);

#endif
