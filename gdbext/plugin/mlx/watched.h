/* Arrays that an evaluation computes, for catches of values: they are looked at when they have theirs. */
#ifndef LBX_PLUGIN_MLX_WATCHED_H
#define LBX_PLUGIN_MLX_WATCHED_H

#include "mlx/near.h"
#include "plugin/stops/catch_kinds.h"

struct lbx_watched {
	uint64_t *list; /* addresses of records, each behind those that it is made of */
	size_t n, room;
};

/* Those that the catch of this number waits for. NULL: it has no place. */
struct lbx_watched *lbx_watched_of(int catch);
/* Whether any catch waits for one. */
bool lbx_watched_any(void);
/* An evaluation of what `order` has is about to begin: adds those that the catch is of, or, where it is of any, all that have a
 * name. False while the answer is awaited, and without memory. */
bool lbx_watched_begin(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_mlx_order *order);
/* Takes the first one of a catch's that has its value now from the list: its record, 0: there is none. Those that are gone are
 * passed over. `at`: where it stands. */
uint64_t lbx_watched_done(struct lbx_context *context, const struct lbx_watched *w, size_t *at);
/* Drops those that are done, or gone. */
void lbx_watched_drop(struct lbx_context *context, struct lbx_watched *w);
void lbx_watched_forget(int catch); /* 0: of all */

#endif
