/* The code's section has no bytes in the object: it lies where its address says. */
#include "publish/jit_names.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "publish/jit.h"

enum { STRINGS = 1, CODE, SYMBOLS };

struct strings {
	char *bytes;
	size_t n, capacity;
};

static uint32_t add(struct strings *s, const char *format, uint64_t id)
{
	size_t at = s->n;
	int n = snprintf(s->bytes + at, s->capacity - at, format, (unsigned long long)id);

	s->n += (size_t)n + 1;
	return (uint32_t)at;
}

void lb_jit_names_fill(struct lb_jit_names *names, uint64_t id, uint64_t code, uint64_t bytes)
{
	static const char *const formats[] = { "eval(graph %llu)", "eval_graph_%llu" };
	struct strings strings = { names->strings, 1, sizeof names->strings };

	*names = (struct lb_jit_names){ .header = lb_jit_elf_header(LB_JIT_SECTIONS) };
	names->sections[STRINGS] = (Elf64_Shdr){
		.sh_name = add(&strings, ".strtab", 0), .sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct lb_jit_names, strings),
		.sh_size = sizeof names->strings, .sh_addralign = 1,
	};
	names->sections[CODE] = (Elf64_Shdr){
		.sh_name = add(&strings, ".text", 0), .sh_type = SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = code,
		.sh_offset = sizeof *names, .sh_size = bytes, .sh_addralign = 1,
	};
	names->sections[SYMBOLS] = (Elf64_Shdr){
		.sh_name = add(&strings, ".symtab", 0), .sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct lb_jit_names, symbols),
		.sh_size = sizeof names->symbols, .sh_link = STRINGS, .sh_info = 1,
		.sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym),
	};
	for (int i = 0; i < LB_JIT_SYMBOLS - 1; i++)
		names->symbols[1 + i] = (Elf64_Sym){
			.st_name = add(&strings, formats[i], id),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = CODE, .st_size = bytes,
		};
}
