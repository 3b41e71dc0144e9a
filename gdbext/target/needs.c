#include "target/needs.h"

#include <string.h>

#include "symtab.h"
#include "target/elf_file.h"

enum { MAX_SECTIONS = 4096, MAX_ENTRIES = 4096 };

static bool needs_library(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	static const char library[] = "liblazybones.so";
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	for (int i = 0; data && i < MAX_ENTRIES && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *name = entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, entry.d_un.d_val) : NULL;
		if (name && strncmp(name, library, sizeof library - 1) == 0)
			return true;
	}
	return false;
}

static bool uses_runtime(Elf *elf, void *unused)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	(void)unused;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	for (int i = 0; i < MAX_SECTIONS && (section = elf_nextscn(elf, section)); i++) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (name && (strcmp(name, LB_NOTE_SECTION) == 0 ||
			     (header.sh_type == SHT_DYNAMIC && needs_library(elf, section, &header))))
			return true;
	}
	return false;
}

bool lbx_file_uses_runtime(const char *path)
{
	return lbx_elf_file(path, uses_runtime, NULL);
}
