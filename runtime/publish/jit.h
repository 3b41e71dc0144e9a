/* How gdb comes to the root: one entry of its JIT interface for the whole table, and an
 * ELF note for those who cannot use that (stripped static programs). */
#ifndef LB_PUBLISH_JIT_H
#define LB_PUBLISH_JIT_H

#include <stdint.h>

#include "publish/records.h"

/* Tells an attached gdb that the entry is there. */
void lb_jit_register(void);

/* The entry of a graph that can be stepped through (jit_object.h). */
struct lb_jit_entry;
/* The record is complete. NULL, without an error, when memory is out. An attached gdb stops for a
 * moment. One thread at a time. */
struct lb_jit_entry *lb_jit_add(const struct lb_graph_record *graph);
void lb_jit_remove(struct lb_jit_entry *entry); /* NULL is fine */
/* Makes a gdb take its breakpoints out of code that was removed, as the next lb_jit_add() does;
 * before that the code's memory must stay as it is. */
void lb_jit_settle(void);

#endif
