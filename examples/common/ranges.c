#include "common/ranges.h"

bool ranges_have(const struct range *ranges, size_t n, uint32_t c)
{
	size_t first = 0;

	while (n) {
		const struct range *middle = &ranges[first + n / 2];
		if (c >= middle->first && c <= middle->last)
			return true;
		if (c > middle->last) {
			first += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return false;
}
