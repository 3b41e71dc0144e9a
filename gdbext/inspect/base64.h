#ifndef LBX_BASE64_H
#define LBX_BASE64_H

#include <stddef.h>

#define LBX_BASE64_SIZE(n) (((n) + 2) / 3 * 4)

/* LBX_BASE64_SIZE(n) characters, not ended by a NUL (RFC 4648, section 4). */
void lbx_base64(const unsigned char *from, size_t n, char *ret);

#endif
