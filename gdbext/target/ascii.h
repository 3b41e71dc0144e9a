/* Text for a screen whose locale is not UTF-8: curses shows the bytes of other characters as ~V~H and the
 * like. */
#ifndef LBX_ASCII_H
#define LBX_ASCII_H

#include <stdbool.h>
#include <stddef.h>

/* By the process' locale (LC_CTYPE), as setlocale() has set it. */
bool lbx_locale_is_utf8(void);
/* Makes n bytes of UTF-8 ASCII, in place, with what looks like it: bars, blocks and Braille dots become # and :,
 * other characters a ? for each column. Returns how many bytes there are now, no more than n. */
size_t lbx_to_ascii(char *text, size_t n);

#endif
