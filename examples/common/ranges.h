/* Sets of characters, as Unicode's tables have them. */
#ifndef COMMON_RANGES_H
#define COMMON_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint32_t first, last;
};

/* Whether one of the n ranges, which ascend, has the character. */
bool ranges_have(const struct range *ranges, size_t n, uint32_t c);
#define IN(ranges, c) ranges_have(ranges, sizeof(ranges) / sizeof(*(ranges)), (uint32_t)(c))

#endif
