/* The words in the program's memory that make the runtime look, and how they get there and away. */
#ifndef LBX_PLUGIN_CATCH_WATCH_H
#define LBX_PLUGIN_CATCH_WATCH_H

#include "plugin/stops/catch_kinds.h"

/* What n catches want the runtime to watch; those with number 0 want nothing. */
struct lbx_watch {
	uint32_t all; /* enum lb_watch */
	uint64_t memory, graph;
	int64_t low, high;
	char patterns[LB_WATCH_PATTERNS][LB_PATTERN_BYTES];
};
struct lbx_watch lbx_watch_wanted(const struct lbx_catch *catches, int n);

/* Where the words are in the program that is there. */
struct lbx_watch_place {
	bool found;
	struct lbx_root root;
	struct lbx_tensor_offsets offsets;
	struct lbx_table *table;
};
/* False while gdb has still to answer; without a program, or before it has reached the runtime,
 * nothing is found, which is no error. */
bool lbx_watch_find(struct lbx_context *context, struct lbx_watch_place *ret);
/* Whether the program's runtime has a word for all that is wanted. */
bool lbx_watch_check(const struct lbx_watch_place *place, const struct lbx_watch *want);
/* Whether more bytes are in use than the limit. */
bool lbx_watch_is_passed(const struct lbx_watch_place *place, uint64_t limit);
/* Writes what differs, after that. */
bool lbx_watch_write(struct lbx_context *context, const struct lbx_watch_place *place, const struct lbx_watch *want);
/* Whether a guard in the program is closed: touching it would stop gdb, also without a catch. */
bool lbx_watch_has_closed_guards(struct lbx_context *context);
/* All words as they were. */
bool lbx_watch_take_back(struct lbx_context *context, const struct lbx_watch_place *place);

#endif
