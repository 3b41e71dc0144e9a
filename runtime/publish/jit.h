/* How gdb comes to the root: one entry of its JIT interface for the whole table, and an
 * ELF note for those who cannot use that (stripped static programs). */
#ifndef LB_PUBLISH_JIT_H
#define LB_PUBLISH_JIT_H

#include <elf.h>
#include <stdint.h>

/* Tells an attached gdb that the entry is there. */
void lb_jit_register(void);

/* Two entries for a graph that can be stepped through: one for readers (symtab.h,
 * LB_GRAPHFILE_MAGIC), and the names of its code for gdb itself (jit_names.h). */
struct lb_jit_entry;
/* NULL, without an error, when memory is out. For both, an attached gdb stops for a moment, twice.
 * One thread at a time. */
struct lb_jit_entry *lb_jit_add(uint64_t record, uint64_t id, uint64_t code, uint64_t bytes);
void lb_jit_remove(struct lb_jit_entry *entry); /* NULL is fine */
/* Makes a gdb take its breakpoints out of code that was removed, as the next lb_jit_add() does;
 * before that the code's memory must stay as it is. */
void lb_jit_settle(void);

/* Of an object whose sections follow it, their names' being number 1. */
Elf64_Ehdr lb_jit_elf_header(uint16_t n_sections);

#endif
