/* Text from outside, made fit for a terminal: what a program, a file or a user has named. Whatever reads
 * such text makes it printable; and what a front end writes goes through here once more (inspect/out.c,
 * lbx_error_text()), so that nothing passes that was forgotten. */
#ifndef LBX_PRINTABLE_H
#define LBX_PRINTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* Bytes of the UTF-8 character at text; 0 when it is none. */
int lbx_character(const char *text);
/* That character, of n bytes (1 to 4). */
uint32_t lbx_code_point(const char *text, int n);
/* Bytes of the character at text that a terminal shows, and that changes nothing else there; 0 for control
 * characters (C0, DEL, C1), those that turn the direction of what follows, line separators, and what is
 * no UTF-8. */
int lbx_printable(const char *text);
/* Bytes of what is not printable become '?'. */
void lbx_make_printable(char *text);
/* The same, for text of several lines: newlines and tabs stay. */
void lbx_make_lines_printable(char *text);
/* The kept error message, printable; for the front end's own thread, valid until its next call. */
const char *lbx_error_text(void);

#endif
