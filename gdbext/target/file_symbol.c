#include "target/file_symbol.h"

#include <string.h>

#include "target/elf_file.h"

enum { MAX_SECTIONS = 4096, MAX_SYMBOLS = 1 << 24, PAGE = 4096 };

/* The address of the lowest page that is loaded. */
static bool find_low(Elf *elf, uint64_t *ret)
{
	GElf_Phdr p;
	size_t n;

	*ret = UINT64_MAX;
	if (elf_getphdrnum(elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n && i < MAX_SECTIONS; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_vaddr < *ret)
			*ret = p.p_vaddr & ~(uint64_t)(PAGE - 1);
	return *ret != UINT64_MAX;
}

static bool find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name, uint64_t *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && i < MAX_SYMBOLS && gelf_getsym(data, i, &symbol); i++) {
		if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		const char *found = elf_strptr(elf, header->sh_link, symbol.st_name);
		*ret = symbol.st_value;
		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

struct wanted {
	const char *name;
	uint64_t *ret;
};

static bool find(Elf *elf, void *context)
{
	const struct wanted *wanted = context;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t low;

	if (!find_low(elf, &low))
		return false;
	for (int i = 0; i < MAX_SECTIONS && (section = elf_nextscn(elf, section)); i++) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB &&
		    find_in(elf, section, &header, wanted->name, wanted->ret) && *wanted->ret >= low) {
			*wanted->ret -= low;
			return true;
		}
	}
	return false;
}

bool lbx_file_symbol(const char *path, const char *name, uint64_t *ret)
{
	return lbx_elf_file(path, find, &(struct wanted){ name, ret });
}
