#include "target/elf_image.h"

#include <elf.h>
#include <string.h>

enum { MAX_PHDRS = 256, MAX_NOTES = 64, PAGE = 4096 };

static bool read_at(const struct lbx_image *image, uint64_t at, void *to, uint64_t n)
{
	uint64_t got = 0;
	const char *bytes = image->at(image->context, at, &got);

	if (!bytes || got < n)
		return false;
	memcpy(to, bytes, n);
	return true;
}

static void find_id(struct lbx_image *image, uint64_t at, uint64_t size, uint64_t align)
{
	for (int i = 0; i < MAX_NOTES && size >= sizeof(Elf64_Nhdr); i++) {
		Elf64_Nhdr note;
		char owner[4];
		if (!read_at(image, at, &note, sizeof note))
			return;
		uint64_t desc = (sizeof note + note.n_namesz + align - 1) & ~(align - 1);
		uint64_t end = (desc + note.n_descsz + align - 1) & ~(align - 1);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner && note.n_descsz > 0 &&
		    note.n_descsz <= sizeof image->id.bytes && read_at(image, at + sizeof note, owner, sizeof owner) &&
		    memcmp(owner, "GNU", 4) == 0 && read_at(image, at + desc, image->id.bytes, note.n_descsz)) {
			image->id.n = note.n_descsz;
			return;
		}
		if (end >= size)
			return;
		at += end;
		size -= end;
	}
}

bool lbx_image_read(struct lbx_image *image)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;
	int n = 0;

	image->low = UINT64_MAX;
	image->high = 0;
	image->id.n = 0;
	if (!read_at(image, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_phentsize != sizeof p)
		return false;
	while (n < header.e_phnum && n < MAX_PHDRS &&
	       read_at(image, header.e_phoff + (uint64_t)n * sizeof p, &p, sizeof p)) {
		n++;
		if (p.p_type != PT_LOAD || p.p_vaddr + p.p_memsz < p.p_vaddr)
			continue;
		if ((p.p_vaddr & -(uint64_t)PAGE) < image->low)
			image->low = p.p_vaddr & -(uint64_t)PAGE;
		if (p.p_vaddr + p.p_memsz > image->high)
			image->high = p.p_vaddr + p.p_memsz;
	}
	if (n == 0 || image->high == 0)
		return false;
	for (int i = 0; i < n && image->id.n == 0; i++)
		if (read_at(image, header.e_phoff + (uint64_t)i * sizeof p, &p, sizeof p) && p.p_type == PT_NOTE)
			find_id(image, image->is_mapped ? p.p_vaddr - image->low : p.p_offset, p.p_filesz,
				p.p_align == 8 ? 8 : 4);
	return true;
}
