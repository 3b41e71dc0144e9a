/* An ELF file, by libelf. */
#ifndef LBX_ELF_FILE_H
#define LBX_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>

/* Opens a regular file, and asks of it; false, too, where it is none, or no ELF file. */
bool lbx_elf_file(const char *path, bool (*ask)(Elf *elf, void *context), void *context);

#endif
