#include "base/text.h"

/* Bytes of the UTF-8 sequence at p, of at most n; 0 if it is malformed. */
static unsigned sequence(const uint8_t *p, uint64_t n)
{
	if (p[0] < 0x80)
		return p[0] != 0;
	unsigned length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || length > n)
		return 0;
	for (unsigned i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	/* overlong forms, surrogates, and what lies beyond U+10FFFF */
	bool wrong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
		     (p[0] == 0xf4 && p[1] > 0x8f);
	return wrong ? 0 : length;
}

bool lb_is_text(const void *bytes, uint64_t n)
{
	const uint8_t *p = bytes;
	for (uint64_t i = 0; i < n;) {
		unsigned length = sequence(p + i, n - i);
		if (length == 0)
			return false;
		i += length;
	}
	return true;
}
