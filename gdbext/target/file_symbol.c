#define _GNU_SOURCE
#include "target/file_symbol.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

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

static bool find(Elf *elf, const char *name, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t low;

	if (elf_kind(elf) != ELF_K_ELF || !find_low(elf, &low))
		return false;
	for (int i = 0; i < MAX_SECTIONS && (section = elf_nextscn(elf, section)); i++) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB &&
		    find_in(elf, section, &header, name, ret) && *ret >= low) {
			*ret -= low;
			return true;
		}
	}
	return false;
}

bool lbx_file_symbol(const char *path, const char *name, uint64_t *ret)
{
	struct stat s;
	lb_auto_close int fd = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool found = elf && find(elf, name, ret);
	elf_end(elf);
	return found;
}
