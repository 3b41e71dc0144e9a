/* A target whose memory is read more or less in order: many small reads become few large ones. What is held is as it was
 * when it was read, so a window is for one walk. */
#ifndef LBX_WINDOW_H
#define LBX_WINDOW_H

#include "target/target.h"

enum { LBX_WINDOW = 1 << 15 };

struct lbx_window {
	struct lbx_target target; /* first; it can read, no more */
	struct lbx_target *of;
	uint64_t at, next; /* what is held; where a read in order would begin */
	size_t n;
	unsigned char bytes[LBX_WINDOW];
};

/* `of` must outlive it. There is nothing to free. */
void lbx_window_init(struct lbx_window *window, struct lbx_target *of);

/* A walk over numbered records, one after the other from 0 on, that anybody may begin anew at any time. */
struct lbx_walk {
	struct lbx_window window;
	uint64_t next; /* the record that the one who began last comes to */
};

void lbx_walk_begin(struct lbx_walk *walk, struct lbx_target *of);
/* What to read the i-th record by: the window, of whoever goes on with the walk; for others, who would see what may be
 * older, `of` itself. */
struct lbx_target *lbx_walk_target(struct lbx_walk *walk, struct lbx_target *of, uint64_t i);

#endif
