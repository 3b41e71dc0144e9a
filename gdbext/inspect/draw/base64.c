#include "inspect/draw/base64.h"

#include <stdint.h>

void lbx_base64(const unsigned char *from, size_t n, char *ret)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t word = (uint32_t)from[i] << 16 | (i + 1 < n ? (uint32_t)from[i + 1] << 8 : 0) |
				(i + 2 < n ? from[i + 2] : 0);
		*ret++ = digits[word >> 18];
		*ret++ = digits[word >> 12 & 63];
		*ret++ = i + 1 < n ? digits[word >> 6 & 63] : '=';
		*ret++ = i + 2 < n ? digits[word & 63] : '=';
	}
}
