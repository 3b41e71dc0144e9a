/* How gdb comes to the root: one entry of its JIT interface for the whole table, and an
 * ELF note for those who cannot use that (stripped static programs). */
#ifndef LB_PUBLISH_JIT_H
#define LB_PUBLISH_JIT_H

/* Tells an attached gdb that the entry is there. */
void lb_jit_register(void);

#endif
