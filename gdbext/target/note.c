/* Finding the runtime in a program of which nothing is known but two numbers of its
 * auxiliary vector: where its program headers are, and how many.
 *
 * The note lies in a loaded segment of whichever module holds the runtime: the program
 * itself when linked statically, else a shared library. The main program's headers give
 * its load bias and dynamic section; DT_DEBUG there leads to the loader's list of modules
 * (struct r_debug, struct link_map), each with its dynamic section. A module's ELF header
 * is not in that list: it is searched for backwards, page by page, from the dynamic
 * section, starting at the module's load address, where it nearly always is.
 *
 * Everything that is read may be damaged: counts are capped, the list may be a ring, and a
 * module that cannot be read is passed over. */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "symtab.h"
#include "target/target.h"

enum {
	MAX_PHDRS = 256,
	MAX_MODULES = 4096,
	MAX_DYNAMIC = 4096,
	MAX_NOTE_BYTES = 1 << 16,
	PAGE = 4096,
	MAX_PAGES_BACK = 1 << 14,
};

static uint64_t align4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

/* What a search has come to: a root, or at least the place where a note says that one is; and the
 * first memory that it could not read, which holds `unread`. */
struct found {
	uint64_t root, promised, unread_at;
	const char *unread;
};

static bool peek(struct lbx_target *target, uint64_t address, void *to, size_t n, const char *what, struct found *found)
{
	if (lbx_target_try_read(target, address, to, n))
		return true;
	if (!found->unread) {
		found->unread = what;
		found->unread_at = address;
	}
	return false;
}

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

static bool search_notes(struct lbx_target *target, uint64_t address, uint64_t size, struct found *ret)
{
	uint64_t at = 0;

	if (size > MAX_NOTE_BYTES)
		size = MAX_NOTE_BYTES;
	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		char owner[sizeof LB_NOTE_OWNER];
		int64_t distance;

		if (!peek(target, address + at, &note, sizeof note, "a module's notes", ret))
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

/* Searches the PT_NOTEs of one module, and stores where its dynamic section is (or 0). */
static bool search_module(struct lbx_target *target, uint64_t phdrs, uint64_t n, uint64_t bias, uint64_t *dynamic,
			  struct found *ret)
{
	*dynamic = 0;
	for (uint64_t i = 0; i < n && i < MAX_PHDRS; i++) {
		Elf64_Phdr p;
		if (!peek(target, phdrs + i * sizeof p, &p, sizeof p, "the headers of a module", ret))
			return false;
		if (p.p_type == PT_DYNAMIC)
			*dynamic = bias + p.p_vaddr;
		if (p.p_type == PT_NOTE && search_notes(target, bias + p.p_vaddr, p.p_memsz, ret))
			return true;
	}
	return false;
}

/* The address that the main program was moved by. */
static uint64_t main_bias(struct lbx_target *target, uint64_t phdrs, uint64_t n)
{
	for (uint64_t i = 0; i < n && i < MAX_PHDRS; i++) {
		Elf64_Phdr p;
		if (lbx_target_try_read(target, phdrs + i * sizeof p, &p, sizeof p) && p.p_type == PT_PHDR)
			return phdrs - p.p_vaddr;
	}
	return 0;
}

static bool is_elf(struct lbx_target *target, uint64_t base, Elf64_Ehdr *header)
{
	return lbx_target_try_read(target, base, header, sizeof *header) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

static bool search_mapped(struct lbx_target *target, uint64_t load, uint64_t dynamic, struct found *ret)
{
	Elf64_Ehdr header;
	uint64_t base = load, unused;

	if (load == 0 || !is_elf(target, base, &header)) {
		base = dynamic & ~(uint64_t)(PAGE - 1);
		int pages = 0;
		while (!is_elf(target, base, &header)) {
			if (base < PAGE || pages++ == MAX_PAGES_BACK) {
				peek(target, load ? load : dynamic, &header, sizeof header, "the headers of a module",
				     ret);
				return false;
			}
			base -= PAGE;
		}
	}
	return search_module(target, base + header.e_phoff, header.e_phnum, load, &unused, ret);
}

static bool debug_address(struct lbx_target *target, uint64_t dynamic, uint64_t *ret)
{
	*ret = 0;
	for (int i = 0; i < MAX_DYNAMIC; i++) {
		Elf64_Dyn d;
		if (!lbx_target_read(target, dynamic + (uint64_t)i * sizeof d, &d, sizeof d))
			return false;
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_DEBUG) {
			*ret = d.d_un.d_ptr;
			break;
		}
	}
	return true;
}

/* `at` is the address of the loader's struct r_debug. */
static void search_libraries(struct lbx_target *target, uint64_t at, struct found *ret)
{
	struct {
		uint64_t version, map;
	} debug; /* struct r_debug's beginning */
	struct {
		uint64_t addr, name, ld, next, prev;
	} link;

	if (at == 0 || !peek(target, at, &debug, sizeof debug, "the loader's data", ret))
		return;
	uint64_t next = debug.map;
	for (int i = 0; next && i < MAX_MODULES; i++) {
		if (!peek(target, next, &link, sizeof link, "the loader's list of modules", ret) ||
		    (link.ld && search_mapped(target, link.addr, link.ld, ret)))
			return;
		next = link.next;
	}
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
	struct found found = { 0 };
	uint64_t dynamic = 0, libraries = 0;

	if (at_phdr == 0)
		return lb_fail("the program's auxiliary vector does not say where its headers are");
	uint64_t bias = main_bias(target, at_phdr, at_phnum);
	if (!search_module(target, at_phdr, at_phnum, bias, &dynamic, &found)) {
		if (dynamic && !debug_address(target, dynamic, &libraries)) {
			lb_fail_within("the list of loaded libraries cannot be read");
			return false;
		}
		if (dynamic && libraries == 0 && !found.promised)
			return lb_fail("the program has not loaded its libraries yet: let it run to main");
		search_libraries(target, libraries, &found);
	}
	*ret = found.root;
	if (!found.root && found.promised && !is_begun(target, found.promised))
		return lb_fail("the symbol table is not there yet: the program has not initialised the runtime; "
			       "let it run to main");
	if (!found.root && found.promised)
		return no_table(target, found.promised);
	if (!found.root && found.unread)
		return lb_fail("no Lazybones runtime was found: memory at 0x%llx, with %s, cannot be read%s",
			       (unsigned long long)found.unread_at, found.unread, unread_reason(target));
	return found.root || lb_fail("no Lazybones runtime in this program (no note of it in any loaded module)");
}

bool lbx_find_root_in_module(struct lbx_target *target, uint64_t start, uint64_t *ret)
{
	struct found found = { 0 };
	uint64_t low = UINT64_MAX, unused;
	Elf64_Ehdr header;
	Elf64_Phdr p;

	if (!is_elf(target, start, &header))
		return false;
	for (uint64_t i = 0; i < header.e_phnum && i < MAX_PHDRS; i++)
		if (lbx_target_try_read(target, start + header.e_phoff + i * sizeof p, &p, sizeof p) &&
		    p.p_type == PT_LOAD && (p.p_vaddr & -(uint64_t)PAGE) < low)
			low = p.p_vaddr & -(uint64_t)PAGE;
	if (low != UINT64_MAX)
		search_module(target, start + header.e_phoff, header.e_phnum, start - low, &unused, &found);
	*ret = found.root;
	return found.root || (found.promised && no_table(target, found.promised));
}
