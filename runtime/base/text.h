#ifndef LB_TEXT_H
#define LB_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Well-formed UTF-8 (RFC 3629) without NUL. */
bool lb_is_text(const void *bytes, uint64_t n);

#endif
