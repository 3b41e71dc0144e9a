/* Records in the order of the addresses that they begin with. */
#ifndef LBX_TARGET_ORDER_H
#define LBX_TARGET_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of n records, of `size` bytes each, where the first beyond an address begins; UINT64_MAX: none does. */
static inline uint64_t lbx_next_address(const void *records, size_t n, size_t size, uint64_t address)
{
	size_t low = 0, high = n;
	uint64_t found = UINT64_MAX, at;

	while (low < high) {
		size_t middle = (low + high) / 2;
		memcpy(&at, (const char *)records + middle * size, sizeof at);
		if (at > address) {
			found = at;
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return found;
}

#endif
