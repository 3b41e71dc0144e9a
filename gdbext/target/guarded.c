/* The linker notes in a module what all of its code is made for: a note of the owner GNU in PT_GNU_PROPERTY, whose
 * properties have a type, a size and so many bytes, filled up to 8 (System V ABI, "Program Property"). One of them holds
 * the bits of AArch64; the loader maps the code guarded if that for BTI is set ("ELF for the Arm 64-bit Architecture"). */
#include "target/guarded.h"

#include <string.h>

enum { PROPERTIES_MAX = 1 << 12, NOTE_MAX = 1 << 16 };
enum { PROPERTY_TYPE_0 = 5, AARCH64_FEATURE_1_BTI = 1 };
static const uint32_t aarch64_features = 0xc0000000;

/* The bits of a note's properties; false where they are not whole. */
static bool read_properties(struct lbx_target *target, uint64_t at, uint64_t size, uint32_t *ret)
{
	struct {
		uint32_t type, size;
	} property;
	uint32_t bits;

	for (uint64_t i = 0; i < PROPERTIES_MAX && size >= sizeof property; i++) {
		if (!lbx_target_try_read(target, at, &property, sizeof property))
			return false;
		uint64_t n = sizeof property + (((uint64_t)property.size + 7) & ~UINT64_C(7));
		if (n > size)
			return false;
		if (property.type == aarch64_features) {
			if (property.size < sizeof bits ||
			    !lbx_target_try_read(target, at + sizeof property, &bits, sizeof bits))
				return false;
			*ret |= bits;
		}
		at += n;
		size -= n;
	}
	return true;
}

/* Of the notes that lie there. */
static bool read_notes(struct lbx_target *target, uint64_t at, uint64_t size, uint32_t *ret)
{
	Elf64_Nhdr note;
	char owner[4];

	if (size > NOTE_MAX)
		return false;
	while (size >= sizeof note + sizeof owner) {
		if (!lbx_target_try_read(target, at, &note, sizeof note) ||
		    !lbx_target_try_read(target, at + sizeof note, owner, sizeof owner))
			return false;
		uint64_t head = sizeof note + (((uint64_t)note.n_namesz + 3) & ~UINT64_C(3));
		uint64_t n = head + (((uint64_t)note.n_descsz + 7) & ~UINT64_C(7));
		if (n > size)
			return false;
		if (note.n_type == PROPERTY_TYPE_0 && note.n_namesz == sizeof owner &&
		    memcmp(owner, "GNU", sizeof owner) == 0 && !read_properties(target, at + head, note.n_descsz, ret))
			return false;
		at += n;
		size -= n;
	}
	return true;
}

bool lbx_loaded_is_guarded(struct lbx_target *target, const struct lbx_loaded *m)
{
	struct lbx_loader loader = { .target = target };
	uint32_t bits = 0;
	uint64_t i = 0;
	Elf64_Phdr p;

	for (; lbx_loader_header(&loader, m, i, &p); i++)
		if (p.p_type == PT_GNU_PROPERTY && !read_notes(target, m->bias + p.p_vaddr, p.p_memsz, &bits))
			return true;
	return i == 0 || i < m->n_headers || bits & AARCH64_FEATURE_1_BTI;
}
