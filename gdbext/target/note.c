/* Finding the runtime in a program of which nothing is known but two numbers of its
 * auxiliary vector: where its program headers are, and how many.
 *
 * The note lies in a loaded segment of whichever module holds the runtime: the program
 * itself when linked statically, else a shared library (loader.h). */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "symtab.h"
#include "target/loader.h"

enum { MAX_NOTE_BYTES = 1 << 16 };

static uint64_t align4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

/* What a search has come to: a root, or at least the place where a note says that one is. */
struct found {
	struct lbx_loader loader;
	uint64_t root, promised;
};

static bool root_at(struct lbx_target *target, uint64_t root)
{
	uint64_t magic;
	return lbx_target_try_read(target, root, &magic, sizeof magic) && magic == LB_SYMTAB_MAGIC;
}

/* Up to its initialisation the root holds what the file says: all but its magic and its addresses. */
static bool is_begun(struct lbx_target *target, uint64_t root)
{
	struct lb_symtab head;
	const size_t fixed = offsetof(struct lb_symtab, root_fields) + sizeof head.root_fields;

	return !lbx_target_try_read(target, root, &head, fixed) || head.magic != 0 || head.root_fields != 0 ||
	       head.major == 0 || head.size < fixed || head.n_root_fields == 0;
}

static bool search_notes(uint64_t address, uint64_t size, struct found *ret)
{
	struct lbx_target *target = ret->loader.target;
	uint64_t at = 0;

	if (size > MAX_NOTE_BYTES)
		size = MAX_NOTE_BYTES;
	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		char owner[sizeof LB_NOTE_OWNER];
		int64_t distance;

		if (!lbx_loader_peek(&ret->loader, address + at, &note, sizeof note, "a module's notes"))
			return false;
		uint64_t name = at + sizeof note, desc = name + align4(note.n_namesz);
		uint64_t end = desc + align4(note.n_descsz);
		if (end > size)
			return false;
		if (note.n_type == LB_NOTE_ROOT && note.n_namesz == sizeof owner && note.n_descsz == sizeof distance &&
		    lbx_target_try_read(target, address + name, owner, sizeof owner) &&
		    memcmp(owner, LB_NOTE_OWNER, sizeof owner) == 0 &&
		    lbx_target_try_read(target, address + desc, &distance, sizeof distance)) {
			ret->promised = address + desc + (uint64_t)distance;
			if (root_at(target, ret->promised)) {
				ret->root = ret->promised;
				return true;
			}
		}
		at = end;
	}
	return false;
}

/* Searches the PT_NOTEs of one module. */
static bool search_module(const struct lbx_loaded *m, struct found *ret)
{
	Elf64_Phdr p;

	for (uint64_t i = 0; lbx_loader_header(&ret->loader, m, i, &p); i++)
		if (p.p_type == PT_NOTE && search_notes(m->bias + p.p_vaddr, p.p_memsz, ret))
			return true;
	return false;
}

/* What may be the reason, by the kind of target. */
static const char *unread_reason(struct lbx_target *target)
{
	switch (target->liveness) {
	case LBX_CORE: return target->is_truncated ? "" : "; the core file does not hold it";
	case LBX_LIVE:
	case LBX_REMOTE: return "; the process may be gone";
	case LBX_UNKNOWN: break;
	}
	return "";
}

/* Says what is wrong where a note says that a table is. */
static bool no_table(struct lbx_target *target, uint64_t root)
{
	uint64_t magic;

	if (lbx_target_read(target, root, &magic, sizeof magic))
		return lb_fail("the symbol table at 0x%llx is damaged: it does not begin with its magic number",
			       (unsigned long long)root);
	lb_fail_within("the symbol table cannot be read");
	return false;
}

bool lbx_find_root_by_note(struct lbx_target *target, uint64_t at_phdr, uint64_t at_phnum, uint64_t *ret)
{
	struct found found = { .root = 0 };
	struct lbx_loader *loader = &found.loader;
	struct lbx_loaded module;

	if (at_phdr == 0)
		return lb_fail("the program's auxiliary vector does not say where its headers are");
	lbx_loader_begin(loader, target, at_phdr, at_phnum);
	if (!search_module(&loader->program, &found)) {
		if (!lbx_loader_open_list(loader)) {
			lb_fail_within("the list of loaded libraries cannot be read");
			return false;
		}
		if (loader->program.dynamic && loader->libraries == 0 && !found.promised)
			return lb_fail("the program has not loaded its libraries yet: let it run to main");
		while (lbx_loader_next(loader, &module) && !search_module(&module, &found))
			;
	}
	*ret = found.root;
	if (!found.root && found.promised && !is_begun(target, found.promised))
		return lb_fail("the symbol table is not there yet: the program has not initialised the runtime; "
			       "let it run to main");
	if (!found.root && found.promised)
		return no_table(target, found.promised);
	if (!found.root && loader->unread)
		return lb_fail("no Lazybones runtime was found: memory at 0x%llx, with %s, cannot be read%s",
			       (unsigned long long)loader->unread_at, loader->unread, unread_reason(target));
	return found.root || lb_fail("no Lazybones runtime in this program (no note of it in any loaded module)");
}

bool lbx_find_root_in_module(struct lbx_target *target, uint64_t start, uint64_t *ret)
{
	struct found found = { .loader.target = target };
	struct lbx_loaded module;

	if (!lbx_loader_at(&found.loader, start, &module))
		return false;
	search_module(&module, &found);
	*ret = found.root;
	return found.root || (found.promised && no_table(target, found.promised));
}
