/* The names of a graph's code as an ELF object, which gdb reads without a reader. */
#ifndef LB_PUBLISH_JIT_NAMES_H
#define LB_PUBLISH_JIT_NAMES_H

#include <elf.h>
#include <stdint.h>

enum { LB_JIT_SECTIONS = 4, LB_JIT_SYMBOLS = 3 };

struct lb_jit_names {
	Elf64_Ehdr header;
	Elf64_Shdr sections[LB_JIT_SECTIONS];
	Elf64_Sym symbols[LB_JIT_SYMBOLS];
	char strings[128];
};

/* `eval_graph_17`, and `eval(graph 17)` as backtraces have it, are functions at `code`. */
void lb_jit_names_fill(struct lb_jit_names *names, uint64_t id, uint64_t code, uint64_t bytes);

#endif
