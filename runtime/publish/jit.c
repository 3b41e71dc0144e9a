#include "publish/jit.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "publish/jit_object.h"
#include "publish/root.h"

/* ---- gdb's JIT interface (gdb manual, "JIT Compilation Interface") ---- */

struct jit_code_entry {
	struct jit_code_entry *next, *prev;
	const char *symfile;
	uint64_t symfile_size;
};

struct jit_descriptor {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
};

enum { JIT_NOACTION, JIT_REGISTER, JIT_UNREGISTER };

struct lb_jit_entry {
	struct jit_code_entry code;
	void *object;
};

static struct jit_code_entry table_code;
static struct lb_symfile table_symfile;

/* gdb finds both by name. One that attaches, or opens a core, walks the list; one that is
 * there already stops in the function. The list is empty until the symfile is filled in: gdb
 * looks at it before the first instruction of a static program. */
LB_API struct jit_descriptor __jit_debug_descriptor = { .version = 1, .action = JIT_NOACTION };

LB_API __attribute__((noinline)) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

/* An object with no symbols. gdb without our plugin opens it and has nothing to say; for
 * anything that is no ELF it would complain. */
static void fill_symfile(struct lb_symfile *symfile, uint64_t magic, uint64_t address)
{
	static const char names[] = "\0.shstrtab\0.lazybones";
	Elf64_Ehdr header = lb_jit_elf_header(3);
	size_t names_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr);
	Elf64_Shdr sections[3] = {
		[1] = { .sh_name = 1,
			.sh_type = SHT_STRTAB,
			.sh_offset = names_at,
			.sh_size = sizeof names,
			.sh_addralign = 1 },
		[2] = { .sh_name = 11,
			.sh_type = SHT_PROGBITS,
			.sh_offset = offsetof(struct lb_symfile, magic),
			.sh_size = 16,
			.sh_addralign = 8 },
	};
	_Static_assert(sizeof header + sizeof sections + sizeof names <= sizeof symfile->elf,
		       "the symfile's ELF part is too small");
	memcpy(symfile->elf, &header, sizeof header);
	memcpy(symfile->elf + sizeof header, sections, sizeof sections);
	memcpy(symfile->elf + names_at, names, sizeof names);
	symfile->root = address;
	symfile->magic = magic;
}

static void tell(uint32_t action, struct jit_code_entry *code)
{
	__jit_debug_descriptor.relevant = code;
	__jit_debug_descriptor.action = action;
	__jit_debug_register_code();
	__jit_debug_descriptor.relevant = NULL;
	__jit_debug_descriptor.action = JIT_NOACTION;
}

static void append_code(struct jit_code_entry *code, struct jit_code_entry *after, const void *bytes, size_t n)
{
	*code = (struct jit_code_entry){ .symfile = bytes, .symfile_size = n, .prev = after };
	if (after) {
		code->next = after->next;
		if (after->next)
			after->next->prev = code;
		after->next = code;
	} else {
		__jit_debug_descriptor.first = code;
	}
	tell(JIT_REGISTER, code);
}

static void take_out(struct jit_code_entry *code)
{
	code->prev->next = code->next;
	if (code->next)
		code->next->prev = code->prev;
	tell(JIT_UNREGISTER, code);
}

void lb_jit_register(void)
{
	fill_symfile(&table_symfile, LB_SYMFILE_MAGIC, (uint64_t)(uintptr_t)lb_root);
	append_code(&table_code, NULL, &table_symfile, sizeof table_symfile);
}

/* After the table's, which stays the first: a reader must know the table before a graph of it. */
struct lb_jit_entry *lb_jit_add(const struct lb_graph_record *graph)
{
	struct lb_jit_entry *entry = malloc(sizeof *entry);
	size_t n = 0;

	if (entry)
		entry->object = lb_jit_object(graph, &n);
	if (!entry || !entry->object) {
		free(entry);
		return NULL;
	}
	append_code(&entry->code, &table_code, entry->object, n);
	return entry;
}

void lb_jit_settle(void)
{
	static struct jit_code_entry code;
	static struct lb_symfile empty;
	fill_symfile(&empty, 0, 0);
	append_code(&code, &table_code, &empty, sizeof empty);
	take_out(&code);
}

void lb_jit_remove(struct lb_jit_entry *entry)
{
	if (!entry)
		return;
	take_out(&entry->code);
	free(entry->object);
	free(entry);
}

/* ---- the note: owner, descriptor size, type; the descriptor is the distance to the root ---- */

__asm__(".pushsection " LB_NOTE_SECTION ",\"a\",%note\n"
	"\t.balign 4\n"
	"\t.long 2f - 1f, 4f - 3f, 1\n"
	"1:\t.asciz \"" LB_NOTE_OWNER "\"\n"
	"2:\t.balign 4\n"
	"3:\t.quad lb_root_object - 3b\n"
	"4:\t.balign 4\n"
	"\t.popsection\n");
