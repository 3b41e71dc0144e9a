/* Texts that are said piece by piece. */
#ifndef LBX_SAY_H
#define LBX_SAY_H

#include <stddef.h>

/* Adds to a text what still has room, as snprintf(). */
void lbx_say(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define LBX_SAY(field, ...) lbx_say((field), sizeof(field), __VA_ARGS__)

#endif
