#include "plugin/bridge/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static bool make_room(struct text *text, size_t n)
{
	size_t room;

	if (!text->failed &&
	    (__builtin_add_overflow(text->n + 1, n, &room) || !lb_reserve(text->bytes, text->room, room)))
		text->failed = true;
	return !text->failed;
}

void text_append(struct text *text, const char *bytes, size_t n)
{
	if (!make_room(text, n))
		return;
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	text->bytes[text->n] = '\0';
}

void text_vprintf(struct text *text, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0 || !make_room(text, (size_t)n + 1))
		return;
	vsnprintf(text->bytes + text->n, (size_t)n + 1, format, args);
	text->n += (size_t)n;
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vprintf(text, format, args);
	va_end(args);
}

void text_echo(struct text *text, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (!text->echoing)
			text_append(text, "printf \"", 8);
		text->echoing = true;
		if (c == '\n')
			text_append(text, "\\n", 2);
		else if (c == '%')
			text_append(text, "%%", 2);
		else if (c == '"' || c == '\\')
			text_append(text, (char[]){ '\\', (char)c }, 2);
		else if (c == 033)
			text_append(text, "\\e", 2);
		else if ((c < ' ' && c != '\t') || c == 0x7f)
			text_append(text, "?", 1); /* gdb knows no octal escapes here */
		else
			text_append(text, &bytes[i], 1);
	}
}

void text_end_echo(struct text *text)
{
	if (text->echoing)
		text_append(text, "\"\n", 2);
	text->echoing = false;
}

void text_clear(struct text *text)
{
	text->n = 0;
	text->failed = text->echoing = false;
	if (make_room(text, 1))
		text->bytes[0] = '\0';
}

void text_free(struct text *text)
{
	free(text->bytes);
	*text = (struct text){ 0 };
}

/* One character of an MI c-string at *from, which moves past it. */
static char mi_character(const char **from)
{
	const char *p = *from;
	char c = *p++;

	if (c == '\\' && *p) {
		c = *p++;
		if (c == 'n') {
			c = '\n';
		} else if (c == 't') {
			c = '\t';
		} else if (c >= '0' && c <= '7') {
			c = (char)(c - '0');
			for (int i = 0; i < 2 && *p >= '0' && *p <= '7'; i++)
				c = (char)(c * 8 + (*p++ - '0'));
		}
	}
	*from = p;
	return c;
}

/* How much of what begins here is about a setting (MI), from `maint time` and `maint space`, or what gdb 13 says at each
 * line of a script once symbols have come while it stands at one of several places of a breakpoint:
 * these begin a line, or follow the output of a command that ends none. */
static size_t chatter(const char *text, bool line_start)
{
	static const char setting[] = "=cmd-param-changed,param=\"";
	static const char *const lines[] = { "=cmd-param-changed,", "Command execution time: ", "Space used: ",
					     "warning: location number not found for breakpoint " };
	enum { TIME = sizeof("2026-11-21 12:34:56.789") - 1 };
	size_t n = strcspn(text, "\n");

	for (size_t i = 0; line_start && i < sizeof(lines) / sizeof(*lines); i++)
		if (strncmp(text, lines[i], strlen(lines[i])) == 0)
			return n + (text[n] == '\n');
	if (strncmp(text, setting, sizeof setting - 1) == 0) /* `output` ends no line */
		return n + (text[n] == '\n');
	if (n > TIME && text[4] == '-' && text[TIME - 4] == '.' &&
	    (strncmp(text + TIME, " - command started\n", 19) == 0 ||
	     strncmp(text + TIME, " - command finished\n", 20) == 0))
		return n + 1;
	return 0;
}

void text_strip_chatter(char *text)
{
	const char *from = text;
	char *to = text;
	bool line_start = true;
	size_t dropped;

	while (*from) {
		if (line_start && from[0] == '~' && from[1] == '"') {
			from += 2;
			while (*from && *from != '"' && *from != '\n')
				*to++ = mi_character(&from);
			if (*from == '"')
				from++;
			if (*from == '\n')
				from++;
			continue;
		}
		dropped = chatter(from, line_start);
		if (dropped) {
			from += dropped;
			line_start = true;
			continue;
		}
		line_start = *from == '\n';
		*to++ = *from++;
	}
	*to = '\0';
}
