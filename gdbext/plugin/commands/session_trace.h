/* The trace of an ordinary session of gdb (record/trace.h), where LAZYBONES_TRACE names a folder in gdb's environment:
 * each stop with where it is and which tensors the variables of the program's own frame hold, each command of ours with its
 * answer, and the lines that were typed, gdb's own among them, where gdb shares its history with us (as where it is linked
 * with readline as a library). */
#ifndef LBX_PLUGIN_SESSION_TRACE_H
#define LBX_PLUGIN_SESSION_TRACE_H

#include "inspect/context.h"

/* Opens it, and says where it is. May answer "not yet", like a target. */
bool lbx_session_trace_begin(struct lbx_context *context);
/* The program has stopped: that is to be looked at as soon as gdb may be asked. */
void lbx_session_trace_has_stopped(void);
/* Looks, if there is something to. False: not yet. What cannot be found out is left out. */
bool lbx_session_trace_look(struct lbx_context *context);
/* A command begins, perhaps anew: what it writes to `out` is kept until it ends. */
void lbx_session_trace_listen(struct lbx_out *out);
/* It has ended. */
void lbx_session_trace_add(const char *name, const char *words, bool ok);

#endif
