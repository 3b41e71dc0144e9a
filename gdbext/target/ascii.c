#include "target/ascii.h"

#include <langinfo.h>
#include <stdint.h>
#include <string.h>

#include "target/columns.h"
#include "target/printable.h"

bool lbx_locale_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static char like(uint32_t c)
{
	if (c == 0x2800)
		return ' '; /* Braille without a dot */
	if (c > 0x2800 && c < 0x2900)
		return ':';
	if (c > 0x2588 && c < 0x2590)
		return '|'; /* less than a whole block of a bar */
	if (c >= 0x2580 && c < 0x25a0)
		return '#';
	if (c == 0x2026 || c == 0xb7)
		return '.';
	return '?';
}

size_t lbx_to_ascii(char *text, size_t n)
{
	size_t to = 0;

	for (size_t i = 0, m; i < n; i += m) {
		if ((unsigned char)text[i] < 0x80) {
			text[to++] = text[i];
			m = 1;
			continue;
		}
		char c[5] = { 0 };
		memcpy(c, text + i, n - i < 4 ? n - i : 4);
		m = (size_t)lbx_character(c);
		char sign = m ? like(lbx_code_point(c, (int)m)) : '?';
		m = m ? m : 1;
		for (int columns = lbx_columns_of(c, m); columns > 0; columns--)
			text[to++] = sign;
	}
	return to;
}
