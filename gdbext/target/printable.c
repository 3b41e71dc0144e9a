#include "target/printable.h"

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "lazybones.h"

int lbx_character(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int n = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 : (*s & 0xf0) == 0xe0 ? 3 : *s >= 0xf0 && *s < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* surrogates, and forms longer than needed */
	if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)))
		return 0;
	if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)))
		return 0;
	return n;
}

uint32_t lbx_code_point(const char *text, int n)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t code = n == 1 ? *s : *s & (0x7fU >> n);

	for (int i = 1; i < n; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

/* Controls, and what Unicode's bidirectional algorithm takes for orders (UAX 9, table 3). */
static bool is_order(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

int lbx_printable(const char *text)
{
	int n = lbx_character(text);

	return n && !is_order(lbx_code_point(text, n)) ? n : 0;
}

static void replace(char *text, bool lines)
{
	while (*text) {
		if (*text >= ' ' && *text < 0x7f) { /* most are, and are seen at once */
			text++;
			continue;
		}
		int n = lines && (*text == '\n' || *text == '\t') ? 1 : lbx_printable(text);
		if (n == 0)
			*text = '?';
		text += n ? n : 1;
	}
}

void lbx_make_printable(char *text)
{
	replace(text, false);
}

void lbx_make_lines_printable(char *text)
{
	replace(text, true);
}

const char *lbx_error_text(void)
{
	static char text[LB_ERROR_MAX]; /* no thread's: gdb has little room for those of a library */

	snprintf(text, sizeof text, "%s", lb_error_message());
	lbx_make_lines_printable(text);
	return text;
}
