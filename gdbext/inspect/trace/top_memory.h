/* What a running program holds whose runtime counts nothing: its tensors' memory beside its own. */
#ifndef LBX_TOP_MEMORY_H
#define LBX_TOP_MEMORY_H

#include "inspect/command.h"

struct lbx_top_memory;

/* `running`: the program, which outlives it. NULL without memory. */
struct lbx_top_memory *lbx_top_memory_create(struct lbx_target *running);
void lbx_top_memory_destroy(struct lbx_top_memory *top); /* NULL is fine */
/* Whether its tensors are to be found again: that takes a small part of the time, for the program should stand still
 * meanwhile. */
bool lbx_top_memory_is_old(const struct lbx_top_memory *top);
/* Finds them, in a context of the same program. */
bool lbx_top_memory_find(struct lbx_top_memory *top, struct lbx_context *still);
/* The next look. False when the program is gone. */
bool lbx_top_memory_look(struct lbx_top_memory *top);
/* As lbx_top_show(). */
void lbx_top_memory_show(struct lbx_top_memory *top, struct lbx_out *out, int lines);

#endif
