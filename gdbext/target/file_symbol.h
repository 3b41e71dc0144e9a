/* Symbols of an ELF file's own table, which is not loaded: of programs that are linked as a whole, and not stripped. */
#ifndef LBX_FILE_SYMBOL_H
#define LBX_FILE_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

/* Where a file's object of this name is, from the beginning of its lowest loaded page on. False, without an error, where it has
 * none, or is damaged. */
bool lbx_file_symbol(const char *path, const char *name, uint64_t *ret);

#endif
