/* What a running program does now: rates between two looks at it, from its counters and from the
 * events of its flight recorder. */
#ifndef LBX_TOP_H
#define LBX_TOP_H

#include "inspect/command.h"

struct lbx_top;

/* The first look. */
bool lbx_top_create(struct lbx_context *context, struct lbx_top **ret);
void lbx_top_destroy(struct lbx_top *top); /* NULL is fine */
/* Takes the events in, so that none is lost between two looks. False when the program is gone. */
bool lbx_top_poll(struct lbx_top *top);
/* The next look: what is shown is of the time since the last one. */
bool lbx_top_look(struct lbx_top *top);
/* Writes at most `lines` lines of context->out->width columns to context->out, or a JSON object. */
void lbx_top_show(struct lbx_top *top, int lines);

#endif
