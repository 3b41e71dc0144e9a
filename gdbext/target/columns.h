/* How many columns of a terminal a text takes: two for each wide character (East Asian ones, most
 * emoji), none for marks that combine with what stands before them.
 * Not by libc's wcwidth(): that knows only the characters of the locale, and in the C locale, which is
 * that of many containers whose terminals speak UTF-8 all the same, nothing but ASCII. Nor does a
 * plugin choose gdb's locale. So a table is the same wherever it is written. */
#ifndef LBX_COLUMNS_H
#define LBX_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/* Of UTF-8; a byte that belongs to none takes one. */
int lbx_columns(const char *text);
/* Of n bytes, or up to a NUL. */
int lbx_columns_of(const char *text, size_t n);
/* Bytes of the longest beginning that takes at most `room` columns, with all marks that combine with
 * its last character; *ret: its columns. */
size_t lbx_columns_fit(const char *text, int room, int *ret);

#endif
