/* A growing text, and what it takes to pass text through gdb's scripts and streams.
 * After a failed allocation `failed` is set and further text is dropped. */
#ifndef LBX_PLUGIN_TEXT_H
#define LBX_PLUGIN_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
	char *bytes;
	size_t n, room;
	bool failed;
	bool echoing; /* inside an unfinished command that prints */
};

void text_append(struct text *text, const char *bytes, size_t n);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Appends to a gdb command that prints the bytes, begun if need be. It is `printf`: `echo`
 * writes character by character. */
void text_echo(struct text *text, const char *bytes, size_t n);
/* Ends it, so that another command can follow. */
void text_end_echo(struct text *text);
void text_clear(struct text *text); /* keeps the memory */
void text_free(struct text *text);

/* What gdb logs under an MI front end are stream records: ~"text\n". Turns them, in place,
 * into the text; drops what gdb tells about settings and times; other text stays as it is. */
void text_strip_chatter(char *text);

#endif
