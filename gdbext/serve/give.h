/* Gives a gdb what it is to look at: a program with its arguments and environment, a core, or a process; and what steps are to
 * pass over. Fails with what gdb says. */
#ifndef LBX_SERVE_GIVE_H
#define LBX_SERVE_GIVE_H

#include "serve/session.h"

bool lbx_give(struct lbx_gdb *gdb, const struct lbx_session_start *start);

#endif
