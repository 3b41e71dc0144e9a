#include "mlx/set.h"

#include <stdlib.h>

size_t lbx_mlx_count(const struct lbx_mlx_set *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->objects[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t lbx_mlx_number(const struct lbx_mlx_set *s, uint64_t address)
{
	size_t count = lbx_mlx_count(s, address);

	return count && s->objects[count - 1] == address ? count : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct lbx_mlx_held_buffer *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

size_t lbx_mlx_buffer_number(const struct lbx_mlx_set *s, uint64_t address)
{
	const struct lbx_mlx_held_buffer key = { .address = address }, *found;

	found = s->n_buffers ? bsearch(&key, s->buffers, s->n_buffers, sizeof key, by_address) : NULL;
	return found ? (size_t)(found - s->buffers) + 1 : 0;
}
