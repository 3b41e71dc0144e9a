/* How gdb comes to the root: one entry of its JIT interface for the whole table, and an
 * ELF note for those who cannot use that (stripped static programs). */
#ifndef LB_PUBLISH_JIT_H
#define LB_PUBLISH_JIT_H

#include <stdint.h>

/* Tells an attached gdb that the entry is there. */
void lb_jit_register(void);

/* An entry for a graph that can be stepped through (symtab.h, LB_GRAPHFILE_MAGIC). */
struct lb_jit_entry;
/* NULL, without an error, when memory is out. For both, an attached gdb stops for a moment. One
 * thread at a time. */
struct lb_jit_entry *lb_jit_add(uint64_t record);
void lb_jit_remove(struct lb_jit_entry *entry); /* NULL is fine */

#endif
