/* The breakpoints of this room: which there are, made and deleted. */
#ifndef LBX_PLUGIN_MLX_ARMED_H
#define LBX_PLUGIN_MLX_ARMED_H

#include "inspect/command.h"
#include "plugin/stops/catch_kinds.h"

/* Whether a catch stops where a value is read; else where an evaluation begins, or ends. */
static inline bool lbx_armed_is_implicit(const struct lbx_catch *c)
{
	return c->kind->evaluation == LBX_BEFORE_IMPLICIT;
}

/* Notes the process's machine: it tells which registers hold arguments. */
void lbx_armed_look(struct lbx_context *context);
/* Waits for the library, if a catch is still without its breakpoints; no longer, if none is. */
void lbx_armed_await(void);
void lbx_armed_await_no_more(void);

/* A catch's own breakpoints: made, whether they are all there, or any of this number's, suspended, deleted. */
void lbx_armed_add(const struct lbx_catch *c);
bool lbx_armed_is_whole(const struct lbx_catch *c);
bool lbx_armed_remains(int catch);
void lbx_armed_suspend(const struct lbx_catch *c);
void lbx_armed_delete(int catch);
/* Whether a catch is there that none of its breakpoints is disabled of, that at the runtime's probe included. */
bool lbx_armed_is_on(const struct lbx_catch *c);

/* Where the call that the program stands in returns to the program, in a frame above this one. False while the answer is awaited. */
bool lbx_armed_add_end(struct lbx_context *context, uint64_t stack);
void lbx_armed_delete_end(int which);
/* Those that are there as long as anything is watched (watched.h): makes or deletes the one where values are read, and deletes the
 * ends. */
void lbx_armed_watch(void);
void lbx_armed_suspend_shared(void);
void lbx_armed_delete_ends(void);

#endif
