/* A graph's code as an ELF object with DWARF, which gdb reads as it reads a compiler's: a function,
 * and the lines of the graph's listing. */
#ifndef LB_PUBLISH_JIT_OBJECT_H
#define LB_PUBLISH_JIT_OBJECT_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "publish/records.h"

/* `eval(graph 17)`, also named `eval_graph_17`, whose lines are those of graph-17.lb. It begins with a
 * struct lb_symfile for readers (symtab.h, LB_GRAPHFILE_MAGIC). Bytes to free, *n of them; NULL, without
 * an error, when memory is out. */
void *lb_jit_object(const struct lb_graph_record *graph, size_t *n);

/* Of an object whose sections follow it, their names' being number 1. */
Elf64_Ehdr lb_jit_elf_header(uint16_t n_sections);

#endif
