/* A code address as text, for messages on stderr. */
#ifndef LB_BASE_CALLER_H
#define LB_BASE_CALLER_H

#include <stddef.h>

/* "photo(write_picture+0x4f) [0x55…]", as addr2line and gdb can take it further; returns text. */
const char *lb_describe_caller(const void *site, char *text, size_t size);

#endif
